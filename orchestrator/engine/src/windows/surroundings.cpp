#include "host/surroundings.hpp"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <algorithm>
#include <clocale>
#include <set>

#include "core/float_mode.hpp"

namespace softdock {

namespace {

// The thread that loads the engine: Python's main thread.
const DWORD main_thread = GetCurrentThreadId();

std::wstring folder() {
    std::wstring path(GetCurrentDirectoryW(0, nullptr), L'\0');
    path.resize(GetCurrentDirectoryW(static_cast<DWORD>(path.size()), path.data()));
    return path;
}

std::string utf8(const std::wstring& text) {
    std::string made(4 * text.size(), '\0');
    made.resize(static_cast<std::size_t>(
        WideCharToMultiByte(CP_UTF8, 0, text.data(), static_cast<int>(text.size()), made.data(),
                            static_cast<int>(made.size()), nullptr, nullptr)));
    return made;
}

std::string locale() {
    const char* name = std::setlocale(LC_ALL, nullptr);
    return name ? name : "";
}

std::set<std::wstring> environment() {
    std::set<std::wstring> entries;
    wchar_t* block = GetEnvironmentStringsW();
    for (const wchar_t* entry = block; entry && *entry;) {
        const std::wstring text(entry);
        entry += text.size() + 1;
        if (text[0] != L'=') entries.insert(text);  // those are folders of drives
    }
    if (block) FreeEnvironmentStringsW(block);
    return entries;
}

std::wstring name_of(const std::wstring& entry) { return entry.substr(0, entry.find(L'=')); }

}  // namespace

// Windows has no signals, masks, limits or niceness that a unit could leave changed.
struct Surroundings::State {
    explicit State(bool alone)
        : mode_(FloatMode::now()), whole_(GetCurrentThreadId() == main_thread), alone_(alone) {
        if (!whole_) return;
        folder_ = folder();
        locale_ = locale();
        environment_ = environment();
    }
    void compare(bool back, std::vector<std::string>& changed) const;
    void compare_environment(bool back, std::vector<std::string>& changed) const;

    FloatMode mode_;
    bool whole_;  // taken in the main thread
    bool alone_;
    std::wstring folder_;
    std::string locale_;
    std::set<std::wstring> environment_;
};

void Surroundings::State::compare(bool back, std::vector<std::string>& changed) const {
    if (const auto now = folder(); now != folder_) {
        const bool done = !back || SetCurrentDirectoryW(folder_.c_str()) != 0;
        changed.push_back("the working directory, to '" + utf8(now) + "'" +
                          (done ? "" : ", which cannot be put back"));
    }
    if (locale() != locale_) {
        changed.push_back("the locale, to '" + locale() + "'");
        if (back) std::setlocale(LC_ALL, locale_.c_str());
    }
    compare_environment(back, changed);
}

void Surroundings::State::compare_environment(bool back, std::vector<std::string>& changed) const {
    const auto now = environment();
    if (now == environment_) return;
    std::set<std::wstring> names;
    for (const auto& entry : now) {
        if (environment_.count(entry) != 0) continue;
        names.insert(name_of(entry));
        if (back) SetEnvironmentVariableW(name_of(entry).c_str(), nullptr);
    }
    for (const auto& entry : environment_) {
        if (now.count(entry) != 0) continue;
        const auto name = name_of(entry);
        names.insert(name);
        if (back && name.size() < entry.size())
            SetEnvironmentVariableW(name.c_str(), entry.c_str() + name.size() + 1);
    }
    for (const auto& name : names)
        changed.push_back("the environment variable '" + utf8(name) + "'");
}

Surroundings::Surroundings(bool alone) : state_(std::make_unique<const State>(alone)) {}
Surroundings::~Surroundings() = default;

// What all threads share is left where another thread may have changed it.
Surroundings::Changes Surroundings::put_back(bool alone) const {
    Changes found;
    if (FloatMode::now() != state_->mode_) {
        state_->mode_.set();
        found.put_back.push_back("the floating-point mode (rounding, or tiny numbers taken as 0)");
    }
    if (!state_->whole_) return found;
    const bool back = alone && state_->alone_;
    state_->compare(back, back ? found.put_back : found.left);
    return found;
}

}  // namespace softdock
