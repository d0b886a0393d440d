#include "system_tables.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>

namespace softdock {

namespace {

constexpr char magic[] = "SOFTDOCK";
constexpr std::uint32_t version = 1;
// Histories and buffers of one system; more is a damaged file.
constexpr std::size_t most_samples = 50'000'000, most_signals = 100'000'000;

MemberRow member(ByteReader& file, const SystemTables& tables) {
    MemberRow found;
    found.kind = static_cast<MemberRow::Kind>(file.choice(2, "a kind of member"));
    found.fmu = file.u32();
    for (auto* size : {&found.inputs, &found.outputs, &found.text_inputs, &found.text_outputs,
                       &found.input_count, &found.output_count, &found.text_input_count,
                       &found.text_output_count}) {
        *size = file.u32();
    }
    found.ticks = file.i32();
    if (found.kind == MemberRow::Kind::fmu && found.fmu >= tables.fmus.size()) {
        file.refuse("a member points to an inner FMU that is not there");
    }
    const bool inside = found.inputs + found.input_count <= tables.signals &&
                        found.outputs + found.output_count <= tables.signals &&
                        found.text_inputs + found.text_input_count <= tables.text_count &&
                        found.text_outputs + found.text_output_count <= tables.text_count;
    if (!inside) file.refuse("connectors of a member lie outside of the buffers");
    return found;
}

Channel channel(ByteReader& file) {
    Channel found;
    found.key = file.u64();
    found.nominal_ns = file.i64();
    found.loss = file.f64();
    found.quantiles = file.numbers();
    found.correlation_ns = file.i64();
    found.times_ns = file.times();
    found.delays_ns = file.times();
    found.interpolated = file.flag();
    found.in_order = file.flag();
    found.by_arrival = file.flag();
    if (found.quantiles.size() == 1 || found.times_ns.size() != found.delays_ns.size()) {
        file.refuse("the tables of a varying delay do not fit together");
    }
    return found;
}

void read_histories(ByteReader& file, SystemTables& tables) {
    file.expect_tag("HIST");
    tables.channels.resize(file.count(47));
    for (auto& each : tables.channels) each = channel(file);
    tables.histories.resize(file.count(14));
    std::size_t samples = 0;
    for (auto& row : tables.histories) {
        row.slot = file.u32();
        row.depth = file.u32();
        row.reading = static_cast<Reading>(file.choice(3, "a way to interpolate"));
        row.beyond = static_cast<Beyond>(file.choice(3, "a way to extrapolate"));
        row.channel = file.i32();
        samples += row.depth;
        const bool known =
            row.channel < 0 || static_cast<std::size_t>(row.channel) < tables.channels.size();
        if (!known || row.depth < 2 || samples > most_samples) {
            file.refuse("a history of " + std::to_string(row.depth) + " samples, channel " +
                        std::to_string(row.channel));
        }
    }
}

void read_lines(ByteReader& file, SystemTables& tables) {
    file.expect_tag("LINE");
    tables.copies.resize(file.count(24));
    for (auto& row : tables.copies) row = {file.i32(), file.i32(), file.f64(), file.f64()};
    tables.reads.resize(file.count(48));
    for (auto& row : tables.reads) {
        row = {file.i32(), file.i32(), file.i64(), file.i64(), file.f64(), file.f64(), file.f64()};
        tables.read_shares.push_back(row.share);
    }
    tables.value_tables.resize(file.count(12));
    for (auto& row : tables.value_tables) row = {file.i32(), file.i32(), file.i32()};
    tables.value_entries.resize(file.count(16));
    for (auto& row : tables.value_entries) row = {file.f64(), file.f64()};
    tables.read_names = file.texts();
    if (tables.read_names.size() != tables.reads.size() + tables.value_tables.size()) {
        file.refuse("lines without a name");
    }
    tables.mixes.resize(file.count(32));
    for (auto& row : tables.mixes) {
        row = {file.i32(), file.i32(), file.f64(), file.f64(), file.f64()};
    }
    tables.text_copies.resize(file.count(8));
    for (auto& row : tables.text_copies) row = {file.i32(), file.i32()};
}

void read_operations(ByteReader& file, SystemTables& tables) {
    file.expect_tag("OPER");
    tables.loops.resize(file.count(25));
    for (auto& loop : tables.loops) {
        loop.method = static_cast<Loop::Method>(file.choice(4, "a method for loops"));
        loop.tolerance = file.f64();
        loop.most_iterations = file.i32();
        loop.unknowns = file.slots();
        loop.discrete = file.slots();
        loop.members = file.slots();
        tables.loop_names.push_back(file.texts());
    }
    tables.operations.resize(file.count(17));
    for (auto& row : tables.operations) {
        row.code = static_cast<Code>(file.choice(12, "an operation"));
        row.first = file.i32();
        row.count = file.i32();
        row.every = file.i32();
        row.phase = file.i32();
    }
    auto& rule = tables.rule;
    rule.method = static_cast<Rule::Method>(file.choice(3, "a rule for steps"));
    rule.relative = file.f64();
    rule.absolute = file.f64();
    rule.order = file.i32();
    rule.least_ns = file.i64();
    rule.most_ns = file.i64();
    rule.first_ns = file.i64();
    rule.checked = file.slots();
    rule.bonds.resize(file.count(8));
    for (auto& bond : rule.bonds) bond = {file.i32(), file.i32()};
}

void read_events(ByteReader& file, SystemTables& tables) {
    file.expect_tag("EVNT");
    tables.has_events = file.flag();
    if (!tables.has_events) return;
    auto& events = tables.events;
    events.members = file.slots();
    events.lines.resize(file.count(9));
    for (auto& line : events.lines) {
        line.copy = file.i32();
        line.target = file.i32();
        line.kind = static_cast<EventLine::Kind>(file.choice(3, "a kind of line"));
    }
    events.clocks.resize(file.count(8));
    for (auto& clock : events.clocks) clock = {file.i32(), file.i32()};
    tables.first_held_back = file.i32();
    tables.held_back = file.i32();
    events.splits = file.flag();
    events.early_return = file.flag();
}

void read_faults(ByteReader& file, SystemTables& tables) {
    file.expect_tag("FALT");
    tables.faults.resize(file.count(53));
    for (auto& fault : tables.faults) {
        fault.effect = static_cast<Effect>(file.choice(7, "an effect of a fault"));
        fault.place = file.i32();
        fault.begin_ns = file.i64();
        fault.until_ns = file.i64();
        fault.amount = file.f64();
        fault.offset = file.f64();
        fault.change_ns = file.i64();
        fault.key = file.u64();
    }
}

Variable variable(ByteReader& file, const SystemTables& tables) {
    Variable found;
    found.name = file.text();
    found.kind = static_cast<Variable::Kind>(file.choice(2, "a kind of variable"));
    found.type = file.choice(type_binary, "a type");
    found.size = file.u32();
    found.slot = file.i32();
    found.tunable = file.flag();
    found.numbers = file.numbers();
    found.texts = file.texts();
    found.targets.resize(file.count(39));
    for (auto& target : found.targets) {
        target.fmu = file.u32();
        target.port = read_port(file);
        target.factor = file.f64();
        target.offset = file.f64();
        if (target.fmu >= tables.fmus.size() || target.port.size != found.size ||
            target.port.is_text() != found.is_text() || !tables.fmus[target.fmu].has(target.port)) {
            file.refuse("parameter '" + found.name + "' leads to a variable that it does not fit");
        }
    }
    const std::size_t room = found.is_text() ? tables.text_count : tables.signals;
    const bool needs_slot = found.kind == Variable::Kind::signal;
    const bool inside =
        found.slot < 0
            ? !needs_slot
            : found.size <= room && static_cast<std::size_t>(found.slot) <= room - found.size;
    const auto starts = found.is_text() ? found.texts.size() : found.numbers.size();
    if (!inside || (!needs_slot && starts != found.size)) {
        file.refuse("variable '" + found.name + "' does not fit the buffer of signals");
    }
    return found;
}

std::string content_of(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                               std::fclose);
    if (!file) throw std::runtime_error(path + ": cannot be opened; unpack the FMU again");
    std::string bytes;
    char part[65536];
    while (const auto count = std::fread(part, 1, sizeof part, file.get())) {
        bytes.append(part, count);
    }
    return bytes;
}

SystemTables read_tables(ByteReader& file) {
    SystemTables tables;
    tables.token = file.text();
    tables.step_ns = file.i64();
    tables.signals = file.u32();
    tables.text_count = file.u32();
    tables.initial_passes = file.i32();
    if (tables.step_ns <= 0 || tables.signals > most_signals || tables.text_count > most_signals) {
        file.refuse("a step of " + std::to_string(tables.step_ns) + " ns with " +
                    std::to_string(tables.signals) + " signals");
    }
    file.expect_tag("UNIT");
    tables.fmus.resize(file.count(40));
    for (auto& each : tables.fmus) each = read_fmu(file);
    tables.members.resize(file.count(41));
    for (auto& each : tables.members) each = member(file, tables);
    read_histories(file, tables);
    read_lines(file, tables);
    read_operations(file, tables);
    read_events(file, tables);
    read_faults(file, tables);
    file.expect_tag("VARS");
    tables.variables.resize(file.count(27));
    for (auto& each : tables.variables) each = variable(file, tables);
    file.expect_tag("END.");
    file.expect_end();
    return tables;
}

}  // namespace

const std::string& SystemTables::name_of(std::size_t member) const {
    static const std::string inputs = "inputs of the system", outputs = "outputs of the system";
    const auto& row = members[member];
    if (row.kind == MemberRow::Kind::fmu) return fmus[row.fmu].name;
    return row.kind == MemberRow::Kind::source ? inputs : outputs;
}

SystemTables read_system(const std::string& path) {
    const auto bytes = content_of(path);
    ByteReader head(path, bytes.data(), bytes.size());
    for (const char* part : {magic, magic + 4}) head.expect_tag(std::string(part, 4).c_str());
    if (const auto found = head.u32(); found != version) {
        throw std::runtime_error(path + ": expected version " + std::to_string(version) +
                                 " of the file, found " + std::to_string(found));
    }
    const std::size_t before = 16;
    const auto sum = head.u32();
    if (crc32(bytes.data() + before, bytes.size() - before) != sum) {
        throw std::runtime_error(path + " is damaged: its check sum does not fit its content");
    }
    ByteReader file(path, bytes.data() + before, bytes.size() - before);
    return read_tables(file);
}

}  // namespace softdock
