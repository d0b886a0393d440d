#include "remote_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace softdock {

bool RemoteProcess::running() const {
    pollfd watched{handle_, POLLIN, 0};
    return poll(&watched, 1, 0) == 0;
}

void RemoteProcess::kill() const {
    if (handle_ >= 0) syscall(SYS_pidfd_send_signal, handle_, SIGKILL, nullptr, 0);
}

std::string RemoteProcess::end() const {
    siginfo_t info{};
    while (waitid(P_PIDFD, static_cast<id_t>(handle_), &info, WEXITED | WNOWAIT) != 0) {
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

}  // namespace softdock
