// State events: where an event indicator changes its sign.
#pragma once

#include <cstddef>
#include <vector>

#include "integration/integrator.hpp"

namespace softdock {

// Whether an indicator changed its sign in the last step of an integrator, which one, and the first
// moment after it.
struct Crossing {
    bool found = false;
    bool missed = false;  // instead: it had to change at once, and did not
    std::size_t indicator = 0;
    double time = 0.0;
};

class EventSearch {
  public:
    EventSearch(Ode& ode, Integrator& integrator);

    // The indicators at the present point of the model are those of the mode that holds now.
    Value start();
    // After an event at which states were set anew: whether that indicator must change again at
    // once, as the height of a ball that bounces. `length` is the communication step in seconds.
    Value expect(std::size_t indicator, double length);
    // Looks at the last step. It leaves the model at its end, or at the crossing.
    Value search(Crossing& crossing);

    // Indicators that hold, to be saved with the states.
    std::vector<double>& values() { return low_; }
    bool& after_event() { return after_event_; }
    double& rebound() { return rebound_; }
    // The indicator that was no number when `search` or `start` failed.
    std::size_t culprit() const;

  private:
    static constexpr double nothing = -1.0;

    Value look(double time, std::vector<double>& values);
    // The first indicator whose sign differs from that at the beginning; -1 if there is none.
    long changed(const std::vector<double>& values) const;
    double secant(double low, double high) const;
    Value locate(double low, double high, Crossing& crossing);

    Ode& ode_;
    Integrator& integrator_;
    std::vector<double> low_, high_, trial_, x_, slopes_;
    std::vector<char> positive_;
    bool after_event_ = true;
    double rebound_ = nothing;  // the indicator that must change in the next step
};

}  // namespace softdock
