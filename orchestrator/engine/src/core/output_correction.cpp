#include "core/output_correction.hpp"

#include <algorithm>

#include "core/waveform.hpp"

namespace softdock {

namespace {

Status correct(Context& context, const Compensation& row) {
    const auto& member = context.members[static_cast<std::size_t>(row.answer)];
    auto& unit = *member.unit;
    const double seconds = static_cast<double>(context.step_ns) / 1e9;
    const double held = context.signals[row.target] +
                        seconds * (member.order ? context.derivatives[row.target] : 0.0);
    double* inputs = context.tangent.data() + member.inputs;
    double* outputs = context.tangent.data() + member.outputs;
    std::fill_n(inputs, unit.input_count(), 0.0);
    context.tangent[row.target] = (row.factor * context.signals[row.source] + row.offset) - held;
    const ModeKept kept(unit);
    const auto status = unit.derivative(inputs, outputs);
    if (failed(status)) return status;
    for (std::size_t i = 0; i < unit.output_count(); ++i) {
        auto& signal = context.signals[member.outputs + i];
        signal = moved(signal, outputs[i]);
    }
    for (auto& history : context.histories) {
        const auto slot = history.slot();
        if (slot >= member.outputs && slot < member.outputs + unit.output_count()) {
            history.amend(context.signals[slot]);
        }
    }
    return Status::ok;
}

}  // namespace

Status correct_outputs(Context& context, const Operation& operation, Outcome& outcome) {
    for (auto i = operation.first; i < operation.first + operation.count; ++i) {
        const auto& row = context.compensations[i];
        const auto status = correct(context, row);
        if (failed(status)) {
            outcome.unit = row.answer;
            return status;
        }
    }
    return Status::ok;
}

}  // namespace softdock
