#include "host/signal_watch.hpp"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace softdock {

namespace {

constexpr std::array<int, 2> watched{SIGINT, SIGTERM};
std::array<struct sigaction, watched.size()> former;
std::atomic<unsigned> signals_caught{0};
static_assert(std::atomic<unsigned>::is_always_lock_free, "it is written by a signal handler");
// Runs in several threads share what is installed.
std::mutex installing;
int watches = 0;

bool is_handled(const struct sigaction& action) {
    if (action.sa_flags & SA_SIGINFO) return true;
    return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

void handle(int number, siginfo_t* info, void* context) {
    signals_caught.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < watched.size(); ++i) {
        if (watched[i] != number) continue;
        if (former[i].sa_flags & SA_SIGINFO) {
            former[i].sa_sigaction(number, info, context);
        } else {
            former[i].sa_handler(number);
        }
    }
}

}  // namespace

SignalWatch::SignalWatch() : before_(signals_caught.load(std::memory_order_relaxed)) {
    const std::lock_guard<std::mutex> lock(installing);
    if (watches++ > 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        sigaction(watched[i], nullptr, &former[i]);
        if (!is_handled(former[i])) continue;
        struct sigaction ours = former[i];
        ours.sa_sigaction = handle;
        ours.sa_flags |= SA_SIGINFO;
        sigaction(watched[i], &ours, nullptr);
    }
}

SignalWatch::~SignalWatch() {
    const std::lock_guard<std::mutex> lock(installing);
    if (--watches > 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        if (is_handled(former[i])) sigaction(watched[i], &former[i], nullptr);
    }
}

bool SignalWatch::caught() const {
    return signals_caught.load(std::memory_order_relaxed) != before_;
}

}  // namespace softdock
