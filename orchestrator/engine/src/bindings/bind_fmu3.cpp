#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/bind_fmu.hpp"
#include "fmi/fmu3.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

// name, type, value reference, elements, whether it is discrete, clocks
using PortRow = std::tuple<std::string, std::string, std::uint32_t, std::size_t, bool, References>;

// clock, kind, fraction, (seconds, counter, resolution) of the interval, shift, its counter
using TimerRow = std::tuple<std::uint32_t, int, bool, double, std::uint64_t, std::uint64_t, double,
                            std::uint64_t>;

std::vector<Timer> timers(const std::vector<TimerRow>& rows) {
    std::vector<Timer> made;
    for (const auto& [clock, kind, fraction, seconds, counter, resolution, shift, more] : rows) {
        const bool known = seconds > 0.0 || counter > 0;
        const Interval interval{known ? fmi3IntervalChanged : fmi3IntervalNotYetKnown, seconds,
                                counter, resolution};
        made.push_back({clock, static_cast<Timer::Kind>(kind), fraction, interval, shift, more});
    }
    return made;
}

std::vector<Port3> ports(const std::vector<PortRow>& rows) {
    std::vector<Port3> made;
    for (const auto& [name, type, reference, size, discrete, clocks] : rows) {
        made.push_back({name, type3(type), reference, size, discrete, clocks});
    }
    return made;
}

// Calls a function with the getter and setter of a type of numbers.
template <class Function>
auto with_access(Fmu3& fmu, Type3 type, Function function) {
    const auto& call = fmu.functions();
    switch (type) {
        case Type3::float64:
            return function(call.float64);
        case Type3::float32:
            return function(call.float32);
        case Type3::int8:
            return function(call.int8);
        case Type3::uint8:
            return function(call.uint8);
        case Type3::int16:
            return function(call.int16);
        case Type3::uint16:
            return function(call.uint16);
        case Type3::int32:
            return function(call.int32);
        case Type3::uint32:
            return function(call.uint32);
        case Type3::int64:
            return function(call.int64);
        case Type3::uint64:
            return function(call.uint64);
        case Type3::boolean:
            return function(call.boolean);
        case Type3::clock:
            break;
    }
    throw std::invalid_argument("a clock is not read as a number");
}

nb::list get(Fmu3& fmu, const std::string& type, std::uint32_t reference, std::size_t count) {
    return with_access(fmu, type3(type), [&](const auto& access) {
        using Value = typename std::decay_t<decltype(access)>::Type;
        auto values = std::make_unique<Value[]>(count);
        require(fmu, fmu.note(access.get(fmu.instance(), &reference, 1, values.get(), count)));
        nb::list found;
        for (std::size_t i = 0; i < count; ++i) found.append(nb::cast(values[i]));
        return found;
    });
}

int set(Fmu3& fmu, const std::string& type, std::uint32_t reference, const nb::list& given) {
    return with_access(fmu, type3(type), [&](const auto& access) {
        using Value = typename std::decay_t<decltype(access)>::Type;
        const std::size_t count = given.size();
        auto values = std::make_unique<Value[]>(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = nb::cast<Value>(given[i]);
        return static_cast<int>(
            fmu.note(access.set(fmu.instance(), &reference, 1, values.get(), count)));
    });
}

int set_binary(Fmu3& fmu, std::uint32_t reference, const std::vector<nb::bytes>& values) {
    std::vector<std::size_t> sizes;
    std::vector<const std::uint8_t*> data;
    for (const auto& value : values) {
        sizes.push_back(value.size());
        data.push_back(static_cast<const std::uint8_t*>(value.data()));
    }
    return static_cast<int>(fmu.set_binaries({reference}, sizes.data(), data.data(), data.size()));
}

nb::list get_binary(Fmu3& fmu, std::uint32_t reference, std::size_t count) {
    std::vector<std::size_t> sizes(count);
    std::vector<const std::uint8_t*> data(count);
    require(fmu, fmu.get_binaries({reference}, sizes.data(), data.data(), count));
    nb::list found;
    for (std::size_t i = 0; i < count; ++i) found.append(nb::bytes(data[i], sizes[i]));
    return found;
}

nb::tuple interval(Fmu3& fmu, std::uint32_t clock, bool fraction) {
    Interval found;
    require(fmu, fmu.interval(clock, fraction, found));
    return nb::make_tuple(static_cast<int>(found.qualifier), found.seconds, found.counter,
                          found.resolution);
}

bool get_clock(Fmu3& fmu, std::uint32_t clock) {
    bool ticks = false;
    require(fmu, fmu.get_clock(clock, ticks));
    return ticks;
}

double shift(Fmu3& fmu, std::uint32_t clock) {
    double seconds = 0.0;
    require(fmu, fmu.shift(clock, seconds));
    return seconds;
}

int configure(Fmu3& fmu, bool enter) {
    const auto& call = fmu.functions();
    const auto function = enter ? call.enter_configuration_mode : call.exit_configuration_mode;
    if (!function) throw std::runtime_error("its library exports no configuration mode");
    return static_cast<int>(fmu.note(function(fmu.instance())));
}

}  // namespace

void bind_fmu3(nb::module_& module) {
    nb::class_<Fmu3, Fmu>(module, "Fmu3")
        .def(
            "__init__",
            [](Fmu3* self, const std::string& library, const std::string& name,
               const std::string& token, const std::string& resources, bool logging,
               bool event_mode, bool early_return, bool exchange, References followed) {
                new (self) Fmu3(
                    library, name, token, resources,
                    Options3{logging, event_mode, early_return, exchange, std::move(followed)});
            },
            "library"_a, "name"_a, "token"_a, "resources"_a, "logging"_a = false,
            "event_mode"_a = false, "early_return"_a = false, "exchange"_a = false,
            "followed"_a = References{})
        .def_prop_ro("unasked_ns",
                     [](const Fmu3& fmu) -> std::optional<std::int64_t> {
                         if (fmu.unasked_ns() == Unit::never) return std::nullopt;
                         return fmu.unasked_ns();
                     })
        .def_prop_ro("astray",
                     [](const Fmu3& fmu) -> std::optional<std::pair<std::int64_t, double>> {
                         const auto& found = fmu.astray();
                         if (found.begin_ns == Unit::never) return std::nullopt;
                         return std::make_pair(found.begin_ns, found.said_s);
                     })
        .def("bind",
             [](Fmu3& fmu, const std::vector<PortRow>& inputs,
                const std::vector<PortRow>& outputs) { fmu.bind(ports(inputs), ports(outputs)); })
        .def("drive", [](Fmu3& fmu, const std::vector<TimerRow>& rows) { fmu.drive(timers(rows)); })
        .def("declare", &Fmu3::declare, "rolls_back"_a, "has_derivatives"_a)
        .def(
            "initialise",
            [](Fmu3& fmu, double start, nb::object stop, nb::object tolerance) {
                const bool stops = !stop.is_none(), tolerates = !tolerance.is_none();
                return static_cast<int>(
                    fmu.initialise(start, stops, stops ? nb::cast<double>(stop) : 0.0, tolerates,
                                   tolerates ? nb::cast<double>(tolerance) : 0.0));
            },
            "start"_a, "stop"_a = nb::none(), "tolerance"_a = nb::none())
        .def("exit_initialization",
             [](Fmu3& fmu) { return static_cast<int>(fmu.exit_initialization()); })
        .def("configure", &configure, "enter"_a)
        .def("settle", [](Fmu3& fmu) { return static_cast<int>(fmu.settle()); })
        .def("terminate", [](Fmu3& fmu) { return static_cast<int>(fmu.terminate()); })
        .def("get", &get, "kind"_a, "reference"_a, "count"_a = 1)
        .def("set", &set)
        .def("get_string", [](Fmu3& fmu, std::uint32_t reference,
                              std::size_t count) { return get_strings(fmu, {reference}, count); })
        .def("set_string",
             [](Fmu3& fmu, std::uint32_t reference, const std::vector<std::string>& values) {
                 return set_strings(fmu, {reference}, values);
             })
        .def("get_binary", &get_binary)
        .def("set_binary", &set_binary)
        .def("get_clock", &get_clock)
        .def("set_clock", [](Fmu3& fmu, std::uint32_t clock,
                             bool ticks) { return static_cast<int>(fmu.set_clock(clock, ticks)); })
        .def("interval", &interval, "clock"_a, "fraction"_a = false)
        .def("shift", &shift);
}

}  // namespace softdock
