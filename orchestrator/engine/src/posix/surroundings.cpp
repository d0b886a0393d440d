#include "posix/surroundings.hpp"

#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "core/float_mode.hpp"

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

mode_t file_mask() {
    const auto mask = umask(077);  // there is no other way to read it
    umask(mask);
    return mask;
}

std::vector<std::string> environment() {
    std::vector<std::string> found;
    for (char** entry = environ; entry && *entry; ++entry) found.emplace_back(*entry);
    return found;
}

constexpr const char* limit_names[] = {"AS", "CORE", "CPU", "FSIZE", "NOFILE", "STACK"};

std::string not_back(bool back) { return back ? "" : ", which cannot be put back"; }

}  // namespace

struct Surroundings::State {
    State();
    std::vector<std::string> put_back() const;

    // By which a run is ended, or processes and pipes are waited for. Others, such as SIGSEGV, are
    // left to the unit: a Java machine needs them.
    static constexpr std::array<int, 5> signals{SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};

    static constexpr std::array<__rlimit_resource, 6> limits{
        RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
    // Standard input, output and error: which files they are.
    using Streams = std::array<struct stat, 3>;
    static Streams streams();

    void put_back_process(std::vector<std::string>& changed) const;
    void put_back_scheduling(std::vector<std::string>& changed) const;
    void put_back_streams(std::vector<std::string>& changed) const;
    void put_back_environment(std::vector<std::string>& changed) const;

    FloatMode mode_;
    bool whole_;  // taken in the main thread
    std::string folder_, locale_;
    std::array<struct sigaction, signals.size()> actions_;
    sigset_t blocked_;
    mode_t mask_ = 0;
    std::array<struct rlimit, limits.size()> limits_;
    int niceness_ = 0;
    cpu_set_t processors_;
    Streams streams_;
    std::vector<std::string> environment_;
};

Surroundings::State::State() : mode_(FloatMode::now()), whole_(gettid() == getpid()) {
    if (!whole_) return;
    folder_ = folder();
    locale_ = locale();
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &actions_[i]);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
    mask_ = file_mask();
    for (std::size_t i = 0; i < limits.size(); ++i) getrlimit(limits[i], &limits_[i]);
    niceness_ = getpriority(PRIO_PROCESS, 0);
    CPU_ZERO(&processors_);
    sched_getaffinity(0, sizeof processors_, &processors_);
    streams_ = streams();
    environment_ = environment();
}

Surroundings::State::Streams Surroundings::State::streams() {
    Streams found{};
    for (int i = 0; i < 3; ++i) {
        if (fstat(i, &found[i]) != 0) found[i] = {};
    }
    return found;
}

std::vector<std::string> Surroundings::State::put_back() const {
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
    put_back_process(changed);
    put_back_scheduling(changed);
    put_back_streams(changed);
    put_back_environment(changed);
    return changed;
}

void Surroundings::State::put_back_process(std::vector<std::string>& changed) const {
    if (const auto now = file_mask(); now != mask_) {
        umask(mask_);
        char text[8];
        std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(now));
        changed.push_back(std::string("the mask of new files, to ") + text);
    }
    for (std::size_t i = 0; i < limits.size(); ++i) {
        struct rlimit now;
        if (getrlimit(limits[i], &now) != 0) continue;
        if (now.rlim_cur == limits_[i].rlim_cur && now.rlim_max == limits_[i].rlim_max) continue;
        const bool back = setrlimit(limits[i], &limits_[i]) == 0;
        changed.push_back(std::string("the limit RLIMIT_") + limit_names[i] + not_back(back));
    }
}

void Surroundings::State::put_back_scheduling(std::vector<std::string>& changed) const {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    bool other = false;
    for (int i = 1; i < NSIG; ++i) other |= sigismember(&blocked, i) != sigismember(&blocked_, i);
    if (other) {
        pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
        changed.push_back("which signals are blocked");
    }
    if (const int now = getpriority(PRIO_PROCESS, 0); now != niceness_) {
        const bool back = setpriority(PRIO_PROCESS, 0, niceness_) == 0;
        changed.push_back("the niceness, to " + std::to_string(now) + not_back(back));
    }
    cpu_set_t now;
    CPU_ZERO(&now);
    if (sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &processors_)) {
        const bool back = sched_setaffinity(0, sizeof processors_, &processors_) == 0;
        changed.push_back("the processors that it may run on" + not_back(back));
    }
}

// A stream that was closed or led elsewhere stays as it is: no duplicate of each is kept for that.
void Surroundings::State::put_back_streams(std::vector<std::string>& changed) const {
    static constexpr std::array<const char*, 3> names{"input", "output", "error"};
    const auto now = streams();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].st_dev == streams_[i].st_dev && now[i].st_ino == streams_[i].st_ino) continue;
        changed.push_back(std::string("where standard ") + names[i] + " leads" + not_back(false));
    }
}

void Surroundings::State::put_back_environment(std::vector<std::string>& changed) const {
    const auto now = environment();
    if (now == environment_) return;
    const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
    const auto lacks = [](const std::vector<std::string>& some, const std::string& entry) {
        return std::find(some.begin(), some.end(), entry) == some.end();
    };
    std::set<std::string> names;
    for (const auto& entry : now) {
        if (!lacks(environment_, entry)) continue;
        names.insert(name_of(entry));
        unsetenv(name_of(entry).c_str());
    }
    for (const auto& entry : environment_) {
        if (!lacks(now, entry)) continue;
        const auto name = name_of(entry);
        names.insert(name);
        if (name.size() < entry.size()) setenv(name.c_str(), entry.c_str() + name.size() + 1, 1);
    }
    for (const auto& name : names) changed.push_back("the environment variable '" + name + "'");
}

Surroundings::Surroundings() : state_(std::make_unique<const State>()) {}
Surroundings::~Surroundings() = default;

std::vector<std::string> Surroundings::put_back() const { return state_->put_back(); }

}  // namespace softdock
