import base64
import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from orchestrator.core.coupling import FaultRecord
from orchestrator.core.simunits import Notice
from orchestrator.pictures.animation import render_animation

from .conftest import TABLE, Decoded, turning

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
HOSTILE = "</script><img src=x onerror=alert(1)>&\"'"


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.scripts = []
        self.words = []
        self._script = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._script = tag == "script"
        if self._script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._script = False

    def handle_data(self, data):
        if self._script:
            self.scripts[-1] += data
        elif data.strip():
            self.words.append(data.strip())


def rendered(table, **results):
    return render_animation(table, {"run": turning(), **results}, {"run": "the run"})


def test_the_page_asks_for_nothing_else(table):
    page = Page(rendered(table()))
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    names = {name for _, a in page.elements for name in a}
    assert not {n for n in names if n in {"src", "href"} or n.startswith("on")}
    policy = next(a["content"] for _, a in page.elements if "http-equiv" in a)
    assert policy.startswith("default-src 'none';")
    digests = re.findall(r"'sha256-([^']+)'", policy)
    scripts = page.scripts[1:]  # the first one is data
    expected = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    assert digests == expected


def test_names_are_text_wherever_they_come_from(table):
    part = {"ball": {"shape": "sphere", "radius": 1, "label": HOSTILE}}
    chart = [{"ylabel": HOSTILE, "curves": [{"signal": "rail.x", "label": HOSTILE}]}]
    made = table(title=HOSTILE, caption=HOSTILE, part=part, chart=chart)
    text = render_animation(made, {"run": turning()}, {"run": HOSTILE})
    page = Page(text)
    assert not [tag for tag, _ in page.elements if tag == "img"]
    assert len(page.scripts) == 3
    data = Decoded(text).data
    assert data["parts"][0]["label"] == HOSTILE
    assert data["cases"][0]["title"] == HOSTILE
    assert page.words.count(HOSTILE) == 4  # title twice, legend, caption


def test_scales_are_stated(table):
    text = " ".join(Page(rendered(table(exaggerate=20, speed=0.5))).words)
    assert "motion from rest 20 times as large, sizes true" in text
    assert "0.5 s of the run in 1 s" in text
    assert "force: 1 m is 100 N" in text
    assert "motion and sizes true" in " ".join(Page(rendered(table())).words)


def test_a_torque_has_two_heads(table):
    result = turning()
    result.units.update({f"body.force[{i}]": "N.m" for i in range(3)})
    parts = Decoded(rendered(table(), run=result)).data["parts"]
    assert [part.get("heads") for part in parts] == [None, None, 2]


def test_the_licences_of_what_is_inside_come_along(table):
    text = " ".join(Page(rendered(table())).words)
    for name in ("three 0.132.2 (MIT)", "dat.gui 0.7.7 (Apache-2.0)", "Three.js Authors"):
        assert name in text
    assert text.count("Permission is hereby granted") >= 5


def test_the_same_results_make_the_same_page(table):
    assert rendered(table()) == rendered(table())


def test_a_page_of_five_seconds_in_slow_motion_is_small(table):
    long = turning(stop=5.0, step=0.001)
    size = len(rendered(table(fps=60, speed=0.5), run=long))
    assert size < 1.2e6  # 0.9 MB are the viewer and its licences


@pytest.fixture
def browser(tmp_path):
    """Open a page in a browser that draws in software: its document, or a picture of it."""
    if CHROMIUM is None:
        pytest.skip("needs chromium, to execute the page's script")

    def open_page(text, address, *options):
        path = tmp_path / "page.html"
        path.write_text(text, encoding="utf-8")
        command = [
            *(CHROMIUM, "--headless=new", "--no-sandbox", "--hide-scrollbars"),
            *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
            *("--virtual-time-budget=3000", "--window-size=1000,800"),
            f"--user-data-dir={tmp_path / 'profile'}",
        ]
        done = subprocess.run(  # noqa: S603
            [*command, *options, path.as_uri() + address],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return done.stdout

    return open_page


def without_policy(text):
    """The page as one into which a test may write scripts of its own."""
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)


#: A red ball that starts where the camera looks and moves away at 0.5 m/s.
BALL = {
    "frame": {"ball": {"position": [0, 0, "body.r[2]"]}},
    "part": {"ball": {"shape": "sphere", "in": "ball", "radius": 0.1, "colour": "#ff0000"}},
    "view": {"front": {"eye": [0, -2, 0], "target": [0, 0, 0]}},
}


@pytest.mark.slow
def test_the_picture_shows_the_motion(table, browser, tmp_path):
    text = rendered(table(**BALL))
    seen = []
    for t in (0, 0.4):  # 0.2 m above, 0.1 m in radius
        picture = tmp_path / "picture.png"
        browser(text, f"#t={t}", f"--screenshot={picture}")
        image = Image.open(BytesIO(picture.read_bytes())).convert("RGB")
        red = [
            (x, y)
            for x in range(0, image.width, 4)
            for y in range(0, image.height, 4)
            if (p := image.getpixel((x, y)))[0] > 2 * max(p[1], p[2]) + 40
        ]
        seen.append([sum(one) / len(red) for one in zip(*red, strict=True)])
    (x0, y0), (x1, y1) = seen
    assert x1 == pytest.approx(x0, abs=6)
    assert y0 - y1 > 50  # upwards


@pytest.mark.slow
def test_faults_and_safe_states_are_named_while_they_act(table, browser):
    result = replace(
        turning(),
        faults=(
            FaultRecord("dropout", ("a.y -> b.u",), 500_000_000, 900_000_000, "nothing arrives"),
            FaultRecord("noise", ("a.y -> b.u",), 0, None, "noise"),  # of the whole run: no event
        ),
        notices=(
            Notice(700_000_000, "the force is not finite", safe=True, component="guard"),
            Notice(100_000_000, "near a limit", component="guard"),  # only a warning
        ),
    )
    text = render_animation(table(), {"run": result}, {"run": "run"})
    assert Decoded(text).data["cases"][0]["events"] == [
        {"text": "dropout", "from": 0.5, "until": 0.9},
        {"text": "safe state of guard", "from": 0.7, "until": None},
    ]
    seen = {t: Page(browser(text, f"#t={t}", "--dump-dom")).words for t in (0.4, 0.8, 0.95)}
    both = {"run: dropout", "run: safe state of guard"}
    assert [both & set(seen[t]) for t in seen] == [set(), both, {"run: safe state of guard"}]


@pytest.mark.slow
def test_controls_and_names_are_made_by_the_script(table, browser):
    both = table(cases=["run", "late"], **{k: TABLE[k] for k in ("frame", "part")})
    results = {"run": turning(), "late": turning("late", stop=1.0)}
    text = render_animation(both, results, {"run": "the run", "late": HOSTILE})
    page = Page(browser(text, "#t=1.5&case=late", "--dump-dom"))
    assert "1.500 s" in page.words
    assert f"{HOSTILE}: the run ended at 1.000 s" in page.words
    pressed = [a["aria-pressed"] for tag, a in page.elements if "aria-pressed" in a]
    assert pressed == ["false", "true"]
    assert [a for tag, a in page.elements if a.get("class") == "name"]
    assert not [tag for tag, _ in page.elements if tag == "img"]


@pytest.mark.slow
def test_a_page_that_is_opened_plays(table, browser):
    # A headless browser under load may draw no frame at all: the page's frames are timers here.
    frames = """<head><script>
      let wall = 0;
      requestAnimationFrame = (act) => setTimeout(() => act(wall += 20), 20);
    </script>"""
    text = without_policy(rendered(table(speed=0.1)))  # 20 s long
    page = Page(browser(text.replace("<head>", frames, 1), "", "--dump-dom"))
    shown = next(float(word[:-2]) for word in page.words if re.fullmatch(r"\d\.\d{3} s", word))
    assert 0.1 < shown < 2.0
    assert "Pause" in [a.get("aria-label") for _, a in page.elements]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "dark"), [(0, True), (1, False)])
def test_the_page_follows_the_readers_choice_of_dark(table, browser, tmp_path, scheme, dark):
    picture = tmp_path / "picture.png"
    browser(
        rendered(table(**BALL)),
        "#t=0",
        f"--screenshot={picture}",
        f"--blink-settings=preferredColorScheme={scheme}",
    )
    grey = np.asarray(Image.open(picture).convert("L"))
    assert bool(np.median(grey) < 100) is dark


@pytest.mark.slow
def test_on_a_phone_the_picture_has_its_room_and_the_controls_stay(table, browser):
    # The page measures itself in a window as wide as a phone's; 500 is the narrowest of headless.
    probe = """<script>addEventListener("load", () => {
      const box = (id) => document.getElementById(id).getBoundingClientRect();
      const [stage, bar] = [box("stage"), document.querySelector("nav").getBoundingClientRect()];
      document.title = JSON.stringify({
        wide: document.documentElement.scrollWidth, stage: [stage.width, stage.height],
        foot: innerHeight - bar.bottom, inner: [innerWidth, innerHeight]});
    });</script></body>"""
    text = without_policy(rendered(table(**BALL)))
    page = Page(
        browser(text.replace("</body>", probe), "#t=0", "--window-size=500,800", "--dump-dom")
    )
    content = json.loads(next(word for word in page.words if word.startswith('{"wide"')))
    width, height = content["inner"]
    assert content["wide"] <= width  # nothing to scroll sideways
    assert content["stage"][0] == width
    assert 0.5 * height <= content["stage"][1] <= 0.8 * height
    assert content["foot"] >= -1  # the controls are on the screen
