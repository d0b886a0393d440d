"""Where two runs differ because a jump comes at another time."""

from __future__ import annotations

import numpy as np

from orchestrator.study.verification.verification import Floats

#: Increments to each side that tell how fast a signal changes there without a jump.
_ASIDE = 8
#: A jump is so many times the median of the increments around it.
_STEEP = 8.0


def jump_between(coarse: Floats, fine: Floats) -> int | None:
    """Return the sample of the jump at which two runs differ most; ``None`` if there is none.

    They differ for as long as one of them has jumped and the other has not: the jump is looked for
    around the largest difference, as far as at least half of it lasts, in both runs.

    Parameters
    ----------
    coarse, fine
        Arrays of shape (n,), at the same times.
    """
    apart = np.abs(coarse - fine)
    at = int(np.argmax(apart))
    less = np.flatnonzero(apart < 0.5 * apart[at])
    cut = int(np.searchsorted(less, at))
    begin = int(less[cut - 1]) + 1 if cut else 0
    end = int(less[cut]) if cut < len(less) else len(apart)
    for run in (coarse, fine):
        increments = np.abs(np.diff(run))
        near = np.arange(max(begin - 1, 0), min(end, len(increments)))
        large = near[increments[near] >= 0.5 * apart[at]]
        if not len(large):
            continue
        padded = np.pad(increments, _ASIDE, constant_values=np.nan)
        around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _ASIDE + 1)[large]
        jumps = large[increments[large] > _STEEP * np.nanmedian(around, axis=1)]
        if len(jumps):
            return int(jumps[np.argmax(increments[jumps])]) + 1
    return None
