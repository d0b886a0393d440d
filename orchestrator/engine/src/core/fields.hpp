// The rows of a schedule's tables, described once. From the lists of fields follow the tuples that
// Python hands over (bindings), the bytes of an exported system (exported/row_reader.hpp), and the
// tables of names and kinds that Python has of both (ROWS of the module).
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "core/schedule.hpp"
#include "core/texts.hpp"
#include "core/value_tables.hpp"

namespace softdock {

template <class Row, class Value>
struct Field {
    const char* name;
    Value Row::* place;
    // Of an enumeration: its largest number, and what a message calls it.
    int most = 0;
    const char* what = "";
};

template <class Row, class Value>
constexpr Field<Row, Value> field(const char* name, Value Row::* place, int most = 0,
                                  const char* what = "") {
    return {name, place, most, what};
}

// `table` is the name in Python, `list` a tuple of all fields in order.
template <class Row>
struct Fields;

template <>
struct Fields<Channel> {
    static constexpr const char* table = "channels";
    static constexpr auto list = std::make_tuple(
        field("key", &Channel::key), field("nominal_ns", &Channel::nominal_ns),
        field("loss", &Channel::loss), field("quantiles_ns", &Channel::quantiles_ns),
        field("correlation_ns", &Channel::correlation_ns), field("times_ns", &Channel::times_ns),
        field("delays_ns", &Channel::delays_ns), field("interpolated", &Channel::interpolated),
        field("in_order", &Channel::in_order), field("by_arrival", &Channel::by_arrival));
};

template <>
struct Fields<HistoryRow> {
    static constexpr const char* table = "histories";
    static constexpr auto list = std::make_tuple(
        field("slot", &HistoryRow::slot), field("depth", &HistoryRow::depth),
        field("interpolation", &HistoryRow::interpolation, 3, "a way to interpolate"),
        field("extrapolation", &HistoryRow::extrapolation, 3, "a way to extrapolate"),
        field("channel", &HistoryRow::channel));
};

template <>
struct Fields<Copy> {
    static constexpr const char* table = "copies";
    static constexpr auto list =
        std::make_tuple(field("source", &Copy::source), field("target", &Copy::target),
                        field("factor", &Copy::factor), field("offset", &Copy::offset));
};

template <>
struct Fields<Read> {
    static constexpr const char* table = "reads";
    static constexpr auto list =
        std::make_tuple(field("history", &Read::history), field("target", &Read::target),
                        field("shift_ns", &Read::shift_ns), field("span_ns", &Read::span_ns),
                        field("factor", &Read::factor), field("offset", &Read::offset),
                        field("share", &Read::share), field("order", &Read::order),
                        field("keeps_end", &Read::keeps_end));
};

template <>
struct Fields<ValueTable> {
    static constexpr const char* table = "tables";
    static constexpr auto list =
        std::make_tuple(field("slot", &ValueTable::slot), field("first", &ValueTable::first),
                        field("length", &ValueTable::count));
};

template <>
struct Fields<ValueEntry> {
    static constexpr const char* table = "table_entries";
    static constexpr auto list =
        std::make_tuple(field("source", &ValueEntry::source), field("target", &ValueEntry::target));
};

template <>
struct Fields<Mix> {
    static constexpr const char* table = "mixes";
    static constexpr auto list = std::make_tuple(
        field("source", &Mix::source), field("target", &Mix::target), field("weight", &Mix::weight),
        field("factor", &Mix::factor), field("offset", &Mix::offset));
};

template <>
struct Fields<TextCopy> {
    static constexpr const char* table = "text_copies";
    static constexpr auto list =
        std::make_tuple(field("source", &TextCopy::source), field("target", &TextCopy::target));
};

template <>
struct Fields<Loop> {
    static constexpr const char* table = "loops";
    static constexpr auto list = std::make_tuple(
        field("method", &Loop::method, 4, "a method for loops"),
        field("tolerance", &Loop::tolerance), field("most_iterations", &Loop::most_iterations),
        field("unknowns", &Loop::unknowns), field("discrete", &Loop::discrete),
        field("members", &Loop::members), field("sources", &Loop::sources),
        field("texts", &Loop::texts));
};

template <>
struct Fields<Operation> {
    static constexpr const char* table = "operations";
    static constexpr auto list =
        std::make_tuple(field("code", &Operation::code, 15, "an operation"),
                        field("first", &Operation::first), field("length", &Operation::count),
                        field("every", &Operation::every), field("phase", &Operation::phase));
};

template <>
struct Fields<Rule> {
    static constexpr const char* table = "rule";
    static constexpr auto list =
        std::make_tuple(field("method", &Rule::method, 3, "a rule for steps"),
                        field("relative", &Rule::relative), field("absolute", &Rule::absolute),
                        field("order", &Rule::order), field("least_ns", &Rule::least_ns),
                        field("most_ns", &Rule::most_ns), field("first_ns", &Rule::first_ns),
                        field("checked", &Rule::checked), field("bonds", &Rule::bonds));
};

template <>
struct Fields<EventLine> {
    static constexpr const char* table = "event_lines";
    static constexpr auto list =
        std::make_tuple(field("copy", &EventLine::copy), field("target", &EventLine::target),
                        field("kind", &EventLine::kind, 3, "a kind of line"));
};

template <>
struct Fields<EventClock> {
    static constexpr const char* table = "event_clocks";
    static constexpr auto list =
        std::make_tuple(field("slot", &EventClock::slot), field("source", &EventClock::source));
};

template <>
struct Fields<Fault> {
    static constexpr const char* table = "faults";
    static constexpr auto list = std::make_tuple(
        field("effect", &Fault::effect, 7, "an effect of a fault"), field("place", &Fault::place),
        field("begin_ns", &Fault::begin_ns), field("until_ns", &Fault::until_ns),
        field("amount", &Fault::amount), field("offset", &Fault::offset),
        field("change_ns", &Fault::change_ns), field("key", &Fault::key));
};

template <>
struct Fields<Compensation> {
    static constexpr const char* table = "compensations";
    static constexpr auto list = std::make_tuple(
        field("method", &Compensation::method, 2, "a compensation"),
        field("source", &Compensation::source), field("target", &Compensation::target),
        field("memory", &Compensation::memory), field("order", &Compensation::order),
        field("factor", &Compensation::factor), field("offset", &Compensation::offset),
        field("answer", &Compensation::answer), field("answered", &Compensation::answered),
        field("answer_factor", &Compensation::answer_factor));
};

}  // namespace softdock
