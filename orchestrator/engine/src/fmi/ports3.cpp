#include "fmi/ports3.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "fmi/fmu3.hpp"

namespace softdock {

namespace {

constexpr std::array<const char*, 12> names{"Float64", "Float32", "Int8",    "UInt8",
                                            "Int16",   "UInt16",  "Int32",   "UInt32",
                                            "Int64",   "UInt64",  "Boolean", "Clock"};

// Up to here every whole number is a double.
constexpr double exact = 9007199254740992.0;  // 2**53

template <class Value>
bool fits(double value) {
    if constexpr (std::is_same_v<Value, float>) {
        return !std::isfinite(value) || std::abs(value) <= std::numeric_limits<float>::max();
    } else {
        constexpr bool wide = sizeof(Value) == 8;
        constexpr double most =
            wide ? exact : static_cast<double>(std::numeric_limits<Value>::max());
        constexpr double least = std::is_unsigned_v<Value> ? 0.0
                                 : wide ? -exact
                                        : static_cast<double>(std::numeric_limits<Value>::min());
        return value >= least && value <= most;
    }
}

bool is_float(Type3 type) { return type == Type3::float64 || type == Type3::float32; }

// Whether a value of the FMU is a double; asked before it becomes one, which would round it.
template <class Value>
bool is_exact(Value value) {
    if constexpr (std::is_integral_v<Value> && sizeof(Value) == 8) {
        constexpr auto most = static_cast<Value>(exact);
        return value <= most && (std::is_unsigned_v<Value> || value >= -most);
    } else {
        return true;
    }
}

// A value as the FMU gets it, as a double again.
double as_sent(Type3 type, double value) {
    if (type == Type3::float64) return value;
    if (type == Type3::float32) return static_cast<double>(static_cast<float>(value));
    if (type == Type3::boolean) return value != 0.0;
    return std::nearbyint(value);
}

}  // namespace

Type3 type3(const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::invalid_argument("no type of FMI 3.0: " + name);
    return static_cast<Type3>(found - names.begin());
}

Ports3::Ports3(Fmu3& fmu, std::vector<Port3> ports) : fmu_(&fmu), ports_(std::move(ports)) {
    std::size_t first = 0;
    for (const auto& port : ports_) {
        const bool joins = !runs_.empty() && runs_.back().type == port.type &&
                           runs_.back().discrete == port.discrete &&
                           runs_.back().clocks == port.clocks;
        if (!joins) runs_.push_back({port.type, port.discrete, port.clocks, first, 0, {}});
        runs_.back().references.push_back(port.reference);
        runs_.back().values += port.size;
        first += port.size;
        if (is_float(port.type)) {
            floats_.push_back(port.reference);
            float_values_ += port.size;
        }
    }
    found_.resize(first);
    room_ = std::make_unique<unsigned char[]>(first * sizeof(double));
}

Status Ports3::misfit(const char* direction, std::size_t element, double value) {
    for (const auto& port : ports_) {
        if (element >= port.size) {
            element -= port.size;
            continue;
        }
        char number[32];
        std::snprintf(number, sizeof number, "%.17g", value);
        const std::string index = port.size > 1 ? "[" + std::to_string(element) + "]" : "";
        const bool wide = port.type == Type3::int64 || port.type == Type3::uint64;
        return fmu_->fail(std::string(direction) + " '" + port.name + index + "': " + number +
                          " does not fit " + names[static_cast<std::size_t>(port.type)] +
                          (wide ? ", of which numbers up to 2**53 travel as doubles" : ""));
    }
    return Status::error;
}

template <class Value>
Status Ports3::send(const Run& run, const fmi3::Access<Value>& access, const double* values) {
    auto* sent = room<Value>();
    for (std::size_t i = 0; i < run.values; ++i) {
        const double value = std::is_same_v<Value, float> ? values[i] : std::nearbyint(values[i]);
        if (!fits<Value>(value)) return misfit("input", run.first + i, values[i]);
        sent[i] = static_cast<Value>(value);
    }
    return fmu_->note(access.set(fmu_->instance(), run.references.data(), run.references.size(),
                                 sent, run.values));
}

template <class Value>
Status Ports3::receive(const Run& run, const fmi3::Access<Value>& access, double* values) {
    auto* received = room<Value>();
    const auto status = fmu_->note(access.get(fmu_->instance(), run.references.data(),
                                              run.references.size(), received, run.values));
    if (failed(status)) return status;
    for (std::size_t i = 0; i < run.values; ++i) {
        values[i] = static_cast<double>(received[i]);
        if (!is_exact(received[i])) return misfit("output", run.first + i, values[i]);
    }
    return status;
}

Status Ports3::set_clocks(const Run& run, const double* values) {
    auto status = Status::ok;
    for (std::size_t i = 0; i < run.values; ++i) {
        const bool ticks = values[i] != 0.0;
        if (ticks == fmu_->ticks(run.references[i])) continue;
        status = std::max(status, fmu_->set_clock(run.references[i], ticks));
        if (failed(status)) break;
    }
    return status;
}

Status Ports3::get_clocks(const Run& run, double* values) {
    auto status = Status::ok;
    for (std::size_t i = 0; i < run.values; ++i) {
        bool ticks = false;
        status = std::max(status, fmu_->get_clock(run.references[i], ticks));
        if (failed(status)) break;
        values[i] = ticks;
    }
    return status;
}

Status Ports3::set(const Run& run, const double* values) {
    const auto& call = fmu_->functions();
    switch (run.type) {
        case Type3::float64:
            return fmu_->note(call.float64.set(fmu_->instance(), run.references.data(),
                                               run.references.size(), values, run.values));
        case Type3::float32:
            return send(run, call.float32, values);
        case Type3::int8:
            return send(run, call.int8, values);
        case Type3::uint8:
            return send(run, call.uint8, values);
        case Type3::int16:
            return send(run, call.int16, values);
        case Type3::uint16:
            return send(run, call.uint16, values);
        case Type3::int32:
            return send(run, call.int32, values);
        case Type3::uint32:
            return send(run, call.uint32, values);
        case Type3::int64:
            return send(run, call.int64, values);
        case Type3::uint64:
            return send(run, call.uint64, values);
        case Type3::clock:
            return set_clocks(run, values);
        case Type3::boolean:
            break;
    }
    std::transform(values, values + run.values, room<bool>(), [](double v) { return v != 0.0; });
    return fmu_->note(call.boolean.set(fmu_->instance(), run.references.data(),
                                       run.references.size(), room<bool>(), run.values));
}

Status Ports3::get(const Run& run, double* values) {
    const auto& call = fmu_->functions();
    switch (run.type) {
        case Type3::float64:
            return fmu_->note(call.float64.get(fmu_->instance(), run.references.data(),
                                               run.references.size(), values, run.values));
        case Type3::float32:
            return receive(run, call.float32, values);
        case Type3::int8:
            return receive(run, call.int8, values);
        case Type3::uint8:
            return receive(run, call.uint8, values);
        case Type3::int16:
            return receive(run, call.int16, values);
        case Type3::uint16:
            return receive(run, call.uint16, values);
        case Type3::int32:
            return receive(run, call.int32, values);
        case Type3::uint32:
            return receive(run, call.uint32, values);
        case Type3::int64:
            return receive(run, call.int64, values);
        case Type3::uint64:
            return receive(run, call.uint64, values);
        case Type3::clock:
            return get_clocks(run, values);
        case Type3::boolean:
            break;
    }
    return receive(run, call.boolean, values);
}

bool Ports3::allows(const Run& run, Setting setting) const {
    if (setting == Setting::all) return run.type != Type3::clock;
    if (setting == Setting::continuous) return !run.discrete;
    const auto ticks = [this](fmi3ValueReference clock) { return fmu_->ticks(clock); };
    return run.type != Type3::clock &&
           (run.clocks.empty() || std::any_of(run.clocks.begin(), run.clocks.end(), ticks));
}

Status Ports3::set(const double* values, Setting setting) {
    auto status = Status::ok;
    if (setting == Setting::events) {
        for (const auto& run : runs_) {
            if (run.type != Type3::clock) continue;
            status = std::max(status, set(run, values + run.first));
            if (failed(status)) return status;
        }
    }
    for (const auto& run : runs_) {
        if (!allows(run, setting)) continue;
        status = std::max(status, set(run, values + run.first));
        if (failed(status)) return status;
    }
    return status;
}

Status Ports3::get(double* values, bool event_mode) {
    auto status = Status::ok;
    for (const auto& run : runs_) {
        if (run.type == Type3::clock && !event_mode) {
            std::fill_n(values + run.first, run.values, 0.0);
            continue;
        }
        status = std::max(status, get(run, values + run.first));
        if (failed(status)) return status;
    }
    return status;
}

Status Ports3::find_discrete_change(const double* values, bool& changed) {
    changed = false;
    for (const auto& run : runs_) {
        if (!run.discrete || run.type == Type3::clock || !run.clocks.empty()) continue;
        const auto status = get(run, found_.data());
        if (failed(status)) return status;
        for (std::size_t i = 0; i < run.values; ++i) {
            changed |= as_sent(run.type, values[run.first + i]) != found_[i];
        }
    }
    return Status::ok;
}

}  // namespace softdock
