#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <type_traits>

#include "bindings/bindings.hpp"
#include "run/engine.hpp"

namespace nb = nanobind;

namespace softdock {
namespace {

using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Array>
auto vector(const Array& array) {
    return std::vector<std::remove_const_t<typename Array::Scalar>>(array.data(),
                                                                    array.data() + array.size());
}

template <class Value>
auto array(std::vector<Value>& values, nb::handle owner) {
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

}  // namespace

void bind_engine_state(nb::module_& module) {
    nb::class_<EngineState>(module, "EngineState")
        .def("__init__",
             [](EngineState* self, std::int64_t done, std::int64_t time_ns, Doubles signals,
                Doubles samples, Integers marks, Doubles memory) {
                 new (self)
                     EngineState{done,          time_ns,       vector(signals), vector(samples),
                                 vector(marks), vector(memory)};
             })
        .def_ro("done", &EngineState::done)
        .def_ro("time_ns", &EngineState::time_ns)
        .def_prop_ro("memory", [](EngineState& s) { return array(s.memory, nb::find(s)); })
        .def_prop_ro("signals", [](EngineState& s) { return array(s.signals, nb::find(s)); })
        .def_prop_ro("samples", [](EngineState& s) { return array(s.samples, nb::find(s)); })
        .def_prop_ro("marks", [](EngineState& s) { return array(s.marks, nb::find(s)); });
}

}  // namespace softdock
