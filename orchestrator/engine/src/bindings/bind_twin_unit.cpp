#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "bindings/bindings.hpp"
#include "devices/twin_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Row = std::tuple<std::int64_t, int, double, double, double, double, double, std::uint64_t>;

std::vector<TwinChannel> channels_of(const std::vector<Row>& rows) {
    std::vector<TwinChannel> found;
    for (const auto& [delay, order, frequency, damping, gain, noise, step, key] : rows) {
        found.push_back({delay, order, frequency, damping, gain, noise, step, key});
    }
    return found;
}

}  // namespace

void bind_twin_unit(nb::module_& module) {
    nb::class_<TwinUnit, Unit>(module, "TwinUnit")
        .def(nb::init<Unit&>(), "inner"_a, nb::keep_alive<1, 2>())
        .def(
            "bind",
            [](TwinUnit& unit, const std::vector<Row>& channels,
               std::vector<std::int64_t> by_output) {
                unit.bind(channels_of(channels), std::move(by_output));
            },
            "channels"_a, "by_output"_a)
        .def(
            "begin",
            [](TwinUnit& unit, std::int64_t time) { return static_cast<int>(unit.begin(time)); },
            "time_ns"_a);
}

}  // namespace softdock
