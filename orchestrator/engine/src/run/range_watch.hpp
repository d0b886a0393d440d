// Inputs whose units declare what they take: whether something else was fed to them, and when
// first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/context.hpp"

namespace softdock {

// What an input takes: a range, or else the items of an enumeration.
struct WatchRow {
    std::int32_t slot = 0;
    double least = 0.0, most = 0.0;
    bool open_below = false, open_above = false;  // whether the end itself is outside
    std::vector<double> items;
};

class RangeWatch {
  public:
    struct Finding {
        bool is_set = false;
        std::int64_t time_ns = 0;
        double value = 0.0;
    };

    void watch(std::vector<WatchRow> rows) {
        rows_ = std::move(rows);
        findings_.assign(rows_.size(), {});
    }
    bool empty() const { return rows_.empty(); }

    // Looks at the inputs of a step that counts.
    void look(const Context& context, std::int64_t time_ns) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const double value = context.signals[static_cast<std::size_t>(rows_[i].slot)];
            if (findings_[i].is_set || admits(rows_[i], value)) continue;
            findings_[i] = {true, time_ns, value};
        }
    }

    // Goes back to a time: what was found after it has not happened.
    void restore(std::int64_t time_ns) {
        for (auto& each : findings_) {
            if (each.time_ns > time_ns) each = {};
        }
    }

    const std::vector<Finding>& findings() const { return findings_; }

  private:
    // What is no number is the unit's to judge.
    static bool admits(const WatchRow& row, double value) {
        if (!row.items.empty()) {
            return std::find(row.items.begin(), row.items.end(), value) != row.items.end();
        }
        const bool low = row.open_below ? value <= row.least : value < row.least;
        const bool high = row.open_above ? value >= row.most : value > row.most;
        return !low && !high;
    }

    std::vector<WatchRow> rows_;
    std::vector<Finding> findings_;
};

}  // namespace softdock
