#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>

#include "bindings/bindings.hpp"
#include "core/unit.hpp"
#include "host/surroundings.hpp"

namespace nb = nanobind;

namespace softdock {
namespace {

using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void require_size(const char* what, std::size_t expected, std::size_t found) {
    if (expected == found) return;
    throw std::invalid_argument(std::string(what) + ": expected " + std::to_string(expected) +
                                " values, found " + std::to_string(found));
}

// Whether the interpreter runs no other thread than the main one.
bool is_only_thread() {
    return nb::cast<long>(nb::module_::import_("_thread").attr("_count")()) == 0;
}

}  // namespace

void bind_unit(nb::module_& module) {
    nb::class_<Surroundings>(module, "Surroundings")
        .def("__init__", [](Surroundings* self) { new (self) Surroundings(is_only_thread()); })
        .def("put_back", [](const Surroundings& before) {
            const auto changes = before.put_back(is_only_thread());
            nb::list back, left;
            for (const auto& t : changes.put_back) back.append(text(t));
            for (const auto& t : changes.left) left.append(text(t));
            return nb::make_tuple(back, left);
        });

    nb::class_<Unit>(module, "Unit")
        .def_prop_ro("name", [](const Unit& unit) { return text(unit.name()); })
        .def_prop_ro("failure", [](Unit& unit) { return text(unit.failure()); })
        .def(
            "set_inputs",
            [](Unit& unit, Doubles values) {
                require_size("inputs", unit.input_count(), values.size());
                const ModeKept kept(unit);
                return static_cast<int>(unit.set_inputs(values.data()));
            },
            nb::arg().noconvert())
        .def("step",
             [](Unit& unit, std::int64_t time_ns, std::int64_t step_ns) {
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.step(time_ns, step_ns));
             })
        .def(
            "get_outputs",
            [](Unit& unit, Doubles values) {
                require_size("outputs", unit.output_count(), values.size());
                const ModeKept kept(unit);
                return static_cast<int>(unit.get_outputs(values.data()));
            },
            nb::arg().noconvert())
        .def("set_texts",
             [](Unit& unit, const std::vector<nb::bytes>& values) {
                 require_size("texts", unit.text_input_count(), values.size());
                 std::vector<std::string> texts;
                 for (const auto& value : values) texts.emplace_back(value.c_str(), value.size());
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.set_texts(texts.data()));
             })
        .def("get_texts",
             [](Unit& unit) {
                 std::vector<std::string> texts(unit.text_output_count());
                 const ModeKept kept(unit);
                 const auto status = static_cast<int>(unit.get_texts(texts.data()));
                 nb::list found;
                 for (const auto& t : texts) found.append(nb::bytes(t.data(), t.size()));
                 return nb::make_tuple(status, found);
             })
        .def_prop_ro("has_changed_mode", &Unit::has_changed_mode)
        .def_prop_ro("can_roll_back", &Unit::can_roll_back)
        .def_prop_ro("input_order", &Unit::input_order)
        .def_prop_ro("has_derivatives", &Unit::has_derivatives)
        .def_prop_ro("has_event_mode", &Unit::has_event_mode)
        .def("save",
             [](Unit& unit, std::size_t n) {
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.save(n));
             })
        .def("restore",
             [](Unit& unit, std::size_t n) {
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.restore(n));
             })
        .def(
            "set_input_derivatives",
            [](Unit& unit, Doubles values, int order) {
                const auto rows = static_cast<std::size_t>(std::clamp(order, 0, most_order));
                require_size("derivatives", unit.input_count() * rows, values.size());
                const ModeKept kept(unit);
                const InputDerivatives derivatives{values.data(), unit.input_count(),
                                                   static_cast<int>(rows)};
                return static_cast<int>(unit.set_input_derivatives(derivatives));
            },
            nb::arg("derivatives").noconvert(), nb::arg("order"))
        .def(
            "derivative",
            [](Unit& unit, Doubles inputs, Doubles outputs) {
                require_size("inputs", unit.input_count(), inputs.size());
                require_size("outputs", unit.output_count(), outputs.size());
                const ModeKept kept(unit);
                return static_cast<int>(unit.derivative(inputs.data(), outputs.data()));
            },
            nb::arg().noconvert(), nb::arg().noconvert())
        .def_prop_ro("due_ns",
                     [](Unit& unit) -> nb::object {
                         const auto due = unit.due_ns();
                         return due == Unit::never ? nb::none() : nb::cast(due);
                     })
        .def("enter_event_mode",
             [](Unit& unit) {
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.enter_event_mode());
             })
        .def("enter_step_mode",
             [](Unit& unit) {
                 const ModeKept kept(unit);
                 return static_cast<int>(unit.enter_step_mode());
             })
        .def("update_discrete",
             [](Unit& unit) {
                 Discrete update;
                 const ModeKept kept(unit);
                 const auto status = static_cast<int>(unit.update_discrete(update));
                 nb::object next = update.has_next ? nb::cast(update.next_ns) : nb::none();
                 return nb::make_tuple(status, update.again, update.terminate,
                                       update.values_changed, next);
             })
        .def_prop_ro("reached", [](Unit& unit) {
            const auto& reached = unit.reached();
            return nb::make_tuple(reached.time_ns, reached.early, reached.event, reached.terminate);
        });
}

}  // namespace softdock
