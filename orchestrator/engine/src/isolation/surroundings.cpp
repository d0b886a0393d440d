#include "isolation/surroundings.hpp"

#include <limits.h>
#include <unistd.h>

#include <clocale>
#include <cstring>

namespace softdock {

namespace {

std::string folder() {
    char path[PATH_MAX];
    return getcwd(path, sizeof path) ? path : "";  // none if it was removed
}

std::string locale() {
    const char* name = std::setlocale(LC_ALL, nullptr);
    return name ? name : "";
}

}  // namespace

Surroundings::Surroundings() : mode_(FloatMode::now()), whole_(gettid() == getpid()) {
    if (!whole_) return;
    folder_ = folder();
    locale_ = locale();
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &actions_[i]);
}

std::vector<std::string> Surroundings::put_back() const {
    std::vector<std::string> changed;
    if (FloatMode::now() != mode_) {
        mode_.set();
        changed.push_back("the floating-point mode (rounding, or tiny numbers taken as 0)");
    }
    if (!whole_) return changed;
    const auto now = folder();
    if (now != folder_) {
        const bool back = !folder_.empty() && chdir(folder_.c_str()) == 0;
        changed.push_back("the working directory, to '" + now + "'" +
                          (back ? "" : ", which cannot be put back"));
    }
    if (locale() != locale_) {
        changed.push_back("the locale, to '" + locale() + "'");
        std::setlocale(LC_ALL, locale_.c_str());
    }
    for (std::size_t i = 0; i < signals.size(); ++i) {
        struct sigaction found;
        if (sigaction(signals[i], nullptr, &found) != 0) continue;
        if (found.sa_handler == actions_[i].sa_handler) continue;
        sigaction(signals[i], &actions_[i], nullptr);
        changed.push_back(std::string("what the signal SIG") + sigabbrev_np(signals[i]) + " does");
    }
    return changed;
}

}  // namespace softdock
