#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/python_clock.hpp"
#include "host/real_time.hpp"
#include "pacing/monotonic_clock.hpp"
#include "pacing/pacer.hpp"
#include "pacing/tick_clock.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

// Least duration and count of each bucket that has any.
nb::list counted(const LatencyHistogram& histogram) {
    nb::list found;
    for (std::size_t i = 0; i < LatencyHistogram::buckets; ++i) {
        if (!histogram.in_bucket(i)) continue;
        const bool last = i + 1 == LatencyHistogram::buckets;
        const auto end = last ? histogram.maximum() + 1 : LatencyHistogram::lowest(i + 1);
        found.append(nb::make_tuple(LatencyHistogram::lowest(i), end, histogram.in_bucket(i)));
    }
    return found;
}

nb::list overruns(const Pacer& pacer) {
    nb::list found;
    for (const auto& each : pacer.listed()) {
        found.append(nb::make_tuple(each.step, each.time_ns, each.late_ns, each.woken_ns,
                                    each.computed_ns, each.unit, each.unit_ns, each.late,
                                    each.over_budget, each.unit_over_budget));
    }
    return found;
}

void bind_clocks(nb::module_& module) {
    nb::class_<StepClock>(module, "StepClock").def_prop_ro("drift", &StepClock::drift);
    nb::class_<MonotonicClock, StepClock>(module, "MonotonicClock").def(nb::init<>());
    nb::class_<PythonClock, StepClock>(module, "PythonClock")
        .def(nb::init<nb::object>(), "clock"_a);
    nb::class_<TickCounter>(module, "TickCounter")
        .def("tick", &TickCounter::tick, "arrived_ns"_a)
        .def_prop_ro("count", &TickCounter::count);
    nb::class_<TickClock, StepClock>(module, "TickClock")
        .def(nb::init<TickCounter&, std::int64_t, std::int64_t, std::int64_t>(),
             nb::keep_alive<1, 2>(), "counter"_a, "period_ns"_a, "timeout_ns"_a, "silence_ns"_a);
    nb::class_<DriftEstimate>(module, "DriftEstimate")
        .def(nb::init<>())
        .def(nb::init<std::int64_t>(), "silence_ns"_a)
        .def("add", &DriftEstimate::add, "device_ns"_a, "here_ns"_a)
        .def_prop_ro("samples", &DriftEstimate::samples)
        .def_prop_ro("ppm", &DriftEstimate::ppm)
        .def_prop_ro("sigma_ppm", &DriftEstimate::sigma_ppm)
        .def_prop_ro("silences", &DriftEstimate::silences)
        .def_prop_ro("silent_ns", &DriftEstimate::silent_ns);
}

}  // namespace

void bind_pacing(nb::module_& module) {
    bind_clocks(module);
    nb::class_<LatencyHistogram>(module, "LatencyHistogram")
        .def(nb::init<>())
        .def("add", &LatencyHistogram::add, "ns"_a)
        .def_prop_ro("count", &LatencyHistogram::count)
        .def_prop_ro("minimum", &LatencyHistogram::minimum)
        .def_prop_ro("maximum", &LatencyHistogram::maximum)
        .def_prop_ro("total", &LatencyHistogram::total)
        .def_prop_ro("buckets", &counted);

    nb::enum_<Pacer::End>(module, "PaceEnd")
        .value("NONE", Pacer::End::none)
        .value("INTERRUPTED", Pacer::End::interrupted)
        .value("SILENT", Pacer::End::silent)
        .value("OVERRUN", Pacer::End::overrun);

    nb::class_<Pacer>(module, "Pacer")
        .def(
            "__init__",
            [](Pacer* self, StepClock& clock, double factor, int policy, std::int64_t most_overruns,
               std::int64_t step_budget_ns, std::vector<std::int64_t> unit_budgets_ns,
               std::size_t kept) {
                PaceRules rules{factor,         static_cast<OverrunPolicy>(policy), most_overruns,
                                step_budget_ns, std::move(unit_budgets_ns),         kept};
                new (self) Pacer(std::move(rules), clock);
            },
            nb::keep_alive<1, 2>(), "clock"_a, "factor"_a, "policy"_a, "most_overruns"_a,
            "step_budget_ns"_a, "unit_budgets_ns"_a, "kept"_a)
        .def("start", &Pacer::start, "time_ns"_a)
        .def(
            "tell",
            [](Pacer& pacer, nb::ndarray<std::int64_t, nb::shape<4>, nb::device::cpu> told) {
                pacer.tell(reinterpret_cast<Pacer::Told*>(told.data()));
            },
            nb::keep_alive<1, 2>(), nb::arg("told").noconvert())
        .def(
            "listen",
            [](Pacer& pacer, nb::ndarray<std::int64_t, nb::shape<1>, nb::device::cpu> asked) {
                pacer.listen(asked.data());
            },
            nb::keep_alive<1, 2>(), nb::arg("asked").noconvert())
        .def_prop_ro("end", &Pacer::end)
        .def_prop_ro("overruns", &Pacer::overruns)
        .def_prop_ro("longest_row", &Pacer::longest_row)
        .def_prop_ro("slipped_ns", &Pacer::slipped_ns)
        .def_prop_ro("listed", &overruns)
        .def_prop_ro("wake", &Pacer::wake, nb::rv_policy::reference_internal)
        .def_prop_ro("computing", &Pacer::computing, nb::rv_policy::reference_internal)
        .def_prop_ro("slack", &Pacer::slack, nb::rv_policy::reference_internal)
        .def_prop_ro("lateness", &Pacer::lateness, nb::rv_policy::reference_internal)
        .def(
            "unit", [](const Pacer& pacer, std::size_t number) { return pacer.units().at(number); },
            "number"_a);

    module.def("lock_memory", &lock_memory);
    module.def("unlock_memory", &unlock_memory);
}

}  // namespace softdock
