#include "integration/event_watch.hpp"

#include <algorithm>

namespace softdock {

namespace {

constexpr double crowd_limit = 100.0;
constexpr double crowd_share = 1e-6, shortest_step = 1e-3;  // events this close are one crowd
// Gaps are summed over four state events, since each bounce of a ball is two.
constexpr double block_events = 4.0, zeno_ratio = 1e-6;

}  // namespace

Crowd EventWatch::count(double time, double step, bool state_event) {
    if (time - crowd_since > crowd_share * std::max(step, shortest_step)) {
        crowd = 0.0;
        crowd_since = time;
    }
    if (++crowd >= crowd_limit) return Crowd::chattering;
    if (!state_event || ++in_block < block_events) return Crowd::none;
    const double block = time - block_since;
    const bool shrinks = block < 0.999 * last_block && block > 0.01 * last_block;
    if (!shrinks) {
        shrinking = 0.0;
        first_block = block;
    } else {
        ++shrinking;
    }
    in_block = 0.0;
    block_since = time;
    last_block = block;
    return shrinking >= 3.0 && block < zeno_ratio * first_block ? Crowd::accumulation : Crowd::none;
}

}  // namespace softdock
