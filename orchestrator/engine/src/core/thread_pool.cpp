#include "core/thread_pool.hpp"

namespace softdock {

namespace {

// About 20 microseconds: the pause between two rounds of a schedule that is worth a team.
constexpr int most_spins = 2000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::ThreadPool(std::size_t workers) {
    for (std::size_t i = 1; i < workers; ++i) threads_.emplace_back(&ThreadPool::serve, this, i);
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void ThreadPool::run(Work work, void* context) {
    work_ = work;
    context_ = context;
    busy_ = threads_.size();
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        round_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    work(context, 0);
    while (busy_.load(std::memory_order_acquire) != 0) pause();
}

void ThreadPool::serve(std::size_t worker) {
    std::uint64_t seen = 0;
    for (;;) {
        int spins = 0;
        while (round_.load(std::memory_order_acquire) == seen && spins < most_spins) {
            ++spins;
            pause();
        }
        if (round_.load(std::memory_order_acquire) == seen) {
            std::unique_lock<std::mutex> lock(mutex_);
            wake_.wait(lock, [&] { return ending_ || round_.load() != seen; });
        }
        if (ending_) return;
        ++seen;
        work_(context_, worker);
        busy_.fetch_sub(1, std::memory_order_release);
    }
}

}  // namespace softdock
