// The contract of an integrator: one internal step at a time, and the states inside it.
#pragma once

#include <string>
#include <vector>

#include "integration/ode.hpp"

namespace softdock {

// A step was made; none is short enough; or the model cannot go on.
enum class Progress { advanced, stuck, broken };

// What an integrator remembers apart from time and states; a copy of it is a saved state.
struct StepMemory {
    double step = 0.0, last_error = 0.0;
};

class Integrator {
  public:
    explicit Integrator(Ode& ode) : ode_(ode), x_(ode.size()), before_(ode.size()) {}
    virtual ~Integrator() = default;
    Integrator(const Integrator&) = delete;
    Integrator& operator=(const Integrator&) = delete;

    // One step from time() to `end` or to a point before it. Nothing is allocated.
    virtual Progress advance(double end) = 0;
    // States at a time within the last step.
    virtual void dense(double time, double* x) = 0;
    // A communication step begins, perhaps with other inputs: derivatives that were computed with
    // the old ones are not used.
    virtual void begin(double length, bool inputs_changed) = 0;
    // After an event all that is known of the solution before it is forgotten, the size of the
    // step as well.
    virtual void restart() = 0;
    // What was remembered is saved with the states, and put back after them.
    virtual StepMemory save() = 0;
    virtual void restore(const StepMemory& memory) = 0;

    double time() const { return time_; }
    double time_before() const { return time_before_; }
    double* states() { return x_.data(); }
    // The last or the proposed internal step, in seconds.
    virtual double step() const = 0;

    // Another point; call restart() or restore() after it.
    void set_time(double time) { time_ = time_before_ = time; }
    // Without states there is nothing but time.
    void jump(double time) {
        time_before_ = time_;
        time_ = time;
    }
    // Goes back to a time within the last step; restart() follows.
    void cut(double time) {
        if (time >= time_) return;
        if (!x_.empty()) dense(time, x_.data());
        time_ = time;
    }

  protected:
    Ode& ode_;
    double time_ = 0.0, time_before_ = 0.0, length_ = 0.0;
    std::vector<double> x_, before_;
};

}  // namespace softdock
