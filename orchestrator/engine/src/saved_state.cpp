#include "saved_state.hpp"

#include <stdexcept>

namespace softdock {

SavedState::SavedState(Fmu2& fmu) : fmu_(fmu) {
    require_functions(false);
    require(fmu.functions().get_state(fmu.instance(), &state_), "fmi2GetFMUstate");
    fmu.count_saved(1);
}

SavedState::SavedState(Fmu2& fmu, const std::string& bytes) : fmu_(fmu) {
    require_functions(true);
    require(fmu.functions().deserialize_state(fmu.instance(), bytes.data(), bytes.size(), &state_),
            "fmi2DeSerializeFMUstate");
    fmu.count_saved(1);
}

SavedState::~SavedState() {
    fmu_.count_saved(-1);
    if (state_ && fmu_.usable()) fmu_.functions().free_state(fmu_.instance(), &state_);
}

void SavedState::require_functions(bool bytes) const {
    const auto& call = fmu_.functions();
    if (!call.get_state || !call.set_state || !call.free_state) {
        throw std::runtime_error("its library does not export fmi2Get/Set/FreeFMUstate");
    }
    if (bytes && (!call.serialized_size || !call.serialize_state || !call.deserialize_state)) {
        throw std::runtime_error(
            "its library does not export fmi2SerializedFMUstateSize and fmi2(De)SerializeFMUstate");
    }
    if (!fmu_.usable()) throw std::runtime_error("it returned fmi2Fatal and cannot be called");
}

void SavedState::require(int status, const char* function) const {
    if (failed(fmu_.note(status))) {
        throw std::runtime_error(std::string(function) + " failed: " + fmu_.failure());
    }
}

int SavedState::restore(Fmu2& fmu) const {
    if (&fmu != &fmu_) throw std::invalid_argument("the state belongs to another instance");
    if (!fmu.usable()) throw std::runtime_error("it returned fmi2Fatal and cannot be called");
    const auto status = fmu.note(fmu.functions().set_state(fmu.instance(), state_));
    if (!failed(status)) fmu.recovered();
    return static_cast<int>(status);
}

std::string SavedState::serialize() const {
    require_functions(true);
    const auto& call = fmu_.functions();
    std::size_t size = 0;
    require(call.serialized_size(fmu_.instance(), state_, &size), "fmi2SerializedFMUstateSize");
    std::string bytes(size, '\0');
    require(call.serialize_state(fmu_.instance(), state_, bytes.data(), size),
            "fmi2SerializeFMUstate");
    return bytes;
}

}  // namespace softdock
