#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <utility>

#include "bindings/bindings.hpp"
#include "devices/device_block.hpp"
#include "devices/device_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Limit = std::tuple<std::string, double, double, double>;

void expect_size(std::size_t expected, std::size_t found) {
    if (expected == found) return;
    throw std::invalid_argument("expected " + std::to_string(expected) + " values, found " +
                                std::to_string(found));
}

std::vector<CommandLimit> limits(const std::vector<Limit>& rows) {
    std::vector<CommandLimit> found;
    for (const auto& [name, least, most, start] : rows) found.push_back({name, least, most, start});
    return found;
}

}  // namespace

void bind_device(nb::module_& module) {
    nb::class_<SampleFacts>(module, "SampleFacts")
        .def(nb::init<>())
        .def_rw("received_ns", &SampleFacts::received_ns)
        .def_rw("device_time", &SampleFacts::device_time)
        .def_rw("number", &SampleFacts::number)
        .def_rw("lost", &SampleFacts::lost)
        .def_rw("late", &SampleFacts::late)
        .def_rw("repeated", &SampleFacts::repeated)
        .def_rw("malformed", &SampleFacts::malformed)
        .def_rw("restarts", &SampleFacts::restarts)
        .def_rw("valid", &SampleFacts::valid)
        .def_rw("status", &SampleFacts::status)
        .def_rw("shaped", &SampleFacts::shaped)
        .def_rw("taken", &SampleFacts::taken)
        .def_rw("missed", &SampleFacts::missed);

    nb::class_<DeviceBlock>(module, "DeviceBlock")
        .def(nb::init<int, std::size_t, std::size_t>(), "file"_a, "commands"_a, "measurements"_a)
        .def_static("size", &DeviceBlock::size, "commands"_a, "measurements"_a)
        .def(
            "put_sample",
            [](DeviceBlock& block, const SampleFacts& facts, Doubles values) {
                expect_size(block.measurement_count(), values.size());
                block.put_sample(facts, values.data());
            },
            "facts"_a, nb::arg("values").noconvert())
        .def(
            "newest_command",
            [](DeviceBlock& block, Doubles values) {
                expect_size(block.command_count(), values.size());
                CommandFacts facts;
                const bool given = block.newest_command(facts, values.data());
                return given ? std::tuple(facts.number, facts.step_ns)
                             : std::tuple(std::uint64_t{0}, std::int64_t{0});
            },
            nb::arg("values").noconvert())
        .def_prop_ro("ticks", &DeviceBlock::ticks, nb::rv_policy::reference_internal)
        .def("lose", &DeviceBlock::lose, "why"_a)
        .def("remark", nb::overload_cast<const std::string&>(&DeviceBlock::remark), "what"_a)
        .def_prop_ro("remarked", [](const DeviceBlock& block) { return text(block.remark()); })
        .def_prop_ro("lost", &DeviceBlock::lost)
        .def("hold", &DeviceBlock::hold, "held"_a)
        .def_prop_ro("held", &DeviceBlock::held)
        .def_prop_ro("reason", [](const DeviceBlock& block) { return text(block.reason()); })
        .def_prop_ro("commands_given",
                     [](const DeviceBlock& block) { return block.commands().count(); })
        .def_prop_ro("samples_given",
                     [](const DeviceBlock& block) { return block.samples().count(); })
        .def(
            "wait_command",
            [](const DeviceBlock& block, std::uint32_t old, std::int64_t time_ns) {
                block.commands().wait(old, time_ns);
                return block.commands().count();
            },
            "old"_a, "time_ns"_a, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "wait_sample",
            [](const DeviceBlock& block, std::uint32_t old, std::int64_t time_ns) {
                block.samples().wait(old, time_ns);
                return block.samples().count();
            },
            "old"_a, "time_ns"_a, nb::call_guard<nb::gil_scoped_release>());

    nb::class_<DeviceUnit, Unit>(module, "DeviceUnit")
        .def(
            "__init__",
            [](DeviceUnit* self, DeviceBlock& block, std::string name, std::int64_t stale_ns,
               bool holds, bool clamps, const std::vector<Limit>& rows) {
                new (self)
                    DeviceUnit(block, std::move(name), {stale_ns, holds, clamps}, limits(rows));
            },
            nb::keep_alive<1, 2>(), "block"_a, "name"_a, "stale_ns"_a, "holds"_a, "clamps"_a,
            "limits"_a)
        .def("bind", &DeviceUnit::bind, "inputs"_a, "outputs"_a)
        .def("begin", [](DeviceUnit& unit) { return static_cast<int>(unit.begin()); })
        .def(
            "give",
            [](DeviceUnit& unit, std::size_t number, double value) {
                return static_cast<int>(unit.give(number, value));
            },
            "number"_a, "value"_a)
        .def("refresh", &DeviceUnit::refresh)
        .def_prop_ro("facts", &DeviceUnit::facts, nb::rv_policy::copy)
        .def_prop_ro("values", &DeviceUnit::values)
        .def_prop_ro("stale_steps", &DeviceUnit::stale_steps)
        .def_prop_ro("first_stale_ns", &DeviceUnit::first_stale_ns)
        .def_prop_ro("first_clamped_ns", &DeviceUnit::first_clamped_ns)
        .def_prop_ro("unsent", &DeviceUnit::unsent)
        .def_prop_ro("first_unsent_ns", &DeviceUnit::first_unsent_ns);
}

}  // namespace softdock
