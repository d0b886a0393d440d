#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "core/fields.hpp"

namespace nb = nanobind;

namespace softdock {

namespace {

// How a value stands in the file of an exported system.
template <class Value>
constexpr const char* kind_of = std::is_enum_v<Value> || std::is_same_v<Value, bool> ? "u8" : "";
template <>
constexpr const char* kind_of<std::uint32_t> = "u32";
template <>
constexpr const char* kind_of<std::int32_t> = "i32";
template <>
constexpr const char* kind_of<std::int64_t> = "i64";
template <>
constexpr const char* kind_of<std::uint64_t> = "u64";
template <>
constexpr const char* kind_of<double> = "f64";
template <>
constexpr const char* kind_of<std::vector<std::int32_t>> = "i32[]";
template <>
constexpr const char* kind_of<std::vector<std::int64_t>> = "i64[]";
template <>
constexpr const char* kind_of<std::vector<double>> = "f64[]";
template <>
constexpr const char* kind_of<std::vector<std::string>> = "text[]";
template <>
constexpr const char* kind_of<std::vector<std::pair<std::int32_t, std::int32_t>>> = "(i32, i32)[]";

template <class Row, class Value>
constexpr const char* kind(const Field<Row, Value>&) {
    return kind_of<Value>;
}

template <class... Rows>
nb::dict describe() {
    nb::dict found;
    const auto one = [&](const char* table, const auto& list) {
        nb::list fields;
        std::apply(
            [&](const auto&... each) {
                (fields.append(nb::make_tuple(each.name, kind(each))), ...);
            },
            list);
        found[table] = nb::tuple(fields);
    };
    (one(Fields<Rows>::table, Fields<Rows>::list), ...);
    return found;
}

}  // namespace

void bind_rows(nb::module_& module) {
    module.attr("ROWS") =
        describe<Channel, HistoryRow, Copy, Read, ValueTable, ValueEntry, Mix, TextCopy, Loop,
                 Operation, Rule, EventLine, EventClock, Fault, Compensation>();
}

}  // namespace softdock
