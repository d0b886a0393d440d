#include "run/recorder.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>

namespace softdock {

void Recorder::record(const Context& context, std::vector<std::int32_t> slots, std::int64_t every) {
    for (const auto slot : slots) {
        if (slot < 0 || static_cast<std::size_t>(slot) >= context.signals.size()) {
            throw std::out_of_range("a row points out of the table: record");
        }
    }
    slots_ = std::move(slots);
    every_ = every;
}

void Recorder::attach(double* rows, std::int64_t* times, std::size_t capacity,
                      std::int64_t* clocks) {
    sink_ = rows;
    times_ = times;
    clocks_ = clocks;
    capacity_ = capacity;
    rows_ = 0;
}

void Recorder::require_room(std::int64_t done, std::int64_t steps) const {
    const auto coming = static_cast<std::size_t>((done + steps) / every_ - done / every_);
    if (sink_ && rows_ + coming > capacity_) {
        throw std::invalid_argument("run: " + std::to_string(rows_ + coming) +
                                    " rows to record, room for " + std::to_string(capacity_));
    }
}

void Recorder::write_row(const Context& context, std::int64_t time_ns) {
    if (!sink_ || rows_ >= capacity_) return;  // a run has made sure of the room
    double* row = sink_ + rows_ * slots_.size();
    for (const auto slot : slots_) *row++ = context.signals[slot];
    if (clocks_) {  // read in this process, without a call of the system
        clocks_[rows_] =
            std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
    }
    times_[rows_++] = time_ns;
}

}  // namespace softdock
