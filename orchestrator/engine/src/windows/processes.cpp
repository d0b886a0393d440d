#include "host/processes.hpp"

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <thread>

namespace softdock {

namespace {

// Handles of Windows have 32 significant bits, which are extended by their sign.
HANDLE handle_of(int number) { return reinterpret_cast<HANDLE>(std::intptr_t{number}); }

constexpr DWORD LONGEST_END_MS = 5000;

// Exit codes of processes that an exception ended.
const std::map<DWORD, const char*>& exceptions() {
    static const std::map<DWORD, const char*> names{
        {0xC0000005, "access violation"},    {0xC000001D, "illegal instruction"},
        {0xC0000094, "division by zero"},    {0xC00000FD, "stack overflow"},
        {0xC0000135, "a DLL is missing"},    {0xC000013A, "Ctrl-C"},
        {0xC0000374, "the heap is damaged"}, {0xC0000409, "buffer overrun or abort"},
    };
    return names;
}

}  // namespace

bool runs(int handle) { return WaitForSingleObject(handle_of(handle), 0) == WAIT_TIMEOUT; }

void end_process(int handle) {
    if (handle >= 0) TerminateProcess(handle_of(handle), 1);
}

std::string ending_of(int handle) {
    DWORD code = 0;
    // What an FMU's exit() runs may wait for threads that are ended already.
    if (WaitForSingleObject(handle_of(handle), LONGEST_END_MS) == WAIT_TIMEOUT) {
        TerminateProcess(handle_of(handle), 1);
        return "its process did not come to its end, and was killed";
    }
    if (!GetExitCodeProcess(handle_of(handle), &code)) return "its process has ended";
    const auto name = exceptions().find(code);
    return "its process ended with exit code " + std::to_string(code) +
           (name == exceptions().end() ? "" : std::string(" (") + name->second + ")");
}

void leave_fork() { std::_Exit(0); }

// The job of the worker ends what it has started (core/host/windows.py).
void end_marked(const std::string&) {}

void end_with_master(int, int master, const std::string&) {
    // A crash ends the process; no window waits for somebody to close it.
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
    std::thread([master] {
        WaitForSingleObject(handle_of(master), INFINITE);
        TerminateProcess(GetCurrentProcess(), 0);
    }).detach();
}

}  // namespace softdock
