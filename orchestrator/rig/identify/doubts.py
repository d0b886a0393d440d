"""Why what was identified of a response is not to be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.rig.identify.identify import IdentifiedPair

#: Fit on the second record below which a model says nothing of the device.
_POOR = 0.5


def is_poor(pair: IdentifiedPair) -> bool:
    """Whether the model does not describe the device: there is no pair of it in the twin."""
    return pair.validation.fit < _POOR


def doubt_of(component: str, pair: IdentifiedPair) -> str:
    """Say what is in doubt of a pair, in a sentence; empty: nothing is."""
    follows = f"{component}.{pair.response} follows {pair.command}"
    if is_poor(pair):
        return (
            f"{follows}, but not by a delay with a lag of first or second order (fit"
            f" {pair.validation.fit:.3g} on the second record): it is left out"
        )
    if pair.model.fit.at_end:
        return (
            f"{follows} with a {pair.model.fit.at_end}, where the search for it ends: it is not to"
            " be relied on; a longer rest and a larger amplitude tell more"
        )
    return ""
