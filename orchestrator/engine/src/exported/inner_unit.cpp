#include "exported/inner_unit.hpp"

#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "exported/platform.hpp"
#include "fmi/fmi2_model.hpp"
#include "fmi/fmi3_model.hpp"

namespace softdock {

namespace {

Binding binding(const std::vector<InnerPort>& ports) {
    Binding made;
    for (const auto& port : ports) {
        if (port.is_text()) continue;
        const auto type = static_cast<Type3>(port.type);
        if (type == Type3::float64) {
            made.reals.push_back(port.reference);
        } else if (type == Type3::boolean) {
            made.booleans.push_back(port.reference);
        } else {
            made.integers.push_back(port.reference);
            made.integer_names.push_back(port.name);
        }
    }
    return made;
}

std::vector<Port3> ports3(const std::vector<InnerPort>& ports) {
    std::vector<Port3> made;
    for (const auto& port : ports) {
        if (port.is_text()) continue;
        made.push_back({port.name, static_cast<Type3>(port.type), port.reference, port.size,
                        port.discrete, port.clocks});
    }
    return made;
}

// What an FMI 3.0 unit may be asked for within its steps.
References followed(const std::vector<InnerPort>& inputs) {
    References found;
    for (const auto& port : inputs) {
        if (port.is_text() || port.discrete) continue;
        const auto type = static_cast<Type3>(port.type);
        const bool is_float = type == Type3::float64 || type == Type3::float32;
        if (is_float) found.push_back(port.reference);
    }
    return found;
}

TextPorts text_ports(const std::vector<InnerPort>& ports) {
    TextPorts made;
    for (const auto& port : ports) {
        if (!port.is_text()) continue;
        const bool binary = port.type == type_binary;
        (binary ? made.binaries : made.strings).push_back(port.reference);
        (binary ? made.binary_count : made.string_count) += port.size;
        for (std::size_t i = 0; i < port.size; ++i) {
            made.names.push_back(port.size == 1 ? port.name
                                                : port.name + "[" + std::to_string(i) + "]");
        }
    }
    return made;
}

// The location of a folder as FMI 2.0 wants it.
std::string uri(const std::string& folder) {
    static constexpr char digits[] = "0123456789ABCDEF";
    std::string made =
        folder.size() > 1 && folder[1] == ':' ? "file:///" : "file://";  // of a drive
    for (const unsigned char c : folder) {
        const bool plain =
            std::isalnum(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == '~' || c == ':';
        if (plain) {
            made += static_cast<char>(c);
        } else {
            made += '%';
            made += digits[c >> 4];
            made += digits[c & 15];
        }
    }
    return made;
}

}  // namespace

InnerUnit::InnerUnit(const InnerFmu& row, const std::string& resources, const std::string& outer,
                     bool logging)
    : row_(row) {
    try {
        make(resources, outer, logging || row.logs);
        if (!logging && !row.logs) fmu_->log_categories(row.log_categories);
        set_starts();
        bind();
        if (row_.exchange) integrate(resources);
    } catch (const std::exception& error) {
        throw std::runtime_error("component '" + row_.name + "': " + error.what());
    }
}

void InnerUnit::make(const std::string& resources, const std::string& outer, bool logging) {
    const auto folder = resources + "/" + row_.folder;
    const auto library = folder + "/" + library_path(row_.identifier, row_.version);
    const auto name = outer + "." + row_.name;
    if (row_.version == 2) {
        auto made =
            std::make_unique<Fmu2>(library, name, row_.guid, uri(folder + "/resources"), logging,
                                   row_.exchange ? fmi2ModelExchange : fmi2CoSimulation);
        made->declare(row_.rolls_back, row_.input_order, row_.has_derivatives);
        fmu2_ = made.get();
        fmu_ = std::move(made);
    } else {
        Options3 options{logging, row_.event_mode, row_.early_return, row_.exchange};
        if (row_.input_order && !row_.exchange) options.followed = followed(row_.inputs);
        auto made =
            std::make_unique<Fmu3>(library, name, row_.guid, folder + "/resources/", options);
        made->declare(row_.rolls_back, row_.has_derivatives);
        fmu3_ = made.get();
        fmu_ = std::move(made);
    }
}

void InnerUnit::bind() {
    if (fmu2_) {
        fmu2_->bind(binding(row_.inputs), binding(row_.outputs));
    } else {
        fmu3_->bind(ports3(row_.inputs), ports3(row_.outputs));
        fmu3_->drive(row_.timers);
    }
    fmu_->bind_texts(text_ports(row_.inputs), text_ports(row_.outputs));
}

void InnerUnit::integrate(const std::string& resources) {
    const auto& how = row_.integration;
    if (fmu2_) {
        model_ = std::make_unique<Fmi2Model>(*fmu2_, how.indicators, how.states, how.derivatives,
                                             how.has_jacobian, how.tell_steps);
    } else {
        model_ = std::make_unique<Fmi3Model>(*fmu3_, how.states, how.derivatives, how.sizes,
                                             how.has_jacobian, how.tell_steps);
    }
    std::vector<MovingInputs::Row> reals;
    for (const auto& input : row_.inputs) {
        const auto type = static_cast<Type3>(input.type);
        if (type == Type3::float64 || type == Type3::float32) {
            reals.emplace_back(input.reference, input.size, input.continuous);
        }
    }
    model_->moving_inputs().bind(reals);
    const auto sundials = how.cvode ? resources + "/sundials" : std::string();
    me_ = std::make_unique<MeUnit>(*model_, row_.tolerance, sundials, how.names);
    me_->bind();
}

void InnerUnit::require(Status status, const std::string& doing) {
    if (failed(status))
        throw std::runtime_error("it failed while " + doing + ": " + fmu_->failure());
}

void InnerUnit::set_starts() {
    const auto set_all = [this](bool structural) {
        for (const auto& start : row_.starts) {
            if (start.structural != structural) continue;
            require(send(start.port, start.numbers.data(), start.texts.data()),
                    "setting '" + start.port.name + "'");
        }
    };
    bool has_structure = false;
    for (const auto& start : row_.starts) has_structure |= start.structural;
    if (has_structure) {
        const auto& call = fmu3_->functions();
        if (!call.enter_configuration_mode || !call.exit_configuration_mode) {
            throw std::runtime_error("its library exports no configuration mode");
        }
        require(fmu_->note(call.enter_configuration_mode(fmu_->instance())),
                "entering configuration mode");
        set_all(true);
        require(fmu_->note(call.exit_configuration_mode(fmu_->instance())),
                "leaving configuration mode");
    }
    set_all(false);
}

Status InnerUnit::send2(const InnerPort& port, const double* values) {
    const auto& call = fmu2_->functions();
    const auto type = static_cast<Type3>(port.type);
    if (type == Type3::float64) {
        return fmu_->note(call.set_real(fmu_->instance(), &port.reference, 1, values));
    }
    const auto rounded = std::nearbyint(*values);
    if (!(std::fabs(rounded) <= std::numeric_limits<int>::max())) {
        return fmu_->fail("'" + port.name + "': " + number(*values) +
                          " does not fit the 32 bits of FMI 2.0");
    }
    const int whole = static_cast<int>(rounded);
    const auto function = type == Type3::boolean ? call.set_boolean : call.set_integer;
    return fmu_->note(function(fmu_->instance(), &port.reference, 1, &whole));
}

Status InnerUnit::send3(const InnerPort& port, const double* values) {
    Ports3 ports(
        *fmu3_, {{port.name, static_cast<Type3>(port.type), port.reference, port.size, false, {}}});
    return ports.set(values, Setting::all);
}

Status InnerUnit::send(const InnerPort& port, const double* values, const std::string* texts) {
    if (!port.is_text()) return fmu2_ ? send2(port, values) : send3(port, values);
    std::vector<const char*> strings;
    std::vector<const std::uint8_t*> bytes;
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < port.size; ++i) {
        strings.push_back(texts[i].c_str());
        bytes.push_back(reinterpret_cast<const std::uint8_t*>(texts[i].data()));
        sizes.push_back(texts[i].size());
    }
    if (port.type == type_string) {
        return fmu_->set_strings({port.reference}, strings.data(), port.size);
    }
    return fmu_->set_binaries({port.reference}, sizes.data(), bytes.data(), port.size);
}

Status InnerUnit::set(const InnerPort& port, const double* values, const std::string* texts,
                      bool stepping) {
    auto status = Status::ok;
    const bool by_event = stepping && fmu3_ && row_.event_mode && port.discrete;
    if (stepping && me_) status = me_->expect_event();
    if (by_event) status = fmu3_->enter_event_mode();
    if (!failed(status)) status = std::max(status, send(port, values, texts));
    if (by_event && !failed(status)) status = std::max(status, fmu3_->settle());
    return status;
}

Status InnerUnit::setup(std::int64_t start_ns, bool has_stop, double stop) {
    start_ns_ = start_ns;
    const auto start = to_seconds(start_ns), tolerance = row_.tolerance;
    const bool has_tolerance = tolerance > 0.0;
    if (fmu3_) return fmu3_->initialise(start, has_stop, stop, has_tolerance, tolerance);
    const auto status = fmu2_->setup(start, has_stop, stop, has_tolerance, tolerance);
    return failed(status) ? status : fmu2_->enter_initialization();
}

Status InnerUnit::begin() {
    const auto status = fmu3_ ? fmu3_->exit_initialization() : fmu2_->exit_initialization();
    return failed(status) || !me_ ? status : me_->start(start_ns_);
}

Status InnerUnit::terminate() { return fmu3_ ? fmu3_->terminate() : fmu2_->terminate(); }

Status InnerUnit::put_back(const std::vector<double>& memory) {
    return me_ ? me_->put_back(memory) : Status::ok;
}

}  // namespace softdock
