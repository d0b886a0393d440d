#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>

#include "bindings.hpp"
#include "fmu2.hpp"
#include "saved_state.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using References = std::vector<fmi2::ValueReference>;

Binding binding(References reals, References integers, References booleans) {
    return {std::move(reals), std::move(integers), std::move(booleans)};
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

int set_strings(Fmu2& fmu, const References& references, const std::vector<std::string>& values) {
    std::vector<const char*> texts;
    for (const auto& value : values) texts.push_back(value.c_str());
    return set(fmu, fmu.functions().set_string, references, texts);
}

nb::list get_strings(Fmu2& fmu, const References& references) {
    nb::list texts;
    for (const char* value : get<const char*>(fmu, fmu.functions().get_string, references)) {
        texts.append(text(value ? value : ""));
    }
    return texts;
}

}  // namespace

void bind_fmu2(nb::module_& module) {
    nb::class_<SavedState>(module, "SavedState").def("serialize", [](const SavedState& state) {
        const auto bytes = state.serialize();
        return nb::bytes(bytes.data(), bytes.size());
    });

    nb::class_<Fmu2, Unit>(module, "Fmu2")
        .def(
            "__init__",
            [](Fmu2* self, const std::string& library, const std::string& name,
               const std::string& guid, const std::string& resources, bool logging, bool exchange) {
                new (self) Fmu2(library, name, guid, resources, logging,
                                exchange ? fmi2::model_exchange : fmi2::co_simulation);
            },
            "library"_a, "name"_a, "guid"_a, "resources"_a, "logging"_a = false,
            "exchange"_a = false)
        .def("bind",
             [](Fmu2& fmu, References ri, References ii, References bi, References ro,
                References io, References bo) {
                 fmu.bind(binding(std::move(ri), std::move(ii), std::move(bi)),
                          binding(std::move(ro), std::move(io), std::move(bo)));
             })
        .def("declare", &Fmu2::declare, "rolls_back"_a, "takes_slopes"_a, "has_derivatives"_a)
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
        .def("get_string", &get_strings)
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
        .def("set_string", &set_strings)
        .def(
            "get_state", [](Fmu2& fmu) { return std::make_unique<SavedState>(fmu); },
            nb::keep_alive<0, 1>())
        .def(
            "deserialize_state",
            [](Fmu2& fmu, nb::bytes bytes) {
                return std::make_unique<SavedState>(fmu, std::string(bytes.c_str(), bytes.size()));
            },
            nb::keep_alive<0, 1>())
        .def("set_state", [](Fmu2& fmu, const SavedState& state) { return state.restore(fmu); })
        .def("take_log", [](Fmu2& fmu) {
            nb::list messages;
            for (const auto& entry : fmu.take_log()) {
                messages.append(
                    nb::make_tuple(entry.status, text(entry.category), text(entry.text)));
            }
            return messages;
        });
}

}  // namespace softdock
