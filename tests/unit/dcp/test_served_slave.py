"""An FMU and a system as DCP slaves, coupled by our master: the trajectory is that in process."""

import math
import uuid
from dataclasses import replace

import numpy as np
import pytest
from dcp_serving import STEP, serving

from orchestrator import Block, Execution, Input, Output, System, block, fmu, simulate
from orchestrator.core.diagnostics import DescriptionError, DeviceError, StepError
from orchestrator.dcp import pdus
from orchestrator.dcp.controller import Controller
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.dcp_file import write_dcpx
from orchestrator.dcp.description import VariableKind
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.plan import make_plan
from orchestrator.dcp.server import SlaveServer
from orchestrator.dcp.states import SlaveState
from orchestrator.dcp.unit import ServeOptions, ipv4, served_slave
from orchestrator.export.system import export_system
from orchestrator.rig.devices.registry import write_address
from orchestrator.study.prepare.prepare import swap_component

TRANSPORTS = [Transport.UDP_IPV4, Transport.TCP_IPV4]


class Controls(Block):
    """Commands a position from the one that it is told."""

    x: float = Input(unit="m")
    u: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.u = 0.05 * math.cos(9.0 * (t + h)) - 0.5 * self.x


def axis_loop(plants):
    system = System("loop").add("controls", block(Controls))
    system = system.add("axis", fmu(plants / "PositionAxis.fmu"), x0=0.01)
    system = system.connect("controls.u", "axis.position_command")
    return system.connect("axis.position", "controls.x"), "axis", "PositionAxis", {"x0": 0.01}


def contact(plants):
    """Two bodies and a contact, whose forces follow its inputs at once."""
    system = System("contact").add("one", fmu(plants / "Chaser.fmu"), v0=0.02)
    system = system.add("two", fmu(plants / "Target.fmu"))
    system = system.add("contact", fmu(plants / "SpringDashpot.fmu"), k=2000.0)
    for side, body in (("a", "one"), ("b", "two")):
        for what in ("position", "velocity"):
            system = system.connect(f"{body}.{what}", f"contact.{what}_{side}")
        system = system.connect(f"contact.force_{side}", f"{body}.force")
    return system, "contact", "SpringDashpot", {"k": 2000.0}


def slave(folder, **settings):
    given = {"description": str(folder / "slave.dcp"), "mode": "nrt", **settings}
    return f"device:{write_address('dcp', given)}"


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(
    ("problem", "transport"), [(axis_loop, TRANSPORTS[0]), (contact, TRANSPORTS[1])]
)
def test_a_slave_that_is_stepped_gives_the_trajectory_in_process(
    plants, tmp_path, problem, transport, algorithm
):
    system, name, plant, values = problem(plants)
    held = {"algorithm": algorithm, "delay": "mean"}  # the protocol carries no derivatives
    here = simulate(system, step=STEP, stop=0.05, **held)
    with serving(plants / f"{plant}.fmu", tmp_path, transport=transport) as (_, server):
        there = swap_component(system, name, slave(tmp_path, parameters=values))
        result = simulate(there, step=STEP, stop=0.05, **held)
    for signal in here.names:
        assert np.array_equal(here[signal], result[signal]), signal
    assert "stepped 50 times; the protocol added no delay" in " ".join(result.notes)
    assert server.slave.state is SlaveState.ALIVE
    assert np.ptp(here[f"{name}.{'position' if name == 'axis' else 'force_a'}"]) > 1e-4


@pytest.mark.slow
def test_a_system_is_served_as_the_fmu_that_it_becomes(plants, tmp_path):
    inner = System("rig").add("axis", fmu(plants / "PositionAxis.fmu"), x0=0.02)
    inner = inner.expose("u", "axis.position_command").expose("x", "axis.position")
    outer = System("loop").add("controls", block(Controls))
    export_system(inner, tmp_path / "rig.fmu", fmi=3, step=STEP)
    with_fmu = outer.add("rig", fmu(tmp_path / "rig.fmu"))
    with_fmu = with_fmu.connect("controls.u", "rig.u").connect("rig.x", "controls.x")
    here = simulate(with_fmu, step=STEP, stop=0.02, record=["rig.x"])
    with serving(inner, tmp_path):
        settings = {"inputs": ["u"], "outputs": ["x"]}
        there = swap_component(with_fmu, "rig", slave(tmp_path, **settings))
        result = simulate(there, step=STEP, stop=0.02, record=["rig.x"])
    assert np.array_equal(here["rig.x"], result["rig.x"])


def test_a_unit_is_described_as_it_is(c_fmu, plants, wording):
    with served_slave(plants / "SpringDashpot.fmu", ServeOptions(step="2 ms")) as served:
        about = served.description
        again = write_dcpx(about)
    known = {variable.name: variable for variable in about.variables}
    assert known["k"].kind is VariableKind.PARAMETER
    assert known["k"].unit == "N/m"
    assert known["force_a"].type is DcpType.FLOAT64
    acting = [about.by_reference[r].name for r in known["compression"].dependencies.run]
    assert acting == ["position_a", "position_b"]
    assert about.fixed_resolution == (1, 500)
    with served_slave(plants / "SpringDashpot.fmu", ServeOptions(step="2 ms")) as slaves:
        assert write_dcpx(slaves.description) == again
    with served_slave(plants / "SpringDashpot.fmu", ServeOptions(step="1 ms", port=9)) as slaves:
        assert slaves.description.uuid != about.uuid  # of what computes, not of where it is
    told = wording.raises(DescriptionError)
    with told, served_slave(plants / "SpringDashpot.fmu", ServeOptions()):
        pass


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_real_time_is_kept_and_a_second_master_is_refused(plants, transport, wording):
    with serving(plants / "PositionAxis.fmu", transport=transport) as (about, server):
        plan = make_plan(about, mode=OpMode.HRT if server is None else OpMode.SRT, steps=5)
        first = Controller(plan)
        first.connect()
        first.initialise()
        first.run()
        second = Controller(replace(plan, patience_s=0.2))
        with wording.raises(DeviceError):
            second.connect()
        second.close()
        numbers = []
        while len(numbers) < 10 and first.session.listen(3.0):
            while first.session.data:
                numbers.append(first.session.data.popleft().sequence)
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len(numbers) >= 10
        first.close()
        with wording.raises(DeviceError):
            SlaveServer(about, server.slave._model, transport, "127.0.0.1", server.address[1])
        third = Controller(plan)  # what was released can be taken by another
        third.connect()
        third.close()


def connected(about, **changes):
    controller = Controller(make_plan(about, mode=OpMode.NRT, patience_s=1.0, **changes))
    try:
        controller.connect()
    finally:
        controller.close()


def test_what_a_slave_refuses_is_told_by_name(plants, wording):
    with serving(plants / "PositionAxis.fmu") as (about, _):
        with wording.raises(DeviceError):
            connected(replace(about, uuid=uuid.UUID(int=7)))
        with wording.raises(DeviceError):
            # A description of another version is not read; a slave may still be of one.
            _register_with_version(about)
        more = replace(about.variables[0], reference=99, name="more")
        with wording.raises(DeviceError):
            connected(replace(about, variables=(*about.variables, more)))
        connected(about)


def _register_with_version(about):
    controller = Controller(make_plan(about, mode=OpMode.NRT))
    try:
        fields = (about.uuid.bytes, OpMode.NRT, 2, 0)
        controller.session.move(pdus.Register, *fields, until=SlaveState.CONFIGURATION)
    finally:
        controller.close()


def test_what_a_description_does_not_have_is_told_before_anything_is_opened(plants, wording):
    with served_slave(plants / "PositionAxis.fmu", ServeOptions(step=STEP, port=9)) as served:
        about = served.description
    only = replace(about, op_modes=frozenset({OpMode.SRT}))
    with wording.raises(DescriptionError):
        make_plan(only, mode=OpMode.NRT)
    with wording.raises(DescriptionError) as caught:
        make_plan(about, mode=OpMode.NRT, inputs=("comand",), parameters={"zeto": 1.0})
    assert "it has no parameter 'zeto'. Did you mean 'zeta'" in str(caught.value)
    with wording.raises(DescriptionError):
        make_plan(about, mode=OpMode.NRT, parameters={"zeta": "much"})
    with wording.raises(DescriptionError):
        make_plan(about, mode=OpMode.NRT, transport=Transport.TCP_IPV4)
    nowhere = replace(about, transports={Transport.UDP_IPV4: ipv4("", 0)})
    with wording.raises(DescriptionError):
        make_plan(nowhere, mode=OpMode.NRT)


@pytest.mark.parametrize(
    "transport",
    [
        TRANSPORTS[0],
        TRANSPORTS[1],
    ],
)
def test_a_slave_that_is_not_there_is_told(plants, tmp_path, transport, wording):
    options = {"transport": transport}
    with serving(plants / "PositionAxis.fmu", tmp_path, **options):
        pass
    system, name, *_ = axis_loop(plants)
    there = swap_component(system, name, slave(tmp_path, response_timeout=0.1))
    with wording.raises(StepError):
        simulate(there, step=STEP, stop=0.01)


def test_a_slave_that_dies_ends_the_run_in_its_step(plants, tmp_path):
    system, name, *_ = axis_loop(plants)
    with serving(plants / "PositionAxis.fmu", tmp_path) as (_, server):
        there = swap_component(system, name, slave(tmp_path, response_timeout=0.2))
        with Execution(there, step=STEP) as run:
            run.step(3)
            server.stop()
            with pytest.raises(StepError, match=r"does not answer (STC|INF)_\w+ within 0\.2 s"):
                run.step(1000)  # the server's thread may answer a few more


def test_why_a_slave_failed_is_told_in_its_own_words(plants, wording):
    with serving(plants / "PositionAxis.fmu") as (about, server):
        controller = Controller(make_plan(about, mode=OpMode.NRT))
        controller.connect()
        controller.initialise()
        controller.run()

        def breaks(begin_ns, end_ns):
            raise StepError(f"the axis broke at {begin_ns} ns")

        server.slave._model.step = breaks
        with wording.raises(DeviceError):
            controller.step(1)
        controller.close()
    assert server.slave.state is SlaveState.ALIVE


def test_steps_are_whole_numbers_of_the_resolution(plants, tmp_path, wording):
    system, name, *_ = axis_loop(plants)
    with serving(plants / "PositionAxis.fmu", tmp_path):
        there = swap_component(system, name, slave(tmp_path))
        with wording.raises(DescriptionError, code="TIM109", key="axis"):
            simulate(there, step=0.0015, stop=0.003)
        with wording.raises(DescriptionError, code="CAP101", key="axis"):
            simulate(there, step=STEP, stop=0.003, algorithm="fixed-point")
