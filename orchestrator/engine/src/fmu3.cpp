#include "fmu3.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace softdock {

namespace {

// An FMU that asks so often for another update at one moment does not come to rest.
constexpr int most_updates = 1000;

extern "C" void log_message3(fmi3::Environment environment, int status, fmi3::String category,
                             fmi3::String message) {
    static_cast<Fmu3*>(environment)->log(status, category ? category : "", message ? message : "");
}

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

}  // namespace

Fmu3::Fmu3(const std::string& library, const std::string& name, const std::string& token,
           const std::string& resources, Options3 options)
    : Fmu(name, library), options_(options), inputs_(*this, {}), outputs_(*this, {}) {
    load();
    make_instance(token, resources);
}

void Fmu3::make_instance(const std::string& token, const std::string& resources) {
    if (options_.exchange) {
        instance_ = call_.instantiate_exchange(name().c_str(), token.c_str(), resources.c_str(),
                                               false, options_.logging, this, log_message3);
        return require_instance("fmi3InstantiateModelExchange");
    }
    instance_ = call_.instantiate(name().c_str(), token.c_str(), resources.c_str(), false,
                                  options_.logging, options_.event_mode, options_.early_return,
                                  nullptr, 0, this, log_message3, nullptr);
    require_instance("fmi3InstantiateCoSimulation");
}

Fmu3::~Fmu3() {
    if (!usable()) return;
    release_states();
    call_.free_instance(instance_);
}

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
    find("fmi3EnterEventMode", call_.enter_event_mode, options_.event_mode);
    find("fmi3EnterStepMode", call_.enter_step_mode, options_.event_mode);
    find("fmi3UpdateDiscreteStates", call_.update_discrete, options_.event_mode);
    find("fmi3GetClock", call_.get_clock, false);
    find("fmi3SetClock", call_.set_clock, false);
    find("fmi3GetIntervalDecimal", call_.get_interval, false);
    find("fmi3GetIntervalFraction", call_.get_fraction, false);
    find("fmi3GetShiftDecimal", call_.get_shift, false);
    states_.prefix = "fmi3";
    find("fmi3GetFMUState", states_.get, false);
    find("fmi3SetFMUState", states_.set, false);
    find("fmi3FreeFMUState", states_.release, false);
    find("fmi3SerializedFMUStateSize", states_.size, false);
    find("fmi3SerializeFMUState", states_.to_bytes, false);
    find("fmi3DeserializeFMUState", states_.from_bytes, false);
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
}

Status Fmu3::set_inputs(const double* values) {
    failure_.clear();
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

Status Fmu3::get_outputs(double* values) {
    failure_.clear();
    return outputs_.get(values, mode_ == in_event);
}

Status Fmu3::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    if (event_due_) {  // nobody has handled the event of the last step
        auto status = enter_event_mode();
        if (!failed(status)) status = settle();
        if (failed(status)) return status;
    }
    bool event = false, terminate = false, early = false;
    double last = to_seconds(time_ns);
    const auto status = note(call_.do_step(instance_, to_seconds(time_ns), to_seconds(step_ns),
                                           !may_go_back(), &event, &terminate, &early, &last));
    const auto end_ns = time_ns + step_ns;
    reached_ = {early || failed(status) ? std::clamp(nanoseconds(last), time_ns, end_ns) : end_ns,
                early, event, terminate};
    event_due_ = event && options_.event_mode;
    if (early && !options_.early_return && !failed(status)) {
        return fail("it returned early from a step, which it was not allowed");
    }
    return status;
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

void Fmu3::set_mode(int mode) {
    mode_ = mode;
    event_due_ = false;
    for (auto& clock : clocks_) clock.second = false;
}

Status Fmu3::enter_event_mode() {
    if (!options_.event_mode) return cannot("enter an event mode");
    failure_.clear();
    const auto status = note(call_.enter_event_mode(instance_));
    if (!failed(status)) set_mode(in_event);
    return status;
}

Status Fmu3::update_discrete(Discrete& update) {
    if (!options_.event_mode) return cannot("update discrete states");
    failure_.clear();
    bool nominals = false;
    double next = 0.0;
    const auto status =
        note(call_.update_discrete(instance_, &update.again, &update.terminate, &nominals,
                                   &update.values_changed, &update.has_next, &next));
    if (update.has_next) update.next_ns = nanoseconds(next);
    for (auto& clock : clocks_) clock.second = false;
    return status;
}

Status Fmu3::enter_step_mode() {
    if (!options_.event_mode) return cannot("leave an event mode");
    failure_.clear();
    const auto status = note(call_.enter_step_mode(instance_));
    if (!failed(status)) set_mode(stepping);
    return status;
}

Status Fmu3::settle() {
    for (int count = 0; count < most_updates; ++count) {
        Discrete update;
        const auto status = update_discrete(update);
        if (failed(status)) return status;
        reached_.terminate |= update.terminate;
        if (!update.again) return enter_step_mode();
    }
    return fail("its discrete states do not come to rest: " + std::to_string(most_updates) +
                " updates at one moment");
}

Status Fmu3::initialise(double start, bool has_stop, double stop, bool has_tolerance,
                        double tolerance) {
    failure_.clear();
    return note(call_.enter_initialization_mode(instance_, has_tolerance, tolerance, start,
                                                has_stop, stop));
}

Status Fmu3::exit_initialization() {
    failure_.clear();
    const auto status = note(call_.exit_initialization_mode(instance_));
    if (failed(status)) return status;
    set_mode(options_.event_mode ? in_event : stepping);
    return options_.event_mode ? settle() : status;
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

Status Fmu3::terminate() {
    // After an error the standard allows to free the instance, not to terminate it.
    return worst_ < Status::error ? note(call_.terminate(instance_)) : Status::ok;
}

bool Fmu3::ticks(fmi3::ValueReference clock) const {
    return std::find(clocks_.begin(), clocks_.end(), std::make_pair(clock, true)) != clocks_.end();
}

Status Fmu3::set_clock(fmi3::ValueReference clock, bool ticks) {
    if (!call_.set_clock) return cannot("take ticks of clocks: it lacks fmi3SetClock");
    failure_.clear();
    const auto status = note(call_.set_clock(instance_, &clock, 1, &ticks));
    for (auto& known : clocks_) {
        if (known.first == clock && !failed(status)) known.second = ticks;
    }
    return status;
}

Status Fmu3::get_clock(fmi3::ValueReference clock, bool& ticks) {
    if (!call_.get_clock) return cannot("tell ticks of clocks: it lacks fmi3GetClock");
    failure_.clear();
    const auto status = note(call_.get_clock(instance_, &clock, 1, &ticks));
    for (auto& known : clocks_) {
        if (known.first == clock && !failed(status)) known.second = ticks;
    }
    return status;
}

Status Fmu3::interval(fmi3::ValueReference clock, bool fraction, Interval& found) {
    if (fraction ? !call_.get_fraction : !call_.get_interval) return cannot("tell an interval");
    failure_.clear();
    if (!fraction) {
        return note(call_.get_interval(instance_, &clock, 1, &found.seconds, &found.qualifier));
    }
    const auto status = note(call_.get_fraction(instance_, &clock, 1, &found.counter,
                                                &found.resolution, &found.qualifier));
    if (failed(status) || found.qualifier == fmi3::not_yet_known) return status;
    if (found.resolution == 0) return fail("the interval of a clock has the resolution 0");
    found.seconds = static_cast<double>(found.counter) / static_cast<double>(found.resolution);
    return status;
}

Status Fmu3::shift(fmi3::ValueReference clock, double& seconds) {
    if (!call_.get_shift) return cannot("tell the shift of a clock");
    failure_.clear();
    return note(call_.get_shift(instance_, &clock, 1, &seconds));
}

}  // namespace softdock
