"""Steps, delays and rates, right and wrong."""

from __future__ import annotations

from collections.abc import Mapping

from diagnostic_cases.case import (
    MS,
    Case,
    changed,
    counting,
    pair,
    ring,
    run,
)
from orchestrator.core.simunits import Block, Output, block
from orchestrator.core.system import Jitter, JitterKind, System, TransportDelay, Variation

TIMES: Mapping[str, Case] = {
    "TIM101": Case(lambda _: pair(), lambda _: pair(), run(stop_ns=0), run()),
    "TIM102": Case(lambda _: pair(), lambda _: pair(), run(step_ns=None), run()),
    "TIM103": Case(lambda _: pair(delay="2.5 ms"), lambda _: pair(delay="3 ms")),
    "TIM104": Case(lambda _: pair(delay="0.5 ms"), lambda _: pair(delay="1 ms")),
    "TIM105": Case(
        lambda _: _varying(),
        lambda _: _varying(),
        run(algorithm="step-doubling"),
        run(),
    ),
    "TIM106": Case(
        lambda _: pair(), lambda _: pair(), run(rates={"nobody": 2}), run(rates={"gain": 2})
    ),
    "TIM107": Case(lambda _: pair(), lambda _: pair(), run(step_ns=3 * MS), run()),
    "TIM109": Case(
        lambda make: counting(make, 'fixedInternalStepSize="0.0003"'),
        lambda make: counting(make, 'fixedInternalStepSize="0.0005"'),
    ),
    "TIM110": Case(
        lambda _: System("s").add("short", block(Short)),
        lambda _: System("s").add("short", block(Short)),
        run(),
        run(step_ns=MS // 2),
    ),
    "TIM111": Case(
        lambda make: changed(
            make, _NO_EXPERIMENT, f'<DefaultExperiment stepSize="1e-4"/>{_NO_EXPERIMENT}'
        ),
        lambda make: changed(
            make, _NO_EXPERIMENT, f'<DefaultExperiment stepSize="1e-3"/>{_NO_EXPERIMENT}'
        ),
    ),
    "TIM112": Case(
        lambda _: ring("strict_lag", delay="0 ms"), lambda _: ring("strict_lag", delay="8 ms")
    ),
}


_NO_EXPERIMENT = "<ModelVariables>"


class Short(Block):
    """Takes steps of at most half a millisecond."""

    longest_step = 0.0005
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = t + h


def _varying() -> System:
    return pair().with_delay("source.y", "gain.u", _LATE)


_JITTER = Variation(Jitter(JitterKind.UNIFORM, MS))
_LATE = TransportDelay(10 * MS, variation=_JITTER)
