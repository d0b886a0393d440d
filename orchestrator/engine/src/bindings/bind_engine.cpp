#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/rows.hpp"
#include "core/exchange.hpp"
#include "host/real_time.hpp"
#include "run/engine.hpp"
#include "run/initial_exchange.hpp"
#include "run/paced_run.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Times = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MemberRow = std::tuple<nb::object, std::size_t, std::size_t, std::int32_t>;
using Slots = std::vector<std::int32_t>;
using WatchTuple = std::tuple<std::int32_t, double, double, bool, bool, std::vector<double>>;
using TextPlaceRow = std::tuple<std::size_t, std::size_t>;

// Keeps the units alive for as long as the engine points at them. Who uses it is known under the
// lock of the interpreter, which every call holds when it comes and when it goes.
struct Runner {
    Engine engine;
    std::vector<nb::object> units;
    nb::object sink, times, clocks;
    unsigned long user = 0;    // thread that uses the engine; of one that nobody uses any
    std::size_t depth = 0;     // calls of that thread which are under way
    bool is_stepping = false;  // nobody may use it then, nor may what it steps
};

[[noreturn]] void refuse(const char* text) {
    const auto diagnostics = nb::module_::import_("orchestrator.core.diagnostics");
    PyErr_SetString(nb::object(diagnostics.attr("BusyError")).ptr(), text);
    throw nb::python_error();
}

// One thread uses an engine at a time, and none while it steps: a second call is refused, as it
// would read or move what the first one works on.
void enter(Runner& runner) {
    const auto self = PyThread_get_thread_ident();
    if (runner.depth && runner.user != self) {
        refuse(
            "another thread is using this Execution; wait until its call returns, or make an"
            " Execution for each thread (any thread can read its time and its shared rows)");
    }
    if (runner.is_stepping) {
        refuse(
            "this Execution is in a step, and a component, a clock or a signal handler called it"
            " from within; call it between two steps");
    }
    runner.user = self;
    ++runner.depth;
}

void leave(Runner& runner) { --runner.depth; }

class Turn {
  public:
    explicit Turn(Runner& runner) : runner_(runner) { enter(runner); }
    ~Turn() { leave(runner_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Runner& runner_;
};

// Those that step, under the lock of the interpreter; still there when the program ends.
std::vector<Runner*>& stepping() {
    static auto* all = new std::vector<Runner*>;
    return *all;
}

// The same, while steps are done without the lock of the interpreter.
class SteppingTurn {
  public:
    explicit SteppingTurn(Runner& runner) : turn_(runner), runner_(runner) {
        runner.is_stepping = true;
        stepping().push_back(&runner);
    }
    ~SteppingTurn() {
        auto& all = stepping();
        all.erase(std::remove(all.begin(), all.end(), &runner_), all.end());
        runner_.is_stepping = false;
    }

  private:
    Turn turn_;
    Runner& runner_;
};

// What Python does where the library of a unit ends the whole program in a step.
PyObject* at_exit = nullptr;

// C's exit() calls it in the thread of the step, which is never ended: its engine is free again.
void leave_steps() {
    if (!Py_IsInitialized()) return;
    const nb::gil_scoped_acquire lock;
    if (stepping().empty()) return;
    for (auto* runner : stepping()) {
        runner->is_stepping = false;
        runner->depth = 0;
    }
    auto* result = PyObject_CallNoArgs(at_exit);
    if (!result) PyErr_Print();
    Py_XDECREF(result);
}

// A method that has its turn with the engine.
template <class Result, class... Given>
auto in_turn(Result (*call)(Runner&, Given...)) {
    return [call](Runner& runner, Given... given) -> Result {
        const Turn turn(runner);
        return call(runner, std::forward<Given>(given)...);
    };
}

// The garbage collector sees through the engine by these.
int traverse_runner(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    auto* runner = nb::inst_ptr<Runner>(self);
    for (auto& unit : runner->units) Py_VISIT(unit.ptr());
    Py_VISIT(runner->sink.ptr());
    Py_VISIT(runner->times.ptr());
    Py_VISIT(runner->clocks.ptr());
    return 0;
}

int clear_runner(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<Runner>(self)->units.clear();
    return 0;
}

PyType_Slot runner_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_runner)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear_runner)},
                              {0, nullptr}};

// Units that a Python object moves values to and from; it keeps what they raise.
class PythonUnits : public InitialUnits {
  public:
    explicit PythonUnits(const nb::object& units)
        : evaluate_(units.attr("evaluate")),
          initialise_(units.attr("initialise")),
          read_(units.attr("read")) {}
    bool evaluate(std::size_t member) override { return nb::cast<bool>(evaluate_(member)); }
    bool initialise(std::size_t member) override { return nb::cast<bool>(initialise_(member)); }
    bool read(std::size_t member) override { return nb::cast<bool>(read_(member)); }

  private:
    nb::object evaluate_, initialise_, read_;
};

using InitialRow = std::tuple<std::int32_t, Slots, std::int32_t, std::int32_t>;

// A part of the exchange of initial values: `before` only after events of the start.
InitialResult exchange_initially(Runner& runner, const nb::object& units, const InitialRow& row,
                                 std::int64_t start_ns, std::int64_t step_ns, bool follows,
                                 const std::optional<std::vector<double>>& before) {
    const auto& [passes, read_early, first, count] = row;
    const InitialTable table{passes, read_early, first, count};
    if (count) runner.engine.check({Code::copy, first, count, 1, 0});
    PythonUnits members(units);
    InitialExchange exchange(runner.engine, table, members, start_ns, step_ns);
    if (before) return exchange.follow_events(*before);
    return follows ? exchange.follow() : exchange.run();
}

template <class Row>
using Tuples = std::vector<TupleOf<Row>>;

std::unique_ptr<Runner> make_runner(std::size_t signals, const std::vector<MemberRow>& members,
                                    const Tuples<HistoryRow>& histories,
                                    const Tuples<Channel>& channels, const Tuples<Copy>& copies,
                                    const Tuples<Read>& reads, const Tuples<Mix>& mixes,
                                    const Tuples<Loop>& loops, const Tuples<Operation>& operations,
                                    const TupleOf<Rule>& rule, std::size_t threads,
                                    const Tuples<Fault>& faults,
                                    const Tuples<Compensation>& compensations) {
    Schedule schedule;
    std::vector<nb::object> kept;
    for (const auto& [unit, inputs, outputs, ticks] : members) {
        schedule.members.push_back({nb::cast<Unit*>(unit), inputs, outputs, ticks});
        kept.push_back(unit);
    }
    for (const auto& row : channels) schedule.channels.push_back(as_channel(row));
    schedule.signals = signals;
    schedule.histories = as_rows<HistoryRow>(histories);
    schedule.copies = as_rows<Copy>(copies);
    schedule.reads = as_rows<Read>(reads);
    schedule.mixes = as_rows<Mix>(mixes);
    schedule.loops = as_rows<Loop>(loops);
    schedule.operations = as_rows<Operation>(operations);
    schedule.rule = as_row<Rule>(rule);
    schedule.faults = as_rows<Fault>(faults);
    schedule.compensations = as_rows<Compensation>(compensations);
    return std::unique_ptr<Runner>(new Runner{Engine(std::move(schedule), threads), std::move(kept),
                                              nb::object(), nb::object(), nb::object()});
}

// Memory that nothing has written to yet, so that no page of it is taken before it is needed.
template <class Value, std::size_t Axes>
auto allot(const std::array<std::size_t, Axes>& shape) {
    std::size_t size = 1;
    for (const auto length : shape) size *= length;
    auto* values = new Value[size];
    ask_for_large_pages(values, size * sizeof(Value));
    const nb::capsule owner(values, [](void* all) noexcept { delete[] static_cast<Value*>(all); });
    return nb::ndarray<nb::memview, Value, nb::ndim<Axes>>(values, Axes, shape.data(), owner);
}

}  // namespace

void bind_engine(nb::module_& module) {
    nb::class_<InitialResult>(module, "InitialResult")
        .def_ro("settled", &InitialResult::settled)
        .def_ro("exchanged", &InitialResult::exchanged)
        .def_ro("unread", &InitialResult::unread)
        .def_ro("loop", &InitialResult::loop)
        .def_ro("iterations", &InitialResult::iterations)
        .def_ro("residual", &InitialResult::residual);
    nb::class_<Runner>(module, "Engine", nb::type_slots(runner_slots))
        .def(nb::new_(&make_runner), "signals"_a, "members"_a, "histories"_a, "channels"_a,
             "copies"_a, "reads"_a, "mixes"_a, "loops"_a, "operations"_a, "rule"_a, "threads"_a = 1,
             "faults"_a = Tuples<Fault>(), "compensations"_a = Tuples<Compensation>())
        .def("__enter__", [](Runner& r) { enter(r); })
        .def("__exit__", [](Runner& r, const nb::args&) { leave(r); })
        .def("watch", in_turn(+[](Runner& r, const std::vector<WatchTuple>& rows) {
                 std::vector<WatchRow> watched;
                 for (const auto& [slot, least, most, below, above, items] : rows) {
                     watched.push_back({slot, least, most, below, above, items});
                 }
                 r.engine.watch(std::move(watched));
             }))
        .def_prop_ro("beyond", in_turn(+[](Runner& r) {
                         std::vector<std::tuple<std::size_t, std::int64_t, double>> found;
                         const auto& all = r.engine.range_watch().findings();
                         for (std::size_t i = 0; i < all.size(); ++i) {
                             if (!all[i].is_set) continue;
                             found.emplace_back(i, all[i].time_ns, all[i].value);
                         }
                         return found;
                     }))
        .def("begin_faults", in_turn(+[](Runner& r) { begin_faults(r.engine.context()); }))
        .def("set_texts", in_turn(+[](Runner& r, std::size_t size, const Tuples<TextCopy>& copies,
                                      const std::vector<TextPlaceRow>& places) {
                 std::vector<TextPlace> units;
                 for (const auto& [inputs, outputs] : places) units.push_back({inputs, outputs});
                 r.engine.set_texts(Texts(size, as_rows<TextCopy>(copies), std::move(units)));
             }))
        .def("set_value_tables", in_turn(+[](Runner& r, const Tuples<ValueTable>& tables,
                                             const Tuples<ValueEntry>& entries) {
                 r.engine.set_value_tables(ValueTables(as_rows<ValueTable>(tables),
                                                       as_rows<ValueEntry>(entries),
                                                       r.engine.context().signals.size()));
             }))
        .def("handle_events",
             in_turn(+[](Runner& r, const Slots& members, const Tuples<EventLine>& lines,
                         const Tuples<EventClock>& clocks, bool splits, bool early_return) {
                 EventTable table{members, as_rows<EventLine>(lines), as_rows<EventClock>(clocks),
                                  splits, early_return};
                 const auto signals = r.engine.context().signals.size();
                 r.engine.handle_events(std::make_unique<EventPhase>(std::move(table), signals));
             }))
        .def("begin_events", in_turn(+[](Runner& r, std::int64_t start_ns) {
                 Outcome outcome;
                 if (auto* events = r.engine.events()) {
                     outcome.status = events->begin(r.engine.context(), start_ns, outcome);
                 }
                 return outcome;
             }))
        .def("exchange_initially", in_turn(&exchange_initially), "units"_a, "table"_a, "start_ns"_a,
             "step_ns"_a, "follows"_a = false, "before"_a = nb::none())
        .def_prop_ro("event_counts", in_turn(+[](Runner& r) {
                         const auto* events = r.engine.events();
                         const auto n = events ? events->counts() : EventPhase::Counts{};
                         return nb::make_tuple(n.instants, n.updates, n.splits, n.early, n.late,
                                               n.latest_ns);
                     }))
        .def_prop_ro("texts", in_turn(+[](Runner& r) {
                         nb::list found;
                         for (const auto& t : r.engine.context().texts.buffer()) {
                             found.append(nb::bytes(t.data(), t.size()));
                         }
                         return found;
                     }))
        .def("put_texts",
             in_turn(+[](Runner& r, std::size_t first, const std::vector<nb::bytes>& values) {
                 auto& buffer = r.engine.context().texts.buffer();
                 for (const auto& value : values) {
                     buffer.at(first++).assign(value.c_str(), value.size());
                 }
             }))
        .def("read_texts",
             in_turn(+[](Runner& r) { return static_cast<int>(r.engine.read_texts()); }))
        .def("start",
             in_turn(+[](Runner& r, std::int64_t t, std::int64_t h) { r.engine.start(t, h); }),
             "start_ns"_a, "step_ns"_a)
        .def("set_rest", in_turn(+[](Runner& r, std::int64_t numerator, std::int64_t denominator) {
                 if (numerator < 0 || denominator <= numerator) {
                     throw nb::value_error("expected a fraction of a nanosecond");
                 }
                 r.engine.context().rest_numerator = numerator;
                 r.engine.context().rest_denominator = denominator;
             }))
        .def("lines", in_turn(+[](Runner& r, int code, std::int32_t first, std::int32_t count) {
                 const Operation operation{static_cast<Code>(code), first, count, 1, 0};
                 r.engine.check(operation);
                 return execute_lines(r.engine.context(), operation);
             }))
        .def("record",
             in_turn(+[](Runner& r, std::vector<std::int32_t> slots, std::int64_t every, Rows rows,
                         Times times, std::optional<Times> clocks) {
                 if (rows.shape(1) != slots.size())
                     throw std::invalid_argument("one column per slot");
                 if (times.shape(0) != rows.shape(0))
                     throw std::invalid_argument("one time per row");
                 if (clocks && clocks->shape(0) != rows.shape(0))
                     throw std::invalid_argument("one clock per row");
                 if (every < 1) throw std::invalid_argument("every must be at least 1");
                 r.engine.recorder().record(r.engine.context(), std::move(slots), every);
                 r.engine.recorder().attach(rows.data(), times.data(), rows.shape(0),
                                            clocks ? clocks->data() : nullptr);
                 r.sink = nb::cast(rows);
                 r.times = nb::cast(times);
                 r.clocks = nb::cast(clocks);
             }),
             nb::arg(), nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(),
             nb::arg().noconvert() = nb::none())
        .def("save", in_turn(+[](Runner& r) { return r.engine.save(); }))
        .def("restore",
             in_turn(+[](Runner& r, const EngineState& state) { r.engine.restore(state); }))
        .def("write_row", in_turn(+[](Runner& r) { r.engine.write_row(); }))
        .def("redelay",
             in_turn(
                 +[](Runner& r, const std::vector<std::pair<std::int64_t, std::int64_t>>& shifts) {
                     r.engine.redelay(shifts);
                 }))
        .def("deepen", in_turn(+[](Runner& r, std::size_t history, std::size_t depth) {
                 r.engine.context().histories.at(history).deepen(depth);
             }))
        .def("run",
             [](Runner& r, std::int64_t steps, std::int64_t goal_ns) {
                 const SteppingTurn turn(r);
                 const nb::gil_scoped_release release;
                 return r.engine.run(steps, goal_ns);
             })
        .def(
            "run_paced",
            [](Runner& r, Pacer& pacer, std::int64_t steps, std::int64_t goal_ns) {
                if (pacer.units().size() != r.units.size())
                    throw std::invalid_argument("one budget per unit");
                const SteppingTurn turn(r);
                const nb::gil_scoped_release release;
                return run_paced(r.engine, pacer, steps, goal_ns);
            },
            "pacer"_a, "steps"_a, "goal_ns"_a)
        .def_prop_ro("read_error",
                     in_turn(+[](Runner& r) { return std::string(r.engine.context().read_error); }))
        .def("line_facts", in_turn(+[](Runner& r, std::size_t history) {
                 const auto& facts = r.engine.context().histories.at(history).facts();
                 return nb::make_tuple(facts.sent, facts.dropped, facts.late, facts.held,
                                       facts.oldest_ns);
             }))
        .def_prop_ro("loops", in_turn(+[](Runner& r) {
                         nb::list counts;
                         for (const auto& loop : r.engine.executor().loops()) {
                             counts.append(nb::make_tuple(loop->evaluations(), loop->worst(),
                                                          loop->here(), loop->residual()));
                         }
                         return counts;
                     }))
        .def_prop_ro("control", in_turn(+[](Runner& r) {
                         const auto& control = r.engine.control();
                         return nb::make_tuple(control.rejected(), control.shortest_ns(),
                                               control.longest_ns());
                     }))
        .def_prop_ro("shared",
                     in_turn(+[](Runner& r) { return r.engine.executor().stepper().shared(); }))
        .def_prop_ro("done", in_turn(+[](Runner& r) { return r.engine.context().done; }))
        .def_prop_ro("rows", in_turn(+[](Runner& r) { return r.engine.recorder().rows(); }))
        .def_prop_ro("time_ns", [](Runner& r) { return r.engine.time_ns(); })
        .def_prop_ro("signals", in_turn(+[](Runner& r) {
                         auto& signals = r.engine.context().signals;
                         return nb::ndarray<nb::memview, double, nb::ndim<1>>(
                             signals.data(), {signals.size()}, nb::find(r));
                     }));
    module.def("call_at_exit", [](nb::callable call) {
        if (!at_exit) std::atexit(leave_steps);
        Py_XDECREF(at_exit);
        at_exit = call.release().ptr();
    });
    module.def(
        "allot_rows",
        [](std::size_t rows, std::size_t columns) {
            return nb::make_tuple(allot<double, 2>({rows, columns}),
                                  allot<std::int64_t, 1>({rows}));
        },
        "rows"_a, "columns"_a);
}

}  // namespace softdock
