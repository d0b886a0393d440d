"""One sample of the Kalman filters of stiffness and damping, compiled; see :mod:`.kalman`.

``one`` is a record with the state of a filter, ``settings`` one with its settings; true is 1, false
is 0.
"""

from __future__ import annotations

from math import exp, sqrt
from typing import Any

from orchestrator import compiled
from python_blocks.identification.kalman import Rows
from python_blocks.kinematics.rotation import Floats

#: m, m/s, N: larger samples are not measurements, and their squares may overflow.
LARGEST = 1e9
#: N: less noise is as good as none.
LEAST = 1e-9


@compiled
def begin(memory: Rows, settings: Rows) -> None:
    """Return every direction a new filter."""
    for i in range(memory.shape[0]):
        memory[i].stiffness = settings[0].stiffness0
        memory[i].damping = settings[0].damping0
        forget(memory[i], settings[0])


@compiled
def learn(
    memory: Rows,
    settings: Rows,
    h: float,
    position: Floats,
    velocity: Floats,
    force: Floats,
    results: tuple[Floats, ...],
) -> None:
    """Learn in each direction from the change since the sample before.

    Parameters
    ----------
    memory, settings
        States of n directions, shape (n,), and settings, shape (1,).
    h
        Time since the sample before, s.
    position, velocity
        Deformation of the contact, m, and its rate, m/s, shape (n,).
    force
        Force of the contact, N, free of the sensor's lag, shape (n,).
    shown
        Arrays for the outputs of :func:`judge`, shape (n,) each.
    """
    for i in range(memory.shape[0]):
        sample(memory[i], settings[0], h, position[i], velocity[i], force[i])
        verdict = judge(memory[i], settings[0])
        for k in range(len(verdict)):
            results[k][i] = verdict[k]


@compiled
def learn_one(
    memory: Rows, settings: Rows, h: float, position: float, velocity: float, force: float
) -> tuple[float, ...]:
    """Learn in one direction, and return the outputs of :func:`judge`."""
    sample(memory[0], settings[0], h, position, velocity, force)
    return judge(memory[0], settings[0])


@compiled
def judge(memory: Any, settings: Any) -> tuple[float, ...]:
    """Return the outputs of one direction.

    Returns
    -------
    tuple of float
        Stiffness, damping, deviation, deviation by the data, excited, converged, wrong sign, sensor
        lost, force late, normalised innovation squared, trend, attenuation bias, rejected and
        resets.
    """
    deviation = sqrt(memory.p_kk)
    # The filter's own deviations count in motion, and where innovations are as it expects them.
    sure = excited(memory, settings) and memory.nis <= settings.nis_limit
    return (
        max(memory.stiffness, settings.stiffness_minimum),
        max(memory.damping, settings.damping_minimum),
        deviation,
        data_deviation(memory),
        1.0 if excited(memory, settings) else 0.0,
        1.0 if converged(memory, settings) else 0.0,
        # The force surely pushes with the motion instead of against it: a sign or an axis is wrong
        # on the way from the sensor, and compensation would drive the rig apart.
        1.0 if sure and memory.stiffness + 3.0 * deviation < 0.0 else 0.0,
        memory.lost,
        # A force that comes later by T looks like a damping that is smaller by stiffness x T.
        1.0 if sure and memory.damping + 3.0 * sqrt(memory.p_cc) < 0.0 else 0.0,
        memory.nis,
        memory.trend,
        attenuation_bias(memory),
        memory.rejected,
        memory.resets,
    )


@compiled
def sample(
    memory: Any, settings: Any, h: float, position: float, velocity: float, force: float
) -> None:
    """Learn from one sample of one direction."""
    if not (abs(position) < LARGEST and abs(velocity) < LARGEST and abs(force) < LARGEST):
        memory.lost, memory.has_sample = 1.0, 0.0  # a difference to nothing teaches nothing
        return
    has_sample = memory.has_sample == 1.0
    dl, dv, df = position - memory.position, velocity - memory.velocity, force - memory.force
    run = 0.5 * h * (velocity + memory.velocity)
    keep = exp(-h / settings.window)
    watch(memory, settings, keep, position, dl, df)
    memory.position, memory.velocity, memory.force, memory.has_sample = (
        position,
        velocity,
        force,
        1.0,
    )
    if has_sample:
        memory.moved += (1.0 - keep) * (dl * dl - memory.moved)
        memory.disagreement += (1.0 - keep) * ((dl - run) ** 2 - memory.disagreement)
    if has_sample and memory.lost == 0.0 and (excited(memory, settings) or memory.learned == 0.0):
        update(memory, settings, keep, run if settings.integrated == 1.0 else dl, dv, df)
        if converged(memory, settings):
            memory.learned = 1.0


@compiled
def excited(memory: Any, settings: Any) -> bool:
    """Whether recent motion of the contact suffices to learn from."""
    return bool(0.5 * (memory.high - memory.low) >= settings.amplitude)


@compiled
def converged(memory: Any, settings: Any) -> bool:
    """Whether the stiffness is known to the requested precision, without an objection.

    The filter's own deviation includes its settings: a small ``P0`` makes it small without any
    sample, so the samples alone decide. The forces must also agree with the filter, have no trend,
    and positions must be accurate enough for differences.
    """
    return bool(
        data_deviation(memory) <= settings.precision * abs(memory.stiffness)
        and memory.nis <= settings.nis_limit
        and abs(memory.trend) <= settings.trend_limit
        and (settings.integrated == 1.0 or attenuation_bias(memory) <= settings.precision)
    )


@compiled
def data_deviation(memory: Any) -> float:
    """Root of the mean square error that the samples alone ascribe to the stiffness, N/m.

    It combines their own deviation and the distance of the estimate from theirs. With a wide first
    deviation it equals that of the filter.
    """
    if memory.i_cc == 0.0:  # at a constant velocity: damping has no part in any difference
        if not memory.i_kk > 0.0:
            return LARGEST
        away = memory.stiffness - memory.i_k / memory.i_kk
        return min(sqrt(1.0 / memory.i_kk + away * away), LARGEST)
    determinant = memory.i_kk * memory.i_cc - memory.i_kc * memory.i_kc
    if not determinant > 1e-12 * memory.i_kk * memory.i_cc:  # less is lost in rounding
        return LARGEST
    away = memory.stiffness - (memory.i_cc * memory.i_k - memory.i_kc * memory.i_c) / determinant
    return min(sqrt(memory.i_cc / determinant + away * away), LARGEST)


@compiled
def attenuation_bias(memory: Any) -> float:
    """Share of the stiffness lost to noise of the position, 0 to 1.

    Disagreement of positions and velocities shows the noise of a difference. Regression on a noisy
    difference loses the share of the noise in its mean square.
    """
    return min(memory.disagreement / memory.moved, 1.0) if memory.moved > 0.0 else 0.0


@compiled
def forget(memory: Any, settings: Any) -> None:
    """Open the filter for any stiffness and damping."""
    memory.p_kk, memory.p_kc = settings.stiffness_spread**2, 0.0
    memory.p_cc = settings.damping_spread**2
    memory.i_kk, memory.i_kc, memory.i_cc, memory.i_k, memory.i_c = 0.0, 0.0, 0.0, 0.0, 0.0


@compiled
def watch(memory: Any, settings: Any, keep: float, position: float, dl: float, df: float) -> None:
    """Update the range of the motion, and whether the force still changes with it."""
    if memory.has_sample == 0.0 and memory.low == memory.high:
        memory.low, memory.high = position, position
    middle = 0.5 * (memory.high + memory.low)
    memory.high = max(position, middle + keep * (memory.high - middle))
    memory.low = min(position, middle + keep * (memory.low - middle))
    if df != 0.0 or memory.has_sample == 0.0:
        memory.equal = 0.0
    elif dl != 0.0:
        memory.equal += 1.0
    memory.lost = 1.0 if memory.equal >= settings.stuck_samples else 0.0


@compiled
def update(memory: Any, settings: Any, keep: float, dl: float, dv: float, df: float) -> None:
    """Apply Eq 26 with the gate and the restart."""
    p_kk = memory.p_kk + settings.stiffness_walk**2
    p_cc = memory.p_cc + settings.damping_walk**2
    p_kc = memory.p_kc
    a, b = p_kk * dl + p_kc * dv, p_kc * dl + p_cc * dv  # P H'
    spread = dl * a + dv * b + 2.0 * settings.noise**2
    innovation = df - memory.stiffness * dl - memory.damping * dv
    outlying = settings.gate**2
    squared = min(innovation**2 / spread, outlying)  # one outlier is soon forgotten
    memory.nis += (1.0 - keep) * (squared - memory.nis)
    if innovation**2 > outlying * spread:
        memory.outliers += 1.0
        memory.rejected += 1.0
        if memory.outliers >= settings.outliers_to_reset:
            forget(memory, settings)
            memory.outliers, memory.learned = 0.0, 0.0
            memory.resets += 1.0
        return
    memory.outliers = 0.0
    compare(memory, keep, dl, innovation, spread)
    gather(memory, settings, dl, dv, df)
    gain_k, gain_c = a / spread, b / spread
    memory.stiffness += gain_k * innovation
    memory.damping += gain_c * innovation
    memory.p_kk = max(p_kk - gain_k * a, 0.0)
    memory.p_kc = p_kc - gain_k * b
    memory.p_cc = max(p_cc - gain_c * b, 0.0)


@compiled
def gather(memory: Any, settings: Any, dl: float, dv: float, df: float) -> None:
    """Add a sample to the same filter without ``P0``, in information form."""
    q, r = settings.stiffness_walk**2, settings.damping_walk**2
    weight = 0.5 / max(settings.noise, LEAST) ** 2
    a, b, d = memory.i_kk, memory.i_kc, memory.i_cc
    determinant, total = a * d - b * b, (1.0 + a * q) * (1.0 + d * r) - b * b * q * r
    memory.i_k, memory.i_c = (  # (1 + I Q)^-1, also where I has no inverse yet
        ((1.0 + d * r) * memory.i_k - b * r * memory.i_c) / total + weight * dl * df,
        ((1.0 + a * q) * memory.i_c - b * q * memory.i_k) / total + weight * dv * df,
    )
    memory.i_kk = (a + r * determinant) / total + weight * dl * dl
    memory.i_kc = b / total + weight * dl * dv
    memory.i_cc = (d + q * determinant) / total + weight * dv * dv


@compiled
def compare(memory: Any, keep: float, dl: float, innovation: float, spread: float) -> None:
    """Correlate innovations and position: a correlation means a lasting error of the stiffness.

    It occurs if the filter is too confident to learn: with too small a first deviation, or a
    contact that changes faster than configured.
    """
    memory.pushed += (1.0 - keep) * (innovation * dl - memory.pushed)
    memory.scatter += (1.0 - keep) * (max(innovation**2, spread) * dl * dl - memory.scatter)
    deviation = sqrt(0.5 * (1.0 - keep) * memory.scatter)  # of a mean over the window
    memory.trend = memory.pushed / deviation if deviation > 0.0 else 0.0
