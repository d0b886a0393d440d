#include "core/unit.hpp"

#include <cmath>

#include "core/schedule.hpp"

namespace softdock {

Status Unit::advance_row(const UnitRow& row, RowEnd& end) {
    end.last = row.first;
    const ModeWatched kept(*this, row.watch);
    auto status = set_inputs(row.signals + end.last->inputs);
    if (!failed(status)) status = step(row.stride.begin_ns, row.stride.length_ns);
    if (failed(status) || !reached_.is(row.stride.end_ns())) return status;
    double* outputs = row.signals + end.last->outputs;
    status = get_outputs(outputs);
    for (std::size_t i = 0; i < output_count(); ++i) end.unfit |= !std::isfinite(outputs[i]);
    return status;
}

Status Unit::cannot(const char* what) {
    failure_ = std::string("this kind of unit cannot ") + what;
    return Status::error;
}

Status Unit::set_texts(const std::string*) { return Status::ok; }
Status Unit::get_texts(std::string*) { return Status::ok; }
Status Unit::save(std::size_t) { return cannot("save its state"); }
Status Unit::restore(std::size_t) { return cannot("go back to a state"); }
Status Unit::set_input_derivatives(const InputDerivatives&) {
    return cannot("take derivatives of its inputs");
}
void Unit::expect_step(const double*, const InputDerivatives&, std::int64_t, std::int64_t) {}
Status Unit::derivative(const double*, double*) { return cannot("give derivatives"); }
Status Unit::enter_event_mode() { return cannot("enter an event mode"); }
Status Unit::update_discrete(Discrete&) { return cannot("update discrete states"); }
Status Unit::enter_step_mode() { return cannot("leave an event mode"); }

}  // namespace softdock
