"""Linear models of FMUs: by their own derivatives, and by their responses alone."""

import re
import zipfile

import numpy as np
import pytest

from orchestrator import System, block, fmu, read_system
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.simunits import Fmu2Unit
from orchestrator.core.system import SourceKind
from orchestrator.loops import linear_system, response_model, run_account

from .conftest import Factor

EXCHANGE = re.compile(r"<ModelExchange\b[^>]*/>|<ModelExchange\b.*?</ModelExchange>", re.DOTALL)
BANDWIDTH, ZETA = 15.0, 0.7


def driven(path):
    """An axis whose command comes from a block: inputs that nothing feeds are none of a model."""
    return (
        System("axis")
        .add("source", block(Factor), u=0.0)
        .add("axis", fmu(path), bandwidth=BANDWIDTH, zeta=ZETA)
        .add("seen", block(Factor))
        .connect("source.y", "axis.position_command", suppress_unit_conversion=True)
        .connect("axis.position", "seen.u", suppress_unit_conversion=True)
    )


@pytest.fixture
def axis(plants):
    return driven(plants / "PositionAxis.fmu")


def roots(space):
    return max(np.linalg.eigvals(space.a), key=lambda s: s.imag)


def test_an_axis_has_the_roots_of_its_bandwidth(axis):
    model = linear_system(axis, step="1 ms").models["axis"]
    w = 2 * np.pi * BANDWIDTH
    exact = complex(-ZETA * w, w * np.sqrt(1 - ZETA**2))
    assert model.method == "model exchange"
    assert roots(model.continuous) == pytest.approx(exact, rel=1e-10)


@pytest.fixture
def axis_without(plants, tmp_path):
    """Make the system with an FMU whose description says less."""

    def make(*said):
        path = tmp_path / "PositionAxis.fmu"
        with (
            zipfile.ZipFile(plants / "PositionAxis.fmu") as zip_file,
            zipfile.ZipFile(path, "w") as less,
        ):
            for name in zip_file.namelist():
                data = zip_file.read(name)
                if name == "modelDescription.xml":
                    text = EXCHANGE.sub("", data.decode())
                    for one in said:
                        assert one in text
                        text = text.replace(one, "")
                    data = text.encode()
                less.writestr(name, data)
        return driven(path)

    return make


def test_without_model_exchange_an_axis_is_identified_from_its_responses(axis, axis_without):
    mine = linear_system(axis, step="4 ms").models["axis"]
    model = linear_system(axis_without(), step="4 ms").models["axis"]
    assert model.method == "responses"
    # The FMU's own solver keeps 1e-8 of its states; a pulse is a thousandth of them.
    assert roots(model.continuous) == pytest.approx(roots(mine.continuous), rel=1e-3)
    (remark,) = model.remarks
    assert remark.startswith("component 'axis' is identified from 64 steps, order 2, to ")


@pytest.mark.parametrize("step", ["50 ms", "70 ms"])
def test_a_mode_above_half_the_rate_of_its_steps_is_not_folded(axis, axis_without, step):
    """15 Hz with steps of 50 and 70 ms: their own logarithm has no modes above 10 and 7.1 Hz."""
    mine = linear_system(axis, step=step).models["axis"]
    model = linear_system(axis_without(), step=step).models["axis"]
    assert roots(model.continuous) == pytest.approx(roots(mine.continuous), rel=1e-3)
    assert "above half the rate of its steps" in model.remarks[-1]
    one_step = model.transition(round(float(step.split()[0]) * 1e6), order=0)
    n = len(model.states)
    shown = one_step[n:, :n] @ np.linalg.solve(np.eye(n) - one_step[:n, :n], one_step[:n, n:])
    assert shown + one_step[n:, n:] == pytest.approx(np.ones((1, 1)), rel=1e-3)  # at rest


def test_a_unit_of_one_length_of_steps_is_known_by_them_alone(axis, axis_without):
    """Its steps are right; what turns faster than they show may be lacking, which is said."""
    system = axis_without(' canHandleVariableCommunicationStepSize="true"')
    model = linear_system(system, step="50 ms").models["axis"]
    assert "known by its steps of 50 ms alone" in model.remarks[-1]
    whole = linear_system(axis, step="50 ms").models["axis"].transition(50_000_000, order=0)
    mine = model.transition(50_000_000, order=0)
    stepped = [np.linalg.eigvals(one[:2, :2]) for one in (mine, whole)]
    assert np.sort_complex(stepped[0]) == pytest.approx(np.sort_complex(stepped[1]), abs=1e-4)


NO_STATES = ' canGetAndSetFMUstate="true"', ' canSerializeFMUstate="true"'


def test_what_cannot_go_back_is_started_anew_for_every_response(axis_without):
    system = axis_without()
    mine = linear_system(system, step="4 ms", at="20 ms").models["axis"]
    model = linear_system(axis_without(*NO_STATES), step="4 ms", at="20 ms").models["axis"]
    step = [each.transition(4_000_000, order=0) for each in (mine, model)]
    assert np.array_equal(*step)
    assert model.remarks[1].startswith("component 'axis' cannot go back to a state")


def test_what_cannot_go_back_is_refused_where_something_may_not_be_started_anew(
    axis_without, monkeypatch, wording
):
    """As a device; here blocks are taken for such."""
    monkeypatch.setattr(run_account, "_MODELS", frozenset({SourceKind.FMU}))
    with wording.raises(CapabilityError):
        linear_system(axis_without(*NO_STATES), step="4 ms")


def test_what_would_start_anew_for_too_many_steps_is_refused(axis_without, monkeypatch, wording):
    """Three responses of 64 steps, and five to where they begin; whatever the machine is doing."""
    monkeypatch.setattr(response_model, "MOST_STEPS", 3 * 69)
    linear_system(axis_without(*NO_STATES), step="4 ms", at="20 ms")
    with wording.raises(CapabilityError):
        linear_system(axis_without(*NO_STATES), step="4 ms", at="24 ms")


def test_a_response_that_is_no_number_is_refused(axis_without, monkeypatch, wording):
    real, calls = Fmu2Unit.get, []

    def get(unit, into):
        real(unit, into)
        calls.append(unit)
        if len(calls) > 10:  # in a response, and not while the run begins
            np.asarray(into)[:] = np.nan

    monkeypatch.setattr(Fmu2Unit, "get", get)
    with wording.raises(CapabilityError):
        linear_system(axis_without(), step="4 ms")


def test_all_that_cannot_be_linearised_are_named_together(axis_without, monkeypatch):
    monkeypatch.setattr(run_account, "_MODELS", frozenset({SourceKind.FMU}))
    system = axis_without(*NO_STATES)
    system = system.add(
        "other", fmu(system.components["axis"].source.location), position_command=0.0
    )
    with pytest.raises(DescriptionError) as caught:
        linear_system(system, step="4 ms")
    named = sorted(text.split("'")[1] for text in caught.value.problems)
    assert named == ["axis", "other"]


def test_angles_that_nothing_turns_back_are_free_motions_of_an_arm_that_starts_to_move(plants):
    """Both servos hold rates: their angles come back to nothing, and no mode of 0 Hz grows."""
    system = read_system(plants.parents[1] / "examples" / "met" / "simulated.ssd")
    options = {"step": "10 ms", "algorithm": "gauss-seidel", "delay": "plain", "rates": {"arm": 4}}
    (account,) = linear_system(system, **options).loop_accounts()
    assert account.free == 2
    assert account.notes()[0].startswith("2 free (rigid-body) motions of 0 Hz")
    slow = [mode for mode in account.modes if mode.frequency < 0.1]
    # The servos' own: 1/0.62 s, a twentieth off at 40 ms.
    assert [mode.exact.real for mode in slow] == pytest.approx([-1.6125, -1.6382], abs=1e-3)
    assert not any("0 Hz" in text for text in account.warnings())
