"""A recording in the place of a component: the rest of the run is what it was."""

import numpy as np
import pytest

from orchestrator import (
    Block,
    DescriptionError,
    Execution,
    Input,
    LoadError,
    Output,
    Result,
    State,
    StepError,
    System,
    UnknownNameError,
    block,
)
from orchestrator.core.recording.files import write_csv, write_npz
from orchestrator.core.recording.mcap import write_mcap
from orchestrator.core.recording.parquet import write_parquet
from orchestrator.core.simunits.logs import read_recorded
from orchestrator.study.prepare.prepare import swap_component

STEP = 0.01


class Plant(Block):
    """Two states that are pushed."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    speed: float = Output(unit="m/s", depends_on=())
    x: float = State(start=0.1)
    v: float = State(start=0.0)

    def step(self, t, h):
        self.v += h * self.force
        self.x += h * self.v
        self.position, self.speed = self.x, self.v


class Spring(Block):
    """Pushes back at once, and has a vector."""

    position: float = Input(unit="m")
    speed: float = Input(unit="m/s")
    force: float = Output(unit="N", depends_on=("position", "speed"))
    parts: np.ndarray = Output(unit="N", shape=(2,), depends_on=("position", "speed"))

    def step(self, t, h):
        self.parts[:] = -40.0 * self.position, -0.3 * self.speed
        self.force = float(self.parts.sum())


class Meter(Block):
    """Reads the vector."""

    parts: np.ndarray = Input(unit="N", shape=(2,))
    total: float = Output(unit="N", depends_on=("parts",))

    def step(self, t, h):
        self.total = float(np.abs(self.parts).sum())


def system():
    loop = System("loop").add("plant", block(Plant)).add("spring", block(Spring))
    loop = loop.add("meter", block(Meter))
    for one, two in (
        ("plant.position", "spring.position"),
        ("plant.speed", "spring.speed"),
        ("spring.force", "plant.force"),
        ("spring.parts", "meter.parts"),
    ):
        loop = loop.connect(one, two)
    return loop


def run(loop, step=STEP, stop=0.5, algorithm="gauss-seidel", **options):
    record = ["*", "spring.position", "spring.speed"] if "spring" in loop.components else "*"
    with Execution(loop, step=step, algorithm=algorithm, record=record, **options) as execution:
        execution.advance(stop)
        return execution.recording(), execution.notes


def written(recording, path, write=write_parquet):
    fields = (recording.time_ns, recording.names, recording.values, recording.units)
    write(Result("case", *fields), path)
    return path


def columns(recording, component):
    return [
        recording.values[:, i]
        for i, name in enumerate(recording.names)
        if name.startswith(f"{component}.")
    ]


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
@pytest.mark.parametrize(
    ("suffix", "write"),
    [("parquet", write_parquet), ("npz", write_npz), ("csv", write_csv), ("mcap", write_mcap)],
)
def test_a_replay_reproduces_the_rest_bit_for_bit(tmp_path, algorithm, suffix, write):
    first, _ = run(system(), algorithm=algorithm)
    path = written(first, tmp_path / f"run.{suffix}", write)
    second, notes = run(swap_component(system(), "spring", f"log:{path}"), algorithm=algorithm)
    assert np.array_equal(first.time_ns, second.time_ns)
    for component in ("plant", "spring", "meter"):
        for one, two in zip(columns(first, component), columns(second, component), strict=True):
            assert np.array_equal(one, two)
    (note,) = notes
    assert note.startswith(f"component 'spring' (recording run.{suffix}): 'position', 'speed'")
    assert note.endswith("as recorded, bit for bit, in 50 steps")


def test_steps_that_an_algorithm_repeats_count_once(tmp_path):
    path = written(run(system(), algorithm="fixed-point")[0], tmp_path / "run.parquet")
    replay = swap_component(system(), "spring", f"log:{path}")
    _, notes = run(replay, algorithm="fixed-point")
    assert all(" 50 steps" in note for note in notes), notes


def test_where_the_inputs_differ_is_said(tmp_path):
    path = written(run(system())[0], tmp_path / "run.parquet")

    class Stiffer(Plant):
        x: float = State(start=0.1)

        def step(self, t, h):
            super().step(t, h)
            if round(t + h, 9) == 0.25:
                self.position += 0.125

    other = swap_component(system(), "plant", block(Stiffer).source)
    _, notes = run(swap_component(other, "spring", f"log:{path}"))
    (differs, same) = notes
    assert "input 'position' differs from the recording in 1 of 50 steps, at most by 0.125 m" in (
        differs
    )
    assert differs.endswith("t = 0.25 s")
    assert "'speed' as recorded" in same


def test_inputs_that_were_not_recorded_are_said(tmp_path):
    with Execution(system(), step=STEP) as execution:
        execution.advance(0.1)
        path = written(execution.recording(), tmp_path / "run.parquet")
    _, notes = run(swap_component(system(), "spring", f"log:{path}"), stop=0.1)
    assert "inputs 'position', 'speed' were not recorded" in notes[0]


def test_between_two_rows_it_is_linear_and_says_so(tmp_path):
    first, _ = run(system(), stop=0.04)
    path = written(first, tmp_path / "run.parquet")
    second, notes = run(swap_component(system(), "spring", f"log:{path}"), STEP / 2, 0.04)
    force = first.values[:, first.names.index("spring.force")]
    replayed = second.values[:, second.names.index("spring.force")]
    assert np.array_equal(replayed[::2], force)
    assert replayed[1] == force[0] + 0.5 * (force[1] - force[0])
    assert "4 steps ended between two recorded times" in notes[0]


class Mode(Block):
    """Counts its steps."""

    number: int = Output(depends_on=())

    def step(self, t, h):
        self.number += 1


def test_between_two_rows_an_integer_keeps_the_value_of_the_first(tmp_path):
    modes = System("modes").add("mode", block(Mode))
    path = written(run(modes, stop=0.03)[0], tmp_path / "run.parquet")
    replayed, _ = run(swap_component(modes, "mode", f"log:{path}"), STEP / 2, 0.03)
    numbers = replayed.values[:, replayed.names.index("mode.number")]
    assert numbers.tolist() == [1, 1, 2, 2, 3, 3, 4]


def test_after_its_end_the_run_stops_with_what_it_has(tmp_path, wording):
    path = written(run(system(), stop=0.1)[0], tmp_path / "run.parquet")
    replay = swap_component(system(), "spring", f"log:{path}")
    with Execution(replay, step=STEP) as execution:
        with wording.raises(StepError):
            execution.advance(0.2)
        assert execution.recording().time_ns[-1] == 100_000_000


def test_a_component_may_have_had_another_name(tmp_path, wording):
    first, _ = run(system())
    names = tuple(name.replace("spring.", "contact.") for name in first.names)
    units = {name.replace("spring.", "contact."): unit for name, unit in first.units.items()}
    path = tmp_path / "run.parquet"
    write_parquet(Result("case", first.time_ns, names, first.values, units), path)
    with wording.raises(UnknownNameError):
        swap_component(system(), "spring", f"log:{path}")
    second, _ = run(swap_component(system(), "spring", f"log:{path}?component=contact"))
    assert np.array_equal(first.values, second.values)


def test_values_are_converted_from_the_unit_of_the_recording(tmp_path):
    first, _ = run(system())
    force = first.names.index("spring.force")
    values = first.values.copy()
    values[:, force] /= 1024.0
    units = first.units | {"spring.force": "kN"}
    path = tmp_path / "run.parquet"
    write_parquet(Result("case", first.time_ns, first.names, values, units), path)
    second, _ = run(swap_component(system(), "spring", f"log:{path}"), stop=0.02)
    plant = first.names.index("plant.speed")
    assert second.values[1, plant] == pytest.approx(first.values[1, plant] * 1000 / 1024)


def test_what_is_connected_must_be_recorded(tmp_path, wording):
    with Execution(system(), step=STEP, record=["spring.force"]) as execution:
        execution.advance(0.1)
        path = written(execution.recording(), tmp_path / "run.parquet")
    with wording.raises(UnknownNameError):
        swap_component(system(), "spring", f"log:{path}")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (None, LoadError),
        ("time,x\n0,1\n", LoadError),
        ("time [s],spring.force [N]\n0,1\n0,1\n", LoadError),
        ("time [s],spring.force [N]\n0,one\n", LoadError),
        ("time [s],spring.force [N]\n0,1\n1,nan\n", LoadError),
    ],
)
def test_a_file_that_is_no_recording(tmp_path, content, error, wording):
    path = tmp_path / "run.csv"
    if content is not None:
        path.write_text(content)
    with wording.raises(error):
        swap_component(system(), "spring", f"log:{path}")


def test_the_text_behind_the_file_is_checked(tmp_path, wording):
    with wording.raises(DescriptionError):
        swap_component(system(), "spring", f"log:{tmp_path / 'run.csv'}?componet=x")


def test_a_recording_that_is_no_utf_8_is_refused(tmp_path, wording):
    path = tmp_path / "odd.csv"
    path.write_bytes("time [s],plant.speed [m/s],plant.höhe [m]\n0,1,2\n1,1,2\n".encode("latin-1"))
    with wording.raises(LoadError):
        read_recorded(path, "plant")
