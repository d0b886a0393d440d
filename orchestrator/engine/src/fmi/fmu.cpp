#include "fmi/fmu.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace softdock {

namespace {

constexpr std::size_t most_messages = 10000;

}  // namespace

Fmu::Fmu(std::string name, const std::string& library)
    : Unit(std::move(name)), library_(load_library(library)) {}

Fmu::~Fmu() {
    if (library_ && usable()) unload_library(library_);
}

void Fmu::require_instance(const char* function) {
    if (instance_) return;
    const std::string why = log_.empty() ? "no message" : log_.back().text;
    throw std::runtime_error(std::string(function) + " returned null: " + why);
}

void Fmu::find_states(const char* prefix, const std::string& state,
                      const std::string& deserialize) {
    states_.prefix = prefix;
    const std::string version = prefix;
    find(version + "Get" + state, states_.get, false);
    find(version + "Set" + state, states_.set, false);
    find(version + "Free" + state, states_.release, false);
    find(version + "Serialized" + state + "Size", states_.size, false);
    find(version + "Serialize" + state, states_.to_bytes, false);
    find(version + deserialize + state, states_.from_bytes, false);
}

void Fmu::release_states() {
    for (auto& state : kept_) {
        if (state.state) states_.release(instance_, &state.state);
    }
    kept_.clear();
}

Status Fmu::note_worse(int status) {
    const bool known = status >= 0 && status <= static_cast<int>(Status::pending);
    const auto noted = known ? static_cast<Status>(status) : Status::error;
    if (noted != Status::pending) worst_ = std::max(worst_, noted);
    return noted;
}

Status Fmu::save(std::size_t number) {
    if (!can_roll_back()) return cannot("save its state");
    failure_.clear();
    if (number >= kept_.size()) kept_.resize(number + 1);
    kept_[number].mode = mode();
    if (const auto* now = times()) kept_[number].times = *now;
    return note(states_.get(instance_, &kept_[number].state));
}

Status Fmu::restore(std::size_t number) {
    if (number >= kept_.size() || !kept_[number].state)
        return cannot("go back to what was not saved");
    failure_.clear();
    if (!usable()) return Status::fatal;
    const auto status = note(states_.set(instance_, kept_[number].state));
    if (!failed(status)) {
        recovered();
        if (auto* now = times()) *now = kept_[number].times;
        set_mode(kept_[number].mode);
    }
    return status;
}

void Fmu::bind_texts(TextPorts inputs, TextPorts outputs) {
    text_inputs_ = std::move(inputs);
    text_outputs_ = std::move(outputs);
    text_input_count_ = text_inputs_.size();
    text_output_count_ = text_outputs_.size();
    strings_.resize(std::max(text_inputs_.string_count, text_outputs_.string_count));
    binaries_.resize(std::max(text_inputs_.binary_count, text_outputs_.binary_count));
    sizes_.resize(binaries_.size());
}

Status Fmu::set_texts(const std::string* values) {
    failure_.clear();
    const auto& ports = text_inputs_;
    auto status = Status::ok;
    for (std::size_t i = 0; i < ports.string_count; ++i) {
        if (values[i].find('\0') != std::string::npos) {
            return fail("input '" + ports.names[i] + "': a String of FMI holds no zero byte");
        }
        strings_[i] = values[i].c_str();
    }
    if (!ports.strings.empty()) {
        status = set_strings(ports.strings, strings_.data(), ports.string_count);
        if (failed(status)) return status;
    }
    if (ports.binaries.empty()) return status;
    values += ports.string_count;
    for (std::size_t i = 0; i < ports.binary_count; ++i) {
        binaries_[i] = reinterpret_cast<const std::uint8_t*>(values[i].data());
        sizes_[i] = values[i].size();
    }
    return std::max(
        status, set_binaries(ports.binaries, sizes_.data(), binaries_.data(), ports.binary_count));
}

Status Fmu::get_texts(std::string* values) {
    failure_.clear();
    const auto& ports = text_outputs_;
    auto status = Status::ok;
    if (!ports.strings.empty()) {
        status = get_strings(ports.strings, strings_.data(), ports.string_count);
        if (failed(status)) return status;
        for (std::size_t i = 0; i < ports.string_count; ++i) {
            *values++ = strings_[i] ? strings_[i] : "";
        }
    }
    if (ports.binaries.empty()) return status;
    status = std::max(
        status, get_binaries(ports.binaries, sizes_.data(), binaries_.data(), ports.binary_count));
    if (failed(status)) return status;
    for (std::size_t i = 0; i < ports.binary_count; ++i) {
        const bool empty = !binaries_[i] || sizes_[i] == 0;
        if (empty) {
            values[i].clear();
        } else {
            values[i].assign(reinterpret_cast<const char*>(binaries_[i]), sizes_[i]);
        }
    }
    return status;
}

Status Fmu::set_binaries(const References&, const std::size_t*, const std::uint8_t**, std::size_t) {
    return cannot("take binaries");
}

Status Fmu::get_binaries(const References&, std::size_t*, const std::uint8_t**, std::size_t) {
    return cannot("give binaries");
}

std::vector<LogMessage> Fmu::take_log() {
    const std::lock_guard<std::mutex> lock(log_mutex_);
    std::vector<LogMessage> taken;
    taken.swap(log_);
    has_log_.store(false, std::memory_order_release);
    if (dropped_ > 0) {
        taken.push_back({static_cast<int>(Status::warning), "log",
                         std::to_string(dropped_) + " further messages were dropped; at most " +
                             std::to_string(most_messages) +
                             " are kept between two reports of progress"});
        dropped_ = 0;
    }
    return taken;
}

void Fmu::log(int status, const char* category, const char* format, std::va_list arguments) {
    char text[4096];
    std::vsnprintf(text, sizeof text, format ? format : "", arguments);
    log(status, category ? category : "", text);
}

void Fmu::log(int status, const char* category, std::string text) {
    const std::lock_guard<std::mutex> lock(log_mutex_);
    if (failed(static_cast<Status>(status))) failure_ = text;
    has_log_.store(true, std::memory_order_release);
    if (log_.size() < most_messages) {
        log_.push_back({status, category, std::move(text)});
    } else {
        ++dropped_;
    }
}

}  // namespace softdock
