import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from orchestrator.drawing import Facts, render_page
from orchestrator.system import Connection, Endpoint, System, TransportDelay

from .conftest import block

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.scripts = []
        self._inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts.append(data)


def data_of(page):
    return json.loads(page.scripts[0])


def test_the_page_needs_nothing_else(arm, arm_facts):
    text = render_page(arm, arm_facts)
    page = Page(text)
    outside = re.findall(r"https?://[^\"' ]+", text)
    assert set(outside) == {"http://www.w3.org/2000/svg"}  # a name, not a request
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    assert not [
        a for _, a in page.elements for name in a if name in {"src", "href"} or name[:2] == "on"
    ]
    policy = next(a["content"] for tag, a in page.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")


def test_the_page_tells_all_of_a_connection(arm, arm_facts):
    data = data_of(Page(render_page(arm, arm_facts)))
    wire = dict(data["wires"]["elbow: motor.angle -> drive.measured"]["rows"])
    assert wire["Source"] == "elbow/motor.angle"
    assert (wire["Delay"], wire["Provenance"], wire["Variation"]) == ("1 ms", "measured", "none")
    wire = dict(data["wires"]["elbow: command -> drive.reference"]["rows"])
    assert wire["Source"] == "elbow.command (its own connector)"
    assert (wire["Unit of the source"], wire["Unit of the target"]) == ("deg", "rad")
    assert wire["Unit conversion"] == "× 0.01745329252"
    wire = dict(data["wires"]["elbow: load -> motor.load"]["rows"])
    assert (wire["Transformation"], wire["Delay"]) == ("× -1", "none: the signal arrives at once")


def test_the_page_tells_all_of_a_component(arm, arm_facts):
    facts = replace(arm_facts, details={"elbow/motor": {"Tool": "Modelica tool"}})
    part = data_of(Page(render_page(arm, facts)))["parts"]["elbow/motor"]
    rows = dict(part["rows"])
    assert (rows["Source"], rows["Tool"], rows["States"]) == ("M.fmu", "Modelica tool", "yes")
    assert rows["Step"] == str(arm_facts.steps["elbow/motor"])
    assert part["ports"][0][:2] == ["torque", "input"]


def test_loops_know_their_lines(arm, arm_facts):
    data = data_of(Page(render_page(arm, arm_facts)))
    assert len(data["loops"]) == len(arm_facts.loops)
    for loop in data["loops"]:
        assert set(loop["wires"]) <= set(data["wires"])
        assert set(loop["parts"]) <= set(data["parts"])
    inner = next(loop for loop in data["loops"] if loop["parts"] == ["elbow/drive", "elbow/motor"])
    assert sorted(inner["wires"]) == [
        "elbow: drive.torque -> motor.torque",
        "elbow: motor.angle -> drive.measured",
    ]


def test_there_is_a_view_of_every_depth_and_of_every_nested_system(arm):
    text = render_page(System("top", systems={"arm": arm}))
    views = data_of(Page(text))["views"]
    assert [view["label"] for view in views[:3]] == ["closed", "1", "all"]
    assert [view["name"] for view in views[3:]] == ["arm", "arm/shoulder", "arm/elbow"]
    assert text.count("<template") == len(views)


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u2028\U000e0001"


def test_hostile_names_stay_text():
    system = System(HOSTILE, description=HOSTILE).add(HOSTILE, block(HOSTILE)).add("b", block())
    line = Connection(Endpoint(HOSTILE, HOSTILE), Endpoint("b", HOSTILE), TransportDelay.of("1 ms"))
    system = replace(system, connections=(line,))
    page = Page(render_page(system, Facts(details={HOSTILE: {HOSTILE: HOSTILE}}), (HOSTILE,)))
    assert [a for tag, a in page.elements if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert "img" not in {tag for tag, _ in page.elements}
    assert data_of(page)["parts"][HOSTILE]["title"] == HOSTILE


def test_same_system_same_page(arm, arm_facts):
    assert render_page(arm, arm_facts) == render_page(arm, arm_facts)


def test_an_empty_system_has_a_page():
    assert "this system is empty" in render_page(System(""))


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, to execute the page's script")
def test_the_script_runs_in_a_browser(arm, arm_facts, tmp_path):
    """What the script makes is in the document afterwards: drawing, folds, list of loops."""
    path = tmp_path / "page.html"
    path.write_text(render_page(arm, arm_facts), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'p'}"]
    done = subprocess.run(  # noqa: S603
        [CHROMIUM, *options, "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    page = Page(done.stdout)
    svg = [a for tag, a in page.elements if tag == "svg"]
    assert len(svg) == 1 + len(data_of(page)["views"])  # the one that is shown, and the templates
    classes = [a.get("class") for _, a in page.elements]
    assert classes.count("fold") == 2
    assert classes.count("reach") == len(data_of(page)["wires"])
    numbers = [
        a["data-number"] for tag, a in page.elements if tag == "button" and "aria-pressed" in a
    ]
    assert len(numbers) == 2 + len(arm_facts.loops)
