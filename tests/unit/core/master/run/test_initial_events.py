"""What units have as outputs after their initial events, in all kinds; FMPy says what is right."""

import zipfile

import pytest
from fmpy import simulate_fmu

from orchestrator import simulate
from orchestrator.core.simunits import Block, Input, Output, State, block, fmu
from orchestrator.core.system import System
from orchestrator.export import build_model
from orchestrator.export.system import export_system

SAMPLED = """
model Sampled "Has 5 from the start on, and 5 more at each sample"
  discrete output Real y(start=0, fixed=true);
  discrete output Real once(start=0, fixed=true);
  output Real twice;
  output Real x(start=1, fixed=true);
equation
  when sample(0, 0.05) then
    y = pre(y) + 5;
  end when;
  when initial() then
    once = 7;
  end when;
  twice = 2*y;
  der(x) = once - y*x;
end Sampled;
"""
FOLLOWING = """
model Following "Passes its input on, and integrates it"
  input Real u(start=0);
  output Real y;
  output Real x(start=0, fixed=true);
equation
  y = 3*u;
  der(x) = u;
end Following;
"""
KINDS = [("2.0", "cs"), ("2.0", "me"), ("3.0", "cs"), ("3.0", "me")]
#: Version, interface, and whether the FMU has event mode.
ORACLE = [*((*kind, kind == ("3.0", "cs")) for kind in KINDS), ("3.0", "cs", False)]
NAMES = ("y", "twice", "once", "x")
#: A sum of powers of two: FMPy's times and ours are the same bits.
STEP = 2.0**-6
ALGORITHMS = ["jacobi", "gauss-seidel"]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("initial")
    made = {}
    for name, text in (("Sampled", SAMPLED), ("Following", FOLLOWING)):
        (folder / f"{name}.mo").write_text(text)
        for version in ("2.0", "3.0"):
            where = folder / version
            made[name, version] = build_model(
                name, folder / f"{name}.mo", where, fmi=[version]
            ).path
    return made


class Twice(Block):
    u: float = Input()
    y: float = Output()

    def step(self, t, h):
        self.y = 2.0 * self.u


def chain(built, version, interface, follower="cs"):
    return (
        System("chain")
        .add("follow", fmu(built["Following", version]))
        .add("twice", block(Twice))
        .add("it", fmu(built["Sampled", version]))
        .connect("it.y", "twice.u")
        .connect("it.twice", "follow.u")
        .with_options("it", interface=interface)
        .with_options("follow", interface=follower)
    )


@pytest.fixture(scope="module")
def plain(built, tmp_path_factory):
    """The FMU of FMI 3.0 as one that has no event mode."""
    path = tmp_path_factory.mktemp("plain") / "Sampled.fmu"
    with zipfile.ZipFile(built["Sampled", "3.0"]) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "modelDescription.xml":
                assert content.count(b'hasEventMode="true"') == 1
                content = content.replace(b'hasEventMode="true"', b'hasEventMode="false"')
            new.writestr(entry, content)
    return path


def of_fmpy(path, interface, *, event_mode):
    """Rows at the communication points; with event mode FMPy has more, where steps end early."""
    types = {"cs": "CoSimulation", "me": "ModelExchange"}
    rows = simulate_fmu(
        path,
        fmi_type=types[interface],
        stop_time=15 * STEP,
        step_size=STEP,
        output_interval=STEP,
        relative_tolerance=1e-10 if interface == "me" else None,
        output=NAMES,
        record_events=False,
        use_event_mode=event_mode,
    )
    found = rows[rows["time"] % STEP == 0.0]
    assert found["time"].tolist() == [STEP * k for k in range(16)]
    return found


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("version", "interface", "event_mode"), ORACLE)
def test_rows_are_those_of_fmpy(built, plain, version, interface, event_mode, algorithm):
    """Bit for bit, but for states that another solver integrates (Model Exchange)."""
    without = (version, interface, event_mode) == ("3.0", "cs", False)
    path = plain if without else built["Sampled", version]
    expected = of_fmpy(path, interface, event_mode=event_mode)
    system = System("alone").add("it", fmu(path)).with_options("it", interface=interface)
    if interface == "me":
        system = system.with_options("it", tolerance=1e-10)
    result = simulate(system, step=STEP, stop=15 * STEP, algorithm=algorithm)
    assert [expected[name][0] for name in NAMES] == [5.0, 10.0, 7.0, 1.0]
    for name in NAMES:
        rows = expected[name].tolist()
        if name == "x" and interface == "me":
            rows = pytest.approx(rows, rel=1e-7)
        assert result[f"it.{name}"].tolist() == rows, name


@pytest.mark.parametrize("follower", ["cs", "me"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("version", "interface"), KINDS)
def test_what_follows_has_them_in_the_first_row_and_step(
    built, version, interface, algorithm, follower
):
    system = chain(built, version, interface, follower)
    result = simulate(system, step="20 ms", stop="40 ms", algorithm=algorithm)
    assert result["it.y"].tolist()[:2] == [5.0, 5.0]
    assert result["twice.y"].tolist()[:2] == [10.0, 10.0]
    assert result["follow.y"].tolist()[:2] == [30.0, 30.0]
    assert result["follow.x"].tolist()[:2] == pytest.approx([0.0, 0.02 * 10.0])


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_exported_system_has_them_too(built, tmp_path, fmi):
    system = (
        System("inner")
        .add("follow", fmu(built["Following", "2.0"]))
        .add("it", fmu(built["Sampled", "2.0"]))
        .connect("it.twice", "follow.u")
        .expose("y", "follow.y")
        .expose("x", "follow.x")
    )
    inner = simulate(system, step="20 ms", stop="60 ms", algorithm="jacobi")
    path = export_system(system, tmp_path / "it.fmu", fmi=fmi, step="20 ms", algorithm="jacobi")
    outer = simulate(System("outer").add("it", fmu(path)), step="20 ms", stop="60 ms")
    assert inner["follow.y"].tolist()[0] == 30.0
    for name in ("y", "x"):
        assert outer[f"it.{name}"].tolist() == inner[f"follow.{name}"].tolist()


class Counter(Block):
    u: float = Input()
    n: int = Output(depends_on=())
    k: int = State(start=0)

    def step(self, t, h):
        self.k += 1
        self.n = self.k


class Filter(Block):
    """Its output is what it remembers."""

    u: float = Input()
    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y += 0.5 * (self.u - self.y)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("others", [0, 1, 3])
def test_a_block_is_initialised_once_whatever_stands_beside_it(others, algorithm):
    system = System("counters").add("c0", block(Counter), u=0.0)
    for number in range(others):
        system = system.add(f"c{number + 1}", block(Counter))
        system = system.connect(f"c{number}.n", f"c{number + 1}.u")
    result = simulate(system, step=0.1, stop=0.3, algorithm=algorithm)
    for number in range(others + 1):
        assert result[f"c{number}.n"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_filter_has_one_trajectory_whoever_gives_its_input():
    held = simulate(System("held").add("f", block(Filter), u=1.0), step=0.1, stop=0.3)
    fed = System("fed").add("one", block(Twice), u=0.5).add("f", block(Filter))
    result = simulate(fed.connect("one.y", "f.u"), step=0.1, stop=0.3)
    assert result["f.y"].tolist() == held["f.y"].tolist() == [0.5, 0.75, 0.875, 0.9375]


CHOSEN = """
model Chosen "Refuses what is no item, and what is below its limit"
  type Mode = enumeration(off, slow, fast);
  input Mode mode(start=Mode.off);
  input Integer gear(start=1, min=1);
  output Mode now;
  output Integer twice;
equation
  now = mode;
  twice = 2*gear;
end Chosen;
"""


class Choice(Block):
    """A number that 0 is none of."""

    item: int = Output(depends_on=())

    def initialise(self, t):
        self.item = 3

    def step(self, t, h):
        self.item = 3


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("version", "interface"), KINDS)
def test_an_input_that_changes_at_events_is_never_set_to_what_nobody_wrote(
    tmp_path, version, interface, algorithm
):
    """With event mode (FMI 3.0) it was set to the 0 of a signal that was not read yet."""
    (tmp_path / "Chosen.mo").write_text(CHOSEN)
    path = build_model("Chosen", tmp_path / "Chosen.mo", tmp_path, fmi=[version]).path
    system = (
        System("chosen")
        .add("chosen", fmu(path))
        .add("choice", block(Choice))
        .connect("choice.item", "chosen.mode")
        .connect("choice.item", "chosen.gear")
        .with_options("chosen", interface=interface)
    )
    run = simulate(system, step="10 ms", stop="50 ms", algorithm=algorithm)
    assert set(run["chosen.now"]) == {3.0}
    assert set(run["chosen.twice"]) == {6.0}
