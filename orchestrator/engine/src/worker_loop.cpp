#include "worker_loop.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

namespace softdock {

namespace {

Status discrete(Unit& unit, Header& header) {
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
        case Command::message:
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

void say(Header& header, const char* text) {
    std::strncpy(header.failure, text, sizeof header.failure - 1);
    header.failure[sizeof header.failure - 1] = '\0';
}

void execute(Unit& unit, const SharedBlock& block) {
    auto& header = block.header();
    auto status = Status::ok;
    header.outputs_status = 0;
    header.failure[0] = '\0';
    try {
        if (header.has_inputs) status = unit.set_inputs(block.inputs());
        if (!failed(status) && header.has_slopes) {
            status = std::max(status, unit.set_slopes(block.slopes()));
        }
        if (!failed(status)) status = std::max(status, command(unit, block));
        if (failed(status) || header.outputs_status > 1) say(header, unit.failure().c_str());
    } catch (const std::exception& error) {
        status = Status::error;
        say(header, error.what());
    }
    header.status = static_cast<int>(status);
}

}  // namespace

void serve(Unit& unit, const SharedBlock& block) {
    auto& header = block.header();
    if (unit.input_count() > block.most_inputs() || unit.output_count() > block.most_outputs()) {
        throw std::invalid_argument("the shared memory has no room for the unit's signals");
    }
    while (true) {
        const auto done = header.answer.load();
        const auto asked = header.request.load();
        if (asked == done) {
            await_change(header.request, done, header.worker_sleeps, 0);
            continue;
        }
        const bool message = static_cast<Command>(header.command) == Command::message;
        if (message) {  // answered on the socket
            header.answer.store(asked);
            return;
        }
        execute(unit, block);
        announce(header.answer, asked, header.master_sleeps);
    }
}

void end_with_master(int socket, int master) {
    std::thread([socket, master] {
        pollfd watched[] = {{socket, POLLRDHUP, 0}, {master, POLLIN, 0}};
        while (poll(watched, 2, -1) <= 0) continue;
        _exit(0);
    }).detach();
}

}  // namespace softdock
