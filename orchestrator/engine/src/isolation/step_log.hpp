// Steps with what they were given, for another process to do again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/waveform.hpp"

namespace softdock {

class StepLog {
  public:
    struct Row {
        std::int64_t time_ns, step_ns;
        bool has_inputs;
        int order;  // of the derivatives
    };

    // Room for so many steps of so many inputs: only this allocates.
    void reserve(std::size_t steps, std::size_t width) {
        width_ = width;
        rows_.reserve(steps);
        inputs_.resize(steps * width);
        derivatives_.resize(steps * most_order * width);
    }
    void add(const Row& row, const double* inputs, const double* derivatives) {
        const auto most = most_order * width_;
        std::copy_n(inputs, width_, inputs_.data() + rows_.size() * width_);
        std::copy_n(derivatives, most, derivatives_.data() + rows_.size() * most);
        rows_.push_back(row);
    }
    void clear() { rows_.clear(); }

    std::size_t size() const { return rows_.size(); }
    const Row& row(std::size_t i) const { return rows_[i]; }
    const double* inputs(std::size_t i) const { return inputs_.data() + i * width_; }
    const double* derivatives(std::size_t i) const {
        return derivatives_.data() + i * most_order * width_;
    }

  private:
    std::size_t width_ = 0;
    std::vector<Row> rows_;
    std::vector<double> inputs_, derivatives_;
};

}  // namespace softdock
