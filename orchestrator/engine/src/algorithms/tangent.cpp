// Derivatives of a loop's body by those of its units.
#include "algorithms/tangent.hpp"

namespace softdock {

Status differentiate(Context& context, std::size_t first, std::size_t end, Outcome& outcome) {
    for (auto i = first; i < end; ++i) {
        const auto& operation = context.operations[i];
        const auto last = operation.first + operation.count;
        for (auto row = operation.first; row < last; ++row) {
            if (operation.code == Code::copy) {
                const auto& line = context.copies[row];
                context.tangent[line.target] = line.factor * context.tangent[line.source];
            } else if (operation.code == Code::interpolate_mean) {
                // Its target acts on no output at once.
                context.tangent[context.mixes[row].target] = 0.0;
            } else if (operation.code == Code::read) {
                context.tangent[context.reads[row].target] = 0.0;
            } else if (operation.code == Code::inject_fault) {
                const auto& fault = context.faults.rows()[row];
                if (fault.effect == Effect::changed_delay) continue;
                const bool read = fault.effect == Effect::delayed_read;
                context.tangent[read ? context.reads[fault.place].target : fault.place] *=
                    fault.gain(context.now_ns);
            } else if (operation.code == Code::lookup) {
                context.tangent[context.tables.slot(row)] = 0.0;
            } else if (operation.code == Code::step || operation.code == Code::second_half) {
                auto& member = context.members[row];
                const ModeKept kept(*member.unit);
                const auto status =
                    member.unit->derivative(context.tangent.data() + member.inputs,
                                            context.tangent.data() + member.outputs);
                if (failed(status)) {
                    outcome.unit = row;
                    return status;
                }
            }
        }
    }
    return Status::ok;
}

}  // namespace softdock
