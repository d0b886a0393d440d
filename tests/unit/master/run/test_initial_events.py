"""What units have as outputs after their initial events, in all kinds; FMPy says what is right."""

import pytest
from fmpy import simulate_fmu

from orchestrator import simulate
from orchestrator.export import build_model
from orchestrator.export.system import export_system
from orchestrator.simunits import Block, Input, Output, State, block, fmu
from orchestrator.system import System

SAMPLED = """
model Sampled "Has 5 from the start on, and 5 more at each sample"
  discrete output Real y(start=0, fixed=true);
  output Real twice;
equation
  when sample(0, 0.05) then
    y = pre(y) + 5;
  end when;
  twice = 2*y;
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


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("version", "interface"), KINDS)
def test_the_first_row_is_that_of_fmpy(built, version, interface, algorithm):
    types = {"cs": "CoSimulation", "me": "ModelExchange"}
    expected = simulate_fmu(
        built["Sampled", version],
        fmi_type=types[interface],
        stop_time=0.2,
        step_size=0.02,
        output_interval=0.02,
        output=["y", "twice"],
        record_events=False,
    )
    alone = System("alone").add("it", fmu(built["Sampled", version]))
    alone = alone.with_options("it", interface=interface)
    found = simulate(alone, step="20 ms", stop="200 ms", algorithm=algorithm)
    assert expected["y"][0] == 5.0
    assert found["it.y"].tolist()[0] == expected["y"][0]
    assert found["it.twice"].tolist()[0] == expected["twice"][0]


@pytest.mark.parametrize("follower", ["cs", "me"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("version", "interface"), KINDS)
def test_what_follows_has_them_in_the_first_row_and_step(
    built, version, interface, algorithm, follower
):
    system = chain(built, version, interface, follower)
    found = simulate(system, step="20 ms", stop="40 ms", algorithm=algorithm)
    assert found["it.y"].tolist()[:2] == [5.0, 5.0]
    assert found["twice.y"].tolist()[:2] == [10.0, 10.0]
    assert found["follow.y"].tolist()[:2] == [30.0, 30.0]
    assert found["follow.x"].tolist()[:2] == pytest.approx([0.0, 0.02 * 10.0])


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
    found = simulate(system, step=0.1, stop=0.3, algorithm=algorithm)
    for number in range(others + 1):
        assert found[f"c{number}.n"].tolist() == [1.0, 2.0, 3.0, 4.0]


def test_a_filter_has_one_trajectory_whoever_gives_its_input():
    held = simulate(System("held").add("f", block(Filter), u=1.0), step=0.1, stop=0.3)
    fed = System("fed").add("one", block(Twice), u=0.5).add("f", block(Filter))
    found = simulate(fed.connect("one.y", "f.u"), step=0.1, stop=0.3)
    assert found["f.y"].tolist() == held["f.y"].tolist() == [0.5, 0.75, 0.875, 0.9375]
