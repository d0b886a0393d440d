#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings/bindings.hpp"
#include "devices/log_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Times = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Log log_of(const Times& times, const Rows& rows, std::vector<bool> held) {
    Log log;
    log.times_ns.assign(times.data(), times.data() + times.size());
    log.columns = rows.shape(1);
    log.values.assign(rows.data(), rows.data() + rows.size());
    log.held = std::move(held);
    return log;
}

}  // namespace

void bind_log_unit(nb::module_& module) {
    nb::class_<LogUnit, Unit>(module, "LogUnit")
        .def(
            "__init__",
            [](LogUnit* self, std::string name, Times times, Rows rows, std::vector<bool> held) {
                new (self) LogUnit(std::move(name), log_of(times, rows, std::move(held)));
            },
            "name"_a, "times_ns"_a, "values"_a, "held"_a)
        .def("bind", &LogUnit::bind, "inputs"_a, "outputs"_a)
        .def(
            "begin",
            [](LogUnit& unit, std::int64_t time) { return static_cast<int>(unit.begin(time)); },
            "time_ns"_a)
        .def_prop_ro("differences",
                     [](const LogUnit& unit) {
                         nb::list found;
                         for (const auto& each : unit.differences()) {
                             found.append(nb::make_tuple(each.most, each.time_ns, each.steps));
                         }
                         return found;
                     })
        .def_prop_ro("interpolated", &LogUnit::interpolated)
        .def_prop_ro("compared", &LogUnit::compared);
}

}  // namespace softdock
