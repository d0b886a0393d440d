#include "exported/inner_units.hpp"

#include <cmath>

namespace softdock {

bool InnerUnits::refused(Status status, std::size_t member, const char* doing) {
    if (!failed(status)) return false;
    refusal_ = "component '" + tables_.name_of(member) + "' failed while " + doing + ": " +
               units_[member]->failure();
    return true;
}

bool InnerUnits::evaluate(std::size_t member) {
    auto& unit = *units_[member];
    auto& context = engine_.context();
    {
        const ModeKept kept(unit);
        auto status = unit.set_inputs(context.signals.data() + tables_.members[member].inputs);
        if (has_texts() && !failed(status)) status = context.texts.send(unit, member);
        if (refused(status, member, "setting its inputs")) return false;
    }
    return read(member);
}

bool InnerUnits::read(std::size_t member) {
    auto& unit = *units_[member];
    auto& context = engine_.context();
    const ModeKept kept(unit);
    auto status = unit.get_outputs(context.signals.data() + tables_.members[member].outputs);
    if (has_texts() && !failed(status)) status = context.texts.receive(unit, member);
    return !refused(status, member, "reading its outputs");
}

std::string InnerUnits::unsolved(const InitialResult& result) const {
    std::string who;
    const auto& names = tables_.schedule.loops[static_cast<std::size_t>(result.loop)].sources;
    for (std::size_t i = 0; i < result.residual.size() && i < names.size(); ++i) {
        if (result.residual[i] == 0.0) continue;
        who +=
            (who.empty() ? "'" : ", '") + names[i] + "' by " + std::to_string(result.residual[i]);
    }
    return "a loop of components did not converge at the start: " + who +
           " still change; try other start values";
}

std::string InnerUnits::problem(const InitialResult& result) const {
    if (!result.settled) return result.loop < 0 ? refusal_ : unsolved(result);
    if (!result.exchanged) return "";
    if (result.unread >= 0) {
        return std::string("a line cannot be read at the start: ") + engine_.context().read_error;
    }
    for (const auto& variable : tables_.variables) {
        if (variable.is_text() || variable.slot < 0) continue;
        for (std::size_t i = 0; i < variable.size; ++i) {
            if (!std::isfinite(
                    engine_.context().get(variable.slot + static_cast<std::int32_t>(i)))) {
                return "'" + variable.name + "' is not finite (NaN or infinite) at the start";
            }
        }
    }
    return "";
}

}  // namespace softdock
