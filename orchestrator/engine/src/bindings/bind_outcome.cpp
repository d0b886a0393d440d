#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "core/outcome.hpp"

namespace nb = nanobind;

namespace softdock {

void bind_outcome(nb::module_& module) {
    nb::enum_<FailureKind> kinds(module, "FailureKind");
#define SOFTDOCK_KIND(name, python) kinds.value(python, FailureKind::name);
    SOFTDOCK_FAILURES(SOFTDOCK_KIND)
#undef SOFTDOCK_KIND

    nb::class_<Failure>(module, "Failure")
        .def_ro("kind", &Failure::kind)
        .def_prop_ro("text", [](const Failure& failure) { return text(failure.text); })
        .def_ro("output", &Failure::output)
        .def_ro("time_ns", &Failure::time_ns)
        .def_ro("excess", &Failure::excess)
        .def_ro("slot", &Failure::slot)
        .def_ro("units", &Failure::units)
        .def_ro("copies", &Failure::copies);

    nb::class_<Outcome>(module, "Outcome")
        .def_ro("steps", &Outcome::steps)
        .def_prop_ro("status", [](const Outcome& o) { return static_cast<int>(o.status); })
        .def_prop_ro("failed", [](const Outcome& o) { return failed(o.status); })
        .def_ro("unit", &Outcome::unit)
        .def_ro("loop", &Outcome::loop)
        .def_ro("read", &Outcome::read)
        .def_ro("failure", &Outcome::failure);
}

}  // namespace softdock
