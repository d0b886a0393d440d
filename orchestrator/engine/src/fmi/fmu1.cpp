#include "fmi/fmu1.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace softdock {

namespace {

// The logger of FMI 1.0 gets the instance, but nothing that says who made it; while an instance is
// being made there is not even that.
class Instances {
  public:
    void add(void* instance, Fmu1* owner) {
        const std::lock_guard<std::mutex> lock(mutex_);
        owners_[instance] = owner;
    }
    void remove(void* instance) {
        const std::lock_guard<std::mutex> lock(mutex_);
        owners_.erase(instance);
    }
    Fmu1* owner(void* instance) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = owners_.find(instance);
        return found == owners_.end() ? nullptr : found->second;
    }

  private:
    std::mutex mutex_;
    std::unordered_map<void*, Fmu1*> owners_;
};

Instances instances;
thread_local Fmu1* being_made = nullptr;

extern "C" void log_message1(fmi1::Component instance, fmi1::String, int status,
                             fmi1::String category, fmi1::String message, ...) {
    Fmu1* owner = instances.owner(instance);
    if (!owner) owner = being_made;
    if (!owner) return;
    va_list arguments;
    va_start(arguments, message);
    owner->log(status, category, message, arguments);
    va_end(arguments);
}

}  // namespace

Fmu1::Fmu1(Origin1 origin) : ScalarFmu(origin.name, origin.library), origin_(std::move(origin)) {
    load();
    instantiate();
}

Fmu1::~Fmu1() {
    instances.remove(instance_);
    release(call_.free_instance);
}

void Fmu1::instantiate() {
    const fmi1::Callbacks callbacks{log_message1, std::calloc, std::free, nullptr};
    being_made = this;
    instance_ = call_.instantiate(origin_.name.c_str(), origin_.guid.c_str(),
                                  origin_.location.c_str(), "application/x-fmu-sharedlibrary", 0.0,
                                  false, false, callbacks, origin_.logging);
    being_made = nullptr;
    require_instance("fmiInstantiateSlave");
    instances.add(instance_, this);
}

void Fmu1::renew() {
    instances.remove(instance_);
    call_.free_instance(std::exchange(instance_, nullptr));
    initialised_ = false;
    instantiate();
}

void Fmu1::load() {
    const auto prefix = origin_.identifier + "_fmi";
    find(prefix + "InstantiateSlave", call_.instantiate);
    find(prefix + "InitializeSlave", call_.initialise);
    find(prefix + "TerminateSlave", call_.terminate);
    find(prefix + "FreeSlaveInstance", call_.free_instance);
    find(prefix + "GetReal", call_.get_real);
    find(prefix + "GetInteger", call_.get_integer);
    find(prefix + "GetBoolean", call_.get_boolean);
    find(prefix + "GetString", call_.get_string);
    find(prefix + "SetReal", call_.set_real);
    find(prefix + "SetInteger", call_.set_integer);
    find(prefix + "SetBoolean", call_.set_boolean);
    find(prefix + "SetString", call_.set_string);
    find(prefix + "DoStep", call_.do_step);
    find(prefix + "GetRealStatus", call_.get_real_status, false);
    find(prefix + "SetRealInputDerivatives", call_.set_slopes, false);
}

void Fmu1::bind(Binding inputs, Binding outputs, std::vector<double> signs) {
    connect(std::move(inputs), std::move(outputs));
    signs_ = std::move(signs);
    given_.assign(input_count_, 0.0);
    used_ = given_;
    orders_.assign(inputs_.reals.size(), 1);
}

Status Fmu1::set_inputs(const double* values) {
    failure_.clear();
    std::copy_n(values, given_.size(), given_.begin());
    return send(values);
}

Status Fmu1::initialise(double start, bool has_stop, double stop) {
    failure_.clear();
    auto status = send(given_.data());
    if (failed(status)) return status;
    status = std::max(
        status, note(call_.initialise(instance_, start, has_stop, stop_to_tell(start, stop))));
    initialised_ = !failed(status);
    used_ = given_;
    return status;
}

Status Fmu1::step(std::int64_t time_ns, std::int64_t step_ns) {
    failure_.clear();
    reached_.time_ns = time_ns + step_ns;
    return note(call_.do_step(instance_, to_seconds(time_ns), to_seconds(step_ns), true));
}

Status Fmu1::set_input_derivatives(const InputDerivatives& derivatives) {
    if (derivatives.order > input_order()) return cannot("take such derivatives of its inputs");
    failure_.clear();
    const auto n = inputs_.reals.size();
    if (n == 0 || !derivatives.order) return Status::ok;
    return note(
        call_.set_slopes(instance_, inputs_.reals.data(), n, orders_.data(), derivatives.of(1)));
}

Status Fmu1::get_outputs(double* values) {
    failure_.clear();
    const auto status = receive(values);
    if (failed(status)) return status;
    for (std::size_t i = 0; i < signs_.size(); ++i) values[i] *= signs_[i];
    return status;
}

Status Fmu1::terminate() { return initialised_ ? Fmu::terminate(call_.terminate) : Status::ok; }

double Fmu1::last_successful_time(double otherwise) {
    double time = otherwise;
    if (call_.get_real_status) {
        call_.get_real_status(instance_, fmi1::last_successful_time, &time);
    }
    return time;
}

}  // namespace softdock
