"""What a newcomer gets wrong: the cause comes first, alone, and with what to do."""

import re

import pytest

from orchestrator import DescriptionError, LoadError, System, block, fmu, simulate
from orchestrator.core.diagnostics import SoftdockError, UnknownNameError

BLOCKS = """
from orchestrator import Block, Input, Output, Parameter


class Spring(Block):
    length: float = Input(unit="m")
    force: float = Output(unit="N")
    k: float = Parameter(start=10.0, unit="N/m")

    def step(self, t, h):
        self.force = -self.k * self.length


class Ruler(Block):
    force: float = Input(unit="N")
    length: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.length += 1e-3 * self.force * h


class Needs(Block):
    y: float = Output()

    def __init__(self, gain):
        super().__init__()

    def step(self, t, h):
        self.y = t
"""
SYSTEM = """
[system]
name = "rig"
[component.spring]
source = "block:blocks.py:Spring"
[component.ruler]
source = "block:blocks.py:Ruler"
[connections]
"ruler.length -> spring.length" = {}
"spring.force -> ruler.force" = {}
"""
EXPERIMENT = """
title = "t"
[case.one]
system = "rig.toml"
step = "1 ms"
stop = "5 ms"
"""
FIGURE = """
[figure.f]
kind = "time"
title = "t"
panels = [{ ylabel = "x", curves = [{ case = "two", signal = "ruler.length", label = "p" }] }]
"""
#: What is added to the experiment, and the only line that is printed.
EXPERIMENTS = {
    "a missing system": (
        EXPERIMENT.replace("rig.toml", "gone.ssd"),
        r"case 'one': .*gone\.ssd: no such file; expected an \.ssd.*",
    ),
    "a missing system of several cases": (
        EXPERIMENT.replace("rig.toml", "gone.ssd")
        + EXPERIMENT.replace('title = "t"', "")
        .replace("rig.toml", "gone.ssd")
        .replace("[case.one", "[case.b"),
        r"cases 'one', 'b': .*gone\.ssd: no such file; .*",
    ),
    "a table twice": (
        EXPERIMENT + "[case.one]\n",
        r"e\.toml: expected a TOML file: the table \[case\.one\] is declared twice \(at line 7, .*",
    ),
    "a key twice": (
        EXPERIMENT + 'step = "2 ms"\n',
        r"e\.toml: expected a TOML file: a key has two values \(at line 7, .*",
    ),
    "a figure of an unknown case": (
        EXPERIMENT + FIGURE,
        r"e\.toml: 'figure\.f': no case 'two'; the only case is one",
    ),
    "an input that the system does not have": (
        EXPERIMENT + '[case.one.input.push]\nfile = "f.csv"\ncolumn = "x"\n',
        r"case 'one': system 'rig' has no input of its own, and so no 'push'; lead an .*",
    ),
    "a time without a unit": (
        EXPERIMENT.replace('"1 ms"', '"1"'),
        r"case 'one': communication step: expected a time with its unit, such as '1 ms'.*",
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blocks.py").write_text(BLOCKS)
    (tmp_path / "rig.toml").write_text(SYSTEM)
    return tmp_path


@pytest.mark.parametrize("mistake", EXPERIMENTS)
def test_an_experiment(softdock, folder, mistake):
    content, expected = EXPERIMENTS[mistake]
    (folder / "e.toml").write_text(content)
    code, _, err = softdock("run", "e.toml", "--output", "out")
    assert code == 2
    (line,) = err.splitlines()
    assert re.fullmatch(f"error: {expected}", line), line


def test_what_follows_from_a_wrong_connection_is_not_reported(softdock, folder):
    wrong = SYSTEM.replace("spring.length", "spring.lenght").replace("spring.force", "spring.forse")
    (folder / "rig.toml").write_text(wrong)
    _, out, _ = softdock("check", "rig.toml", "--step", "1 ms", "--stop", "1 s")
    codes = re.findall(r" (?:error|warning) (\w+):", out)
    assert codes == ["CON102", "CON102"]


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (lambda s: simulate([s], step=1.0, stop=2.0), DescriptionError),
        (lambda _: simulate("rig.ssd", step=1.0, stop=2.0), DescriptionError),
        (lambda s: simulate(s, step="1 ms", stop="2 ms"), DescriptionError),
        (lambda s: s.set("spring.k", "2 N/m"), DescriptionError),
        (lambda s: simulate(wired(s), step="1 ms", stop="2 ms")[0], UnknownNameError),
        (
            lambda _: simulate(
                System("s").add("n", block("blocks.py:Needs")), step="1 ms", stop="2 ms"
            ),
            SoftdockError,
        ),
    ],
)
def test_a_program(folder, run, kind, wording):
    system = System("rig").add("spring", block("blocks.py:Spring"))
    system = system.add("ruler", block("blocks.py:Ruler"))
    with wording.raises(kind):
        run(system)


def wired(system):
    return system.connect("ruler.length", "spring.length").connect("spring.force", "ruler.force")


def test_a_folder_in_place_of_an_fmu(folder, wording):
    (folder / "m.fmu").mkdir()
    with wording.raises(LoadError):
        System("s").add("m", fmu("m.fmu"))
