#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "host/processes.hpp"
#include "isolation/remote_unit.hpp"
#include "isolation/worker_loop.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

// Asks a Python callable for help; the engine runs without the interpreter. Its answer is 1 if it
// helped, and 2 more if Ctrl-C came meanwhile: that is raised when the engine returns, between two
// steps. The callable must not lead back to the unit: nobody would find that ring.
std::function<bool(Help)> helper(nb::callable help) {
    return [help](Help what) {
        const nb::gil_scoped_acquire interpreter;
        const auto answer = nb::cast<int>(help(static_cast<int>(what)));
        if (answer & 2) PyErr_SetInterrupt();
        return (answer & 1) != 0;
    };
}

nb::object held(const RemoteUnit& unit) {
    if (!unit.held()) return nb::none();
    return nb::make_tuple(unit.held_ns(), text(unit.held_reason()));
}

}  // namespace

void bind_remote_unit(nb::module_& module) {
    nb::class_<SharedBlock>(module, "SharedBlock")
        .def(nb::init<int, std::size_t, std::size_t>(), "file"_a, "inputs"_a, "outputs"_a)
        .def_static("size", &SharedBlock::size, "inputs"_a, "outputs"_a);

    nb::class_<ProcessBlock>(module, "ProcessBlock")
        .def(nb::init<int>(), "file"_a)
        .def_static("size", &ProcessBlock::size);

    nb::class_<RemoteProcess>(module, "RemoteProcess")
        .def(nb::init<std::string, int>(), "name"_a, "memory"_a)
        .def("attach", &RemoteProcess::attach, "handle"_a)
        .def("ring", &RemoteProcess::ring)
        .def(
            "lose", [](RemoteProcess& process, std::string why) { process.lose(std::move(why)); },
            "why"_a)
        .def("end", [](const RemoteProcess& process) { return text(process.end()); })
        .def_prop_ro("round_trips", &RemoteProcess::round_trips)
        .def_prop_ro("lost", &RemoteProcess::lost);

    nb::class_<RemoteUnit, Unit>(module, "RemoteUnit")
        .def(nb::init<RemoteProcess&, std::string, int, std::size_t, std::size_t>(),
             nb::keep_alive<1, 2>(), "process"_a, "name"_a, "memory"_a, "most_inputs"_a,
             "most_outputs"_a)
        .def_prop_ro("number", &RemoteUnit::number)
        .def("bind", &RemoteUnit::bind, "inputs"_a, "outputs"_a)
        .def("declare", &RemoteUnit::declare, "rolls_back"_a, "input_order"_a, "has_derivatives"_a,
             "has_event_mode"_a)
        .def("limit", &RemoteUnit::limit, "limit_ns"_a)
        .def("hold_on_failure", &RemoteUnit::hold_on_failure)
        .def(
            "restart_on_failure",
            [](RemoteUnit& unit, nb::callable help, std::size_t every) {
                unit.restart_on_failure(helper(std::move(help)), every);
            },
            "helper"_a, "every"_a)
        .def("kept", &RemoteUnit::kept)
        .def("flush", [](RemoteUnit& unit) { return static_cast<int>(unit.flush()); })
        .def("ring", &RemoteUnit::ring)
        .def("lose", &RemoteUnit::lose, "why"_a)
        .def("late", [](const RemoteUnit& unit) { return text(unit.late()); })
        .def_prop_ro("lost", &RemoteUnit::lost)
        .def_prop_ro("loss", [](const RemoteUnit& unit) { return text(unit.loss()); })
        .def_prop_ro("held", &held);

    module.def(
        "serve",
        [](const ProcessBlock& process, const nb::list& members, bool shared) {
            std::vector<Served> found;
            for (const auto member : members) {
                const auto [unit, block] = nb::cast<std::pair<Unit*, SharedBlock*>>(member);
                found.push_back({unit, block});
            }
            const nb::gil_scoped_release release;
            serve(process, found, shared);
        },
        "process"_a, "members"_a, "shared"_a);
    module.def("end_with_master", &end_with_master, "socket"_a, "master"_a, "mark"_a);
    module.def("end_marked", &end_marked, "mark"_a, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace softdock
