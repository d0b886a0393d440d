#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "bindings.hpp"
#include "engine.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MemberRow = std::tuple<nb::object, std::size_t, std::size_t>;
using HistoryRow = std::tuple<std::size_t, std::size_t, int>;
using CopyRow = std::tuple<std::int32_t, std::int32_t, double, double>;
using ReadRow = std::tuple<std::int32_t, std::int32_t, std::int64_t, double, double>;
using TextCopyRow = std::tuple<std::int32_t, std::int32_t>;
using TextPlaceRow = std::tuple<std::size_t, std::size_t>;
using OperationRow = std::tuple<int, std::int32_t, std::int32_t>;

// Keeps the units alive for as long as the engine points at them.
struct Runner {
    Engine engine;
    std::vector<nb::object> units;
    nb::object sink;
};

// The garbage collector sees through the engine by these.
int traverse_runner(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    auto* runner = nb::inst_ptr<Runner>(self);
    for (auto& unit : runner->units) Py_VISIT(unit.ptr());
    Py_VISIT(runner->sink.ptr());
    return 0;
}

int clear_runner(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Runner>(self)->units.clear();
    return 0;
}

PyType_Slot runner_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_runner)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_runner)},
                              {0, nullptr}};

std::unique_ptr<Runner> make_runner(std::size_t signals, const std::vector<MemberRow>& members,
                                    const std::vector<HistoryRow>& histories,
                                    const std::vector<CopyRow>& copies,
                                    const std::vector<ReadRow>& reads,
                                    const std::vector<OperationRow>& operations) {
    std::vector<Member> units;
    std::vector<nb::object> kept;
    for (const auto& [unit, inputs, outputs] : members) {
        units.push_back({nb::cast<Unit*>(unit), inputs, outputs});
        kept.push_back(unit);
    }
    std::vector<History> past;
    for (const auto& [slot, depth, reading] : histories) {
        past.emplace_back(slot, depth, static_cast<Reading>(reading));
    }
    std::vector<Copy> lines;
    for (const auto& [source, target, factor, offset] : copies) {
        lines.push_back({source, target, factor, offset});
    }
    std::vector<Read> delayed;
    for (const auto& [history, target, shift, factor, offset] : reads) {
        delayed.push_back({history, target, shift, factor, offset});
    }
    std::vector<Operation> list;
    for (const auto& [code, first, count] : operations) {
        list.push_back({static_cast<Code>(code), first, count});
    }
    return std::unique_ptr<Runner>(
        new Runner{Engine(signals, std::move(units), std::move(past), std::move(lines),
                          std::move(delayed), std::move(list)),
                   std::move(kept), nb::object()});
}

template <class Array>
auto vector(const Array& array) {
    return std::vector<std::remove_const_t<typename Array::Scalar>>(array.data(),
                                                                    array.data() + array.size());
}

template <class Value>
auto array(std::vector<Value>& values, nb::handle owner) {
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values.data(), {values.size()}, owner);
}

nb::tuple as_tuple(const Outcome& outcome) {
    return nb::make_tuple(outcome.steps, static_cast<int>(outcome.status), outcome.unit,
                          outcome.reason);
}

}  // namespace

void bind_engine(nb::module_& module) {
    nb::class_<EngineState>(module, "EngineState")
        .def("__init__",
             [](EngineState* self, std::int64_t done, Doubles signals, Integers newest,
                Doubles samples) {
                 new (self) EngineState{done, vector(signals), vector(newest), vector(samples)};
             })
        .def_ro("done", &EngineState::done)
        .def_prop_ro("signals", [](EngineState& s) { return array(s.signals, nb::find(s)); })
        .def_prop_ro("newest", [](EngineState& s) { return array(s.newest, nb::find(s)); })
        .def_prop_ro("samples", [](EngineState& s) { return array(s.samples, nb::find(s)); });

    nb::class_<Runner>(module, "Engine", nb::type_slots(runner_slots))
        .def(nb::new_(&make_runner), "signals"_a, "members"_a, "histories"_a, "copies"_a, "reads"_a,
             "operations"_a)
        .def("carry_texts",
             [](Runner& r, std::size_t size, const std::vector<TextCopyRow>& copies,
                const std::vector<TextPlaceRow>& places) {
                 std::vector<TextCopy> lines;
                 for (const auto& [source, target] : copies) lines.push_back({source, target});
                 std::vector<TextPlace> units;
                 for (const auto& [inputs, outputs] : places) units.push_back({inputs, outputs});
                 r.engine.carry(Texts(size, std::move(lines), std::move(units)));
             })
        .def_prop_ro("texts",
                     [](Runner& r) {
                         nb::list found;
                         for (const auto& t : r.engine.texts().buffer()) {
                             found.append(nb::bytes(t.data(), t.size()));
                         }
                         return found;
                     })
        .def("put_texts",
             [](Runner& r, std::size_t first, const std::vector<nb::bytes>& values) {
                 auto& buffer = r.engine.texts().buffer();
                 for (const auto& value : values) {
                     buffer.at(first++).assign(value.c_str(), value.size());
                 }
             })
        .def("read_texts", [](Runner& r) { return static_cast<int>(r.engine.read_texts()); })
        .def(
            "start", [](Runner& r, std::int64_t t, std::int64_t h) { r.engine.start(t, h); },
            "start_ns"_a, "step_ns"_a)
        .def("lines",
             [](Runner& r, int code, std::int32_t first, std::int32_t count) {
                 const Operation operation{static_cast<Code>(code), first, count};
                 r.engine.check(operation);
                 r.engine.execute_lines(operation);
             })
        .def(
            "record",
            [](Runner& r, std::vector<std::int32_t> slots, std::int64_t every, Rows rows) {
                if (rows.shape(1) != slots.size())
                    throw std::invalid_argument("one column per slot");
                if (every < 1) throw std::invalid_argument("every must be at least 1");
                r.engine.record(std::move(slots), every);
                r.engine.attach(rows.data(), rows.shape(0));
                r.sink = nb::cast(rows);
            },
            nb::arg(), nb::arg(), nb::arg().noconvert())
        .def("save", [](Runner& r) { return r.engine.save(); })
        .def("restore", [](Runner& r, const EngineState& state) { r.engine.restore(state); })
        .def("write_row", [](Runner& r) { r.engine.write_row(); })
        .def("run",
             [](Runner& r, std::int64_t steps) {
                 Outcome outcome;
                 {
                     const nb::gil_scoped_release release;
                     outcome = r.engine.run(steps);
                 }
                 return as_tuple(outcome);
             })
        .def_prop_ro("rows", [](Runner& r) { return r.engine.rows(); })
        .def_prop_ro("time_ns", [](Runner& r) { return r.engine.time_ns(); })
        .def_prop_ro("signals", [](Runner& r) {
            auto& signals = r.engine.signals();
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(signals.data(), {signals.size()},
                                                               nb::find(r));
        });
}

}  // namespace softdock
