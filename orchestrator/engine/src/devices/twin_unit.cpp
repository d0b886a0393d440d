#include "devices/twin_unit.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/draws.hpp"

namespace softdock {

namespace {

// Steps within a delay for which no memory is allocated once the run goes on.
constexpr std::size_t stairs = 1024;

}  // namespace

TwinUnit::TwinUnit(Unit& inner) : Unit(inner.name()), inner_(inner) {}

void TwinUnit::bind(std::vector<TwinChannel> channels, std::vector<std::int64_t> by_output) {
    input_count_ = inner_.input_count();
    output_count_ = inner_.output_count();
    text_input_count_ = inner_.text_input_count();
    text_output_count_ = inner_.text_output_count();
    const auto count = static_cast<std::int64_t>(channels.size());
    if (by_output.size() != output_count_) {
        throw std::invalid_argument("the channels of a twin are not those of its outputs");
    }
    for (const auto number : by_output) {
        if (number < direct || number >= count) {
            throw std::invalid_argument("a twin has no channel of this number");
        }
    }
    for (const auto& channel : channels) {
        const bool lags = channel.order == 0 || channel.frequency > 0.0;
        const bool damped = channel.order != 2 || channel.damping > 0.0;
        if (channel.order < 0 || channel.order > 2 || !lags || !damped || channel.delay_ns < 0) {
            throw std::invalid_argument("a channel of a twin has no such delay or lag");
        }
    }
    channels_ = std::move(channels);
    by_output_ = std::move(by_output);
    given_.resize(output_count_);
    now_.lines.resize(output_count_);
    for (auto& line : now_.lines) line.ring.resize(stairs);
}

void TwinUnit::Line::push(Stair stair) {
    if (count == ring.size()) {  // unrolled, so that what comes next has its place behind
        std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(first), ring.end());
        first = 0;
        ring.resize(2 * ring.size());
    }
    ring[(first + count) % ring.size()] = stair;
    ++count;
}

Status TwinUnit::begin(std::int64_t time_ns) {
    const auto status = passed(inner_.get_outputs(given_.data()));
    if (failed(status)) return status;
    for (std::size_t i = 0; i < output_count_; ++i) {
        auto& line = now_.lines[i];
        line.first = line.count = 0;
        line.held = given_[i];
        line.state = {given_[i], 0.0};
        line.now_ns = time_ns;
    }
    now_.has_stepped = false;
    return status;
}

Status TwinUnit::step(std::int64_t time_ns, std::int64_t step_ns) {
    const auto status = passed(inner_.step(time_ns, step_ns));
    reached_ = inner_.reached();
    if (failed(status)) return status;
    if (!reached_.is(time_ns + step_ns)) return status;
    const auto read = follow(time_ns + step_ns);
    return failed(read) ? read : status;
}

Status TwinUnit::follow(std::int64_t time_ns) {
    const auto status = passed(inner_.get_outputs(given_.data()));
    if (failed(status)) return status;
    now_.has_stepped = true;
    for (std::size_t i = 0; i < output_count_; ++i) {
        auto& line = now_.lines[i];
        if (by_output_[i] == direct) continue;
        const auto& channel = channels_[static_cast<std::size_t>(by_output_[i])];
        line.push({time_ns, given_[i]});
        advance(line, channel, time_ns);
        line.value = read(line, channel);
    }
    return status;
}

void TwinUnit::advance(Line& line, const TwinChannel& channel, std::int64_t to_ns) const {
    while (line.count > 0) {
        const auto& stair = line.ring[line.first];
        const auto effect_ns = stair.time_ns + channel.delay_ns;
        if (effect_ns > to_ns) break;
        relax(line, channel, effect_ns - line.now_ns);
        line.now_ns = effect_ns;
        line.held = stair.value;
        if (channel.order == 0) line.state[0] = stair.value;
        line.first = (line.first + 1) % line.ring.size();
        --line.count;
    }
    relax(line, channel, to_ns - line.now_ns);
    line.now_ns = to_ns;
}

// The exact solution over a time in which what is followed is constant.
void TwinUnit::relax(Line& line, const TwinChannel& channel, std::int64_t span_ns) {
    if (channel.order == 0 || span_ns <= 0) return;
    const double t = to_seconds(span_ns), w = channel.frequency;
    const double off = line.state[0] - line.held;
    if (channel.order == 1) {
        line.state[0] = line.held + off * std::exp(-w * t);
        return;
    }
    const double z = channel.damping, speed = line.state[1];
    const double split = z * z - 1.0;
    const double fall = std::exp(-z * w * t);
    // cosine and sine of the damped frequency, hyperbolic beyond critical damping
    double c = 1.0, s = t;
    if (split < -1e-8) {
        const double d = w * std::sqrt(-split);
        c = std::cos(d * t);
        s = std::sin(d * t) / d;
    } else if (split > 1e-8) {
        const double d = w * std::sqrt(split);
        c = std::cosh(d * t);
        s = std::sinh(d * t) / d;
    }
    line.state[0] = line.held + fall * (off * (c + z * w * s) + speed * s);
    line.state[1] = fall * (speed * (c - z * w * s) - off * w * w * s);
}

double TwinUnit::read(const Line& line, const TwinChannel& channel) const {
    double value = channel.gain * line.state[0];
    if (channel.noise > 0.0) value += channel.noise * normal_draw(channel.key, line.now_ns);
    return channel.step > 0.0 ? channel.step * std::nearbyint(value / channel.step) : value;
}

Status TwinUnit::get_outputs(double* values) {
    const auto status = passed(inner_.get_outputs(values));
    if (failed(status) || !now_.has_stepped) return status;
    for (std::size_t i = 0; i < output_count_; ++i) {
        if (by_output_[i] != direct) values[i] = now_.lines[i].value;
    }
    return status;
}

Status TwinUnit::save(std::size_t number) {
    const auto status = passed(inner_.save(number));
    if (failed(status)) return status;
    if (kept_.size() <= number) kept_.resize(number + 1);
    kept_[number] = now_;
    return status;
}

Status TwinUnit::restore(std::size_t number) {
    const auto status = passed(inner_.restore(number));
    if (failed(status)) return status;
    now_ = kept_[number];
    return status;
}

Status TwinUnit::passed(Status status) {
    if (failed(status)) failure_ = inner_.failure();
    return status;
}

}  // namespace softdock
