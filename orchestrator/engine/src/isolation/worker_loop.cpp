#include "isolation/worker_loop.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>

#include "host/processes.hpp"

namespace softdock {

namespace {

Status discrete(Unit& unit, UnitHeader& header) {
    Discrete update;
    const auto status = unit.update_discrete(update);
    header.again = update.again;
    header.discrete_terminate = update.terminate;
    header.values_changed = update.values_changed;
    header.has_next = update.has_next;
    header.next_ns = update.next_ns;
    return status;
}

Status step(Unit& unit, const SharedBlock& block) {
    auto& header = block.header();
    const auto status = unit.step(header.time_ns, header.step_ns);
    const auto& reached = unit.reached();
    header.reached_ns = reached.time_ns;
    header.early = reached.early;
    header.event = reached.event;
    header.terminate = reached.terminate;
    header.outputs_status = 0;
    if (!failed(status))
        header.outputs_status = static_cast<int>(unit.get_outputs(block.outputs()));
    return status;
}

Status command(Unit& unit, const SharedBlock& block) {
    auto& header = block.header();
    switch (static_cast<Command>(header.command)) {
        case Command::set:
            return Status::ok;
        case Command::step:
            return step(unit, block);
        case Command::outputs:
            return unit.get_outputs(block.outputs());
        case Command::save:
            return unit.save(header.number);
        case Command::restore:
            return unit.restore(header.number);
        case Command::derivative:
            return unit.derivative(block.seeds(), block.changes());
        case Command::enter_event_mode:
            return unit.enter_event_mode();
        case Command::update_discrete:
            return discrete(unit, header);
        case Command::enter_step_mode:
            return unit.enter_step_mode();
    }
    return Status::error;
}

void say(UnitHeader& header, const char* text) {
    std::strncpy(header.failure, text, sizeof header.failure - 1);
    header.failure[sizeof header.failure - 1] = '\0';
}

void execute(Unit& unit, const SharedBlock& block) {
    auto& header = block.header();
    auto status = Status::ok;
    header.outputs_status = 0;
    header.early_return = 0;
    header.failure[0] = '\0';
    try {
        if (header.has_inputs) status = unit.set_inputs(block.inputs());
        const auto order = static_cast<int>(std::min<std::uint32_t>(header.order, most_order));
        if (!failed(status) && order) {
            status = std::max(status, unit.set_input_derivatives(
                                          {block.derivatives(), unit.input_count(), order}));
        }
        if (!failed(status)) status = std::max(status, command(unit, block));
        if (failed(status) || header.outputs_status > 1) say(header, unit.failure().c_str());
        if (failed(status)) header.early_return = unit.cause().kind == FailureKind::early_return;
    } catch (const std::exception& error) {
        status = Status::error;
        say(header, error.what());
    }
    header.status = static_cast<int>(status);
}

// Whether the engine would step the next unit too after this one.
bool goes_on(const UnitHeader& header) {
    return header.status <= 1 && header.outputs_status <= 1 && !header.terminate &&
           header.reached_ns == header.time_ns + header.step_ns;
}

// Gives the members that are asked their turns, in order; those after a failure get none.
void execute_all(const std::vector<Served>& members, const ProcessBlock& process,
                 std::uint32_t asked, bool shared) {
    auto& at = process.header().at;
    for (auto i = process.header().first; i < members.size() && members[i].unit;) {
        auto& unit = *members[i].unit;
        auto& header = members[i].block->header();
        at.store(i);
        {
            std::optional<ModeKept> kept;
            if (shared) kept.emplace(unit);
            execute(unit, *members[i].block);
        }
        if (process.foreign()) leave_fork();  // a fork of the worker that came back from the unit
        header.served.store(asked);
        i = header.next;
        if (i != no_member && !goes_on(header)) break;
    }
    at.store(no_member);
}

}  // namespace

void serve(const ProcessBlock& process, const std::vector<Served>& members, bool shared) {
    auto& header = process.header();
    for (const auto& [unit, block] : members) {
        if (!unit) continue;
        if (unit->input_count() > block->most_inputs() ||
            unit->output_count() > block->most_outputs()) {
            throw std::invalid_argument("the shared memory has no room for the unit's signals");
        }
    }
    while (true) {
        const auto done = header.answer.load();
        const auto asked = header.request.load();
        if (asked == done) {
            await_change(header.request, done, header.worker_sleeps, 0);
            continue;
        }
        if (header.first == no_member) {  // a message, which is answered on the socket
            header.answer.store(asked);
            return;
        }
        execute_all(members, process, asked, shared);
        announce(header.answer, asked, header.master_sleeps);
    }
}

}  // namespace softdock
