#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings/bindings.hpp"
#include "fmi/fmi2_model.hpp"
#include "fmi/fmi3_model.hpp"
#include "integration/me_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {

namespace {

// Derivatives and outputs at a point, to which the model is brought, at its present time.
std::tuple<int, std::vector<double>, std::vector<double>> evaluate(
    Model& model, const std::vector<double>& states, const std::vector<double>& inputs) {
    auto& unit = model.unit();
    if (states.size() != model.states() || inputs.size() != unit.input_count()) {
        throw std::invalid_argument("a value for each state and input");
    }
    std::vector<double> slopes(states.size()), outputs(unit.output_count());
    auto status = model.set_states(states.data());
    if (!failed(status)) status = model.set_continuous_inputs(inputs.data());
    if (!failed(status)) status = model.get_derivatives(slopes.data());
    if (!failed(status)) status = unit.get_outputs(outputs.data());
    return {static_cast<int>(status), slopes, outputs};
}

}  // namespace

void bind_me_unit(nb::module_& module) {
    nb::class_<Model>(module, "Model")
        .def("bind",
             [](Model& model, const std::vector<MovingInputs::Row>& reals) {
                 model.moving_inputs().bind(reals);
             })
        .def("states",
             [](Model& model) {
                 std::vector<double> x(model.states());
                 const auto status = model.get_states(x.data());
                 return std::make_tuple(static_cast<int>(status), x);
             })
        .def("evaluate", &evaluate, "states"_a, "inputs"_a);
    nb::class_<Fmi2Model, Model>(module, "Fmi2Model")
        .def(nb::init<Fmu2&, std::size_t, References, References, bool, bool>(), "fmu"_a,
             "indicators"_a, "states"_a, "derivatives"_a, "has_jacobian"_a, "tell_steps"_a,
             nb::keep_alive<1, 2>());
    nb::class_<Fmi3Model, Model>(module, "Fmi3Model")
        .def(nb::init<Fmu3&, References, References, std::vector<std::size_t>, bool, bool>(),
             "fmu"_a, "states"_a, "derivatives"_a, "sizes"_a, "has_jacobian"_a, "tell_steps"_a,
             nb::keep_alive<1, 2>());

    nb::class_<MeUnit, Unit>(module, "MeUnit")
        .def(nb::init<Model&, double, const std::string&, std::vector<std::string>>(), "model"_a,
             "tolerance"_a, "cvode_folder"_a, "states"_a, nb::keep_alive<1, 2>())
        .def("bind", &MeUnit::bind)
        .def("start", [](MeUnit& unit,
                         std::int64_t time_ns) { return static_cast<int>(unit.start(time_ns)); })
        .def("expect_event", [](MeUnit& unit) { return static_cast<int>(unit.expect_event()); })
        .def("settle", [](MeUnit& unit) { return static_cast<int>(unit.settle()); })
        .def_prop_ro("next_event", &MeUnit::next_event)
        .def("memory", &MeUnit::memory)
        .def("put_back",
             [](MeUnit& unit, const std::vector<double>& memory) {
                 return static_cast<int>(unit.put_back(memory));
             })
        .def_prop_ro("derivative_calls", &MeUnit::derivative_calls);
}

}  // namespace softdock
