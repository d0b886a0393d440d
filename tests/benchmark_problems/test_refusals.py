"""What an algorithm cannot do is refused before anything runs, in words that say what to do."""

import pytest
from benchmark_problems import lotka_volterra, oscillator
from benchmark_problems.exact import Exact

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Input, Output, block, fmu
from orchestrator.core.system import System, TransportDelay, Variation


class Line(Exact):
    """y = x, in any unit."""

    x: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = self.x


def refused(error, algorithm, system=None, *, rates=None, **options):
    with pytest.raises(error) as caught:
        Execution(
            oscillator.by_force() if system is None else system,
            step="10 ms",
            algorithm=algorithm,
            algorithm_options=options,
            rates=rates,
        )
    return str(caught.value)


@pytest.mark.parametrize(
    ("algorithm", "options", "expected"),
    [
        (
            "newton",
            {"tolerence": 1e-6},
            "'newton' has no option 'tolerence'. Did you mean 'tolerance'? Its options are",
        ),
        (
            "jacobi",
            {"tolerance": 1e-6},
            "has no option 'tolerance'; its only option is",
        ),
        ("newton", {"tolerance": 0.0}, "tolerance: expected 0 < tolerance < 1, found 0.0"),
        ("newton", {"tolerance": "fine"}, "an option has a wrong type"),
        ("newton", {"most_iterations": 0}, "most_iterations: expected 1 to 1000000, found 0"),
        ("newton", {"most_iterations": 2.5}, "most_iterations: expected a whole number, found 2.5"),
        (
            "fixed-point",
            {"acceleration": "aitkin"},
            "acceleration: expected one of none, aitken, anderson, found 'aitkin'",
        ),
        ("fixed-point", {"acceleration": ["none"]}, "an option has a wrong type"),
        (
            "step-doubling",
            {"base": "euler"},
            "base: expected one of jacobi, gauss-seidel, newton, found 'euler'",
        ),
        ("step-doubling", {"absolute": 0.0}, "expected relative >= 0 and absolute > 0, found"),
        ("embedded", {"shortest": "20 ms"}, "expected between the shortest of 20 ms and"),
        ("ecco", {"longest": "5 ms"}, "and the longest of 5 ms"),
        (
            "ecco",
            {"shortest": "5 ms", "longest": "1 ms"},
            "bounds of the step: expected 0 < shortest <= longest, found 5000000 ns and 1000000 ns",
        ),
    ],
)
def test_options(algorithm, options, expected):
    assert expected in refused(DescriptionError, algorithm, **options)


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point", "step-doubling", "ecco"])
def test_rates_need_a_fixed_step_and_no_iteration(algorithm):
    text = refused(CapabilityError, algorithm, rates={"one": 2})
    assert f"algorithm '{algorithm}' steps all components together" in text
    assert "rates need 'jacobi' or 'gauss-seidel' (rates are given for one)" in text


def test_rates_of_nobody_and_of_no_number():
    text = refused(DescriptionError, "jacobi", rates={"wheel": 2, "one": 0})
    assert "rate of 'wheel': no such component; the components are one and two" in text
    assert "rate of 'one': expected a whole number of communication steps, 1 to" in text


def test_unknown_algorithm():
    assert "no algorithm 'euler'; the algorithms are ecco" in refused(UnknownNameError, "euler")


@pytest.mark.parametrize("make", [oscillator.by_motion, lotka_volterra.make])
def test_no_power_bond(make):
    text = refused(CapabilityError, "ecco", make())
    assert "has no power bond: two undelayed opposite connections" in text
    assert "declare the units or power ports, or choose another algorithm" in text


def with_probe(path):
    system = System("with a probe").add("plant", fmu(path), n=3, flag=True).add("line", block(Line))
    return system.connect("plant.y", "line.x").connect("line.y", "plant.u")


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point", "step-doubling", "embedded"])
def test_unit_that_cannot_roll_back(algorithm, make_fmu):
    path = make_fmu(
        lambda text: text.replace('canGetAndSetFMUstate="true"', 'canGetAndSetFMUstate="false"')
    )
    text = refused(CapabilityError, algorithm, with_probe(path))
    assert f"algorithm '{algorithm}' repeats steps, and component 'plant' cannot go back" in text
    assert "(canGetAndSetFMUstate is not true)" in text


@pytest.mark.parametrize("algorithm", ["step-doubling", "embedded"])
def test_unit_of_equal_steps(algorithm, make_fmu):
    def change(text):
        yes, no = (f'canHandleVariableCommunicationStepSize="{v}"' for v in ("true", "false"))
        assert yes in text
        return text.replace(yes, no)

    text = refused(CapabilityError, algorithm, with_probe(make_fmu(change)))
    assert f"algorithm '{algorithm}' varies the communication step, and component 'plant'" in text
    assert "takes only equal steps (canHandleVariableCommunicationStepSize is not true)" in text


@pytest.mark.parametrize("algorithm", ["newton", "step-doubling"])
def test_unit_that_cannot_be_asked_twice(algorithm, monkeypatch):
    """A device: no FMU or block says so of itself yet."""
    from dataclasses import replace

    from orchestrator.core.simunits.blocks import block_unit

    describe = block_unit.describe_block

    def device(name, kind):
        described = describe(name, kind)
        return replace(described, capabilities=replace(described.capabilities, is_repeatable=False))

    monkeypatch.setattr(block_unit, "describe_block", device)
    text = refused(CapabilityError, algorithm)
    assert "component 'one' cannot be asked for a step twice: it is a device" in text
    assert "component 'two' cannot be asked" in text


def test_delays_and_varying_steps():
    """A delay that varies from sample to sample draws one for each: a step done again would too."""
    jitter = TransportDelay(10**8, variation=Variation(seed=1, loss=0.1))
    system = oscillator.by_force().with_delay("two.force", "one.force", jitter)
    text = refused(CapabilityError, "embedded", system)
    assert "the delay of connection two.force -> one.force varies from sample to sample" in text
