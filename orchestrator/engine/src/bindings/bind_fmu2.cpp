#include <stdexcept>

#include "bindings/bind_fmu.hpp"
#include "fmi/fmu2.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

Binding binding(References reals, References integers, References booleans,
                std::vector<std::string> names = {}) {
    return {std::move(reals), std::move(integers), std::move(booleans), std::move(names)};
}

// Get and set by type, for start values, parameters and single reads.
template <class Value, class Get>
std::vector<Value> get(Fmu2& fmu, Get function, const References& references) {
    std::vector<Value> values(references.size());
    const auto status =
        fmu.note(function(fmu.instance(), references.data(), references.size(), values.data()));
    if (failed(status)) throw std::runtime_error(fmu.failure());
    return values;
}

template <class Value, class Set>
int set(Fmu2& fmu, Set function, const References& references, const std::vector<Value>& values) {
    if (values.size() != references.size()) throw std::invalid_argument("one value per reference");
    return static_cast<int>(
        fmu.note(function(fmu.instance(), references.data(), references.size(), values.data())));
}

}  // namespace

void bind_fmu2(nb::module_& module) {
    nb::class_<Fmu2, Fmu>(module, "Fmu2")
        .def(
            "__init__",
            [](Fmu2* self, const std::string& library, const std::string& name,
               const std::string& guid, const std::string& resources, bool logging, bool exchange) {
                new (self) Fmu2(library, name, guid, resources, logging,
                                exchange ? fmi2ModelExchange : fmi2CoSimulation);
            },
            "library"_a, "name"_a, "guid"_a, "resources"_a, "logging"_a = false,
            "exchange"_a = false)
        .def("bind",
             [](Fmu2& fmu, References ri, References ii, References bi, References ro,
                References io, References bo, std::vector<std::string> names) {
                 fmu.bind(binding(std::move(ri), std::move(ii), std::move(bi), std::move(names)),
                          binding(std::move(ro), std::move(io), std::move(bo)));
             })
        .def("declare", &Fmu2::declare, "rolls_back"_a, "input_order"_a, "has_derivatives"_a)
        .def(
            "setup",
            [](Fmu2& fmu, double start, nb::object stop, nb::object tolerance) {
                const bool has_stop = !stop.is_none(), has_tolerance = !tolerance.is_none();
                return static_cast<int>(
                    fmu.setup(start, has_stop, has_stop ? nb::cast<double>(stop) : 0.0,
                              has_tolerance, has_tolerance ? nb::cast<double>(tolerance) : 0.0));
            },
            "start"_a, "stop"_a = nb::none(), "tolerance"_a = nb::none())
        .def("enter_initialization",
             [](Fmu2& fmu) { return static_cast<int>(fmu.enter_initialization()); })
        .def("exit_initialization",
             [](Fmu2& fmu) { return static_cast<int>(fmu.exit_initialization()); })
        .def("terminate", [](Fmu2& fmu) { return static_cast<int>(fmu.terminate()); })
        .def("last_successful_time", &Fmu2::last_successful_time)
        .def("get_real",
             [](Fmu2& f, const References& r) { return get<double>(f, f.functions().get_real, r); })
        .def("get_integer",
             [](Fmu2& f, const References& r) { return get<int>(f, f.functions().get_integer, r); })
        .def("get_boolean",
             [](Fmu2& f, const References& r) { return get<int>(f, f.functions().get_boolean, r); })
        .def("get_string", [](Fmu2& f, const References& r) { return get_strings(f, r, r.size()); })
        .def("set_real",
             [](Fmu2& f, const References& r, const std::vector<double>& v) {
                 return set(f, f.functions().set_real, r, v);
             })
        .def("set_integer",
             [](Fmu2& f, const References& r, const std::vector<int>& v) {
                 return set(f, f.functions().set_integer, r, v);
             })
        .def("set_boolean",
             [](Fmu2& f, const References& r, const std::vector<int>& v) {
                 return set(f, f.functions().set_boolean, r, v);
             })
        .def("set_string", [](Fmu2& f, const References& r, const std::vector<std::string>& v) {
            return set_strings(f, r, v);
        });
}

}  // namespace softdock
