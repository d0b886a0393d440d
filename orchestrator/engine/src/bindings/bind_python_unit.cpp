#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/bindings.hpp"
#include "bindings/python_error.hpp"
#include "bindings/python_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using PortRow = std::tuple<std::string, std::string, nb::object>;  // name, type, array or None

std::vector<Port> ports(const std::vector<PortRow>& rows) {
    std::vector<Port> made;
    for (const auto& [name, type, array] : rows) {
        Port port{PyUnicode_InternFromString(name.c_str()), type.at(0), 1, nullptr, nullptr};
        if (!array.is_none()) {
            // No conversion: that would be a copy, which nobody keeps.
            auto view = nb::cast<nb::ndarray<double, nb::c_contig, nb::device::cpu>>(array, false);
            port.size = view.size();
            port.array = view.data();
            port.keeper = Py_NewRef(array.ptr());
        }
        made.push_back(port);
    }
    return made;
}

using TextRow = std::tuple<std::string, bool>;  // name, whether it is bytes

std::vector<TextPort> text_ports(const std::vector<TextRow>& rows) {
    std::vector<TextPort> made;
    for (const auto& [name, binary] : rows) {
        made.push_back({PyUnicode_InternFromString(name.c_str()), binary});
    }
    return made;
}

// The garbage collector sees through a unit by these.
int traverse_unit(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<PythonUnit>(self)->traverse(visit, arg) : 0;
}

int clear_unit(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<PythonUnit>(self)->clear();
    return 0;
}

PyType_Slot unit_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_unit)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_unit)},
                            {0, nullptr}};
}  // namespace

void bind_python_unit(nb::module_& module) {
    module.def(
        "place_of", [](const nb::object& traceback) { return text(place_of(traceback.ptr())); },
        nb::arg().none());
    nb::class_<PythonUnit, Unit>(module, "PythonUnit", nb::type_slots(unit_slots))
        .def(
            "__init__",
            [](PythonUnit* self, nb::object block, std::string name,
               const std::vector<PortRow>& inputs, const std::vector<PortRow>& outputs) {
                new (self) PythonUnit(block.ptr(), std::move(name), ports(inputs), ports(outputs));
            },
            "block"_a, "name"_a, "inputs"_a, "outputs"_a)
        .def("bind_texts",
             [](PythonUnit& unit, const std::vector<TextRow>& inputs,
                const std::vector<TextRow>& outputs) {
                 unit.bind_texts(text_ports(inputs), text_ports(outputs));
             })
        .def(
            "bind_waveforms",
            [](PythonUnit& unit, const nb::object& waveforms, const std::vector<nb::object>& rows) {
                std::vector<double*> places;
                for (const auto& row : rows) {
                    using Rows = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
                    places.push_back(row.is_none() ? nullptr : nb::cast<Rows>(row, false).data());
                }
                unit.bind_waveforms(waveforms.ptr(), places);
            })
        .def("take_exception", [](PythonUnit& unit) -> nb::object {
            PyObject* exception = unit.take_exception();
            return exception ? nb::steal(exception) : nb::none();
        });
}

}  // namespace softdock
