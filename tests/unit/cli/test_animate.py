"""Animations of an experiment: checked before a run, drawn after it, and drawn anew."""

import json
import re

import pytest

from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System

EXPERIMENT = """
title = "slide"
[defaults]
step = "10 ms"
stop = "1 s"
formats = ["parquet"]
[case.a]
title = "first"
system = "slide.ssd"
[case.b]
system = "slide.ssd"
[animation.moving]
cases = ["a"]
frame = { body = { position = ["slide.x", 0, 0] } }
part = { ball = { shape = "sphere", in = "body", radius = 0.1 } }
[animation.both]
cases = ["a", "b"]
part = { ball = { shape = "sphere", radius = 0.1 } }
"""


class Slide(Block):
    """Moves at 1 m/s."""

    u: float = Input()
    x: float = Output(unit="m", depends_on=())

    def step(self, t, h):
        self.x = t + h


@pytest.fixture
def folder(register, tmp_path, monkeypatch):
    register(slide=Slide)
    write_ssd(System("s").add("slide", block("slide"), u=0.0), tmp_path / "slide.ssd")
    monkeypatch.chdir(tmp_path)

    def write(text=EXPERIMENT):
        (tmp_path / "experiment.toml").write_text(text)
        return tmp_path

    return write


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text())[1])


def test_a_run_draws_them_and_they_are_drawn_anew_alike(softdock, folder):
    where = folder()
    code, out, err = softdock("run", where, "--output", "out")
    assert code == 0, err
    page = where / "out" / "animations" / "moving.html"
    assert "out/animations/moving.html" in out
    assert data_of(page)["cases"][0]["title"] == "first"
    code, out, err = softdock("animate", where, "--results", "out", "--output", "again", "--json")
    assert code == 0, err
    assert json.loads(out)["files"] == [
        "again/animations/moving.html",
        "again/animations/both.html",
    ]
    assert (where / "again" / "animations" / "moving.html").read_bytes() == page.read_bytes()


def test_those_whose_cases_are_left_out_are_not_drawn(softdock, folder):
    where = folder()
    assert softdock("run", where, "--output", "out", "--case", "a")[0] == 0
    assert [p.name for p in (where / "out" / "animations").iterdir()] == ["moving.html"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"slide.x"', '"slide.y"', "animation 'moving', frame.body.position: case 'a' records no"),
        (
            'in = "body"',
            'in = "boy"',
            "'animation.moving.part.ball.in': no frame 'boy'. Did you mean 'body'",
        ),
        ('["a", "b"]', '["a", "c"]', "'animation.both': no case 'c'; the cases are a and b"),
        ('"sphere", in', '"cube", in', "'animation.moving.part.ball'"),
        (", radius = 0.1 } }\n[", " } }\n[", "missing key 'animation.moving.part.ball.radius'"),
        ('cases = ["a"]', 'cases = ["a"]\nfrom = 2', "expected 'from' before 'until', and both"),
        ('cases = ["a"]', 'cases = ["a"]\nspeed = 1e-6', "30000001 pictures; expected at most"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(softdock, folder, old, new, expected):
    assert EXPERIMENT.count(old) == 1
    where = folder(EXPERIMENT.replace(old, new))
    code, _, err = softdock("run", where, "--output", "out")
    assert code == 2
    assert expected in " ".join(err.split())
    assert not (where / "out").exists()
    code, out, err = softdock("check", where)
    assert code in {1, 2}
    assert expected in " ".join((out + err).split())


def test_results_that_are_not_there_are_said(softdock, folder):
    code, _, err = softdock("animate", folder(), "--results", "out")
    assert code == 2
    assert "out/a.parquet: no such result; run the experiment first" in " ".join(err.split())
    code, _, err = softdock("animate", folder(), "--only", "still")
    assert code == 2
    assert "no animation 'still'; the animations are moving and both" in " ".join(err.split())


SCENE = """
[frame]
body = { position = ["slide.x", 0, 0] }
[part]
ball = { shape = "sphere", in = "body", radius = 0.1 }
rail = { shape = "box", size = [2, 0.1, 0.1] }
[[chart]]
ylabel = "x"
curves = [{ signal = "slide.x", label = "x" }]
"""
STAGED = """
title = "slide"
[defaults]
step = "10 ms"
stop = "1 s"
formats = ["parquet"]
[case.a]
system = "slide.ssd"
[animation.one]
scene = ["a.scene.toml"]
cases = ["a"]
part = { ball = { shape = "sphere", in = "body", radius = 0.5 } }
[animation.two]
scene = ["a.scene.toml"]
cases = ["a"]
chart = []
"""


def test_animations_share_a_scene_and_their_own_parts_win(softdock, folder):
    where = folder(STAGED)
    (where / "a.scene.toml").write_text(SCENE)
    code, _, err = softdock("run", where, "--output", "out")
    assert code == 0, err
    one, two = (data_of(where / "out" / "animations" / f"{name}.html") for name in ("one", "two"))
    assert [part["shape"] for part in one["parts"]] == ["sphere", "box"]
    assert (one["parts"][0]["radius"], two["parts"][0]["radius"]) == (0.5, 0.1)
    assert (len(one["charts"]), len(two["charts"])) == (1, 0)


@pytest.mark.parametrize(
    ("scene", "expected"),
    [
        (None, "a.scene.toml: no such scene"),
        ("part = ", "a.scene.toml: expected a scene in TOML"),
        (
            "cases = ['a']",
            "a.scene.toml: unknown key 'cases'; the keys are chart, frame, part",
        ),
        (SCENE.replace("0.1 }\nrail", "-1 }\nrail"), "a.scene.toml: 'part.ball.radius': "),
        (SCENE.replace('"slide.x", 0', '"slide.y", 0'), "case 'a' records no 'slide.y'"),
    ],
)
def test_what_is_wrong_with_a_scene_is_said_with_its_name(softdock, folder, scene, expected):
    where = folder(STAGED)
    if scene is not None:
        (where / "a.scene.toml").write_text(scene)
    code, _, err = softdock("run", where, "--output", "out")
    assert code == 2
    assert expected in " ".join(err.split())
