#include "core/compensation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/context.hpp"
#include "core/waveform.hpp"

namespace softdock {

namespace {

// Mean over the last interval of the polynomial through samples at equal distances, `now` and
// those before it.
double mean_of(std::int32_t order, double now, const double* past) {
    if (order == 0) return (now + past[0]) / 2.0;
    if (order == 1) return (5.0 * now + 8.0 * past[0] - past[1]) / 12.0;
    return (9.0 * now + 19.0 * past[0] - 5.0 * past[1] + past[2]) / 24.0;
}

double seconds(const Context& context) { return static_cast<double>(context.step_ns) / 1e9; }

}  // namespace

void Compensation::execute(Context& context) const {
    const auto differs = context.last_ns - context.step_ns;
    const bool steady = differs == 0 || (context.rest_numerator && std::abs(differs) == 1);
    if (method == Method::energy_integral) {
        make_up_integral(context, steady);
    } else if (method == Method::residual_energy) {
        take_back_energy(context, steady);
    }
}

void Compensation::make_up_integral(Context& context, bool steady) const {
    double* kept = context.signals.data() + memory;
    double& missing = kept[0];
    double* past = kept + 2;
    const double now = factor * context.begin[source] + offset;
    if (steady) {
        missing = missing + (mean_of(order, now, past) - kept[1]);
    } else {
        missing = 0.0;
        past[0] = past[1] = now;
    }
    past[2] = past[1];
    past[1] = past[0];
    past[0] = now;
    context.signals[target] = moved(context.signals[target], missing);
    kept[1] = context.signals[target] + 0.5 * context.derivatives[target] * seconds(context);
}

void Compensation::take_back_energy(Context& context, bool steady) const {
    double& energy = context.signals[memory];
    if (!steady) {
        energy = 0.0;
        return;
    }
    const auto& begin = context.begin;    // of this step: where the last one ended
    const auto& before = context.before;  // of the last step
    const double given = factor * begin[source], given_before = factor * before[source];
    const double taken = begin[answer];
    const double here = begin[target] * ((before[answer] + taken) / 2.0);
    const double there = ((given_before + given) / 2.0) * (begin[answered] / answer_factor);
    energy = energy + (here - there) * seconds(context);
    const double most = std::fabs(given - given_before);
    const double work = taken * seconds(context);  // of one unit of the input in this step
    if (work == 0.0) return;
    context.signals[target] =
        moved(context.signals[target], std::clamp(-energy / work, -most, most));
}

}  // namespace softdock
