#include "bindings/bind_fmu.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <tuple>

#include "fmi/saved_state.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using TextRow = std::tuple<std::string, bool, std::uint32_t, std::size_t>;  // binary, ref., size

TextPorts text_ports(const std::vector<TextRow>& rows) {
    TextPorts ports;
    for (const auto& [name, binary, reference, size] : rows) {
        (binary ? ports.binaries : ports.strings).push_back(reference);
        (binary ? ports.binary_count : ports.string_count) += size;
        for (std::size_t i = 0; i < size; ++i) {
            ports.names.push_back(size == 1 ? name : name + "[" + std::to_string(i) + "]");
        }
    }
    return ports;
}

nb::list take_log(Fmu& fmu) {
    nb::list messages;
    for (const auto& entry : fmu.take_log()) {
        messages.append(nb::make_tuple(entry.status, text(entry.category), text(entry.text)));
    }
    return messages;
}

}  // namespace

void require(Fmu& fmu, Status status) {
    if (failed(status)) throw std::runtime_error(fmu.failure());
}

nb::list get_strings(Fmu& fmu, const References& references, std::size_t count) {
    std::vector<const char*> values(count);
    require(fmu, fmu.get_strings(references, values.data(), count));
    nb::list texts;
    for (const char* value : values) texts.append(text(value ? value : ""));
    return texts;
}

int set_strings(Fmu& fmu, const References& references, const std::vector<std::string>& values) {
    std::vector<const char*> texts;
    for (const auto& value : values) texts.push_back(value.c_str());
    return static_cast<int>(fmu.set_strings(references, texts.data(), texts.size()));
}

void bind_fmu(nb::module_& module) {
    nb::class_<SavedState>(module, "SavedState").def("serialize", [](const SavedState& state) {
        const auto bytes = state.serialize();
        return nb::bytes(bytes.data(), bytes.size());
    });

    nb::class_<Fmu, Unit>(module, "Fmu")
        .def("bind_texts",
             [](Fmu& fmu, const std::vector<TextRow>& inputs, const std::vector<TextRow>& outputs) {
                 fmu.bind_texts(text_ports(inputs), text_ports(outputs));
             })
        .def(
            "get_state", [](Fmu& fmu) { return std::make_unique<SavedState>(fmu); },
            nb::keep_alive<0, 1>())
        .def(
            "deserialize_state",
            [](Fmu& fmu, nb::bytes bytes) {
                return std::make_unique<SavedState>(fmu, std::string(bytes.c_str(), bytes.size()));
            },
            nb::keep_alive<0, 1>())
        .def("set_state", [](Fmu& fmu, const SavedState& state) { return state.restore(fmu); })
        .def("log_categories", &Fmu::log_categories, "categories"_a)
        .def("take_log", &take_log);
}

}  // namespace softdock
