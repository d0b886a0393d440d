#include "core/value_tables.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace softdock {

ValueTables::ValueTables(std::vector<ValueTable> tables, std::vector<ValueEntry> entries,
                         std::size_t signals)
    : tables_(std::move(tables)), entries_(std::move(entries)) {
    for (const auto& table : tables_) {
        const bool inside =
            table.slot >= 0 && static_cast<std::size_t>(table.slot) < signals && table.first >= 0 &&
            table.count >= 0 &&
            static_cast<std::size_t>(table.first) + static_cast<std::size_t>(table.count) <=
                entries_.size();
        const auto before = [](const auto& a, const auto& b) { return a.source < b.source; };
        if (!inside || !std::is_sorted(entries_.begin() + table.first,
                                       entries_.begin() + table.first + table.count, before)) {
            throw std::out_of_range("a row points out of the table: tables of values");
        }
    }
}

bool ValueTables::has(std::int32_t first, std::int32_t count) const {
    const auto size = static_cast<std::int64_t>(tables_.size());
    return first >= 0 && count >= 0 && first + static_cast<std::int64_t>(count) <= size;
}

std::int32_t ValueTables::apply(std::int32_t first, std::int32_t count,
                                std::vector<double>& signals) const {
    if (!has(first, count)) return first;  // no tables were handed over
    for (auto row = first; row < first + count; ++row) {
        const auto& table = tables_[row];
        double& value = signals[table.slot];
        const auto* begin = entries_.data() + table.first;
        const auto* end = begin + table.count;
        const auto* found = std::lower_bound(
            begin, end, value,
            [](const ValueEntry& entry, double wanted) { return entry.source < wanted; });
        if (found == end || found->source != value) return row;
        value = found->target;
    }
    return -1;
}

}  // namespace softdock
