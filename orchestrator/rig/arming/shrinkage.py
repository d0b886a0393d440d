"""What is left of a loop's margins when a device changes while it runs, as a table."""

from __future__ import annotations

import numpy as np

from orchestrator.loops import LinearSystem, Margins
from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_transfer import level, margins_of
from orchestrator.loops.sampled_loop import SampledLoop
from orchestrator.loops.state_space import Floats
from orchestrator.rig.arming.reserve import Reserve
from orchestrator.rig.supervisor.tracking.margin_table import MarginTable

#: Gains of the device that are tabulated, as factors of the one that margins are known with.
_FACTORS = tuple(2.0 ** (k / 8.0) for k in range(-8, 9))
#: So many added delays are, up to the delay margin.
_DELAYS = 17
#: What a margin that nothing bounds is taken for: s, and a factor.
_LONGEST, _LARGEST = 1.0, 1e3


def margin_table(linear: LinearSystem, line: str, reserve: Reserve) -> MarginTable | None:
    """Tabulate the margins of the loop through a line; ``None`` if it is in none, or unstable.

    So it is for a line that is read several times in a period: its margins do not follow from what
    comes back of a sine.

    The response of the sampled loop is computed once and interpolated, size by its logarithm and
    phase as it goes on, since each entry asks for it at other frequencies.
    """
    loop = reserve.cut(linear, line)
    if not isinstance(loop, SampledLoop) or not loop.is_stable:
        return None
    omega = loop.frequencies()
    values, ends = loop.at(omega), loop.ends(omega[0])
    size, phase = level(values), np.unwrap(np.angle(values))

    def changed(factor: float, added: float) -> Margins:
        def response(at: Floats | float) -> Complex:
            turned = np.interp(at, omega, phase) - np.asarray(at) * added
            found = factor * np.exp(np.interp(at, omega, size) + 1j * turned)
            return np.asarray(found, dtype=np.complex128)

        # A delay turns L at half the rate, and leaves it as it is at rest.
        real = [(factor * value, w) for value, w in ends if not (added and w)]
        return margins_of(response, omega, is_stable=True, ends=real)

    now = changed(1.0, 0.0)
    lowest, highest = now.gain_reduction.value, now.gain.value
    delays = tuple(
        min(changed(factor, 0.0).delay.value, _LONGEST) if lowest < factor < highest else 0.0
        for factor in _FACTORS
    )
    longest = min(now.delay.value, _LONGEST)
    added = tuple(float(each) for each in np.linspace(-longest, longest, 2 * _DELAYS - 1)[:-1])
    gains = tuple(min(changed(1.0, each).gain.value, _LARGEST) for each in added)
    return MarginTable(
        line,
        reserve.delay,
        reserve.gain,
        _FACTORS,
        delays,
        (*added, longest),
        (*gains, 1.0),
    )
