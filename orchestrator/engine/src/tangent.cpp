// Derivatives of a loop's body by those of its units.
#include "engine.hpp"

namespace softdock {

Status Engine::differentiate(std::size_t first, std::size_t end, Outcome& outcome) {
    for (auto i = first; i < end; ++i) {
        const auto& operation = operations_[i];
        const auto last = operation.first + operation.count;
        for (auto row = operation.first; row < last; ++row) {
            if (operation.code == Code::copy) {
                const auto& line = copies_[row];
                tangent_[line.target] = line.factor * tangent_[line.source];
            } else if (operation.code == Code::blend) {
                const auto& line = mixes_[row];
                tangent_[line.target] = line.factor * line.weight * tangent_[line.source];
            } else if (operation.code == Code::read) {
                tangent_[reads_[row].target] = 0.0;
            } else if (operation.code == Code::disturb) {
                const auto& fault = faults_.rows()[row];
                if (fault.effect == Effect::detour) continue;
                const bool read = fault.effect == Effect::later;
                tangent_[read ? reads_[fault.place].target : fault.place] *= fault.gain(now_ns_);
            } else if (operation.code == Code::tabulate) {
                tangent_[tables_.slot(row)] = 0.0;
            } else if (operation.code == Code::step || operation.code == Code::second_half) {
                auto& member = members_[row];
                const auto status = member.unit->derivative(tangent_.data() + member.inputs,
                                                            tangent_.data() + member.outputs);
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
