// What an importer sets and reads of an exported system.
#include <algorithm>
#include <cmath>

#include "exported/instance.hpp"

namespace softdock {

// Start values of the file, at their places.
void SystemInstance::settle_values() {
    values_.clear();
    texts_.clear();
    places_.clear();
    std::size_t largest = 0;
    for (const auto& variable : tables_.variables) {
        places_.push_back(variable.is_text() ? texts_.size() : values_.size());
        largest = std::max(largest, variable.size);
        if (variable.kind == Variable::Kind::signal) continue;
        values_.insert(values_.end(), variable.numbers.begin(), variable.numbers.end());
        texts_.insert(texts_.end(), variable.texts.begin(), variable.texts.end());
    }
    given_.resize(largest);
    sent_.resize(largest);
    for (std::size_t i = 0; i < tables_.variables.size(); ++i) {
        const auto& variable = tables_.variables[i];
        if (variable.kind == Variable::Kind::input) pass_on(variable, places_[i]);
    }
}

const Variable* SystemInstance::find(std::uint32_t reference, const char* doing) {
    if (reference >= 1 && reference <= tables_.variables.size()) {
        return &tables_.variables[reference - 1];
    }
    fail(std::string(doing) + ": no variable has the value reference " + std::to_string(reference));
    return nullptr;
}

bool SystemInstance::readable(const Variable& variable) {
    if (variable.kind != Variable::Kind::signal) return true;
    if (!expect(initialising | stepping | terminated | broken, "reading an output")) return false;
    return mode_ != initialising || !failed(initialise());
}

const double* SystemInstance::numbers(std::uint32_t reference) const {
    const auto& variable = tables_.variables[reference - 1];
    if (variable.kind != Variable::Kind::signal) return values_.data() + places_[reference - 1];
    return engine_->context().signals.data() + variable.slot;
}

const std::string* SystemInstance::texts(std::uint32_t reference) const {
    const auto& variable = tables_.variables[reference - 1];
    if (variable.kind != Variable::Kind::signal) return texts_.data() + places_[reference - 1];
    return engine_->context().texts.buffer().data() + variable.slot;
}

Status SystemInstance::settable(const Variable& variable) {
    const bool always = variable.kind == Variable::Kind::input || variable.tunable;
    const int modes = instantiated | initialising | (always ? stepping : 0);
    if (variable.kind != Variable::Kind::signal && (mode_ & modes)) return Status::ok;
    const auto what = "setting '" + variable.name + "'";
    if (variable.kind == Variable::Kind::signal) {
        return fail(what + ": it is computed; inputs and parameters can be set");
    }
    if (mode_ == stepping) {
        return fail(what + ": it is a fixed parameter, and the system is initialised");
    }
    expect(modes, what.c_str());
    return Status::error;
}

Status SystemInstance::set_numbers(std::uint32_t reference, const double* values) {
    const auto& variable = tables_.variables[reference - 1];
    if (failed(settable(variable))) return Status::error;
    const auto place = places_[reference - 1];
    std::copy_n(values, variable.size, values_.begin() + static_cast<std::ptrdiff_t>(place));
    stale_ = true;
    return pass_on(variable, place);
}

Status SystemInstance::set_texts(std::uint32_t reference, const std::string* values) {
    const auto& variable = tables_.variables[reference - 1];
    if (failed(settable(variable))) return Status::error;
    const auto place = places_[reference - 1];
    std::copy_n(values, variable.size, texts_.begin() + static_cast<std::ptrdiff_t>(place));
    stale_ = true;
    return pass_on(variable, place);
}

// To the boundary, or to the inner FMUs whose variables it stands for.
Status SystemInstance::pass_on(const Variable& variable, std::size_t place) {
    const auto slot = static_cast<std::size_t>(variable.slot);
    if (variable.kind == Variable::Kind::input) {
        if (variable.slot < 0) return Status::ok;  // it feeds nothing
        for (std::size_t i = 0; i < variable.size; ++i) {
            if (variable.is_text()) {
                source_->texts()[slot - first_text_ + i] = texts_[place + i];
            } else {
                source_->values()[slot - first_signal_ + i] = values_[place + i];
            }
        }
        return Status::ok;
    }
    for (const auto& target : variable.targets) {
        for (std::size_t i = 0; i < variable.size && !variable.is_text(); ++i) {
            sent_[i] = target.factor * values_[place + i] + target.offset;
        }
        auto& fmu = *fmus_[target.fmu];
        const auto* texts = variable.is_text() ? texts_.data() + place : nullptr;
        const auto status = fmu.set(target.port, sent_.data(), texts, mode_ == stepping);
        if (failed(status)) return blame(fmu, "setting '" + target.port.name + "'");
    }
    forward();
    return Status::ok;
}

}  // namespace softdock
