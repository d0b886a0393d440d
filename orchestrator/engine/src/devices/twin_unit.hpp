// A device's twin: a unit whose outputs are late, lag, are noisy and rounded as those of a device.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/unit.hpp"

namespace softdock {

// What an output of the unit within passes through, in this order.
struct TwinChannel {
    std::int64_t delay_ns = 0;
    int order = 0;           // of the lag, of which it has a unit gain: 0, 1, 2
    double frequency = 0.0;  // rad/s: corner of the first order, natural frequency of the second
    double damping = 0.0;    // ratio of the second order
    double gain = 1.0;
    double noise = 0.0;  // standard deviation
    double step = 0.0;   // values are multiples of it; 0: any
    std::uint64_t key = 0;
};

// The unit within takes its inputs and steps as without it. Its outputs are taken for stairs, as a
// device holds a command until the next one: each counts from the end of its step on. Noise is
// drawn by the time, so that whoever goes back, or takes other steps, gets the same.
class TwinUnit final : public Unit {
  public:
    static constexpr std::int64_t direct = -1;

    explicit TwinUnit(Unit& inner);
    // The channel of each bound output of the unit within, or `direct`. Throws if there is none of
    // a number, or a channel has no such lag.
    void bind(std::vector<TwinChannel> channels, std::vector<std::int64_t> by_output);
    // The start of a run: the outputs have been what they are for ever.
    Status begin(std::int64_t time_ns);

    Status set_inputs(const double* values) override { return passed(inner_.set_inputs(values)); }
    Status step(std::int64_t time_ns, std::int64_t step_ns) override;
    Status get_outputs(double* values) override;
    Status set_texts(const std::string* values) override {
        return passed(inner_.set_texts(values));
    }
    Status get_texts(std::string* values) override { return passed(inner_.get_texts(values)); }
    bool can_roll_back() const override { return inner_.can_roll_back(); }
    Status save(std::size_t number) override;
    Status restore(std::size_t number) override;
    int input_order() const override { return inner_.input_order(); }
    Status set_input_derivatives(const InputDerivatives& derivatives) override {
        return passed(inner_.set_input_derivatives(derivatives));
    }
    bool needs_interpreter() const override { return inner_.needs_interpreter(); }
    bool interrupted() const override { return inner_.interrupted(); }
    Failure cause() const override { return inner_.cause(); }

  private:
    struct Stair {
        std::int64_t time_ns = 0;
        double value = 0.0;
    };
    // Of one output: stairs that have not taken effect, in a ring, and the lag.
    struct Line {
        void push(Stair stair);
        std::vector<Stair> ring;
        std::size_t first = 0, count = 0;
        double held = 0.0;                      // what the lag follows
        std::array<double, 2> state{0.0, 0.0};  // position and velocity
        std::int64_t now_ns = 0;
        double value = 0.0;
    };
    struct State {
        bool has_stepped = false;
        std::vector<Line> lines;
    };

    Status passed(Status status);
    Status follow(std::int64_t time_ns);
    void advance(Line& line, const TwinChannel& channel, std::int64_t to_ns) const;
    static void relax(Line& line, const TwinChannel& channel, std::int64_t span_ns);
    double read(const Line& line, const TwinChannel& channel) const;

    Unit& inner_;
    std::vector<TwinChannel> channels_;
    std::vector<std::int64_t> by_output_;
    std::vector<double> given_;
    State now_;
    std::vector<State> kept_;
};

}  // namespace softdock
