#include "host/processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace softdock {

namespace {

// Whether a process has a text in the environment that it was started with.
bool has_mark(const char* number, const std::string& mark) {
    const auto path = std::string("/proc/") + number + "/environ";
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    std::string found(1, '\0');
    char part[4096];
    for (ssize_t count; (count = read(file, part, sizeof part)) > 0;) {
        found.append(part, static_cast<std::size_t>(count));
    }
    close(file);
    return found.find('\0' + mark + '\0') != std::string::npos;
}

}  // namespace

bool runs(int handle) {
    pollfd watched{handle, POLLIN, 0};
    return poll(&watched, 1, 0) == 0;
}

void end_process(int handle) {
    if (handle >= 0) syscall(SYS_pidfd_send_signal, handle, SIGKILL, nullptr, 0);
}

std::string ending_of(int handle) {
    siginfo_t info{};
    while (waitid(P_PIDFD, static_cast<id_t>(handle), &info, WEXITED | WNOWAIT) != 0) {
        if (errno != EINTR) return "its process has ended";
    }
    if (info.si_code == CLD_EXITED) {
        return "its process ended with exit code " + std::to_string(info.si_status);
    }
    const char* abbreviation = sigabbrev_np(info.si_status);
    return "its process was ended by the signal SIG" +
           std::string(abbreviation ? abbreviation : std::to_string(info.si_status)) + " (" +
           sigdescr_np(info.si_status) + ")";
}

void leave_fork() { _exit(0); }

void end_marked(const std::string& mark) {
    // A process that is ended may have started another one meanwhile: until none is found.
    for (int round = 0, found = 1; found > 0 && round < 100; ++round) {
        found = 0;
        DIR* all = opendir("/proc");
        if (!all) return;
        while (const auto* entry = readdir(all)) {
            const int number = std::atoi(entry->d_name);
            if (number <= 0 || number == getpid() || !has_mark(entry->d_name, mark)) continue;
            if (kill(number, SIGKILL) == 0) ++found;
        }
        closedir(all);
    }
}

void end_with_master(int socket, int master, const std::string& mark) {
    std::thread([socket, master, mark] {
        pollfd watched[] = {{socket, POLLRDHUP, 0}, {master, POLLIN, 0}};
        while (poll(watched, 2, -1) <= 0) continue;
        end_marked(mark);
        _exit(0);
    }).detach();
}

}  // namespace softdock
