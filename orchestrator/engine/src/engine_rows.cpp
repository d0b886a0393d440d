// What an engine records: rows of chosen signals, into memory of the caller.
#include <stdexcept>
#include <utility>

#include "engine.hpp"

namespace softdock {

void Engine::record(std::vector<std::int32_t> slots, std::int64_t every) {
    for (const auto slot : slots) {
        if (slot < 0 || static_cast<std::size_t>(slot) >= signals_.size()) {
            throw std::out_of_range("a row points out of the table: record");
        }
    }
    recorded_ = std::move(slots);
    every_ = every;
}

void Engine::attach(double* rows, std::int64_t* times, std::size_t capacity) {
    sink_ = rows;
    times_ = times;
    capacity_ = capacity;
    rows_ = 0;
}

void Engine::write_row() {
    if (!sink_ || rows_ >= capacity_) return;  // run() has made sure of the room
    double* row = sink_ + rows_ * recorded_.size();
    for (const auto slot : recorded_) *row++ = signals_[slot];
    times_[rows_++] = time_ns_;
}

}  // namespace softdock
