#include "fmi/fmu3.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace softdock {

namespace {

extern "C" void log_message3(fmi3InstanceEnvironment environment, fmi3Status status,
                             fmi3String category, fmi3String message) {
    static_cast<Fmu3*>(environment)->log(status, category ? category : "", message ? message : "");
}

extern "C" void update_inputs3(fmi3InstanceEnvironment environment, fmi3Float64 time,
                               fmi3Boolean set_requested, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                               fmi3Boolean* early_return_requested, fmi3Float64*) {
    if (early_return_requested) *early_return_requested = false;
    if (set_requested) static_cast<Fmu3*>(environment)->update_inputs(time);
}

}  // namespace

Fmu3::Fmu3(const std::string& library, const std::string& name, const std::string& token,
           const std::string& resources, Options3 options)
    : Fmu(name, library), options_(std::move(options)), inputs_(*this, {}), outputs_(*this, {}) {
    load();
    make_instance(token, resources);
}

void Fmu3::make_instance(const std::string& token, const std::string& resources) {
    if (options_.exchange) {
        instance_ = call_.instantiate_exchange(name().c_str(), token.c_str(), resources.c_str(),
                                               false, options_.logging, this, log_message3);
        return require_instance("fmi3InstantiateModelExchange");
    }
    const auto& followed = options_.followed;
    instance_ = call_.instantiate(name().c_str(), token.c_str(), resources.c_str(), false,
                                  options_.logging, options_.event_mode, options_.early_return,
                                  followed.empty() ? nullptr : followed.data(), followed.size(),
                                  this, log_message3, followed.empty() ? nullptr : update_inputs3);
    require_instance("fmi3InstantiateCoSimulation");
}

Fmu3::~Fmu3() { release(call_.free_instance); }

void Fmu3::load() {
    const bool exchange = options_.exchange;
    find("fmi3InstantiateCoSimulation", call_.instantiate, !exchange);
    find("fmi3InstantiateModelExchange", call_.instantiate_exchange, exchange);
    find("fmi3FreeInstance", call_.free_instance);
    find("fmi3EnterInitializationMode", call_.enter_initialization_mode);
    find("fmi3ExitInitializationMode", call_.exit_initialization_mode);
    find("fmi3Terminate", call_.terminate);
    find("fmi3DoStep", call_.do_step, !exchange);
    find_values();
    find("fmi3EnterConfigurationMode", call_.enter_configuration_mode, false);
    find("fmi3ExitConfigurationMode", call_.exit_configuration_mode, false);
    find("fmi3GetDirectionalDerivative", call_.get_derivative, false);
    find("fmi3SetDebugLogging", call_.set_debug_logging, false);
    find("fmi3EnterEventMode", call_.enter_event_mode, options_.event_mode);
    find("fmi3EnterStepMode", call_.enter_step_mode, options_.event_mode);
    find("fmi3UpdateDiscreteStates", call_.update_discrete, options_.event_mode);
    find("fmi3GetClock", call_.get_clock, false);
    find("fmi3SetClock", call_.set_clock, false);
    find("fmi3GetIntervalDecimal", call_.get_interval, false);
    find("fmi3GetIntervalFraction", call_.get_fraction, false);
    find("fmi3GetShiftDecimal", call_.get_shift, false);
    find_states("fmi3", "FMUState", "Deserialize");
}

void Fmu3::find_values() {
    const auto both = [this](const std::string& type, auto& access) {
        find("fmi3Get" + type, access.get);
        find("fmi3Set" + type, access.set);
    };
    both("Float64", call_.float64);
    both("Float32", call_.float32);
    both("Int8", call_.int8);
    both("UInt8", call_.uint8);
    both("Int16", call_.int16);
    both("UInt16", call_.uint16);
    both("Int32", call_.int32);
    both("UInt32", call_.uint32);
    both("Int64", call_.int64);
    both("UInt64", call_.uint64);
    both("Boolean", call_.boolean);
    both("String", call_.string);
    find("fmi3GetBinary", call_.get_binary);
    find("fmi3SetBinary", call_.set_binary);
}

void Fmu3::declare(bool rolls_back, bool has_derivatives) {
    rolls_back_ = rolls_back;
    has_derivatives_ = has_derivatives;
}

void Fmu3::bind(std::vector<Port3> inputs, std::vector<Port3> outputs) {
    clocks_.clear();
    for (const auto* ports : {&inputs, &outputs}) {
        for (const auto& port : *ports) {
            if (port.type == Type3::clock) clocks_.emplace_back(port.reference, false);
        }
    }
    inputs_ = Ports3(*this, std::move(inputs));
    outputs_ = Ports3(*this, std::move(outputs));
    input_count_ = inputs_.size();
    output_count_ = outputs_.size();
    if (!input_order()) return;
    moving_.begin.resize(input_count_);
    moving_.now.resize(input_count_);
    moving_.at_event.resize(input_count_);
    moving_.derivatives.resize(most_order * input_count_);
}

Status Fmu3::set_inputs(const double* values) {
    failure_.clear();
    if (mode_ == in_event && moving_.moved) {
        return inputs_.set(inputs_at_event(values), Setting::events);
    }
    moving_.moves = moving_.moved = false;
    if (input_order()) std::copy_n(values, input_count_, moving_.begin.begin());
    if (!options_.event_mode || mode_ == initial) return inputs_.set(values, Setting::all);
    if (mode_ == in_event) return inputs_.set(values, Setting::events);
    auto status = inputs_.set(values, Setting::continuous);
    bool changed = false;
    if (!failed(status)) status = inputs_.find_discrete_change(values, changed);
    if (failed(status) || !changed) return status;
    status = enter_event_mode();
    if (!failed(status)) status = inputs_.set(values, Setting::events);
    return failed(status) ? status : settle();
}

Status Fmu3::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > input_order()) return cannot("take such derivatives of its inputs");
    failure_.clear();
    auto& kept = moving_.derivatives;
    std::fill(kept.begin(), kept.end(), 0.0);
    for (int k = 1; k <= derivatives.order; ++k) {
        const auto place = kept.begin() + (k - 1) * static_cast<std::ptrdiff_t>(input_count_);
        std::copy_n(derivatives.of(k), input_count_, place);
    }
    moving_.moves = std::any_of(kept.begin(), kept.end(), [](double d) { return d != 0.0; });
    return Status::ok;
}

void Fmu3::update_inputs(double seconds) {
    auto& moving = moving_;
    if (!moving.moves || failed(moving.status)) return;
    const double slack = 1e-9 * (moving.end_s - moving.begin_s);
    moving.asked |= seconds > moving.begin_s + slack && seconds < moving.end_s - slack;
    move_inputs(seconds);
    moving.status = inputs_.set(moving.now.data(), Setting::continuous);
}

void Fmu3::move_inputs(double seconds) {
    const double after = seconds - moving_.begin_s;
    const auto n = input_count_;
    for (std::size_t i = 0; i < n; ++i) {
        const double* d = moving_.derivatives.data() + i;
        moving_.now[i] = Waveform{moving_.begin[i], {d[0], d[n], d[2 * n]}}.at(after);
    }
}

// An input that does not jump at an event is where the step has led it; the signals have it as it
// was when the step began.
const double* Fmu3::inputs_at_event(const double* values) {
    for (std::size_t i = 0; i < input_count_; ++i) {
        const bool jumps = values[i] != moving_.begin[i] ||
                           std::signbit(values[i]) != std::signbit(moving_.begin[i]);
        moving_.at_event[i] = jumps ? values[i] : moving_.now[i];
    }
    return moving_.at_event.data();
}

// What became of a step whose inputs may have moved.
Status Fmu3::follow_inputs(std::int64_t time_ns, std::int64_t end_ns, Status status) {
    const bool moved = std::exchange(moving_.moves, false);
    if (!moved || failed(status)) return status;
    move_inputs(to_seconds(reached_.time_ns));
    moving_.moved = true;
    const bool whole = reached_.time_ns == end_ns;
    if (whole && !moving_.asked) moving_.unasked_ns = std::min(moving_.unasked_ns, time_ns);
    return std::max(status, moving_.status);
}

Status Fmu3::get_outputs(double* values) {
    failure_.clear();
    return outputs_.get(values, mode_ == in_event);
}

Status Fmu3::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    refused_early_return_ = false;
    if (event_due_ || mode_ == in_event) {  // nobody has handled the event of the last step
        auto status = enter_event_mode();
        if (!failed(status)) status = settle();
        if (failed(status)) return status;
    }
    bool event = false, terminate = false, early = false;
    double last = to_seconds(time_ns);
    const auto end_ns = time_ns + step_ns;
    moving_.asked = false;
    moving_.status = Status::ok;
    moving_.begin_s = to_seconds(time_ns);
    moving_.end_s = to_seconds(end_ns);
    auto status = note(call_.do_step(instance_, to_seconds(time_ns), to_seconds(step_ns),
                                     !may_go_back(), &event, &terminate, &early, &last));
    const bool whole = !early && !terminate && !failed(status);
    reached_ = {whole ? end_ns : std::clamp(not_before(last), time_ns, end_ns), early, event,
                terminate};
    status = follow_inputs(time_ns, end_ns, status);
    note_end(time_ns, end_ns, last, early || terminate || failed(status));
    clock_scheduler_.reach(reached_.time_ns);
    event_due_ = event && options_.event_mode;
    refused_early_return_ = early && !options_.early_return && !failed(status);
    if (!refused_early_return_) return status;
    return fail("it returned early from a step, which it was not allowed");
}

// A time that was left as it was handed over says nothing.
void Fmu3::note_end(std::int64_t begin_ns, std::int64_t end_ns, double said, bool told) {
    if (told || astray_.begin_ns != never || said == to_seconds(begin_ns)) return;
    const double off = std::fabs(said - to_seconds(end_ns));
    if (!(off <= 1e-9 + 1e-15 * std::fabs(said))) astray_ = {begin_ns, said};
}

Failure Fmu3::cause() const {
    Failure found;
    if (refused_early_return_) found.kind = FailureKind::early_return;
    return found;
}

Status Fmu3::derivative(const double* inputs, double* outputs) {
    if (!has_derivatives()) return cannot("give derivatives");
    failure_.clear();
    std::fill_n(outputs, output_count_, 0.0);
    const auto &known = inputs_.floats(), &unknown = outputs_.floats();
    if (known.empty() || unknown.empty()) return Status::ok;
    return note(call_.get_derivative(instance_, unknown.data(), unknown.size(), known.data(),
                                     known.size(), inputs, inputs_.float_values(), outputs,
                                     outputs_.float_values()));
}

Status Fmu3::initialise(double start, bool has_stop, double stop, bool has_tolerance,
                        double tolerance) {
    failure_.clear();
    reached_ = {std::llround(start * 1e9), false, false, false};
    clock_scheduler_.start(reached_.time_ns);
    return note(call_.enter_initialization_mode(instance_, has_tolerance, tolerance, start,
                                                has_stop, stop_to_tell(start, stop)));
}

Status Fmu3::set_strings(const References& references, const char** values, std::size_t count) {
    return note(call_.string.set(instance_, references.data(), references.size(), values, count));
}

Status Fmu3::get_strings(const References& references, const char** values, std::size_t count) {
    return note(call_.string.get(instance_, references.data(), references.size(), values, count));
}

Status Fmu3::set_binaries(const References& references, const std::size_t* sizes,
                          const std::uint8_t** values, std::size_t count) {
    return note(
        call_.set_binary(instance_, references.data(), references.size(), sizes, values, count));
}

Status Fmu3::get_binaries(const References& references, std::size_t* sizes,
                          const std::uint8_t** values, std::size_t count) {
    return note(
        call_.get_binary(instance_, references.data(), references.size(), sizes, values, count));
}

Status Fmu3::terminate() { return Fmu::terminate(call_.terminate); }

}  // namespace softdock
