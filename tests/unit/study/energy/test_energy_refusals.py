"""What a ledger refuses, and what it reads off connections by itself."""

from dataclasses import replace

import numpy as np
import pytest
from systems import GROUND, UNPUSHED, body_at_contact, plant

from orchestrator.core.diagnostics import DescriptionError, UnitMismatchError, UnknownNameError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, resolve
from orchestrator.core.system import BaseUnit, Positive, System
from orchestrator.study.energy import (
    Account,
    Bond,
    Interface,
    Kind,
    LedgerPlan,
    LedgerPort,
    Motion,
    Stage,
    automatic_plan,
    energy_ledger,
)

_NEWTON = {"kg": 1, "m": 1, "s": -2}


class Mass(Block):
    """Ports of a mass, in other units where a test wants them."""

    force: float = Input(unit="N")
    pull: float = Input(unit="kN")
    velocity: float = Output(unit="m/s", depends_on=())
    position: float = Output(unit="m", depends_on=())
    path: np.ndarray = Output(unit="m", shape=(3,), depends_on=())
    heat: float = Output(unit="kW", depends_on=())

    def step(self, t, h):
        self.velocity = 0.0


class Columns(dict):
    """Signals by name, and their time."""

    time = np.array([0.0, 0.1, 0.2])
    plans = ()


COLUMNS = Columns(
    {
        "m.velocity": np.array([1.0, 2.0, 3.0]),
        "m.position": np.array([0.0, 0.15, 0.4]),
        "m.heat": np.array([0.0, 1.0, 2.0]),
    }
)


def system():
    return resolve(System("s").add("m", block(Mass), force=3.0, pull=2.0))


def plan(effort="m.force", motion=None, **account):
    motion = motion or Motion(("m.velocity",))
    port = LedgerPort("p", Bond((effort,), motion), "m")
    return LedgerPlan((Account("m", **account),), (port,))


def test_the_definition_of_a_unit_wins_over_its_name():
    given = system()
    mass = given.components["m"]
    odd = replace(mass.connectors["force"], unit="kN", unit_definition=BaseUnit(_NEWTON, 10.0))
    mass = replace(mass, connectors={**mass.connectors, "force": odd})
    ledger = energy_ledger(COLUMNS, replace(given, components={"m": mass}), plan())
    assert ledger.of(Kind.EXTERNAL)[0].change == pytest.approx(12.0)


def test_units_are_converted_and_values_that_are_set_are_known():
    ledger = energy_ledger(COLUMNS, system(), plan("m.pull", dissipated=("m.heat",)))
    assert ledger.of(Kind.EXTERNAL)[0].energy.tolist() == pytest.approx([0.0, 300.0, 800.0])
    assert ledger.of(Kind.DISSIPATED)[0].energy.tolist() == pytest.approx([0.0, 50.0, 200.0])
    assert ledger.residual == pytest.approx(600.0)
    assert not ledger.closes(0.5)
    assert ledger.closes(0.75)
    moved = energy_ledger(COLUMNS, system(), plan(motion=Motion(displacement=("m.position",))))
    assert moved.of(Kind.EXTERNAL)[0].change == pytest.approx(1.2)
    assert moved.error == 0.0  # held, and by differences


@pytest.mark.parametrize(
    ("wanted", "error", "text"),
    [
        (plan(motion=Motion(("m.position",))), UnitMismatchError, "'m.force' in N times 'm.pos"),
        (plan(motion=Motion(("m.path",))), UnitMismatchError, "is no power; expected"),
        (plan(stored=("m.velocity",)), UnitMismatchError, "'m.velocity' in m/s is no energy"),
        (plan(dissipated=("m.velocity",)), UnitMismatchError, "'m.velocity' in m/s is no power"),
        (plan("m.forc"), UnknownNameError, "no connector 'forc'"),
        (plan("x.force"), UnknownNameError, "x"),
        (plan(motion=Motion((), ("m.path",))), DescriptionError, "has 1 elements, 'm.path' has 3"),
        (
            LedgerPlan(
                (Account("m"),),
                (LedgerPort("p", Bond(("m.force", "m.force"), Motion(("m.velocity",))), "m"),),
            ),
            DescriptionError,
            "effort 'm.force': expected a flow or a displacement",
        ),
    ],
)
def test_what_is_no_energy_is_refused(wanted, error, text):
    columns = Columns(COLUMNS | {f"m.path[{i}]": np.zeros(3) for i in range(3)})
    with pytest.raises(error) as caught:
        energy_ledger(columns, system(), wanted)
    assert text in str(caught.value)


def test_no_number_is_said_with_its_time(wording):
    broken = Columns(COLUMNS | {"m.velocity": np.array([1.0, np.nan, np.inf])})
    with wording.raises(DescriptionError):
        energy_ledger(broken, system(), plan())


@pytest.mark.parametrize("mode", ["mean", "waveform"])
def test_an_effort_that_moves_within_a_step_as_no_sample_says_is_refused(plants, mode, wording):
    system = pair(plants).disconnect("sheet.force_a", "chaser.force")
    way = {"extrapolation": "linear"} if mode == "mean" else {"delay": "1 ms"}
    system = resolve(system.connect("sheet.force_a", "chaser.force", **way))
    names = ("chaser.force", "chaser.velocity", "chaser.position", "sheet.force_a")
    names += ("sheet.velocity_a", "sheet.position_a")
    columns = Columns(dict.fromkeys(names, np.zeros(3)) | {"chaser.force": np.ones(3)})
    columns.time = np.array([0.0, 1e-3, 2e-3])
    columns.plans = Execution(system, step="1 ms", delay=mode).schedule.plans
    bond = Bond(("chaser.force",), Motion(("chaser.velocity",)))
    ledger_plan = LedgerPlan((Account("m"),), (LedgerPort("p", bond, "m"),))
    with wording.raises(DescriptionError):
        energy_ledger(columns, system, ledger_plan)
    straight = Bond(("sheet.force_a",), Motion(("chaser.velocity",)))
    energy_ledger(columns, system, LedgerPlan((Account("m"),), (LedgerPort("p", straight, "m"),)))


def test_one_row_is_no_step(wording):
    single = Columns({"m.velocity": np.array([1.0])})
    single.time = np.array([0.0])
    with wording.raises(DescriptionError):
        energy_ledger(single, system(), plan())


def test_wrong_plans_tell_all_that_is_wrong():
    bond = Bond(("m.force",), Motion(("m.velocity",)))
    ports = (
        LedgerPort("a", bond, "m"),
        LedgerPort("b", bond, "m"),
        LedgerPort("c", bond, "lost"),
        LedgerPort("free", bond),
    )
    stage = Stage("delay", motion=Motion(("m.velocity",)))
    interfaces = (
        Interface("one", "a", "b", (stage,)),
        Interface("two", "a", "nowhere"),
        Interface("three", "free", "c", sources=("c",)),
    )
    with pytest.raises(DescriptionError) as caught:
        LedgerPlan((Account("m"),), ports, interfaces)
    said = caught.value.problems
    assert said[0] == "port 'c': no account 'lost'; accounts: m"
    assert said[1].startswith("interface 'one': the powers of 'a' and 'b' both count 'in'; with")
    assert said[2] == "interface 'two': port 'a' is used already"
    assert said[3] == "interface 'two': no port 'nowhere'; ports: a, b, c, free"
    assert said[4] == "interface 'three': port 'free': expected an account, it has none"
    assert said[5] == "interface 'three': port 'c': expected no account, it has one"
    assert said[6] == "interface 'three': port 'c' is used already"
    assert len(said) == 7


# --- automatic --------------------------------------------------------------------------------


def pair(plants):
    body, sheet = plant(plants, "Chaser", **UNPUSHED), plant(plants, "Compliance", **GROUND)
    return body_at_contact(body, sheet, name="pair", names=("chaser", "sheet"))


def test_ports_are_found_by_names(plants):
    ledger_plan = automatic_plan(resolve(pair(plants)))
    assert ledger_plan.accounts == (
        Account("sheet", ("sheet.energy",), ("sheet.dissipation",)),
        Account("chaser", ("chaser.energy",)),
    )
    given, taken = ledger_plan.ports
    assert given.bond == Bond(
        ("sheet.force_a",), Motion(("sheet.velocity_a",), ("sheet.position_a",))
    )
    assert given.positive is Positive.OUT
    assert taken.bond == Bond(("chaser.force",), Motion(("chaser.velocity",), ("chaser.position",)))
    assert taken.positive is Positive.IN
    (between,) = ledger_plan.interfaces
    assert (between.begin, between.end) == ("sheet.a", "chaser.port")


def test_only_declared_ports_count_if_asked_for(plants):
    system = resolve(pair(plants))
    assert automatic_plan(system, declared_only=True).ports == ()
    chaser = system.components["chaser"].with_power_port("nose", "force", "velocity")
    sheet = system.components["sheet"].with_power_port("front", "force_a", "velocity_a")
    declared = System("pair", {"chaser": chaser, "sheet": sheet}, system.connections)
    ledger_plan = automatic_plan(declared, declared_only=True)
    assert [port.name for port in ledger_plan.ports] == ["sheet.front", "chaser.nose"]


def test_ports_that_are_not_moved_by_each_other_are_not_connected(plants):
    system = pair(plants).disconnect("chaser.position", "sheet.position_a")
    system = system.disconnect("chaser.velocity", "sheet.velocity_a")
    system = system.set("sheet.position_a", 0.0).set("sheet.velocity_a", 0.0)
    assert automatic_plan(resolve(system)).ports == ()
