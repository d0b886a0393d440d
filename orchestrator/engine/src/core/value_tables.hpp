// Tables from values of a source to values of a target, for signals that are whole numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace softdock {

struct ValueEntry {
    double source, target;
};

// signals[slot] becomes what the entries first..first + count - 1 say; they are sorted by source.
struct ValueTable {
    std::int32_t slot, first, count;
};

class ValueTables {
  public:
    ValueTables() = default;
    // Throws if a row points out of the signals or the entries, or entries are not sorted.
    ValueTables(std::vector<ValueTable> tables, std::vector<ValueEntry> entries,
                std::size_t signals);

    // Whether rows of the tables exist.
    bool has(std::int32_t first, std::int32_t count) const;
    // Returns -1, or the row of a table that has no entry for its signal's value.
    std::int32_t apply(std::int32_t first, std::int32_t count, std::vector<double>& signals) const;
    std::int32_t slot(std::int32_t table) const { return tables_[table].slot; }

  private:
    std::vector<ValueTable> tables_;
    std::vector<ValueEntry> entries_;
};

}  // namespace softdock
