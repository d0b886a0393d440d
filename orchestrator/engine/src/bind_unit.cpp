#include <nanobind/ndarray.h>

#include <stdexcept>

#include "bindings.hpp"
#include "unit.hpp"

namespace nb = nanobind;

namespace softdock {
namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_size(const char* what, std::size_t expected, std::size_t found) {
    if (expected == found) return;
    throw std::invalid_argument(std::string(what) + ": expected " + std::to_string(expected) +
                                " values, found " + std::to_string(found));
}

}  // namespace

void bind_unit(nb::module_& module) {
    nb::class_<Unit>(module, "Unit")
        .def_prop_ro("name", &Unit::name)
        .def_prop_ro("failure", [](Unit& unit) { return text(unit.failure()); })
        .def(
            "set_inputs",
            [](Unit& unit, Doubles values) {
                require_size("inputs", unit.input_count(), values.size());
                return static_cast<int>(unit.set_inputs(values.data()));
            },
            nb::arg().noconvert())
        .def("step",
             [](Unit& unit, std::int64_t time_ns, std::int64_t step_ns) {
                 return static_cast<int>(unit.step(time_ns, step_ns));
             })
        .def(
            "get_outputs",
            [](Unit& unit, Doubles values) {
                require_size("outputs", unit.output_count(), values.size());
                return static_cast<int>(unit.get_outputs(values.data()));
            },
            nb::arg().noconvert())
        .def_prop_ro("can_roll_back", &Unit::can_roll_back)
        .def_prop_ro("takes_slopes", &Unit::takes_slopes)
        .def_prop_ro("has_derivatives", &Unit::has_derivatives)
        .def_prop_ro("has_event_mode", &Unit::has_event_mode)
        .def("save", [](Unit& unit, std::size_t n) { return static_cast<int>(unit.save(n)); })
        .def("restore", [](Unit& unit, std::size_t n) { return static_cast<int>(unit.restore(n)); })
        .def(
            "set_slopes",
            [](Unit& unit, Doubles values) {
                require_size("slopes", unit.input_count(), values.size());
                return static_cast<int>(unit.set_slopes(values.data()));
            },
            nb::arg().noconvert())
        .def(
            "derivative",
            [](Unit& unit, Doubles inputs, Doubles outputs) {
                require_size("inputs", unit.input_count(), inputs.size());
                require_size("outputs", unit.output_count(), outputs.size());
                return static_cast<int>(unit.derivative(inputs.data(), outputs.data()));
            },
            nb::arg().noconvert(), nb::arg().noconvert());
}

}  // namespace softdock
