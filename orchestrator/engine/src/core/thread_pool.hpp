// Threads that wait, briefly awake, for work of some microseconds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace softdock {

class ThreadPool {
  public:
    using Work = void (*)(void* context, std::size_t worker);

    // The caller is worker 0; the others are threads.
    explicit ThreadPool(std::size_t workers);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    std::size_t size() const { return threads_.size() + 1; }
    // Calls work(context, w) for every worker at the same time, and returns when all have ended.
    void run(Work work, void* context);

  private:
    void serve(std::size_t worker);

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::size_t> busy_{0};
    std::atomic<bool> ending_{false};
    Work work_ = nullptr;
    void* context_ = nullptr;
};

}  // namespace softdock
