// A compiled system as a file: what an exported FMU is made from (docs/reference/system-file.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule.hpp"
#include "core/texts.hpp"
#include "core/value_tables.hpp"
#include "exported/byte_reader.hpp"
#include "fmi/clock_scheduler.hpp"
#include "fmi/fmu.hpp"
#include "fmi/ports3.hpp"

namespace softdock {

// Types of variables: those of Type3, and these.
constexpr std::uint8_t type_string = 12, type_binary = 13;

// A variable of an inner FMU.
struct InnerPort {
    std::string name;
    std::uint8_t type;
    std::uint32_t reference;
    std::size_t size;
    bool discrete;    // changes at events only
    bool continuous;  // of Model Exchange: may change while time goes on
    References clocks;
    bool is_text() const { return type >= type_string; }
};

struct StartValue {
    InnerPort port;
    bool structural;
    std::vector<double> numbers;
    std::vector<std::string> texts;
};

// How a Model Exchange FMU is integrated.
struct Integration {
    bool cvode = false, has_jacobian = false, tell_steps = false;
    std::size_t indicators = 0;
    References states, derivatives;
    std::vector<std::size_t> sizes;
    std::vector<std::string> names;
};

struct InnerFmu {
    std::string name, folder, identifier, guid;
    std::uint8_t version, input_order;  // the latter of derivatives of its inputs
    bool exchange, rolls_back, serializes, has_derivatives, event_mode, early_return, logs;
    double tolerance;                         // relative; 0: none is stated
    std::vector<std::string> log_categories;  // that are turned on
    std::vector<InnerPort> inputs, outputs;   // texts after numbers
    std::vector<Timer> timers;
    std::vector<StartValue> starts;
    Integration integration;

    // Whether its version of FMI has such variables: 2.0 has no arrays.
    bool has(const InnerPort& port) const { return version == 3 || port.size == 1; }
};

// A row of the schedule's members: an inner FMU, or one side of the boundary.
struct MemberRow {
    enum class Kind : std::uint8_t { fmu = 0, source = 1, sink = 2 };
    Kind kind;
    std::size_t fmu;  // row of the inner FMUs
    std::size_t inputs, outputs, text_inputs, text_outputs;
    std::size_t input_count, output_count, text_input_count, text_output_count;
    std::int32_t ticks;
};

// Where a value that is set from outside goes: into a variable of an inner FMU.
struct Target {
    std::size_t fmu;
    InnerPort port;
    double factor, offset;
};

// A variable of the exported FMU; its value reference is its place in the table, from 1 on.
struct Variable {
    enum class Kind : std::uint8_t { signal = 0, input = 1, parameter = 2 };
    std::string name;
    Kind kind;
    std::uint8_t type;
    std::size_t size;
    std::int32_t slot;  // of signals, texts, or inputs that feed anything; else -1
    bool tunable;
    std::vector<double> numbers;  // start, of inputs and parameters
    std::vector<std::string> texts;
    std::vector<Target> targets;  // of parameters
    bool is_text() const { return type >= type_string; }
};

struct SystemTables {
    std::string token;
    std::int64_t step_ns = 1;
    std::size_t text_count = 0;
    InitialTable initial;
    std::vector<InnerFmu> fmus;
    std::vector<MemberRow> members;
    Schedule schedule;  // its members have no units yet
    std::vector<ValueTable> value_tables;
    std::vector<ValueEntry> value_entries;
    std::vector<std::string> read_names;  // of the inputs that reads, then value tables, lead to
    std::vector<TextCopy> text_copies;
    bool has_events = false;
    EventTable events;
    std::vector<Variable> variables;

    // Of a member's component.
    const std::string& name_of(std::size_t member) const;
    bool varies() const { return schedule.rule.method != Rule::Method::fixed; }
};

// Rows of the tables of variables and of FMUs.
InnerPort read_port(ByteReader& file);
InnerFmu read_fmu(ByteReader& file);

// Throws std::runtime_error that names the file if it is missing, damaged or of another version.
SystemTables read_system(const std::string& path);

}  // namespace softdock
