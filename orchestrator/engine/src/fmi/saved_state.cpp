#include "fmi/saved_state.hpp"

#include <cstring>
#include <stdexcept>

namespace softdock {

SavedState::SavedState(Fmu& fmu) : fmu_(fmu), mode_(fmu.mode()) {
    require_functions(false);
    require(fmu.states().get(fmu.instance(), &state_), "GetFMUState");
    if (const auto* times = fmu.times()) times_ = *times;
    fmu.count_saved(1);
}

SavedState::SavedState(Fmu& fmu, const std::string& bytes) : fmu_(fmu), mode_(fmu.mode()) {
    require_functions(true);
    if (const auto* times = fmu.times()) times_ = *times;
    const auto beside = times_.size() * sizeof(std::int64_t);
    if (bytes.size() < beside) {
        throw std::runtime_error("the saved state is too short: expected at least " +
                                 std::to_string(beside) + " bytes, found " +
                                 std::to_string(bytes.size()));
    }
    const auto own = bytes.size() - beside;
    if (beside) std::memcpy(times_.data(), bytes.data() + own, beside);
    require(fmu.states().from_bytes(fmu.instance(), bytes.data(), own, &state_),
            "DeserializeFMUState");
    fmu.count_saved(1);
}

SavedState::~SavedState() {
    fmu_.count_saved(-1);
    if (state_ && fmu_.usable()) fmu_.states().release(fmu_.instance(), &state_);
}

void SavedState::require_functions(bool bytes) const {
    const auto& call = fmu_.states();
    const std::string missing = std::string("its library does not export ") + call.prefix;
    if (!call.get || !call.set || !call.release) {
        throw std::runtime_error(missing + "Get/Set/FreeFMUState");
    }
    if (bytes && (!call.size || !call.to_bytes || !call.from_bytes)) {
        throw std::runtime_error(missing + "SerializedFMUStateSize and " + call.prefix +
                                 "(De)SerializeFMUState");
    }
    if (!fmu_.usable()) {
        throw std::runtime_error(std::string("it returned ") + call.prefix +
                                 "Fatal and cannot be called");
    }
}

void SavedState::require(int status, const char* function) const {
    if (failed(fmu_.note(status))) {
        throw std::runtime_error(std::string(fmu_.states().prefix) + function +
                                 " failed: " + fmu_.failure());
    }
}

int SavedState::restore(Fmu& fmu) const {
    if (&fmu != &fmu_) throw std::invalid_argument("the state belongs to another instance");
    require_functions(false);
    const auto status = fmu.note(fmu.states().set(fmu.instance(), state_));
    if (!failed(status)) {
        fmu.recovered();
        if (auto* times = fmu.times()) *times = times_;
        fmu.set_mode(mode_);
    }
    return static_cast<int>(status);
}

std::string SavedState::serialize() const {
    require_functions(true);
    const auto& call = fmu_.states();
    std::size_t size = 0;
    require(call.size(fmu_.instance(), state_, &size), "SerializedFMUStateSize");
    std::string bytes(size, '\0');
    require(call.to_bytes(fmu_.instance(), state_, bytes.data(), size), "SerializeFMUState");
    const auto beside = times_.size() * sizeof(std::int64_t);
    bytes.resize(size + beside);
    if (beside) std::memcpy(&bytes[size], times_.data(), beside);
    return bytes;
}

}  // namespace softdock
