"""Whether the encoder of a drive shows what its velocity, and its command, say."""

from __future__ import annotations

#: A position that stands is held against the last so many s: what a velocity shows at rest, such as
#: the offset of a tachometer, does not add up for ever.
_MEMORY_S = 1.0
#: So many increments of position are what counting itself makes.
_COUNTS = 2.0


class EncoderCheck:
    """Finds a position that stands while the axis moves or is told to, and one that jumps.

    What a position goes by between two samples differs from what the velocity says by twice the
    limit of velocity at most, where a filter still shows the speed before a full reversal: more is
    a jump. A position that has not changed by one increment, while the velocity or the command
    amounts to more than the tolerance, is frozen.

    Parameters
    ----------
    limit
        Largest velocity, rad/s (m/s).
    tolerance
        rad (m).
    increment
        Of position, rad (m).
    """

    def __init__(self, limit: float, tolerance: float, increment: float) -> None:
        self._limit, self._tolerance = limit, tolerance + _COUNTS * increment
        self._counting = _COUNTS * increment
        self._last: tuple[float, float] | None = None
        self._shown = self._told = 0.0

    def look(
        self,
        position: float,
        velocity: float,
        commanded: float,
        counted: float,
        passed: tuple[float, float],
    ) -> str:
        """Take a sample; return what is wrong, or nothing.

        Parameters
        ----------
        position, velocity
            As measured in the same cycle, rad and rad/s (m and m/s).
        told
            How far the axis was told to go since the last sample, in the least time, rad (m).
        counted, passed
            Since the last sample, s: by the count of cycles, and at least and at most. They differ
            where the line is not in real time, and where it is not known which SYNC a sample
            answers; a jump is what no time between explains.
        """
        last, self._last = self._last, (position, velocity)
        if last is None:
            return ""
        went, mean = position - last[0], 0.5 * (velocity + last[1])
        low, high = sorted((mean * passed[0], mean * passed[1]))
        longest = passed[1]
        if max(low - went, went - high) > 2.0 * self._limit * longest + self._counting:
            return (
                f"its position jumped by {went:.4g} within {1e3 * longest:.3g} ms, while its"
                f" velocity was {mean:.4g} per second"
            )
        if went:
            self._shown = self._told = 0.0
            return ""
        memory = max(0.0, 1.0 - counted / _MEMORY_S)
        self._shown = memory * self._shown + mean * passed[0]
        self._told = memory * self._told + commanded
        return self._frozen(position)

    def _frozen(self, position: float) -> str:
        stands = f"its position stands at {position:.6g}"
        if abs(self._shown) > self._tolerance:
            return f"{stands}, while its velocity amounts to {self._shown:.4g}"
        if abs(self._told) > self._tolerance:
            return f"{stands}, or the axis is blocked: the command was to move by {self._told:.4g}"
        return ""
