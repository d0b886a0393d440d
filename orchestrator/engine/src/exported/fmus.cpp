// The table of the FMUs inside of an exported system, as its file has it.
#include "exported/tables.hpp"

namespace softdock {

constexpr std::size_t most_elements = 100'000'000;  // more is a damaged file

InnerPort read_port(ByteReader& file) {
    InnerPort found;
    found.name = file.text();
    found.type = file.choice(type_binary, "a type");
    found.reference = file.u32();
    found.size = file.u32();
    found.discrete = file.flag();
    found.continuous = file.flag();
    found.clocks = file.references();
    if (found.size > most_elements) file.refuse("an array of " + std::to_string(found.size));
    return found;
}

namespace {

std::vector<InnerPort> ports(ByteReader& file) {
    std::vector<InnerPort> found(file.count(19));
    for (auto& each : found) each = read_port(file);
    return found;
}

// Folders and libraries are plain names below the resources.
std::string relative_path(ByteReader& file) {
    auto path = file.text();
    if (path.empty() || path.front() == '/' || path.find("..") != std::string::npos) {
        file.refuse("'" + path + "' is no path inside of the FMU");
    }
    return path;
}

Timer timer(ByteReader& file) {
    Timer found;
    found.clock = file.u32();
    found.kind = static_cast<Timer::Kind>(file.choice(3, "a kind of clock"));
    found.fraction = file.flag();
    found.interval.seconds = file.f64();
    found.interval.counter = file.u64();
    found.interval.resolution = file.u64();
    found.shift = file.f64();
    found.shift_counter = file.u64();
    const bool known = found.interval.seconds > 0.0 || found.interval.counter > 0;
    found.interval.qualifier = known ? fmi3IntervalChanged : fmi3IntervalNotYetKnown;
    return found;
}

StartValue start(ByteReader& file) {
    StartValue found;
    found.port = read_port(file);
    found.structural = file.flag();
    found.numbers = file.numbers();
    found.texts = file.texts();
    const auto given = found.port.is_text() ? found.texts.size() : found.numbers.size();
    if (given != found.port.size) file.refuse("a start value has another size than its variable");
    return found;
}

Integration integration(ByteReader& file) {
    Integration found;
    found.cvode = file.flag();
    found.has_jacobian = file.flag();
    found.tell_steps = file.flag();
    found.indicators = file.u32();
    found.states = file.references();
    found.derivatives = file.references();
    for (const auto size : file.references()) found.sizes.push_back(size);
    found.names = file.texts();
    const bool fits = found.states.size() == found.derivatives.size() &&
                      found.states.size() == found.sizes.size();
    if (!fits) file.refuse("states and derivatives do not belong together");
    return found;
}

}  // namespace

InnerFmu read_fmu(ByteReader& file) {
    InnerFmu found;
    found.name = file.text();
    found.folder = relative_path(file);
    found.identifier = relative_path(file);
    found.guid = file.text();
    found.version = file.choice(3, "a version of FMI");
    if (found.version < 2) file.refuse("an inner FMU of version " + std::to_string(found.version));
    for (auto* flag : {&found.exchange, &found.rolls_back, &found.serializes}) *flag = file.flag();
    found.input_order = file.choice(most_order, "an order of derivatives");
    for (auto* flag :
         {&found.has_derivatives, &found.event_mode, &found.early_return, &found.logs}) {
        *flag = file.flag();
    }
    found.tolerance = file.f64();
    found.log_categories = file.texts();
    found.inputs = ports(file);
    found.outputs = ports(file);
    found.timers.resize(file.count(46));
    for (auto& each : found.timers) each = timer(file);
    found.starts.resize(file.count(28));
    for (auto& each : found.starts) each = start(file);
    if (found.exchange) found.integration = integration(file);
    bool fits = true;
    for (const auto* ports : {&found.inputs, &found.outputs}) {
        for (const auto& each : *ports) fits = fits && found.has(each);
    }
    for (const auto& each : found.starts) {
        fits = fits && found.has(each.port) && !(each.structural && found.version == 2);
    }
    if (!fits) file.refuse("'" + found.name + "' is of FMI 2.0, which has no such variables");
    return found;
}

}  // namespace softdock
