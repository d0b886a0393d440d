#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "core/linear_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {

void bind_linear_unit(nb::module_& module) {
    nb::class_<LinearUnit, Unit>(module, "LinearUnit")
        .def(
            "__init__",
            [](LinearUnit* self, std::string name, std::size_t states, std::size_t inputs,
               std::size_t outputs, int order, std::vector<LinearUnit::Transition> transitions,
               std::vector<double> direct, std::int64_t phases, double step_ns) {
                new (self) LinearUnit(std::move(name), {states, inputs, outputs}, order,
                                      std::move(transitions), std::move(direct),
                                      LinearUnit::Phases{phases, step_ns});
            },
            "name"_a, "states"_a, "inputs"_a, "outputs"_a, "order"_a, "transitions"_a,
            "direct"_a = std::vector<double>{}, "phases"_a = 1, "step_ns"_a = 1.0)
        .def_prop_ro("values", [](LinearUnit& unit) {
            auto& values = unit.values();
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(values.data(), {values.size()},
                                                               nb::find(unit));
        });
}

}  // namespace softdock
