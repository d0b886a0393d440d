// A unit in another process goes on after a failure: from a state that was kept, with all inputs
// since.
#include <algorithm>
#include <utility>

#include "isolation/remote_unit.hpp"

namespace softdock {

void RemoteUnit::restart_on_failure(std::function<bool(Help)> help, std::size_t every) {
    every_ = every;
    past_.reserve(every + 1, input_count_);
    kept();
    help_ = std::move(help);
}

bool RemoteUnit::keep() {
    // The inputs that wait belong to the step, not to the state before it.
    const bool inputs = std::exchange(new_inputs_, false);
    const int order = std::exchange(new_order_, 0);
    const bool done = help_(Help::keep);
    new_inputs_ = inputs;
    new_order_ = order;
    if (done) kept();
    return done;
}

Status RemoteUnit::replay() {
    auto status = Status::ok;
    for (std::size_t i = 0; i < past_.size() && !failed(status); ++i) {
        const auto& row = past_.row(i);
        std::copy_n(past_.inputs(i), input_count_, block_.inputs());
        std::copy_n(past_.derivatives(i), most_order * input_count_, block_.derivatives());
        new_inputs_ = row.has_inputs;
        new_order_ = row.order;
        status = play(row.time_ns, row.step_ns);
    }
    return status;
}

}  // namespace softdock
