// The Python face of the engine. Only orchestrator.simunits and orchestrator.master use it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <tuple>

#include "engine.hpp"
#include "fmu2.hpp"
#include "python_unit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace softdock {
namespace {

using References = std::vector<fmi2::ValueReference>;
using Doubles = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MemberRow = std::tuple<nb::object, std::size_t, std::size_t>;
using HistoryRow = std::tuple<std::size_t, std::size_t, int>;
using CopyRow = std::tuple<std::int32_t, std::int32_t, double, double>;
using ReadRow = std::tuple<std::int32_t, std::int32_t, std::int64_t, double, double>;
using OperationRow = std::tuple<int, std::int32_t, std::int32_t>;
using PortRow = std::tuple<std::string, std::string, nb::object>;  // name, type, array or None

// Keeps the units alive for as long as the engine points at them.
struct Runner {
    Engine engine;
    std::vector<nb::object> units;
    nb::object sink;
};

Binding binding(References reals, References integers, References booleans) {
    return {std::move(reals), std::move(integers), std::move(booleans)};
}

// Get and set by type, for start values, parameters and single reads.
template <class Value, class Get>
std::vector<Value> get(Fmu2& fmu, Get function, const References& references) {
    std::vector<Value> values(references.size());
    const int status =
        function(fmu.instance(), references.data(), references.size(), values.data());
    if (status > 1) throw std::runtime_error(fmu.failure());
    return values;
}

template <class Value, class Set>
int set(Fmu2& fmu, Set function, const References& references, const std::vector<Value>& values) {
    if (values.size() != references.size()) throw std::invalid_argument("one value per reference");
    return function(fmu.instance(), references.data(), references.size(), values.data());
}

int set_strings(Fmu2& fmu, const References& references, const std::vector<std::string>& values) {
    std::vector<const char*> texts;
    for (const auto& value : values) texts.push_back(value.c_str());
    return set(fmu, fmu.functions().set_string, references, texts);
}

// Text of an FMU is UTF-8 by the standard; what is not, or was cut, must not end a run.
nb::object text(const std::string& bytes) {
    return nb::steal(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

nb::list get_strings(Fmu2& fmu, const References& references) {
    nb::list texts;
    for (const char* value : get<const char*>(fmu, fmu.functions().get_string, references)) {
        texts.append(text(value ? value : ""));
    }
    return texts;
}

// A saved FMU state; freed with its handle.
class SavedState {
  public:
    explicit SavedState(Fmu2& fmu) : fmu_(fmu) {
        const auto& call = fmu.functions();
        if (!call.get_state || !call.set_state || !call.free_state) {
            throw std::runtime_error("its library does not export fmi2Get/Set/FreeFMUstate");
        }
        if (fmu.functions().get_state(fmu.instance(), &state_) > 1) {
            throw std::runtime_error("fmi2GetFMUstate failed: " + fmu.failure());
        }
        fmu.count_saved(1);
    }
    ~SavedState() {
        fmu_.count_saved(-1);
        if (state_ && fmu_.usable()) fmu_.functions().free_state(fmu_.instance(), &state_);
    }
    SavedState(const SavedState&) = delete;
    SavedState& operator=(const SavedState&) = delete;
    int restore(Fmu2& fmu) const {
        if (&fmu != &fmu_) throw std::invalid_argument("the state belongs to another instance");
        return fmu.functions().set_state(fmu.instance(), state_);
    }

  private:
    Fmu2& fmu_;
    fmi2::FmuState state_ = nullptr;
};

std::vector<Port> ports(const std::vector<PortRow>& rows) {
    std::vector<Port> made;
    for (const auto& [name, type, array] : rows) {
        Port port{PyUnicode_InternFromString(name.c_str()), type.at(0), 1, nullptr, nullptr};
        if (!array.is_none()) {
            // No conversion: that would be a copy, which nobody keeps.
            auto view = nb::cast<nb::ndarray<double, nb::c_contig, nb::device::cpu>>(array, false);
            port.size = view.size();
            port.array = view.data();
            port.keeper = Py_NewRef(array.ptr());
        }
        made.push_back(port);
    }
    return made;
}

// The garbage collector sees through the engine and its Python units by these.
int traverse_unit(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<PythonUnit>(self)->traverse(visit, arg) : 0;
}

int clear_unit(PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<PythonUnit>(self)->clear();
    return 0;
}

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

PyType_Slot unit_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_unit)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear_unit)},
                            {0, nullptr}};
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

nb::tuple as_tuple(const Outcome& outcome) {
    return nb::make_tuple(outcome.steps, static_cast<int>(outcome.status), outcome.unit,
                          outcome.reason);
}

void require_size(const char* what, std::size_t expected, std::size_t found) {
    if (expected == found) return;
    throw std::invalid_argument(std::string(what) + ": expected " + std::to_string(expected) +
                                " values, found " + std::to_string(found));
}

void bind_units(nb::module_& module) {
    nb::class_<Unit>(module, "Unit")
        .def_prop_ro("name", &Unit::name)
        .def_prop_ro("failure", [](Unit& unit) { return text(unit.failure()); })
        .def(
            "set_inputs",
            [](Unit& unit, Doubles values) {
                require_size("inputs", unit.input_count(), values.size());
                return static_cast<int>(unit.set_inputs(values.data()));
            },
            nb::arg().noconvert())
        .def("step",
             [](Unit& unit, std::int64_t time_ns, std::int64_t step_ns) {
                 return static_cast<int>(unit.step(time_ns, step_ns));
             })
        .def(
            "get_outputs",
            [](Unit& unit, Doubles values) {
                require_size("outputs", unit.output_count(), values.size());
                return static_cast<int>(unit.get_outputs(values.data()));
            },
            nb::arg().noconvert());

    nb::class_<SavedState>(module, "SavedState");

    nb::class_<Fmu2, Unit>(module, "Fmu2")
        .def(nb::init<const std::string&, const std::string&, const std::string&,
                      const std::string&, bool>(),
             "library"_a, "name"_a, "guid"_a, "resources"_a, "logging"_a = false)
        .def("bind",
             [](Fmu2& fmu, References ri, References ii, References bi, References ro,
                References io, References bo) {
                 fmu.bind(binding(std::move(ri), std::move(ii), std::move(bi)),
                          binding(std::move(ro), std::move(io), std::move(bo)));
             })
        .def(
            "setup",
            [](Fmu2& fmu, double start, nb::object stop, nb::object tolerance) {
                const bool has_stop = !stop.is_none(), has_tolerance = !tolerance.is_none();
                return static_cast<int>(
                    fmu.setup(start, has_stop, has_stop ? nb::cast<double>(stop) : 0.0,
                              has_tolerance, has_tolerance ? nb::cast<double>(tolerance) : 0.0));
            },
            "start"_a, "stop"_a = nb::none(), "tolerance"_a = nb::none())
        .def("enter_initialization",
             [](Fmu2& fmu) { return static_cast<int>(fmu.enter_initialization()); })
        .def("exit_initialization",
             [](Fmu2& fmu) { return static_cast<int>(fmu.exit_initialization()); })
        .def("terminate", [](Fmu2& fmu) { return static_cast<int>(fmu.terminate()); })
        .def("last_successful_time", &Fmu2::last_successful_time)
        .def("get_real",
             [](Fmu2& f, const References& r) { return get<double>(f, f.functions().get_real, r); })
        .def("get_integer",
             [](Fmu2& f, const References& r) { return get<int>(f, f.functions().get_integer, r); })
        .def("get_boolean",
             [](Fmu2& f, const References& r) { return get<int>(f, f.functions().get_boolean, r); })
        .def("get_string", &get_strings)
        .def("set_real",
             [](Fmu2& f, const References& r, const std::vector<double>& v) {
                 return set(f, f.functions().set_real, r, v);
             })
        .def("set_integer",
             [](Fmu2& f, const References& r, const std::vector<int>& v) {
                 return set(f, f.functions().set_integer, r, v);
             })
        .def("set_boolean",
             [](Fmu2& f, const References& r, const std::vector<int>& v) {
                 return set(f, f.functions().set_boolean, r, v);
             })
        .def("set_string", &set_strings)
        .def(
            "get_state", [](Fmu2& fmu) { return std::make_unique<SavedState>(fmu); },
            nb::keep_alive<0, 1>())
        .def("set_state", [](Fmu2& fmu, const SavedState& state) { return state.restore(fmu); })
        .def("take_log", [](Fmu2& fmu) {
            nb::list messages;
            for (const auto& entry : fmu.take_log()) {
                messages.append(
                    nb::make_tuple(entry.status, text(entry.category), text(entry.text)));
            }
            return messages;
        });

    nb::class_<PythonUnit, Unit>(module, "PythonUnit", nb::type_slots(unit_slots))
        .def(
            "__init__",
            [](PythonUnit* self, nb::object block, std::string name,
               const std::vector<PortRow>& inputs, const std::vector<PortRow>& outputs) {
                new (self) PythonUnit(block.ptr(), std::move(name), ports(inputs), ports(outputs));
            },
            "block"_a, "name"_a, "inputs"_a, "outputs"_a)
        .def("take_exception", [](PythonUnit& unit) -> nb::object {
            PyObject* exception = unit.take_exception();
            return exception ? nb::steal(exception) : nb::none();
        });
}

void bind_engine(nb::module_& module) {
    nb::class_<Runner>(module, "Engine", nb::type_slots(runner_slots))
        .def(nb::new_(&make_runner), "signals"_a, "members"_a, "histories"_a, "copies"_a, "reads"_a,
             "operations"_a)
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

}  // namespace
}  // namespace softdock

NB_MODULE(_engine, module) {
    module.doc() = "Native core of Softdock: loads FMUs and executes compiled schedules.";
    softdock::bind_units(module);
    softdock::bind_engine(module);
}
