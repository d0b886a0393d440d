#include "host/signal_watch.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>

namespace softdock {

namespace {

constexpr std::array<int, 2> watched{SIGINT, SIGTERM};
using Handler = void (*)(int);
std::array<Handler, watched.size()> former;
std::atomic<unsigned> signals_caught{0};
// Runs in several threads share what is installed.
std::mutex installing;
int watches = 0;

bool is_handled(Handler handler) {
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR;
}

void handle(int number) {
    signals_caught.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < watched.size(); ++i) {
        if (watched[i] != number) continue;
        former[i](number);
        std::signal(number, handle);  // Windows takes a handler away when it is called
    }
}

}  // namespace

SignalWatch::SignalWatch() : before_(signals_caught.load(std::memory_order_relaxed)) {
    const std::lock_guard<std::mutex> lock(installing);
    if (watches++ > 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        former[i] = std::signal(watched[i], SIG_IGN);
        std::signal(watched[i], is_handled(former[i]) ? handle : former[i]);
    }
}

SignalWatch::~SignalWatch() {
    const std::lock_guard<std::mutex> lock(installing);
    if (--watches > 0) return;
    for (std::size_t i = 0; i < watched.size(); ++i) {
        if (is_handled(former[i])) std::signal(watched[i], former[i]);
    }
}

bool SignalWatch::caught() const {
    return signals_caught.load(std::memory_order_relaxed) != before_;
}

}  // namespace softdock
