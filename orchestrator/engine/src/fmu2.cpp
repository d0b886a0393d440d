#include "fmu2.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>

namespace softdock {

namespace {

constexpr std::size_t most_messages = 10000;

bool fits(double rounded) {
    return rounded >= std::numeric_limits<fmi2::Integer>::min() &&
           rounded <= std::numeric_limits<fmi2::Integer>::max();
}

extern "C" void log_message(fmi2::Environment environment, fmi2::String, int status,
                            fmi2::String category, fmi2::String message, ...) {
    char text[4096];
    va_list arguments;
    va_start(arguments, message);
    std::vsnprintf(text, sizeof text, message ? message : "", arguments);
    va_end(arguments);
    static_cast<Fmu2*>(environment)->log(status, category ? category : "", text);
}

template <class Function>
void find(void* library, const char* name, Function& function, bool required = true) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function && required) {
        throw std::runtime_error(std::string("its library does not export '") + name + "'");
    }
}

}  // namespace

Fmu2::Fmu2(const std::string& library, const std::string& name, const std::string& guid,
           const std::string& resources, bool logging, fmi2::Type type)
    : Unit(name) {
    load(library, type == fmi2::co_simulation);
    callbacks_ = {log_message, std::calloc, std::free, nullptr, this};
    instance_ = call_.instantiate(name.c_str(), type, guid.c_str(), resources.c_str(), &callbacks_,
                                  0, logging);
    if (!instance_) {
        std::string why = log_.empty() ? "no message" : log_.back().text;
        dlclose(library_);
        throw std::runtime_error("fmi2Instantiate returned null: " + why);
    }
}

Fmu2::~Fmu2() {
    if (!usable()) return;
    for (auto& state : kept_) {
        if (state) call_.free_state(instance_, &state);
    }
    if (instance_) call_.free_instance(instance_);
    if (library_) dlclose(library_);
}

void Fmu2::load(const std::string& library, bool steps) {
    library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
    try {
        find(library_, "fmi2Instantiate", call_.instantiate);
        find(library_, "fmi2FreeInstance", call_.free_instance);
        find(library_, "fmi2SetupExperiment", call_.setup_experiment);
        find(library_, "fmi2EnterInitializationMode", call_.enter_initialization_mode);
        find(library_, "fmi2ExitInitializationMode", call_.exit_initialization_mode);
        find(library_, "fmi2Terminate", call_.terminate);
        find(library_, "fmi2GetReal", call_.get_real);
        find(library_, "fmi2GetInteger", call_.get_integer);
        find(library_, "fmi2GetBoolean", call_.get_boolean);
        find(library_, "fmi2GetString", call_.get_string);
        find(library_, "fmi2SetReal", call_.set_real);
        find(library_, "fmi2SetInteger", call_.set_integer);
        find(library_, "fmi2SetBoolean", call_.set_boolean);
        find(library_, "fmi2SetString", call_.set_string);
        find(library_, "fmi2DoStep", call_.do_step, steps);
        find(library_, "fmi2GetRealStatus", call_.get_real_status, steps);
        find(library_, "fmi2GetFMUstate", call_.get_state, false);
        find(library_, "fmi2SetFMUstate", call_.set_state, false);
        find(library_, "fmi2FreeFMUstate", call_.free_state, false);
        find(library_, "fmi2SerializedFMUstateSize", call_.serialized_size, false);
        find(library_, "fmi2SerializeFMUstate", call_.serialize_state, false);
        find(library_, "fmi2DeSerializeFMUstate", call_.deserialize_state, false);
        find(library_, "fmi2SetRealInputDerivatives", call_.set_slopes, false);
        find(library_, "fmi2GetDirectionalDerivative", call_.get_derivative, false);
    } catch (...) {
        dlclose(library_);
        throw;
    }
}

void* Fmu2::find_symbol(const char* name) {
    void* symbol = nullptr;
    find(library_, name, symbol);
    return symbol;
}

void Fmu2::bind(Binding inputs, Binding outputs) {
    inputs_ = std::move(inputs);
    outputs_ = std::move(outputs);
    input_count_ = inputs_.size();
    output_count_ = outputs_.size();
    scratch_.resize(std::max(inputs_.size(), outputs_.size()));
    orders_.assign(inputs_.reals.size(), 1);
}

Status Fmu2::note(int status) {
    const bool known = status >= 0 && status <= static_cast<int>(Status::pending);
    const auto noted = known ? static_cast<Status>(status) : Status::error;
    if (noted != Status::pending) worst_ = std::max(worst_, noted);
    return noted;
}

Status Fmu2::set_inputs(const double* values) {
    failure_.clear();
    auto status = Status::ok;
    if (const auto n = inputs_.reals.size()) {
        status = note(call_.set_real(instance_, inputs_.reals.data(), n, values));
        values += n;
        if (failed(status)) return status;
    }
    if (const auto n = inputs_.integers.size()) {
        for (std::size_t i = 0; i < n; ++i) {
            const double rounded = std::nearbyint(*values++);
            if (!fits(rounded)) {
                failure_ = "Integer input number " + std::to_string(i) +
                           " does not fit the 32 bits of FMI 2.0: " + std::to_string(rounded);
                return Status::error;
            }
            scratch_[i] = static_cast<fmi2::Integer>(rounded);
        }
        const auto s =
            note(call_.set_integer(instance_, inputs_.integers.data(), n, scratch_.data()));
        status = std::max(status, s);
        if (failed(status)) return status;
    }
    if (const auto n = inputs_.booleans.size()) {
        for (std::size_t i = 0; i < n; ++i) scratch_[i] = *values++ != 0.0;
        const auto s =
            note(call_.set_boolean(instance_, inputs_.booleans.data(), n, scratch_.data()));
        status = std::max(status, s);
    }
    return status;
}

Status Fmu2::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    const int no_way_back = saved_ == 0 && kept_.empty();
    const auto status =
        note(call_.do_step(instance_, to_seconds(time_ns), to_seconds(step_ns), no_way_back));
    reached_.time_ns = time_ns + step_ns;
    return status;
}

void Fmu2::declare(bool rolls_back, bool takes_slopes, bool has_derivatives) {
    rolls_back_ = rolls_back;
    takes_slopes_ = takes_slopes;
    has_derivatives_ = has_derivatives;
}

Status Fmu2::save(std::size_t number) {
    if (!can_roll_back()) return cannot("save its state");
    failure_.clear();
    if (number >= kept_.size()) kept_.resize(number + 1, nullptr);
    return note(call_.get_state(instance_, &kept_[number]));
}

Status Fmu2::restore(std::size_t number) {
    if (number >= kept_.size() || !kept_[number]) return cannot("go back to what was not saved");
    failure_.clear();
    if (!usable()) return Status::fatal;
    const auto status = note(call_.set_state(instance_, kept_[number]));
    if (!failed(status)) recovered();
    return status;
}

Status Fmu2::set_slopes(const double* slopes) {
    const auto n = inputs_.reals.size();
    if (!takes_slopes()) return cannot("take slopes of its inputs");
    failure_.clear();
    if (n == 0) return Status::ok;
    return note(call_.set_slopes(instance_, inputs_.reals.data(), n, orders_.data(), slopes));
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
    auto status = Status::ok;
    if (const auto n = outputs_.reals.size()) {
        status = note(call_.get_real(instance_, outputs_.reals.data(), n, values));
        values += n;
        if (failed(status)) return status;
    }
    if (const auto n = outputs_.integers.size()) {
        const auto s =
            note(call_.get_integer(instance_, outputs_.integers.data(), n, scratch_.data()));
        status = std::max(status, s);
        if (failed(status)) return status;
        for (std::size_t i = 0; i < n; ++i) *values++ = scratch_[i];
    }
    if (const auto n = outputs_.booleans.size()) {
        const auto s =
            note(call_.get_boolean(instance_, outputs_.booleans.data(), n, scratch_.data()));
        status = std::max(status, s);
        if (failed(status)) return status;
        for (std::size_t i = 0; i < n; ++i) *values++ = scratch_[i] != 0;
    }
    return status;
}

Status Fmu2::setup(double start, bool has_stop, double stop, bool has_tolerance, double tolerance) {
    failure_.clear();
    return note(call_.setup_experiment(instance_, has_tolerance, tolerance, start, has_stop, stop));
}

Status Fmu2::enter_initialization() {
    failure_.clear();
    return note(call_.enter_initialization_mode(instance_));
}

Status Fmu2::exit_initialization() {
    failure_.clear();
    return note(call_.exit_initialization_mode(instance_));
}

Status Fmu2::terminate() {
    // After an error the standard allows to free the instance, not to terminate it.
    return worst_ < Status::error ? note(call_.terminate(instance_)) : Status::ok;
}

double Fmu2::last_successful_time() {
    double time = 0.0;
    call_.get_real_status(instance_, fmi2::last_successful_time, &time);
    return time;
}

std::vector<LogMessage> Fmu2::take_log() {
    const std::lock_guard<std::mutex> lock(log_mutex_);
    std::vector<LogMessage> taken;
    taken.swap(log_);
    return taken;
}

void Fmu2::log(int status, const char* category, std::string text) {
    const std::lock_guard<std::mutex> lock(log_mutex_);
    if (failed(static_cast<Status>(status))) failure_ = text;
    if (log_.size() < most_messages) log_.push_back({status, category, std::move(text)});
}

}  // namespace softdock
