// Saved states of an exported system.
#include <exception>
#include <stdexcept>

#include "exported/byte_reader.hpp"
#include "exported/instance.hpp"

namespace softdock {

namespace {

constexpr char tag[] = "SDST";

bool keeps_states(const SystemTables& tables, bool bytes) {
    for (const auto& fmu : tables.fmus) {
        if (!fmu.rolls_back || (bytes && !fmu.serializes)) return false;
    }
    return true;
}

}  // namespace

bool SystemInstance::known(SystemState* state) {
    if (saved_.count(state)) return true;
    fail("the saved state is none of this instance");
    return false;
}

Status SystemInstance::save(SystemState** into) {
    if (!keeps_states(tables_, false)) {
        return fail("a component cannot save its state (canGetAndSetFMUstate is false)");
    }
    const int modes = instantiated | initialising | stepping | terminated;
    if (!expect(modes, "saving the state") || (*into && !known(*into))) return Status::error;
    SystemState state;
    try {
        for (auto& fmu : fmus_) {
            state.fmus.push_back(std::make_unique<SavedState>(fmu->fmu()));
            state.memories.push_back(fmu->memory());
        }
    } catch (const std::runtime_error& error) {
        forward();
        return fail(error.what());
    }
    state.engine = engine_->save();
    state.values = values_;
    state.texts = texts_;
    state.mode = mode_;
    state.start_ns = start_ns_;
    forward();
    if (!*into) *into = *saved_.insert(new SystemState).first;
    **into = std::move(state);
    return Status::ok;
}

Status SystemInstance::restore(SystemState* state) {
    if (!known(state)) return Status::error;
    if (state->fmus.size() != fmus_.size()) {
        return fail("the saved state belongs to the time before the instance was reset");
    }
    try {
        engine_->restore(state->engine);
    } catch (const std::invalid_argument& error) {
        return fail(error.what());
    }
    mode_ = broken;  // in part only, until all have gone back
    for (std::size_t i = 0; i < fmus_.size(); ++i) {
        auto& fmu = *fmus_[i];
        auto status = static_cast<Status>(state->fmus[i]->restore(fmu.fmu()));
        if (!failed(status)) status = fmu.put_back(state->memories[i]);
        if (failed(status)) return blame(fmu, "restoring a state");
    }
    values_ = state->values;
    texts_ = state->texts;
    for (std::size_t i = 0; i < tables_.variables.size(); ++i) {
        const auto& variable = tables_.variables[i];
        if (variable.kind == Variable::Kind::input) pass_on(variable, places_[i]);
    }
    start_ns_ = state->start_ns;
    mode_ = static_cast<Mode>(state->mode);
    wants_end_ = false;
    stale_ = true;
    if (mode_ == stepping && failed(engine_->read_texts())) {
        return fail("a component does not tell its texts after it went back to a state");
    }
    return Status::ok;
}

Status SystemInstance::release(SystemState** state) {
    if (!*state) return Status::ok;
    if (!known(*state)) return Status::error;
    saved_.erase(*state);
    delete *state;
    *state = nullptr;
    return Status::ok;
}

Status SystemInstance::serialize(SystemState* given, std::string& bytes) {
    if (!known(given)) return Status::error;
    const auto& state = *given;
    if (!keeps_states(tables_, true) || state.fmus.size() != fmus_.size()) {
        return fail("a component cannot turn its state into bytes (canSerializeFMUstate is false)");
    }
    ByteWriter to;
    to.text(tag);
    to.text(tables_.token);
    to.u32(static_cast<std::uint32_t>(state.mode));
    to.i64(state.start_ns);
    to.i64(state.engine.done);
    to.i64(state.engine.time_ns);
    for (const auto* part :
         {&state.engine.signals, &state.engine.samples, &state.engine.memory, &state.values}) {
        to.numbers(*part);
    }
    to.times(state.engine.marks);
    to.texts(state.texts);
    try {
        for (std::size_t i = 0; i < state.fmus.size(); ++i) {
            to.numbers(state.memories[i]);
            to.text(state.fmus[i]->serialize());
        }
    } catch (const std::runtime_error& error) {
        forward();
        return fail(error.what());
    }
    to.u32(crc32(to.bytes().data(), to.bytes().size()));
    bytes = to.bytes();
    return Status::ok;
}

Status SystemInstance::serialize_into(SystemState* state, char* to, std::size_t size) {
    std::string bytes;
    const auto status = serialize(state, bytes);
    if (failed(status)) return status;
    if (bytes.size() > size) {
        return fail("the saved state takes " + std::to_string(bytes.size()) +
                    " bytes, room is for " + std::to_string(size));
    }
    bytes.copy(to, bytes.size());
    return Status::ok;
}

Status SystemInstance::deserialize(const char* bytes, std::size_t count, SystemState** into) {
    auto state = std::make_unique<SystemState>();
    try {
        ByteReader from("the saved state", bytes, count < 4 ? 0 : count - 4);
        if (from.text() != tag || from.text() != tables_.token) {
            from.refuse("it belongs to another FMU");
        }
        ByteReader sum("the saved state", bytes + (count < 4 ? 0 : count - 4), 4);
        if (sum.u32() != crc32(bytes, count - 4)) from.refuse("its check sum does not fit");
        state->mode = static_cast<int>(from.u32());
        state->start_ns = from.i64();
        state->engine.done = from.i64();
        state->engine.time_ns = from.i64();
        for (auto* part : {&state->engine.signals, &state->engine.samples, &state->engine.memory,
                           &state->values}) {
            *part = from.numbers();
        }
        state->engine.marks = from.times();
        state->texts = from.texts();
        if (state->values.size() != values_.size() || state->texts.size() != texts_.size()) {
            from.refuse("it has other inputs and parameters");
        }
        for (auto& fmu : fmus_) {
            state->memories.push_back(from.numbers());
            state->fmus.push_back(std::make_unique<SavedState>(fmu->fmu(), from.text()));
        }
        from.expect_end();
    } catch (const std::exception& error) {
        forward();
        return fail(error.what());
    }
    *into = *saved_.insert(state.release()).first;
    return Status::ok;
}

}  // namespace softdock
