import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from orchestrator.core.system import Connection, Endpoint, System, TransportDelay
from orchestrator.pictures.drawing import Facts, render_page

from .conftest import block

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.scripts = []
        self.words = []
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
        elif data.strip():
            self.words.append(data.strip())


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


@pytest.mark.slow
def test_deeply_nested_systems_have_few_views():
    """One of every depth and one of each alone would be 15 MB for a hundred systems."""
    system = System("inner").add("a", block())
    for _ in range(100):
        system = System("outer", systems={"in": system})
    text = render_page(system)
    views = data_of(Page(text))["views"]
    assert [view["label"] for view in views[:5]] == ["closed", "1", "2", "3", "all"]
    assert len(views) == 5 + 50
    assert len(text) < 10_000_000


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u2028\U000e0001"


def test_hostile_names_stay_text():
    name = HOSTILE.replace("/", "")  # which no component may have in its name
    system = System(HOSTILE, description=HOSTILE).add(name, block(HOSTILE)).add("b", block())
    line = Connection(Endpoint(name, HOSTILE), Endpoint("b", HOSTILE), TransportDelay.of("1 ms"))
    system = replace(system, connections=(line,))
    page = Page(render_page(system, Facts(details={name: {HOSTILE: HOSTILE}}), (HOSTILE,)))
    assert [a for tag, a in page.elements if tag == "script"] == [
        {"type": "application/json", "id": "data"},
        {},
    ]
    assert "img" not in {tag for tag, _ in page.elements}
    assert data_of(page)["parts"][name]["title"] == name


def test_same_system_same_page(arm, arm_facts):
    assert render_page(arm, arm_facts) == render_page(arm, arm_facts)


def test_an_empty_system_has_a_page():
    assert "this system is empty" in render_page(System(""))


@pytest.fixture
def opened(tmp_path):
    """Open a page in a browser; what its script made of the document."""
    if CHROMIUM is None:
        pytest.skip("needs chromium, to execute the page's script")

    def open_page(text, address=""):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", profile, "--dump-dom"]
        done = subprocess.run(  # noqa: S603
            [*command, path.as_uri() + address],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return Page(done.stdout)

    return open_page


@pytest.mark.slow
def test_the_script_runs_in_a_browser(arm, arm_facts, opened):
    page = opened(render_page(arm, arm_facts))
    svg = [a for tag, a in page.elements if tag == "svg"]
    # The one that is shown, the signs, and the templates.
    assert len(svg) == 2 + len(data_of(page)["views"])
    classes = [a.get("class") for _, a in page.elements]
    assert classes.count("fold") == 2
    assert classes.count("reach") == len(data_of(page)["wires"])
    buttons = [a for tag, a in page.elements if tag == "button" and "aria-pressed" in a]
    assert len(buttons) == 2 + len(arm_facts.loops)


@pytest.mark.slow
def test_an_address_selects_a_component_and_shows_its_facts(arm, arm_facts, opened):
    page = opened(render_page(arm, arm_facts), "#elbow/motor")
    picked = [a for _, a in page.elements if "picked" in a.get("class", "").split()]
    assert [a["data-part"] for a in picked] == ["elbow/motor"]
    assert {"M.fmu", "In the loops:"} <= set(page.words)


@pytest.mark.slow
def test_an_address_follows_a_loop_in_its_colour(arm, arm_facts, opened):
    page = opened(render_page(arm, arm_facts), "#loop-1")
    loop = data_of(page)["loops"][0]
    bands = [a["stroke"] for _, a in page.elements if a.get("class") == "follow"]
    assert bands == [loop["colour"]] * len(loop["wires"])
    on = {a.get("data-wire") for _, a in page.elements if "on" in a.get("class", "").split()}
    assert set(loop["wires"]) <= on


@pytest.mark.slow
def test_hostile_names_are_text_in_a_browser(opened):
    name = "<img src=x onerror=alert(1)>"
    page = opened(render_page(System(name).add(name, block(name))), f"#{name}")
    assert "img" not in {tag for tag, _ in page.elements}
    assert page.words.count(name) >= 3  # heading, box, facts
