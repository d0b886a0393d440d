// The outside of a system, as units among its others: what goes in, and what comes out.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/unit.hpp"

namespace softdock {

// Its outputs are the system's inputs, held until they are set again; its inputs are only read by
// whoever looks at the buffer of signals.
class Boundary final : public Unit {
  public:
    struct Counts {
        std::size_t inputs, outputs, text_inputs, text_outputs;
    };

    Boundary(std::string name, Counts counts) : Unit(std::move(name)) {
        input_count_ = counts.inputs;
        output_count_ = counts.outputs;
        text_input_count_ = counts.text_inputs;
        text_output_count_ = counts.text_outputs;
        values_.resize(counts.outputs);
        texts_.resize(counts.text_outputs);
    }

    Status set_inputs(const double*) override { return Status::ok; }
    Status step(std::int64_t time_ns, std::int64_t step_ns) override {
        reached_.time_ns = time_ns + step_ns;
        return Status::ok;
    }
    Status get_outputs(double* values) override {
        for (const double value : values_) *values++ = value;
        return Status::ok;
    }
    Status get_texts(std::string* texts) override {
        for (const auto& text : texts_) *texts++ = text;
        return Status::ok;
    }

    // Nothing of it changes in a step.
    bool can_roll_back() const override { return true; }
    Status save(std::size_t) override { return Status::ok; }
    Status restore(std::size_t) override { return Status::ok; }

    std::vector<double>& values() { return values_; }
    std::vector<std::string>& texts() { return texts_; }

  private:
    std::vector<double> values_;
    std::vector<std::string> texts_;
};

}  // namespace softdock
