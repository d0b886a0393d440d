// Rows of the schedule's tables from bytes, by their fields.
#pragma once

#include <tuple>
#include <type_traits>
#include <vector>

#include "core/fields.hpp"
#include "exported/byte_reader.hpp"

namespace softdock {

// The fewest bytes that a value takes: a row of values has its count at least.
template <class Value>
constexpr std::size_t least_bytes() {
    if constexpr (std::is_enum_v<Value> || std::is_same_v<Value, bool>) return 1;
    return std::is_arithmetic_v<Value> ? sizeof(Value) : sizeof(std::uint32_t);
}

template <class Row>
constexpr std::size_t least_row_bytes() {
    return std::apply(
        [](const auto&... fields) {
            return (least_bytes<std::decay_t<decltype(Row{}.*fields.place)>>() + ...);
        },
        Fields<Row>::list);
}

template <class Row>
Row read_row(ByteReader& file) {
    Row row{};
    const auto one = [&](const auto& field) {
        auto& value = row.*field.place;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_enum_v<Value>) {
            value =
                static_cast<Value>(file.choice(static_cast<std::uint8_t>(field.most), field.what));
        } else {
            file.read(value);
        }
    };
    std::apply([&](const auto&... fields) { (one(fields), ...); }, Fields<Row>::list);
    return row;
}

// Counted.
template <class Row>
std::vector<Row> read_rows(ByteReader& file) {
    std::vector<Row> rows(file.count(least_row_bytes<Row>()));
    for (auto& row : rows) row = read_row<Row>(file);
    return rows;
}

}  // namespace softdock
