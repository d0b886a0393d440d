#include "fmi/fmu2.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/schedule.hpp"

namespace softdock {

namespace {

extern "C" void log_message(fmi2ComponentEnvironment environment, fmi2String, fmi2Status status,
                            fmi2String category, fmi2String message, ...) {
    va_list arguments;
    va_start(arguments, message);
    static_cast<Fmu2*>(environment)->log(status, category, message, arguments);
    va_end(arguments);
}

}  // namespace

Fmu2::Fmu2(const std::string& library, const std::string& name, const std::string& guid,
           const std::string& resources, bool logging, fmi2Type type)
    : ScalarFmu(name, library) {
    load(type == fmi2CoSimulation);
    callbacks_ = {log_message, std::calloc, std::free, nullptr, this};
    instance_ = call_.instantiate(name.c_str(), type, guid.c_str(), resources.c_str(), &callbacks_,
                                  0, logging);
    require_instance("fmi2Instantiate");
}

Fmu2::~Fmu2() { release(call_.free_instance); }

void Fmu2::load(bool steps) {
    find("fmi2Instantiate", call_.instantiate);
    find("fmi2FreeInstance", call_.free_instance);
    find("fmi2SetupExperiment", call_.setup_experiment);
    find("fmi2EnterInitializationMode", call_.enter_initialization_mode);
    find("fmi2ExitInitializationMode", call_.exit_initialization_mode);
    find("fmi2Terminate", call_.terminate);
    find("fmi2GetReal", call_.get_real);
    find("fmi2GetInteger", call_.get_integer);
    find("fmi2GetBoolean", call_.get_boolean);
    find("fmi2GetString", call_.get_string);
    find("fmi2SetReal", call_.set_real);
    find("fmi2SetInteger", call_.set_integer);
    find("fmi2SetBoolean", call_.set_boolean);
    find("fmi2SetString", call_.set_string);
    find("fmi2DoStep", call_.do_step, steps);
    find("fmi2GetRealStatus", call_.get_real_status, steps);
    find("fmi2GetBooleanStatus", call_.get_boolean_status, false);
    find_states("fmi2", "FMUstate", "DeSerialize");
    find("fmi2SetRealInputDerivatives", call_.set_slopes, false);
    find("fmi2GetDirectionalDerivative", call_.get_derivative, false);
    find("fmi2SetDebugLogging", call_.set_debug_logging, false);
}

void Fmu2::bind(Binding inputs, Binding outputs) {
    connect(std::move(inputs), std::move(outputs));
    const auto n_in = inputs_.reals.size(), n_out = outputs_.reals.size();
    real_step_ = {n_in == input_count_ && n_out == output_count_,
                  call_.set_real,
                  call_.do_step,
                  call_.get_real,
                  inputs_.reals.data(),
                  outputs_.reals.data(),
                  n_in,
                  n_out};
    const auto most = most_order * inputs_.reals.size();
    moving_.clear();
    moving_.reserve(most);
    still_.clear();
    for (int order = 1; order <= most_order; ++order) {
        for (std::size_t i = 0; i < inputs_.reals.size(); ++i) still_.push_back({i, order});
    }
    references_.resize(most);
    orders_.resize(most);
    values_.resize(most);
}

Status Fmu2::set_inputs(const double* values) {
    failure_.clear();
    return send(values);
}

Status Fmu2::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    const int no_way_back = !may_go_back();
    const auto status =
        note(call_.do_step(instance_, to_seconds(time_ns), to_seconds(step_ns), no_way_back));
    reached_ = {time_ns + step_ns};
    return status == Status::discard ? discarded(time_ns) : status;
}

// What the FMU did of a step that it discarded, and whether it ended the run there: at the end of
// the step that is done.
Status Fmu2::discarded(std::int64_t begin_ns) {
    fmi2Boolean ended = fmi2False;
    if (!call_.get_boolean_status ||
        call_.get_boolean_status(instance_, fmi2Terminated, &ended) != fmi2OK || !ended)
        return Status::discard;
    const double reached = last_successful_time();
    const auto end_ns = reached_.time_ns;
    reached_.time_ns = std::isfinite(reached)
                           ? std::clamp(std::int64_t{std::llround(reached * 1e9)}, begin_ns, end_ns)
                           : begin_ns;
    reached_.terminate = true;
    return reached_.is(end_ns) ? Status::ok : Status::discard;
}

void Fmu2::declare(bool rolls_back, int input_order, bool has_derivatives) {
    rolls_back_ = rolls_back;
    input_order_ = input_order;
    has_derivatives_ = has_derivatives;
}

Status Fmu2::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > input_order()) return cannot("take such derivatives of its inputs");
    failure_.clear();
    const auto given = [&](const Derivative& one) {
        return one.order <= derivatives.order ? derivatives.of(one.order)[one.input] : 0.0;
    };
    const bool more = std::any_of(still_.begin(), still_.end(),
                                  [&](const Derivative& one) { return given(one) != 0.0; });
    if (more) list_moving(given);
    if (moving_.empty()) return Status::ok;
    for (std::size_t j = 0; j < moving_.size(); ++j) values_[j] = given(moving_[j]);
    return note(call_.set_slopes(instance_, references_.data(), moving_.size(), orders_.data(),
                                 values_.data()));
}

// The derivatives that were not zero once are given from then on.
template <class Given>
void Fmu2::list_moving(const Given& given) {
    const auto moves = [&](const Derivative& one) { return given(one) != 0.0; };
    std::copy_if(still_.begin(), still_.end(), std::back_inserter(moving_), moves);
    still_.erase(std::remove_if(still_.begin(), still_.end(), moves), still_.end());
    std::sort(moving_.begin(), moving_.end(), [](const Derivative& one, const Derivative& other) {
        return std::make_pair(one.order, one.input) < std::make_pair(other.order, other.input);
    });
    for (std::size_t j = 0; j < moving_.size(); ++j) {
        references_[j] = inputs_.reals[moving_[j].input];
        orders_[j] = moving_[j].order;
    }
}

Status Fmu2::derivative(const double* inputs, double* outputs) {
    if (!has_derivatives()) return cannot("give derivatives");
    failure_.clear();
    std::fill_n(outputs, output_count_, 0.0);
    const auto known = inputs_.reals.size(), unknown = outputs_.reals.size();
    if (known == 0 || unknown == 0) return Status::ok;
    return note(call_.get_derivative(instance_, outputs_.reals.data(), unknown,
                                     inputs_.reals.data(), known, inputs, outputs));
}

Status Fmu2::get_outputs(double* values) {
    failure_.clear();
    return receive(values);
}

inline Status Fmu2::advance_reals(const double* inputs, const Stride& stride) {
    const auto& real = real_step_;
    failure_.clear();
    if (real.input_count) {
        const auto status = note(real.set(instance_, real.inputs, real.input_count, inputs));
        if (failed(status)) return status;
    }
    reached_ = {stride.end_ns()};
    const auto status = note(real.step(instance_, stride.begin_s, stride.length_s, !may_go_back()));
    return status == Status::discard ? discarded(stride.begin_ns) : status;
}

// Small units take as long as it takes to get through one's divisions after the other's, unless the
// processor sees the next one's meanwhile: so outputs are asked for when all have been stepped.
Status Fmu2::advance_row(const UnitRow& row, RowEnd& end) {
    if (!real_step_.applies) return Unit::advance_row(row, end);
    auto status = Status::ok;
    const auto* member = row.first;
    do {
        end.last = member++;
        auto& unit = static_cast<Fmu2&>(*end.last->unit);
        const ModeWatched kept(unit, row.watch);
        status = unit.advance_reals(row.signals + end.last->inputs, row.stride);
    } while (!failed(status) && member != row.after && member->joins);
    const auto* after = failed(status) ? end.last : member;
    for (member = row.first; member != after; ++member) {
        auto& unit = static_cast<Fmu2&>(*member->unit);
        const auto& real = unit.real_step_;
        if (!real.output_count) continue;
        const ModeWatched kept(unit, row.watch);
        double* outputs = row.signals + member->outputs;
        const auto got =
            unit.note(real.get(unit.instance_, real.outputs, real.output_count, outputs));
        if (failed(got)) {
            end.last = member;
            return got;
        }
        for (std::size_t i = 0; i < real.output_count; ++i) end.unfit |= !std::isfinite(outputs[i]);
    }
    return status;
}

Status Fmu2::setup(double start, bool has_stop, double stop, bool has_tolerance, double tolerance) {
    failure_.clear();
    return note(call_.setup_experiment(instance_, has_tolerance, tolerance, start, has_stop,
                                       stop_to_tell(start, stop)));
}

Status Fmu2::enter_initialization() {
    failure_.clear();
    return note(call_.enter_initialization_mode(instance_));
}

Status Fmu2::exit_initialization() {
    failure_.clear();
    return note(call_.exit_initialization_mode(instance_));
}

Status Fmu2::terminate() { return Fmu::terminate(call_.terminate); }

double Fmu2::last_successful_time() {
    double time = 0.0;
    call_.get_real_status(instance_, fmi2LastSuccessfulTime, &time);
    return time;
}

}  // namespace softdock
