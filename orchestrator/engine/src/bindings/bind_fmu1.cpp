#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bindings/bind_fmu.hpp"
#include "fmi/fmu1.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using PortsRow =
    std::tuple<References, References, References, std::vector<std::string>, std::vector<double>>;

Binding binding(const PortsRow& row) {
    return {std::get<0>(row), std::get<1>(row), std::get<2>(row), std::get<3>(row)};
}

template <class Value, class Get>
Value get(Fmu1& fmu, Get function, unsigned int reference) {
    Value value{};
    require(fmu, fmu.note(function(fmu.instance(), &reference, 1, &value)));
    return value;
}

template <class Value, class Set>
int set(Fmu1& fmu, Set function, unsigned int reference, Value value) {
    return static_cast<int>(fmu.note(function(fmu.instance(), &reference, 1, &value)));
}

}  // namespace

void bind_fmu1(nb::module_& module) {
    nb::class_<Fmu1, Fmu>(module, "Fmu1")
        .def(
            "__init__",
            [](Fmu1* self, const std::string& library, const std::string& identifier,
               const std::string& name, const std::string& guid, const std::string& location,
               bool logging) {
                new (self) Fmu1(Origin1{library, identifier, name, guid, location, logging});
            },
            "library"_a, "identifier"_a, "name"_a, "guid"_a, "location"_a, "logging"_a = false)
        .def("bind",
             [](Fmu1& fmu, const PortsRow& inputs, const PortsRow& outputs) {
                 fmu.bind(binding(inputs), binding(outputs), std::get<4>(outputs));
             })
        .def("declare", &Fmu1::declare, "takes_slopes"_a)
        .def(
            "initialise",
            [](Fmu1& fmu, double start, nb::object stop) {
                const bool stops = !stop.is_none();
                return static_cast<int>(
                    fmu.initialise(start, stops, stops ? nb::cast<double>(stop) : 0.0));
            },
            "start"_a, "stop"_a = nb::none())
        .def_prop_ro("is_initialised", &Fmu1::is_initialised)
        .def_prop_ro("is_stale", &Fmu1::is_stale)
        .def("renew", &Fmu1::renew)
        .def("terminate", [](Fmu1& fmu) { return static_cast<int>(fmu.terminate()); })
        .def("last_successful_time", &Fmu1::last_successful_time)
        .def("get_real",
             [](Fmu1& f, unsigned int r) { return get<double>(f, f.functions().get_real, r); })
        .def("get_integer",
             [](Fmu1& f, unsigned int r) { return get<int>(f, f.functions().get_integer, r); })
        .def(
            "get_boolean",
            [](Fmu1& f, unsigned int r) { return get<char>(f, f.functions().get_boolean, r) != 0; })
        .def("get_string",
             [](Fmu1& f, unsigned int r) {
                 const nb::list found = get_strings(f, {r}, 1);
                 return nb::object(found[0]);
             })
        .def("set_real",
             [](Fmu1& f, unsigned int r, double v) { return set(f, f.functions().set_real, r, v); })
        .def("set_integer",
             [](Fmu1& f, unsigned int r, int v) { return set(f, f.functions().set_integer, r, v); })
        .def("set_boolean",
             [](Fmu1& f, unsigned int r, bool v) {
                 return set(f, f.functions().set_boolean, r, static_cast<char>(v));
             })
        .def("set_string", [](Fmu1& f, unsigned int r, const std::string& v) {
            return set_strings(f, {r}, {v});
        });
}

}  // namespace softdock
