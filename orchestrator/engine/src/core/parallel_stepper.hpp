// Steps the units of one group at the same time, where that is faster than one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/context.hpp"
#include "core/operating_system.hpp"
#include "core/outcome.hpp"
#include "core/thread_pool.hpp"

namespace softdock {

class ParallelStepper {
  public:
    // At most so many threads; 0: as many as there are processors.
    explicit ParallelStepper(std::size_t threads) : threads_(threads ? threads : processors()) {}

    // Steps the members first..first + count - 1. The first calls are timed; then it is decided
    // whether and how to share the work. Shared calls are timed too, as long, and given up if they
    // take longer: other programs may need the processors. `watch` is of this thread.
    Status step(Context& context, std::int32_t first, std::int32_t count, const FloatWatch& watch,
                Outcome& outcome);
    // Groups that are stepped by several threads.
    std::size_t shared() const;

  private:
    struct Group {
        std::int32_t first, count;
        std::vector<std::int32_t> together;             // members that have company in the group
        int timed = 0, shared = 0;                      // calls
        std::int64_t alone_ns = 0, together_ns = 0;     // in all of them
        std::vector<std::int64_t> cost_ns;              // least of the timed calls, by member
        std::vector<std::vector<std::int32_t>> shares;  // by worker; empty: one after the other
        std::vector<Outcome> outcomes;                  // by worker
        std::vector<Status> statuses;
        Context* context = nullptr;
    };

    Group& group(const Context& context, std::int32_t first, std::int32_t count);
    Status step(Context& context, Group& group, const FloatWatch& watch, Outcome& outcome);
    Status time(Context& context, Group& group, const FloatWatch& watch, Outcome& outcome);
    void share(Group& group);
    void decide(const Context& context, Group& group);
    static void work(void* group, std::size_t worker);

    std::size_t threads_;
    std::vector<Group> groups_;
    std::vector<std::int32_t> group_of_;  // by the first member; -1: none yet
    std::unique_ptr<ThreadPool> pool_;
};

}  // namespace softdock
