#include "exported/tables.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>

#include "core/operating_system.hpp"
#include "exported/row_reader.hpp"

namespace softdock {

namespace {

constexpr char magic[] = "SOFTDOCK";
constexpr std::uint32_t version = 5;
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
    const bool inside = found.inputs + found.input_count <= tables.schedule.signals &&
                        found.outputs + found.output_count <= tables.schedule.signals &&
                        found.text_inputs + found.text_input_count <= tables.text_count &&
                        found.text_outputs + found.text_output_count <= tables.text_count;
    if (!inside) file.refuse("connectors of a member lie outside of the buffers");
    return found;
}

void read_histories(ByteReader& file, Schedule& schedule) {
    file.expect_tag("HIST");
    schedule.channels = read_rows<Channel>(file);
    for (const auto& channel : schedule.channels) {
        if (!channel.fits()) file.refuse("the tables of a varying delay do not fit together");
    }
    schedule.histories = read_rows<HistoryRow>(file);
    std::size_t samples = 0;
    for (const auto& row : schedule.histories) {
        samples += row.depth;
        const bool known =
            row.channel < 0 || static_cast<std::size_t>(row.channel) < schedule.channels.size();
        if (!known || row.depth < 2 || samples > most_samples) {
            file.refuse("a history of " + std::to_string(row.depth) + " samples, channel " +
                        std::to_string(row.channel));
        }
    }
}

void read_lines(ByteReader& file, SystemTables& tables) {
    file.expect_tag("LINE");
    tables.schedule.copies = read_rows<Copy>(file);
    tables.schedule.reads = read_rows<Read>(file);
    tables.value_tables = read_rows<ValueTable>(file);
    tables.value_entries = read_rows<ValueEntry>(file);
    tables.read_names = file.texts();
    if (tables.read_names.size() != tables.schedule.reads.size() + tables.value_tables.size()) {
        file.refuse("lines without a name");
    }
    tables.schedule.mixes = read_rows<Mix>(file);
    tables.text_copies = read_rows<TextCopy>(file);
}

void read_operations(ByteReader& file, Schedule& schedule) {
    file.expect_tag("OPER");
    schedule.loops = read_rows<Loop>(file);
    schedule.operations = read_rows<Operation>(file);
    schedule.rule = read_row<Rule>(file);
}

void read_events(ByteReader& file, SystemTables& tables) {
    file.expect_tag("EVNT");
    tables.has_events = file.flag();
    if (!tables.has_events) return;
    auto& events = tables.events;
    file.read(events.members);
    events.lines = read_rows<EventLine>(file);
    events.clocks = read_rows<EventClock>(file);
    tables.initial.first_held_back = file.i32();
    tables.initial.held_back = file.i32();
    events.splits = file.flag();
    events.early_return = file.flag();
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
    const std::size_t room = found.is_text() ? tables.text_count : tables.schedule.signals;
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
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(open_file(path), std::fclose);
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
    tables.schedule.signals = file.u32();
    tables.text_count = file.u32();
    tables.initial.passes = file.i32();
    file.read(tables.initial.read_early);
    if (tables.step_ns <= 0 || tables.schedule.signals > most_signals ||
        tables.text_count > most_signals) {
        file.refuse("a step of " + std::to_string(tables.step_ns) + " ns with " +
                    std::to_string(tables.schedule.signals) + " signals");
    }
    file.expect_tag("UNIT");
    tables.fmus.resize(file.count(40));
    for (auto& each : tables.fmus) each = read_fmu(file);
    tables.members.resize(file.count(41));
    for (auto& each : tables.members) each = member(file, tables);
    for (const auto each : tables.initial.read_early) {
        if (each < 0 || static_cast<std::size_t>(each) >= tables.members.size()) {
            file.refuse("a member that is read early is not there");
        }
    }
    read_histories(file, tables.schedule);
    read_lines(file, tables);
    read_operations(file, tables.schedule);
    read_events(file, tables);
    file.expect_tag("FALT");
    tables.schedule.faults = read_rows<Fault>(file);
    file.expect_tag("COMP");
    tables.schedule.compensations = read_rows<Compensation>(file);
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
