// Rows of chosen signals, into memory of the caller.
#pragma once

#include <cstdint>
#include <vector>

#include "core/context.hpp"

namespace softdock {

class Recorder {
  public:
    // Throws if a slot is no signal of the context. A row is written after every `every`-th step.
    void record(const Context& context, std::vector<std::int32_t> slots, std::int64_t every);
    // With `clocks` each row also gets the time of CLOCK_MONOTONIC at which it is written, ns.
    void attach(double* rows, std::int64_t* times, std::size_t capacity,
                std::int64_t* clocks = nullptr);
    void restart() { rows_ = 0; }
    // Throws if so many further steps have more rows than there is room for.
    void require_room(std::int64_t done, std::int64_t steps) const;
    bool is_due(std::int64_t done) const { return done % every_ == 0; }
    void write_row(const Context& context, std::int64_t time_ns);
    std::size_t rows() const { return rows_; }

  private:
    std::vector<std::int32_t> slots_;
    std::int64_t every_ = 1;
    double* sink_ = nullptr;
    std::int64_t* times_ = nullptr;
    std::int64_t* clocks_ = nullptr;
    std::size_t capacity_ = 0;
    std::size_t rows_ = 0;
};

}  // namespace softdock
