#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>

#include "bindings.hpp"
#include "crew.hpp"
#include "engine.hpp"
#include "events.hpp"
#include "loop_solver.hpp"
#include "step_control.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MemberRow = std::tuple<nb::object, std::size_t, std::size_t, std::int32_t>;
using HistoryRow = std::tuple<std::size_t, std::size_t, int, int, int>;
using CopyRow = std::tuple<std::int32_t, std::int32_t, double, double>;
using ReadRow = std::tuple<std::int32_t, std::int32_t, std::int64_t, std::int64_t, double, double>;
using MixRow = std::tuple<std::int32_t, std::int32_t, double, double, double>;
using Slots = std::vector<std::int32_t>;
using LoopRow = std::tuple<int, double, std::int32_t, Slots, Slots, Slots>;
using OperationRow = std::tuple<int, std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
using Bonds = std::vector<std::pair<std::int32_t, std::int32_t>>;
using RuleRow = std::tuple<int, double, double, std::int32_t, std::int64_t, std::int64_t,
                           std::int64_t, Slots, Bonds>;
using EventLineRow = std::tuple<std::int32_t, std::int32_t, int>;
using EventClockRow = std::tuple<std::int32_t, std::int32_t>;
using FaultRow = std::tuple<int, std::int32_t, std::int64_t, std::int64_t, double, double,
                            std::int64_t, std::uint64_t>;
using TextCopyRow = std::tuple<std::int32_t, std::int32_t>;
using ValueTableRow = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
using TextPlaceRow = std::tuple<std::size_t, std::size_t>;

// Keeps the units alive for as long as the engine points at them.
struct Runner {
    Engine engine;
    std::vector<nb::object> units;
    nb::object sink, times;
};

// The garbage collector sees through the engine by these.
int traverse_runner(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    auto* runner = nb::inst_ptr<Runner>(self);
    for (auto& unit : runner->units) Py_VISIT(unit.ptr());
    Py_VISIT(runner->sink.ptr());
    Py_VISIT(runner->times.ptr());
    return 0;
}

int clear_runner(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Runner>(self)->units.clear();
    return 0;
}

PyType_Slot runner_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_runner)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_runner)},
                              {0, nullptr}};

std::vector<History> make_histories(const std::vector<HistoryRow>& rows,
                                    const std::vector<ChannelRow>& channel_rows) {
    std::vector<std::shared_ptr<const Channel>> channels;
    for (const auto& row : channel_rows) channels.push_back(make_channel(row));
    std::vector<History> histories;
    for (const auto& [slot, depth, reading, beyond, number] : rows) {
        const auto channel = number < 0 ? nullptr : channels.at(static_cast<std::size_t>(number));
        histories.emplace_back(slot, depth, static_cast<Reading>(reading),
                               static_cast<Beyond>(beyond), channel);
    }
    return histories;
}

Rule as_rule(const RuleRow& row) {
    const auto& [method, relative, absolute, order, least, most, first, checked, bonds] = row;
    return {static_cast<Rule::Method>(method),
            relative,
            absolute,
            order,
            least,
            most,
            first,
            checked,
            bonds};
}

std::unique_ptr<Runner> make_runner(
    std::size_t signals, const std::vector<MemberRow>& members,
    const std::vector<HistoryRow>& histories, const std::vector<ChannelRow>& channels,
    const std::vector<CopyRow>& copies, const std::vector<ReadRow>& reads,
    const std::vector<MixRow>& mixes, const std::vector<LoopRow>& loops,
    const std::vector<OperationRow>& operations, const RuleRow& rule, std::size_t threads,
    const std::vector<FaultRow>& fault_rows) {
    std::vector<Member> units;
    std::vector<nb::object> kept;
    for (const auto& [unit, inputs, outputs, ticks] : members) {
        units.push_back({nb::cast<Unit*>(unit), inputs, outputs, ticks});
        kept.push_back(unit);
    }
    std::vector<Copy> lines;
    for (const auto& [source, target, factor, offset] : copies) {
        lines.push_back({source, target, factor, offset});
    }
    std::vector<Read> delayed;
    for (const auto& [history, target, shift, span, factor, offset] : reads) {
        delayed.push_back({history, target, shift, span, factor, offset});
    }
    std::vector<Mix> mixed;
    for (const auto& [source, target, weight, factor, offset] : mixes) {
        mixed.push_back({source, target, weight, factor, offset});
    }
    std::vector<Loop> iterated;
    for (const auto& [method, tolerance, most, unknowns, discrete, parts] : loops) {
        iterated.push_back(
            {static_cast<Loop::Method>(method), tolerance, most, unknowns, discrete, parts});
    }
    std::vector<Operation> list;
    for (const auto& [code, first, count, every, phase] : operations) {
        list.push_back({static_cast<Code>(code), first, count, every, phase});
    }
    std::vector<Fault> faults;
    for (const auto& [effect, place, begin, until, amount, offset, change, key] : fault_rows) {
        faults.push_back(
            {static_cast<Effect>(effect), place, begin, until, amount, offset, change, key});
    }
    return std::unique_ptr<Runner>(new Runner{
        Engine(signals, std::move(units), make_histories(histories, channels), std::move(lines),
               std::move(delayed), std::move(mixed), std::move(iterated), std::move(list),
               as_rule(rule), threads, std::move(faults)),
        std::move(kept), nb::object(), nb::object()});
}

nb::tuple as_tuple(const Outcome& outcome) {
    return nb::make_tuple(outcome.steps, static_cast<int>(outcome.status), outcome.unit,
                          outcome.loop, outcome.read, text(outcome.reason));
}

}  // namespace

void bind_engine(nb::module_& module) {
    nb::class_<Runner>(module, "Engine", nb::type_slots(runner_slots))
        .def(nb::new_(&make_runner), "signals"_a, "members"_a, "histories"_a, "channels"_a,
             "copies"_a, "reads"_a, "mixes"_a, "loops"_a, "operations"_a, "rule"_a, "threads"_a = 1,
             "faults"_a = std::vector<FaultRow>())
        .def("begin_faults", [](Runner& r) { r.engine.begin_faults(); })
        .def("stretch_reads",
             [](Runner& r, const std::vector<double>& shares) { r.engine.stretch_reads(shares); })
        .def("carry_texts",
             [](Runner& r, std::size_t size, const std::vector<TextCopyRow>& copies,
                const std::vector<TextPlaceRow>& places) {
                 std::vector<TextCopy> lines;
                 for (const auto& [source, target] : copies) lines.push_back({source, target});
                 std::vector<TextPlace> units;
                 for (const auto& [inputs, outputs] : places) units.push_back({inputs, outputs});
                 r.engine.carry(Texts(size, std::move(lines), std::move(units)));
             })
        .def("tabulate",
             [](Runner& r, const std::vector<ValueTableRow>& tables,
                const std::vector<std::pair<double, double>>& entries) {
                 std::vector<ValueTable> rows;
                 for (const auto& [slot, first, count] : tables)
                     rows.push_back({slot, first, count});
                 std::vector<ValueEntry> values;
                 for (const auto& [source, target] : entries) values.push_back({source, target});
                 const auto signals = r.engine.signals().size();
                 r.engine.tabulate(ValueTables(std::move(rows), std::move(values), signals));
             })
        .def("handle_events",
             [](Runner& r, const Slots& members, const std::vector<EventLineRow>& lines,
                const std::vector<EventClockRow>& clocks, bool splits, bool early_return) {
                 EventTable table{members, {}, {}, splits, early_return};
                 for (const auto& [copy, target, kind] : lines) {
                     table.lines.push_back({copy, target, static_cast<EventLine::Kind>(kind)});
                 }
                 for (const auto& [slot, source] : clocks) table.clocks.push_back({slot, source});
                 const auto signals = r.engine.signals().size();
                 r.engine.handle_events(std::make_unique<EventPhase>(std::move(table), signals));
             })
        .def("begin_events",
             [](Runner& r, std::int64_t start_ns) {
                 Outcome outcome;
                 if (auto* events = r.engine.events()) {
                     outcome.status = events->begin(r.engine, start_ns, outcome);
                 }
                 return as_tuple(outcome);
             })
        .def_prop_ro("event_counts",
                     [](Runner& r) {
                         const auto* events = r.engine.events();
                         const auto n = events ? events->counts() : EventPhase::Counts{};
                         return nb::make_tuple(n.instants, n.updates, n.splits, n.early, n.late,
                                               n.latest_ns);
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
                 const Operation operation{static_cast<Code>(code), first, count, 1, 0};
                 r.engine.check(operation);
                 return r.engine.execute_lines(operation);
             })
        .def(
            "record",
            [](Runner& r, std::vector<std::int32_t> slots, std::int64_t every, Rows rows,
               Times times) {
                if (rows.shape(1) != slots.size())
                    throw std::invalid_argument("one column per slot");
                if (times.shape(0) != rows.shape(0))
                    throw std::invalid_argument("one time per row");
                if (every < 1) throw std::invalid_argument("every must be at least 1");
                r.engine.record(std::move(slots), every);
                r.engine.attach(rows.data(), times.data(), rows.shape(0));
                r.sink = nb::cast(rows);
                r.times = nb::cast(times);
            },
            nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert())
        .def("save", [](Runner& r) { return r.engine.save(); })
        .def("restore", [](Runner& r, const EngineState& state) { r.engine.restore(state); })
        .def("write_row", [](Runner& r) { r.engine.write_row(); })
        .def("run",
             [](Runner& r, std::int64_t steps, std::int64_t goal_ns) {
                 Outcome outcome;
                 {
                     const nb::gil_scoped_release release;
                     outcome = r.engine.run(steps, goal_ns);
                 }
                 return as_tuple(outcome);
             })
        .def_prop_ro("unread", [](Runner& r) { return std::string(r.engine.unread()); })
        .def("line_facts",
             [](Runner& r, std::size_t history) {
                 const auto& facts = r.engine.histories().at(history).facts();
                 return nb::make_tuple(facts.sent, facts.dropped, facts.late, facts.held,
                                       facts.oldest_ns);
             })
        .def_prop_ro("loops",
                     [](Runner& r) {
                         nb::list counts;
                         for (const auto& loop : r.engine.loops()) {
                             counts.append(nb::make_tuple(loop->evaluations(), loop->worst(),
                                                          loop->here(), loop->residual()));
                         }
                         return counts;
                     })
        .def_prop_ro("control",
                     [](Runner& r) {
                         const auto& control = r.engine.control();
                         return nb::make_tuple(control.rejected(), control.shortest_ns(),
                                               control.longest_ns());
                     })
        .def_prop_ro("shared", [](Runner& r) { return r.engine.crew().shared(); })
        .def_prop_ro("done", [](Runner& r) { return r.engine.done(); })
        .def_prop_ro("rows", [](Runner& r) { return r.engine.rows(); })
        .def_prop_ro("time_ns", [](Runner& r) { return r.engine.time_ns(); })
        .def_prop_ro("signals", [](Runner& r) {
            auto& signals = r.engine.signals();
            return nb::ndarray<nb::numpy, double, nb::ndim<1>>(signals.data(), {signals.size()},
                                                               nb::find(r));
        });
}

}  // namespace softdock
