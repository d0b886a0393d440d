"""The account of delays: what a device or its twin brings, no line declares once more."""

import pytest
from diagnostic_cases.rigs import SIMULATED, TWIN_CASE, rig
from robot_twin import PAIR, TWIN, about

from orchestrator import DescriptionError, read_experiment, simulate
from orchestrator.checks import check_target
from orchestrator.core.system import TransportDelay
from orchestrator.core.system.loops import closed_loops
from orchestrator.rig.arming.extension import armed
from orchestrator.rig.hardware.cases import Hardware, told_otherwise
from orchestrator.rig.hardware.line_delay import declared_otherwise
from orchestrator.rig.hardware.twin_file import twin_text
from orchestrator.study.prepare.prepare import prepare_all
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.runner import run_experiment

LINE = "robot.x -> spring.x"
DEVICE = 'devices.robot = { device = "kuka_rsi", axes = ["x"], measured = "displacement" }\n'
STILL = 'set = { "spring.x" = 0.0 }\n'
ON_RIG = f'[case.rig]\nsystem = "rig.toml"\nphysical = ["{LINE}"]\n{STILL}{DEVICE}'
READ = f'[case.read]\nsystem = "rig.toml"\n{DEVICE}'


def beside(delay):
    return f'delays = {{ "{LINE}" = "{delay}" }}\n'


@pytest.fixture
def prepared(tmp_path):
    """Write an experiment on a robot of 16 and 4 ms; return what prepares its cases."""

    def of(cases, line="20 ms", only=(), settings=None):
        file = rig(cases, line)(tmp_path, tmp_path)
        experiment, reader = read_experiment(file), SystemReader(tmp_path)
        asked = settings or RunSettings()
        return prepare_all(experiment, only or list(experiment.case), reader, asked)

    return of


def delay_of(case, line=LINE):
    (found,) = (connection for connection in case.system.connections if str(connection) == line)
    return 0 if found.delay is None else found.delay.nominal_ns


@pytest.mark.parametrize(
    "cases",
    [
        TWIN_CASE,
        TWIN_CASE + ON_RIG,
        TWIN_CASE + beside("16 ms") + ON_RIG,  # no shorter than the device: it is in there
        TWIN_CASE + beside("20 ms"),
    ],
)
def test_a_twin_on_a_line_that_declares_its_delay_names_both(prepared, cases, wording):
    with wording.raises(DescriptionError) as caught:
        prepared(cases, only=["twin"])
    assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["TIM114"]
    assert f"--set-delay '{LINE}=" in str(caught.value)


def test_check_and_run_refuse_the_same(tmp_path):
    file = rig(TWIN_CASE + ON_RIG)(tmp_path, tmp_path)
    with pytest.raises(DescriptionError) as caught:
        run_experiment(read_experiment(file), tmp_path, tmp_path / "out", only=["twin"])
    (refused,) = caught.value.diagnostics
    found = [finding for finding in check_target(file).findings if finding.code == refused.code]
    assert [each.message for each in found] == [refused.message]
    assert (
        found[0].line
        == (tmp_path / "experiment.toml").read_text().split("\n").index("[case.twin]") + 1
    )


def test_a_system_file_with_a_twin_is_checked_as_it_is_run(tmp_path):
    rig(SIMULATED)(tmp_path, tmp_path)
    text = (tmp_path / "rig.toml").read_text()
    source = "twin:robot.twin.toml?inner=block:parts.py:Robot"
    (tmp_path / "rig.toml").write_text(text.replace("block:parts.py:Robot", source))
    assert "TIM114" in {finding.code for finding in check_target(tmp_path / "rig.toml").findings}
    file = (
        (tmp_path / "rig.toml")
        .read_text()
        .replace('"20 ms"', '{ nominal = "2 ms", device = "net" }')
    )
    (tmp_path / "rig.toml").write_text(file)
    assert "TIM114" not in {
        finding.code for finding in check_target(tmp_path / "rig.toml").findings
    }


def test_the_swap_of_the_command_line_counts_after_the_delays_of_the_file(
    prepared, tmp_path, wording
):
    swaps = {"robot": f"twin:{tmp_path / 'robot.twin.toml'}"}
    cases = SIMULATED + beside("2 ms") + ON_RIG
    with wording.raises(DescriptionError):
        prepared(cases, only=["simulated"], settings=RunSettings(swaps=swaps))
    settings = RunSettings(swaps=swaps, delays={"robot.x->spring.x": "2 ms"})
    found = prepared(cases, only=["simulated"], settings=settings)["simulated"]
    assert found.system.component("robot").late_ns == {"x": 16_000_000}
    assert [loop.physical_ns for loop in closed_loops(found.system)] == [18_000_000]


def test_of_a_line_that_the_run_reads_a_twin_brings_the_transit_too(prepared):
    case = prepared(TWIN_CASE + beside("0 ms"))["twin"]
    assert case.system.component("robot").late_ns == {"x": 20_000_000}
    assert [loop.physical_ns for loop in closed_loops(case.system)] == [20_000_000]


def test_what_hardware_carries_on_and_the_run_reads_is_read_later(prepared, tmp_path):
    line = '"robot.x -> spring.x" = { delay = "20 ms" }\n'
    cases = TWIN_CASE + beside("2 ms") + ON_RIG
    rig(cases)(tmp_path, tmp_path)
    more = (tmp_path / "rig.toml").read_text()
    more = more.replace(
        "[component.spring]",
        '[component.other]\nsource = "block:parts.py:Spring"\n[component.spring]',
    )
    more = more.replace(line, line + '"robot.x -> other.x" = {}\n')
    (tmp_path / "rig.toml").write_text(more)
    experiment = read_experiment(tmp_path / "experiment.toml")
    case = prepare_all(experiment, ["twin"], SystemReader(tmp_path))["twin"]
    assert (delay_of(case), delay_of(case, "robot.x -> other.x")) == (2_000_000, 4_000_000)
    assert case.system.component("robot").late_ns == {"x": 16_000_000}


def test_a_device_on_a_line_that_declares_its_delay_names_both(prepared, wording):
    with wording.raises(DescriptionError):
        prepared(READ)
    assert delay_of(prepared(READ + beside("5 ms"))["read"]) == 5_000_000
    assert prepared(ON_RIG)["rig"].system.component("robot").source.kind == "device"


@pytest.mark.parametrize(("device", "refused"), [("", True), ("kuka_rsi", True), ("net", False)])
def test_a_delay_that_says_of_what_it_is_counts_beside_a_device(tmp_path, device, refused):
    file = rig(READ)(tmp_path, tmp_path)
    text = (tmp_path / "rig.toml").read_text()
    table = f'{{ nominal = "5 ms", provenance = "measured", device = "{device}" }}'
    (tmp_path / "rig.toml").write_text(text.replace('"20 ms"', table))
    assert ("TIM114" in {finding.code for finding in check_target(file).findings}) is refused


@pytest.mark.parametrize(
    "changes",
    [
        {"device": "ur_rtde"},
        {"component": "spring"},
    ],
)
def test_a_twin_of_another_device_is_refused_by_name(tmp_path, changes, wording):
    file = rig(TWIN_CASE + beside("2 ms") + ON_RIG)(tmp_path, tmp_path)
    twin = TWIN.model_copy(update={"pair": (PAIR,), **changes})
    (tmp_path / "robot.twin.toml").write_text(twin_text(twin))
    with wording.raises(DescriptionError):
        prepare_all(read_experiment(file), ["twin"], SystemReader(tmp_path))
    assert "CAP115" in {finding.code for finding in check_target(file).findings}


def test_a_twin_whose_command_nothing_takes_is_refused(tmp_path, wording):
    file = rig(TWIN_CASE + beside("2 ms"))(tmp_path, tmp_path)
    pair = PAIR.model_copy(update={"command": "dq"})
    (tmp_path / "robot.twin.toml").write_text(twin_text(TWIN.model_copy(update={"pair": (pair,)})))
    with wording.raises(DescriptionError):
        prepare_all(read_experiment(file), ["twin"], SystemReader(tmp_path))


@pytest.mark.parametrize(
    ("line", "more", "told"),
    [
        ("20 ms", "", False),
        ("20.2 ms", "", True),
        ("17 ms", "", True),
        ("15 ms", ON_RIG, True),  # the device alone takes longer
        ("30 ms", ON_RIG, False),  # what lies behind it takes time, too
    ],
)
def test_a_line_that_declares_another_delay_than_was_identified_is_told(tmp_path, line, more, told):
    cases = SIMULATED + TWIN_CASE + beside("2 ms") + more
    file = rig(cases, line)(tmp_path, tmp_path)
    experiment, reader = read_experiment(file), SystemReader(tmp_path)
    system = prepare_all(experiment, ["simulated"], reader)["simulated"].system
    found = [each.place for each in told_otherwise(system, Hardware.of(experiment, tmp_path))]
    assert found == [LINE] * told
    assert ("TIM115" in {finding.code for finding in check_target(file).findings}) is told
    outcome = run_experiment(experiment, tmp_path, tmp_path / "out", only=["simulated"])
    notes = "\n".join(outcome.cases["simulated"].result.notes)
    assert ("but 'robot' (kuka_rsi) was identified with" in notes) is told


def test_what_is_declared_of_another_device_is_not_compared(prepared):
    system = prepared(SIMULATED)["simulated"].system
    for device, count in (("net", 0), ("kuka_rsi", 1), ("", 1)):
        delay = TransportDelay(50_000_000, device=device)
        changed = system.with_delay("robot.x", "spring.x", delay)
        assert len(list(declared_otherwise(changed, TWIN))) == count


def test_arming_tells_a_line_that_identification_found_otherwise(tmp_path):
    file = rig(ON_RIG, "10 ms")(tmp_path, tmp_path)
    experiment, reader = read_experiment(file), SystemReader(tmp_path)
    cases = prepare_all(experiment, ["rig"], reader)
    found = armed(experiment, cases, reader, RunSettings(), {"rig": (TWIN,)})["rig"]
    told = f"{LINE} declares 10 ms (assumed), but 'robot' (kuka_rsi) was identified with 16 ms"
    assert any(note.startswith(told) for note in found.notes), found.notes


def test_times_of_a_twin_are_by_the_clock_of_the_runs(tmp_path):
    """20.002 ms of the computer are 20 ms of a robot whose second is 100 ppm longer."""
    longer = 1.0 + 100e-6
    pair = PAIR.model_copy(
        update={
            "delay": about(0.016 * longer),
            "transit": about(0.004 * longer),
            "dynamics": type(PAIR.dynamics)(order=0),
            "sample_rate": about(250.0 / longer),
        }
    )
    twin = TWIN.model_copy(update={"pair": (pair,), "rate": 250.0})
    for clock, late_ns in (("", 20_002_000), ('[realtime]\nclock = "robot"\n', 20_000_000)):
        file = rig(clock + TWIN_CASE + beside("0 ms") + READ)(tmp_path, tmp_path)
        (tmp_path / "robot.twin.toml").write_text(twin_text(twin))
        case = prepare_all(read_experiment(file), ["twin"], SystemReader(tmp_path))["twin"]
        assert case.system.component("robot").late_ns == {"x": late_ns}
        assert simulate(case.system, step="4 ms", stop="0.1 s").time[-1] == pytest.approx(0.1)
