#include "host/surroundings.hpp"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
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

// Reading it sets it, for a moment in which another thread may make a file: Linux lists it as well.
mode_t file_mask(bool alone) {
    if (!alone) {
        std::ifstream status("/proc/self/status");
        for (std::string line; std::getline(status, line);) {
            if (line.compare(0, 6, "Umask:") != 0) continue;
            return static_cast<mode_t>(std::strtoul(line.c_str() + 6, nullptr, 8));
        }
    }
    const auto mask = umask(077);
    umask(mask);
    return mask;
}

std::int64_t cpu_time(clockid_t clock) {
    struct timespec time{};
    clock_gettime(clock, &time);  // 0 of a thread that has ended
    return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
}

// What each other thread of the process has computed, by its number. The clock of a thread that
// slept in between shows the same nanosecond again; the clock of the process would count one that
// still runs at the next tick only.
std::map<long, std::int64_t> other_threads() {
    std::map<long, std::int64_t> times;
    DIR* threads = opendir("/proc/self/task");
    if (!threads) return times;
    while (const struct dirent* entry = readdir(threads)) {
        const auto thread = std::strtol(entry->d_name, nullptr, 10);
        if (thread == 0 || thread == gettid()) continue;  // 0: "." and ".."
        // The kernel's clock of a thread: clock_getres(2), "dynamic clocks".
        times[thread] =
            cpu_time(static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | 6u));
    }
    closedir(threads);
    return times;
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
    explicit State(bool alone);
    Changes put_back(bool alone) const;

    // By which a run is ended, or processes and pipes are waited for. Others, such as SIGSEGV, are
    // left to the unit: a Java machine needs them.
    static constexpr std::array<int, 5> signals{SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE};

    static constexpr std::array<__rlimit_resource, 6> limits{
        RLIMIT_AS, RLIMIT_CORE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_STACK};
    // Standard input, output and error: which files they are.
    using Streams = std::array<struct stat, 3>;
    static Streams streams();

    // What all threads share; `back`: whether it is put back, and not only told.
    void compare_process(bool back, std::vector<std::string>& changed) const;
    void compare_signals(bool back, std::vector<std::string>& changed) const;
    void compare_environment(bool back, std::vector<std::string>& changed) const;
    void tell_streams(std::vector<std::string>& changed) const;
    // What each thread has for itself.
    void put_back_scheduling(std::vector<std::string>& changed) const;

    FloatMode mode_;
    bool whole_;  // taken in the main thread
    bool alone_;
    std::map<long, std::int64_t> others_;  // empty if alone
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

Surroundings::State::State(bool alone)
    : mode_(FloatMode::now()), whole_(gettid() == getpid()), alone_(alone) {
    if (!whole_) return;
    if (!alone_) others_ = other_threads();
    folder_ = folder();
    locale_ = locale();
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], nullptr, &actions_[i]);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
    mask_ = file_mask(alone_);
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

Surroundings::Changes Surroundings::State::put_back(bool alone) const {
    Changes found;
    if (FloatMode::now() != mode_) {
        mode_.set();
        found.put_back.push_back("the floating-point mode (rounding, or tiny numbers taken as 0)");
    }
    if (!whole_) return found;
    const bool back = (alone && alone_) || other_threads() == others_;
    auto& shared = back ? found.put_back : found.left;
    compare_process(back, shared);
    compare_signals(back, shared);
    put_back_scheduling(found.put_back);
    tell_streams(shared);
    compare_environment(back, shared);
    return found;
}

void Surroundings::State::compare_process(bool back, std::vector<std::string>& changed) const {
    if (const auto now = folder(); now != folder_) {
        const bool done = !back || (!folder_.empty() && chdir(folder_.c_str()) == 0);
        changed.push_back("the working directory, to '" + now + "'" + not_back(done));
    }
    if (locale() != locale_) {
        changed.push_back("the locale, to '" + locale() + "'");
        if (back) std::setlocale(LC_ALL, locale_.c_str());
    }
    if (const auto now = file_mask(back); now != mask_) {
        if (back) umask(mask_);
        char text[8];
        std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(now));
        changed.push_back(std::string("the mask of new files, to ") + text);
    }
    for (std::size_t i = 0; i < limits.size(); ++i) {
        struct rlimit now;
        if (getrlimit(limits[i], &now) != 0) continue;
        if (now.rlim_cur == limits_[i].rlim_cur && now.rlim_max == limits_[i].rlim_max) continue;
        const bool done = !back || setrlimit(limits[i], &limits_[i]) == 0;
        changed.push_back(std::string("the limit RLIMIT_") + limit_names[i] + not_back(done));
    }
}

void Surroundings::State::compare_signals(bool back, std::vector<std::string>& changed) const {
    for (std::size_t i = 0; i < signals.size(); ++i) {
        struct sigaction found;
        if (sigaction(signals[i], nullptr, &found) != 0) continue;
        if (found.sa_handler == actions_[i].sa_handler) continue;
        if (back) sigaction(signals[i], &actions_[i], nullptr);
        changed.push_back(std::string("what the signal SIG") + sigabbrev_np(signals[i]) + " does");
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
void Surroundings::State::tell_streams(std::vector<std::string>& changed) const {
    static constexpr std::array<const char*, 3> names{"input", "output", "error"};
    const auto now = streams();
    for (std::size_t i = 0; i < now.size(); ++i) {
        if (now[i].st_dev == streams_[i].st_dev && now[i].st_ino == streams_[i].st_ino) continue;
        changed.push_back(std::string("where standard ") + names[i] + " leads" + not_back(false));
    }
}

void Surroundings::State::compare_environment(bool back, std::vector<std::string>& changed) const {
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
        if (back) unsetenv(name_of(entry).c_str());
    }
    for (const auto& entry : environment_) {
        if (!lacks(now, entry)) continue;
        const auto name = name_of(entry);
        names.insert(name);
        if (back && name.size() < entry.size())
            setenv(name.c_str(), entry.c_str() + name.size() + 1, 1);
    }
    for (const auto& name : names) changed.push_back("the environment variable '" + name + "'");
}

Surroundings::Surroundings(bool alone) : state_(std::make_unique<const State>(alone)) {}
Surroundings::~Surroundings() = default;

Surroundings::Changes Surroundings::put_back(bool alone) const { return state_->put_back(alone); }

}  // namespace softdock
