#include "core/exchange.hpp"

#include "core/waveform.hpp"

namespace softdock {

namespace {

constexpr const char* no_entry = "the table of values on its connection has no entry for it";

// Off the grid nothing is remembered: what a loop proposed is taken back.
void remember(Context& context, const Operation& operation) {
    const auto end_ns = context.now_ns + context.step_ns;
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto& history = context.histories[i];
        if (context.on_grid) {
            history.put(end_ns, context.signals[history.slot()]);
        } else {
            history.take_back(end_ns);
        }
    }
}

// On inputs, after a line has brought its value; on readings, before and after.
std::int32_t inject_faults(Context& context, const Operation& operation) {
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto& fault = context.faults.rows()[i];
        if (fault.effect == Effect::changed_delay) {
            if (fault.acts(context.now_ns)) context.reads[fault.place].fault_ns = fault.change_ns;
        } else if (fault.effect != Effect::delayed_read) {
            auto& value = context.signals[fault.place];
            value = fault.apply(value, context.now_ns);
        } else if (fault.acts(context.now_ns)) {
            const auto* why = context.reads[fault.place].execute(
                context.histories, context.now_ns, context.step_ns - context.first_ns,
                context.signals, context.derivatives);
            if (why) {
                context.read_error = why;
                return fault.place;
            }
        }
    }
    return -1;
}

}  // namespace

std::int32_t execute_lines(Context& context, const Operation& operation) {
    const auto end = operation.first + operation.count;
    switch (operation.code) {
        case Code::copy:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = context.copies[i];
                context.signals[line.target] =
                    line.factor * context.signals[line.source] + line.offset;
            }
            break;
        case Code::read:
            for (auto i = operation.first; i < end; ++i) {
                const auto* why = context.reads[i].execute(context.histories, context.now_ns,
                                                           context.step_ns - context.first_ns,
                                                           context.signals, context.derivatives);
                context.reads[i].fault_ns = 0;  // a fault of the delay says it anew each time
                if (why) {
                    context.read_error = why;
                    return i;
                }
            }
            break;
        case Code::push:
            remember(context, operation);
            break;
        case Code::propose:
            for (auto i = operation.first; i < end; ++i) {
                auto& history = context.histories[i];
                history.put(context.now_ns + context.step_ns, context.signals[history.slot()]);
            }
            break;
        case Code::interpolate_mean:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = context.mixes[i];
                const double begin = context.begin[line.source];
                const double mean =
                    moved(begin, line.weight * (context.signals[line.source] - begin));
                context.signals[line.target] = line.factor * mean + line.offset;
            }
            break;
        case Code::extrapolate:
            for (auto i = operation.first; i < end; ++i) {
                const auto& line = context.mixes[i];
                const double now = context.signals[line.source];
                const double coming =
                    line.weight * context.step_ratio * (now - context.before[line.source]);
                context.signals[line.target] = line.factor * moved(now, coming) + line.offset;
            }
            break;
        case Code::compensate:
            for (auto i = operation.first; i < end; ++i) context.compensations[i].execute(context);
            break;
        case Code::text:
            context.texts.copy(operation.first, operation.count);
            break;
        case Code::inject_fault:
            return inject_faults(context, operation);
        case Code::inject_sample_fault:
            if (context.on_grid) inject_sample_faults(context, operation);
            break;
        case Code::lookup: {
            const auto row =
                context.tables.apply(operation.first, operation.count, context.signals);
            if (row >= 0) {
                context.read_error = no_entry;
                return static_cast<std::int32_t>(context.reads.size()) + row;
            }
            break;
        }
        case Code::step:
        case Code::first_half:
        case Code::second_half:
        case Code::solve:
        case Code::correct:
            break;
    }
    return -1;
}

void inject_sample_faults(Context& context, const Operation& operation) {
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        auto& fault = context.faults.rows()[i];
        auto& history = context.histories[fault.place];
        const auto newest = history.newest_point();
        history.amend(fault.apply(newest.value, newest.time_ns));
    }
}

void begin_faults(Context& context) {
    context.faults.forget();
    for (const auto& operation : context.operations) {
        const auto end = operation.first + operation.count;
        for (auto i = operation.first; i < end; ++i) {
            if (operation.code == Code::inject_fault) {
                auto& fault = context.faults.rows()[i];
                if (fault.effect == Effect::drop) fault.held = context.signals[fault.place];
            } else if (operation.code == Code::inject_sample_fault) {
                auto& fault = context.faults.rows()[i];
                auto& history = context.histories[fault.place];
                const double value = history.newest_point().value;
                history.start(context.now_ns, fault.apply(value, context.now_ns));
            }
        }
    }
}

}  // namespace softdock
