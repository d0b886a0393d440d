#include "run/initial_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "algorithms/elimination.hpp"
#include "core/exchange.hpp"

namespace softdock {

namespace {

constexpr int most_iterations = 50;
constexpr int most_steps = 30;  // each half as long as the one before

// A unit refused a call; its implementation of InitialUnits knows why.
struct Refusal {};

struct NoSolution {
    std::int32_t loop, iterations;
    std::vector<double> residual;
};

void expect(bool done) {
    if (!done) throw Refusal();
}

double largest(const std::vector<double>& values) {
    double most = 0.0;
    for (const double value : values) {
        if (std::isnan(value)) return value;
        most = std::max(most, std::fabs(value));
    }
    return most;
}

bool same_numbers(const std::vector<double>& one, const std::vector<double>& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), is_same);
}

}  // namespace

bool InitialExchange::same(const Values& one, const Values& other) {
    return same_numbers(one.numbers, other.numbers) && one.texts == other.texts;
}

template <class Part>
InitialResult InitialExchange::guarded(const Part& part) {
    result_ = {};
    try {
        part();
    } catch (const Refusal&) {
        result_.settled = false;
    } catch (const NoSolution& none) {
        result_.settled = false;
        result_.loop = none.loop;
        result_.iterations = none.iterations;
        result_.residual = none.residual;
    }
    return result_;
}

InitialResult InitialExchange::run() {
    return guarded([&] {
        auto& context = engine_.context();
        std::fill(context.signals.begin(), context.signals.end(), 0.0);
        std::fill(context.texts.buffer().begin(), context.texts.buffer().end(), std::string());
        for (const auto member : table_.read_early) {
            expect(units_.initialise(static_cast<std::size_t>(member)));
        }
        settle(false);
    });
}

InitialResult InitialExchange::follow() {
    return guarded([&] {
        const auto before = values();
        const auto* events = engine_.events();
        const auto count = engine_.context().members.size();
        for (std::size_t member = 0; member < count; ++member) {
            const auto number = static_cast<std::int32_t>(member);
            const bool shares = events && std::count(events->table().members.begin(),
                                                     events->table().members.end(), number);
            if (!shares) expect(units_.read(member));
        }
        if (!same(before, values())) settle(false);
    });
}

InitialResult InitialExchange::follow_events(const std::vector<double>& before) {
    return guarded([&] {
        auto& signals = engine_.context().signals;
        auto changed = before;
        const auto after = signals;
        const auto put_ticks = [&](std::vector<double>& values) {
            for (const auto& clock : engine_.events()->table().clocks) {
                const auto slot = static_cast<std::size_t>(clock.slot);
                values[slot] = after[slot];
            }
        };
        put_ticks(changed);
        if (same_numbers(changed, after)) return;
        settle(true);
        put_ticks(signals);  // that clocks tick is of the event only
    });
}

void InitialExchange::settle(bool past_events) {
    result_.exchanged = true;
    for (std::int32_t count = 0; count < table_.passes; ++count) {
        const auto before = values();
        if (table_.held_back && !past_events) {
            lines({Code::copy, table_.first_held_back, table_.held_back, 1, 0});
        }
        result_.unread = -1;
        pass(0, engine_.context().operations.size());
        if (same(before, values())) break;
    }
    engine_.start(start_ns_, step_ns_);
}

void InitialExchange::pass(std::size_t first, std::size_t end) {
    for (auto i = first; i < end; ++i) {
        const auto operation = engine_.context().operations[i];
        switch (operation.code) {
            case Code::step:
            case Code::second_half:
                for (auto k = operation.first; k < operation.first + operation.count; ++k) {
                    expect(units_.evaluate(static_cast<std::size_t>(k)));
                }
                break;
            case Code::solve: {
                const auto body = i + 1;
                i += static_cast<std::size_t>(operation.count);
                solve(static_cast<std::size_t>(operation.first), body, i + 1);
                break;
            }
            // What only steps do: the past is what the signals are, and faults are still to come.
            case Code::push:
            case Code::propose:
            case Code::first_half:
            case Code::compensate:
            case Code::correct:
            case Code::inject_fault:
            case Code::inject_sample_fault:
                break;
            default:
                engine_.start(start_ns_, step_ns_);  // the past is what the signals are now
                lines(operation);
        }
    }
}

void InitialExchange::lines(const Operation& operation) {
    result_.unread = std::max(result_.unread, execute_lines(engine_.context(), operation));
}

InitialExchange::Numbers InitialExchange::pass_from(const Body& body, const Numbers& x) {
    auto& signals = engine_.context().signals;
    const auto& slots = body.loop.unknowns;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        signals[static_cast<std::size_t>(slots[i])] = x[i];
    }
    pass(body.first, body.end);
    Numbers image;
    for (const auto slot : slots) image.push_back(engine_.context().get(slot));
    return image;
}

InitialExchange::Numbers InitialExchange::tried(const Body& body, const Numbers& x) {
    try {
        return pass_from(body, x);
    } catch (const Refusal&) {
    } catch (const NoSolution&) {
    }
    return Numbers(x.size(), std::numeric_limits<double>::quiet_NaN());
}

InitialExchange::Values InitialExchange::discrete(const Loop& loop) {
    Values found;
    for (const auto slot : loop.discrete) found.numbers.push_back(engine_.context().get(slot));
    const auto& texts = engine_.context().texts.buffer();
    for (const auto row : loop.texts) found.texts.push_back(texts[static_cast<std::size_t>(row)]);
    return found;
}

// Outputs that a pass through the loop does not change, by Newton's method.
void InitialExchange::solve(std::size_t number, std::size_t first, std::size_t end) {
    const Body body{engine_.executor().loops()[number]->loop(), first, end};
    Numbers x;
    for (const auto slot : body.loop.unknowns) x.push_back(engine_.context().get(slot));
    auto image = pass_from(body, x);
    auto residual = x;
    std::int32_t count = 0;
    for (; count < most_iterations; ++count) {
        bool converged = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            residual[i] = image[i] - x[i];
            const double allowed = body.loop.tolerance * std::max(1.0, std::fabs(image[i]));
            converged = converged && std::fabs(residual[i]) <= allowed;
        }
        const auto before = discrete(body.loop);
        if (converged) {
            image = pass_from(body, x);
            if (same(before, discrete(body.loop))) return;
            continue;
        }
        if (!std::isfinite(largest(residual))) break;
        if (tried(body, image) == image) return;  // it closes through states only: this is all
        Numbers step;
        if (!newton_step(body, x, residual, step)) break;
        shorten(body, x, image, step, residual);
    }
    throw NoSolution{static_cast<std::int32_t>(number), count, residual};
}

bool InitialExchange::newton_step(const Body& body, const Numbers& x, const Numbers& residual,
                                  Numbers& step) {
    const auto n = x.size();
    Numbers jacobian(n * n);
    for (std::size_t k = 0; k < n; ++k) {
        auto moved = x;
        moved[k] += perturbation * std::max(1.0, std::fabs(x[k]));
        const auto image = tried(body, moved);
        for (std::size_t i = 0; i < n; ++i) {
            jacobian[i * n + k] = (image[i] - moved[i] - residual[i]) / (moved[k] - x[k]);
        }
    }
    step = residual;
    for (auto& value : step) value = -value;
    return eliminate(jacobian, step);
}

// Steps to where the residual is zero, half as far while it grows or a unit refuses the point.
void InitialExchange::shorten(const Body& body, Numbers& x, Numbers& image, const Numbers& step,
                              const Numbers& residual) {
    const auto base = x;
    const double before = largest(residual);
    double part = 1.0;
    for (int halving = 0; halving < most_steps; ++halving, part *= 0.5) {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = base[i] + part * step[i];
        image = tried(body, x);
        auto rest = image;
        for (std::size_t i = 0; i < x.size(); ++i) rest[i] -= x[i];
        if (largest(rest) <= 1.5 * before) return;
    }
}

}  // namespace softdock
