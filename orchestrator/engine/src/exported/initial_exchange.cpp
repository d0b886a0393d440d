#include "exported/initial_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "algorithms/elimination.hpp"
#include "core/exchange.hpp"

namespace softdock {

namespace {

constexpr int most_iterations = 50, most_halvings = 30;
constexpr double perturbation = 1e-6;  // as in newton.cpp

double largest(const std::vector<double>& values) {
    double found = 0.0;
    for (const double value : values) {
        if (std::isnan(value)) return value;
        found = std::max(found, std::fabs(value));
    }
    return found;
}

}  // namespace

void InitialExchange::run(std::int64_t start_ns) {
    start_ns_ = start_ns;
    auto& signals = engine_.context().signals;
    auto& texts = engine_.context().texts.buffer();
    std::fill(signals.begin(), signals.end(), 0.0);
    std::fill(texts.begin(), texts.end(), std::string());
    for (const auto member : tables_.read_early) {
        read_outputs(static_cast<std::size_t>(member));  // by the units' own start values
    }
    settle(false);
}

void InitialExchange::follow(std::int64_t start_ns) {
    start_ns_ = start_ns;
    const auto before = engine_.context().signals;
    const auto texts_before = engine_.context().texts.buffer();
    const auto& shared = tables_.events.members;
    for (std::size_t number = 0; number < units_.size(); ++number) {
        const bool shares = std::find(shared.begin(), shared.end(),
                                      static_cast<std::int32_t>(number)) != shared.end();
        if (!shares) read_outputs(number);
    }
    if (before != engine_.context().signals || texts_before != engine_.context().texts.buffer()) {
        settle(false);
    }
}

void InitialExchange::follow_events(std::int64_t start_ns, const std::vector<double>& before) {
    start_ns_ = start_ns;
    auto& signals = engine_.context().signals;
    auto changed = before;
    const auto happened = signals;
    const auto put_ticks = [&](std::vector<double>& values) {
        for (const auto& clock : tables_.events.clocks) {
            const auto slot = static_cast<std::size_t>(clock.slot);
            values[slot] = happened[slot];
        }
    };
    put_ticks(changed);
    if (std::equal(changed.begin(), changed.end(), happened.begin(), is_same)) return;
    settle(true);
    put_ticks(signals);  // that clocks tick is of the event only
}

void InitialExchange::settle(bool past_events) {
    auto& signals = engine_.context().signals;
    auto& texts = engine_.context().texts.buffer();
    for (std::int32_t count = 0; count < tables_.initial_passes; ++count) {
        const auto before = signals;
        const auto texts_before = texts;
        if (tables_.held_back && !past_events) {
            lines({Code::copy, tables_.first_held_back, tables_.held_back, 1, 0});
        }
        unread_ = -1;
        pass(0, tables_.schedule.operations.size());
        if (std::equal(before.begin(), before.end(), signals.begin(), is_same) &&
            texts_before == texts)
            break;
    }
    expect_sound();
    engine_.start(start_ns_, tables_.step_ns);
}

void InitialExchange::pass(std::size_t first, std::size_t end) {
    for (auto i = first; i < end; ++i) {
        const auto& operation = tables_.schedule.operations[i];
        switch (operation.code) {
            case Code::step:
            case Code::second_half:
                for (auto k = operation.first; k < operation.first + operation.count; ++k) {
                    evaluate(k);
                }
                break;
            case Code::solve: {
                const auto body = i + 1;
                i += static_cast<std::size_t>(operation.count);
                solve(static_cast<std::size_t>(operation.first), body, i + 1);
                break;
            }
            case Code::push:
            case Code::propose:
            case Code::first_half:
            case Code::compensate:
            case Code::correct:
            case Code::inject_fault:
            case Code::inject_sample_fault:
                break;
            default:
                engine_.start(start_ns_, tables_.step_ns);  // the past is what the signals are now
                lines(operation);
        }
    }
}

void InitialExchange::lines(const Operation& operation) {
    unread_ = std::max(unread_, execute_lines(engine_.context(), operation));
}

void InitialExchange::evaluate(std::int32_t member) {
    const auto number = static_cast<std::size_t>(member);
    auto& unit = *units_[number];
    const ModeKept kept(unit);
    auto status =
        unit.set_inputs(engine_.context().signals.data() + tables_.members[number].inputs);
    const bool has_texts = !engine_.context().texts.places().empty();
    if (has_texts && !failed(status)) status = engine_.context().texts.send(unit, number);
    if (failed(status)) {
        throw std::runtime_error("component '" + tables_.name_of(number) +
                                 "' failed while setting its inputs: " + unit.failure());
    }
    read_outputs(number);
}

void InitialExchange::read_outputs(std::size_t number) {
    auto& unit = *units_[number];
    const ModeKept kept(unit);
    auto status =
        unit.get_outputs(engine_.context().signals.data() + tables_.members[number].outputs);
    const bool has_texts = !engine_.context().texts.places().empty();
    if (has_texts && !failed(status)) status = engine_.context().texts.receive(unit, number);
    if (failed(status)) {
        throw std::runtime_error("component '" + tables_.name_of(number) +
                                 "' failed while reading its outputs: " + unit.failure());
    }
}

InitialExchange::Numbers InitialExchange::pass_from(const Numbers& x) {
    const auto& slots = tables_.schedule.loops[loop_].unknowns;
    auto& signals = engine_.context().signals;
    for (std::size_t i = 0; i < slots.size(); ++i) signals[slots[i]] = x[i];
    pass(first_, end_);
    Numbers found;
    for (const auto slot : slots) found.push_back(signals[slot]);
    return found;
}

bool InitialExchange::tried(const Numbers& x, Numbers& image) {
    try {
        image = pass_from(x);
        return true;
    } catch (const std::runtime_error&) {  // a unit is not defined there: no step to there
        image.assign(x.size(), std::numeric_limits<double>::quiet_NaN());
        return false;
    }
}

void InitialExchange::solve(std::size_t loop, std::size_t first, std::size_t end) {
    loop_ = loop, first_ = first, end_ = end;
    const auto& table = tables_.schedule.loops[loop];
    auto& signals = engine_.context().signals;
    const auto discrete = [&] {
        Numbers found;
        for (const auto slot : table.discrete) found.push_back(signals[slot]);
        return found;
    };
    Numbers x, again;
    for (const auto slot : table.unknowns) x.push_back(signals[slot]);
    auto image = pass_from(x);
    auto residual = x;
    for (int count = 0; count < most_iterations; ++count) {
        bool converged = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            residual[i] = image[i] - x[i];
            const double allowed = table.tolerance * std::max(1.0, std::fabs(image[i]));
            converged = converged && std::fabs(residual[i]) <= allowed;
        }
        const auto before = discrete();
        if (converged) {
            image = pass_from(x);
            if (before == discrete()) return;
            continue;
        }
        if (!std::isfinite(largest(residual))) break;
        tried(image, again);
        if (again == image) return;  // it closes through states only: this is all there is
        Numbers step;
        if (!newton_step(x, residual, step)) break;
        shorten(x, image, step, residual);
    }
    for (std::size_t i = 0; i < x.size(); ++i) residual[i] = image[i] - x[i];
    give_up(residual);
}

bool InitialExchange::newton_step(const Numbers& x, const Numbers& residual, Numbers& step) {
    const auto n = x.size();
    Numbers jacobian(n * n), image;
    for (std::size_t k = 0; k < n; ++k) {
        auto moved = x;
        moved[k] += perturbation * std::max(1.0, std::fabs(x[k]));
        tried(moved, image);
        for (std::size_t i = 0; i < n; ++i) {
            jacobian[i * n + k] = (image[i] - moved[i] - residual[i]) / (moved[k] - x[k]);
        }
    }
    step = residual;
    for (auto& value : step) value = -value;
    return eliminate(jacobian, step);
}

void InitialExchange::shorten(Numbers& x, Numbers& image, const Numbers& step,
                              const Numbers& residual) {
    const auto base = x;
    const double before = largest(residual);
    double part = 1.0;
    for (int halving = 0; halving < most_halvings; ++halving, part *= 0.5) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = base[i] + part * step[i];
        tried(x, image);
        auto rest = image;
        for (std::size_t i = 0; i < x.size(); ++i) rest[i] -= x[i];
        if (largest(rest) <= 1.5 * before) return;
    }
}

void InitialExchange::give_up(const Numbers& residual) const {
    std::string who;
    const auto& names = tables_.schedule.loops[loop_].sources;
    for (std::size_t i = 0; i < residual.size() && i < names.size(); ++i) {
        if (residual[i] == 0.0) continue;
        who += (who.empty() ? "'" : ", '") + names[i] + "' by " + std::to_string(residual[i]);
    }
    throw std::runtime_error("a loop of components did not converge at the start: " + who +
                             " still change; try other start values");
}

void InitialExchange::expect_sound() const {
    if (unread_ >= 0) {
        throw std::runtime_error(std::string("a line cannot be read at the start: ") +
                                 engine_.context().read_error);
    }
    for (const auto& variable : tables_.variables) {
        if (variable.is_text() || variable.slot < 0) continue;
        for (std::size_t i = 0; i < variable.size; ++i) {
            if (std::isfinite(engine_.context().get(variable.slot + static_cast<std::int32_t>(i))))
                continue;
            throw std::runtime_error("'" + variable.name +
                                     "' is not finite (NaN or infinite) at the start");
        }
    }
}

}  // namespace softdock
