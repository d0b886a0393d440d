// Rows of the schedule's tables from Python, as tuples in the order of their fields.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/fields.hpp"

namespace softdock {

// An enumeration comes as a number.
template <class Value, bool = std::is_enum_v<Value>>
struct Plain {
    using type = Value;
};
template <class Value>
struct Plain<Value, true> {
    using type = int;
};

template <class Row, class... Values>
std::tuple<typename Plain<Values>::type...> tuple_of(const std::tuple<Field<Row, Values>...>&);
template <class Row>
using TupleOf = decltype(tuple_of(Fields<Row>::list));

template <class Row, std::size_t... Places>
Row as_row(const TupleOf<Row>& given, std::index_sequence<Places...>) {
    Row row{};
    const auto one = [&](const auto& field, const auto& value) {
        auto& place = row.*field.place;
        place = static_cast<std::decay_t<decltype(place)>>(value);
    };
    (one(std::get<Places>(Fields<Row>::list), std::get<Places>(given)), ...);
    return row;
}

template <class Row>
Row as_row(const TupleOf<Row>& given) {
    return as_row<Row>(given, std::make_index_sequence<std::tuple_size_v<TupleOf<Row>>>{});
}

inline Channel as_channel(const TupleOf<Channel>& given) {
    auto channel = as_row<Channel>(given);
    if (!channel.fits()) throw std::invalid_argument("a channel's tables do not fit together");
    return channel;
}

template <class Row>
std::vector<Row> as_rows(const std::vector<TupleOf<Row>>& given) {
    std::vector<Row> rows;
    rows.reserve(given.size());
    for (const auto& each : given) rows.push_back(as_row<Row>(each));
    return rows;
}

}  // namespace softdock
