#include <nanobind/stl/string.h>

#include "bindings/bindings.hpp"
#include "core/relay.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {

void bind_relay(nb::module_& module) {
    nb::class_<Relay, Unit>(module, "Relay")
        .def(nb::init<std::string, bool, int, bool, double>(), "name"_a, "direct"_a, "order"_a,
             "sine"_a, "rate"_a);
}

}  // namespace softdock
