#include "exported/instance.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/exchange.hpp"
#include "exported/inner_units.hpp"

namespace softdock {

SystemInstance::SystemInstance(std::string name, const std::string& resources,
                               const std::string& token, bool logging, Log log)
    : name_(std::move(name)),
      resources_(resources),
      tables_(read_system(resources + "/system.bin")),
      log_(std::move(log)),
      logging_(logging) {
    if (token != tables_.token) {
        throw std::runtime_error("its GUID or token: expected '" + tables_.token + "', found '" +
                                 token + "': modelDescription.xml is of another export");
    }
    build();
}

SystemInstance::~SystemInstance() {
    for (auto* state : saved_) delete state;  // while the FMUs are there that they belong to
}

void SystemInstance::build() {
    units_.clear();
    engine_.reset();
    boundaries_.clear();
    fmus_.clear();
    source_ = nullptr;
    try {
        for (const auto& row : tables_.fmus) {
            fmus_.push_back(std::make_unique<InnerUnit>(row, resources_, name_, logging_));
        }
    } catch (...) {
        forward();
        throw;
    }
    for (const auto& row : tables_.members) {
        if (row.kind == MemberRow::Kind::fmu) {
            units_.push_back(&fmus_[row.fmu]->unit());
        } else {
            make_boundary(row);
        }
        const auto& unit = *units_.back();
        if (unit.input_count() != row.input_count || unit.output_count() != row.output_count ||
            unit.text_input_count() != row.text_input_count ||
            unit.text_output_count() != row.text_output_count) {
            throw std::runtime_error(resources_ + "/system.bin: connectors of '" + unit.name() +
                                     "' do not fit its place in the buffer");
        }
    }
    make_engine();
    find_outward();
    settle_values();
    mode_ = instantiated;
    stale_ = true;
    wants_end_ = ended_at_start_ = false;
}

void SystemInstance::make_boundary(const MemberRow& row) {
    const bool source = row.kind == MemberRow::Kind::source;
    boundaries_.push_back(
        std::make_unique<Boundary>(tables_.name_of(units_.size()),
                                   Boundary::Counts{row.input_count, row.output_count,
                                                    row.text_input_count, row.text_output_count}));
    units_.push_back(boundaries_.back().get());
    if (!source) return;
    source_ = boundaries_.back().get();
    first_signal_ = row.outputs;
    first_text_ = row.text_outputs;
}

void SystemInstance::make_engine() {
    auto schedule = tables_.schedule;
    std::vector<TextPlace> places;
    for (std::size_t i = 0; i < units_.size(); ++i) {
        const auto& row = tables_.members[i];
        schedule.members.push_back({units_[i], row.inputs, row.outputs, row.ticks});
        places.push_back({row.text_inputs, row.text_outputs});
    }
    // One thread: an importer has its own idea of who uses the processors.
    engine_ = std::make_unique<Engine>(std::move(schedule), 1);
    if (tables_.text_count) {
        engine_->set_texts(Texts(tables_.text_count, tables_.text_copies, std::move(places)));
    }
    if (!tables_.value_tables.empty()) {
        engine_->set_value_tables(
            ValueTables(tables_.value_tables, tables_.value_entries, tables_.schedule.signals));
    }
    if (tables_.has_events) {
        engine_->handle_events(
            std::make_unique<EventPhase>(tables_.events, tables_.schedule.signals));
    }
    const auto& initial = tables_.initial;
    if (initial.held_back) {
        engine_->check({Code::copy, initial.first_held_back, initial.held_back, 1, 0});
    }
    engine_->start(0, tables_.step_ns);
}

Status SystemInstance::fail(const std::string& text) {
    log_(Status::error, "logStatusError", text);
    return Status::error;
}

bool SystemInstance::expect(int modes, const char* doing) {
    if (mode_ & modes) return true;
    const char* found = mode_ == instantiated   ? "it was only instantiated"
                        : mode_ == initialising ? "it is in initialization mode"
                        : mode_ == stepping     ? "it is initialised"
                        : mode_ == terminated   ? "it was terminated"
                                                : "a call before has failed";
    fail(std::string(doing) + ": not allowed now: " + found);
    return false;
}

// Messages of the inner FMUs, as ours.
void SystemInstance::forward() {
    for (auto& fmu : fmus_) {
        if (!fmu->fmu().has_log()) continue;
        for (const auto& entry : fmu->fmu().take_log()) {
            const auto status = static_cast<Status>(entry.status);
            if (logging_ || failed(status))
                log_(status, "logInner", fmu->name() + ": " + entry.text);
        }
    }
}

Status SystemInstance::blame(InnerUnit& unit, const std::string& doing) {
    const auto why = unit.unit().failure().empty() ? unit.fmu().failure() : unit.unit().failure();
    forward();
    mode_ = broken;
    return fail("component '" + unit.name() + "' failed while " + doing + ": " + why);
}

Status SystemInstance::set_logging(bool on, std::size_t count, const char* const* categories) {
    bool chosen = count == 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string name = categories[i] ? categories[i] : "";
        if (name != "logStatusError" && name != "logInner") {
            return fail("no log category '" + name + "'; there are logStatusError and logInner");
        }
        chosen |= name == "logInner";
    }
    if (chosen) logging_ = on;
    return Status::ok;
}

double SystemInstance::time() const {
    return to_seconds(mode_ == initialising ? start_ns_ : engine_->time_ns());
}

Status SystemInstance::set_experiment(double start, bool has_stop, double stop) {
    if (!expect(instantiated, "setting up the experiment")) return Status::error;
    if (!(std::fabs(start) < 2.3e9)) {
        return fail("start time: expected within 2.3e9 s of 0, found " + number(start) + " s");
    }
    if (has_stop && !(stop >= start)) {
        return fail("stop time: expected one not before the start at " + number(start) +
                    " s, found " + number(stop) + " s");
    }
    start_ns_ = std::llround(start * 1e9);
    has_stop_ = has_stop;
    stop_ = stop;
    return Status::ok;
}

Status SystemInstance::enter_initialization() {
    if (!expect(instantiated, "entering initialization mode")) return Status::error;
    for (auto& fmu : fmus_) {
        const auto status = fmu->setup(start_ns_, has_stop_, stop_);
        if (failed(status)) return blame(*fmu, "entering initialisation");
    }
    forward();
    mode_ = initialising;
    stale_ = true;
    return Status::ok;
}

// A part of the exchange of initial values.
template <class Part>
Status SystemInstance::exchange(const Part& part) {
    InnerUnits units(tables_, *engine_, units_);
    InitialExchange initial(*engine_, tables_.initial, units, start_ns_, tables_.step_ns);
    const auto problem = units.problem(part(initial));
    forward();
    return problem.empty() ? Status::ok : fail(problem);
}

// Consistent signals with what has been set so far.
Status SystemInstance::initialise() {
    if (!stale_) return Status::ok;
    const auto status = exchange([](InitialExchange& initial) { return initial.run(); });
    stale_ = failed(status);
    return status;
}

Status SystemInstance::exit_initialization() {
    if (!expect(initialising, "exiting initialization mode")) return Status::error;
    auto status = initialise();
    if (!failed(status)) status = begin();
    mode_ = failed(status) ? broken : stepping;
    return status;
}

Status SystemInstance::begin() {
    for (auto& fmu : fmus_) {
        const auto status = fmu->begin();
        if (failed(status)) return blame(*fmu, "exiting initialisation");
    }
    auto status = exchange([](InitialExchange& initial) { return initial.follow(); });
    if (failed(status)) return status;
    if (auto* events = engine_->events()) {
        Outcome outcome;
        const auto before = engine_->context().signals;
        outcome.status = events->begin(engine_->context(), start_ns_, outcome);
        if (failed(outcome.status)) {
            status = ended(outcome, start_ns_);
            ended_at_start_ = wants_end_;
            if (failed(status)) return status;
        }
        status = exchange([&](InitialExchange& initial) { return initial.follow_events(before); });
        if (failed(status)) return status;
        show_events();
    }
    engine_->start(start_ns_, tables_.step_ns);
    begin_faults(engine_->context());
    forward();
    return Status::ok;
}

Status SystemInstance::terminate() {
    if (!expect(stepping | broken, "terminating")) return Status::error;
    mode_ = terminated;
    for (auto& fmu : fmus_) {
        const auto status = fmu->terminate();
        if (failed(status)) return blame(*fmu, "terminating");
    }
    forward();
    return Status::ok;
}

Status SystemInstance::reset() {
    for (auto* state : saved_) state->fmus.clear();
    try {
        build();
    } catch (const std::exception& error) {
        mode_ = broken;
        return fail(error.what());
    }
    return Status::ok;
}

}  // namespace softdock
