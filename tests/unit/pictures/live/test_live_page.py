"""The page in a browser: a recording that is played."""

import json
import math

import numpy as np
import pytest
from browser import OVERLAPS, needs_chromium
from live_pages import HOSTILE, Going, recording, served

from orchestrator.core.coupling import Mark, Tuned
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System
from orchestrator.pictures.drawing import Facts
from orchestrator.pictures.live.messages import Done, Ended, Said, Stands
from orchestrator.pictures.live.shown import Shown, replayed
from orchestrator.study import Section
from orchestrator.study.content import Curve, Panel, Plot

pytestmark = needs_chromium


class Sensor(Block):
    u: float = Input(unit="m")
    force_a: float = Output(unit="m")
    sample_age: float = Output(unit="s")
    valid: bool = Output()


@pytest.fixture
def system(register):
    register(sensor=Sensor)
    made = System("pair").add("one", block("sensor")).add("two", block("sensor"))
    return made.connect("one.force_a", "two.u", delay="16 ms").connect("two.force_a", "one.u")


def full(system):
    """Everything that a page can show."""
    names = ("one.force_a", "one.force_b", "two.force_a", "one.sample_age", "one.lost", "one.valid")
    shown = replayed(recording(4001, (*names, HOSTILE)), (system, Facts()))
    rows = (("wake-up", 24.0, "a long sentence about what was found here"),)
    columns = ("duration", "median", "what it means")
    shares = Panel("share", [Curve("wake-up", [1.0, 10.0], [1.0, 0.1])])
    plots = {"timing": (Plot("points", [shares], "Timing", log="xy"), "How late steps began.")}
    shown.cases[0].say(
        [Section("t", "Timing", columns, rows, note="One.", plots=plots)], ["One remark.", HOSTILE]
    )
    return shown


def stand(tab, seconds):
    """Let the page stand still at a time, and wait until it shows it."""
    tab.until("view.shown !== undefined")
    tab.run(
        f"(() => {{ const s = document.getElementById('slider'); s.value = {seconds};"
        " s.dispatchEvent(new Event('input')); })()"
    )
    tab.until(f"Math.abs(view.shown - {seconds}) < 1e-9")


@pytest.mark.parametrize(
    ("width", "dark"), [(1400, False), (1400, True), (390, False), (390, True)]
)
def test_nothing_overlaps_and_nobody_else_is_asked(tab, system, width, dark):
    with served(full(system)) as url:
        tab.show(url, width, 4000, dark=dark)
        tab.until("view.shown > 0.2 && document.querySelectorAll('canvas').length >= 4")
        assert tab.run(OVERLAPS) == []
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert {
            address
            for address in tab.requests
            if not address.startswith((url.partition("?")[0], "data:"))
        } == set()
        text = tab.run("document.body.innerText")
        assert tab.errors == []
    for part in ("playing", "Samples of devices", "How late steps began.", "One remark."):
        assert part in text
    assert text.count(HOSTILE) >= 2  # in a legend and among remarks, as text


def test_ten_moments_show_what_was_recorded(tab, system):
    """Of all signals: on the lines, in the legends, and as the script has them."""
    result = full(system)
    recorded = recording(4001, tuple(result.cases[0].facts["signals"]["names"]))
    result.cases[0].samples._rows.values[:, 5] = recorded.values[:, 5] = np.arange(4001) > 2000
    with served(result) as url:
        tab.show(url)
        tab.until("view.shown !== undefined")
        for moment in np.random.default_rng(3).integers(1, 4000, 10):
            stand(tab, moment / 1000)
            assert json.loads(tab.run("JSON.stringify([...row])")) == list(recorded.values[moment])
            force = recorded["one.force_a"][moment]
            wires = tab.run("wires.map((wire) => wire.text.textContent)")
            value = tab.run(f"written({float(force)!r}, 4)")
            age = tab.run(f"written({1000 * float(recorded['one.sample_age'][moment])!r}, 3)")
            assert wires[0] == f"16 ms {value} m {age} ms old"
            crossed = tab.run("wires[0].text.classList.contains('invalid')")
            assert crossed == (moment <= 2000)
            legend = tab.run("document.querySelector('.entry .value').textContent")
            assert legend == tab.run(f"`${{written({float(force)!r})}} m`")


def test_it_plays_stands_still_and_goes_on_by_key(tab):
    """By p: Space is the quick stop of a rig, and nothing else."""
    with served(replayed(recording(60_001))) as url:
        tab.show(url)
        tab.until("view.shown > 0.1")
        tab.run("document.activeElement.blur()")
        tab.press(" ")
        assert tab.run("view.isGoing")
        tab.press("p")
        stood = tab.run("view.now")
        tab.frame()
        tab.run("turn()")
        assert tab.run("view.now") == stood
        assert tab.run("document.getElementById('play').textContent") == "play"
        tab.press("p")
        tab.until(f"view.shown > {stood}")
        stand(tab, 60.0)
        tab.run("document.getElementById('play').click()")  # from the end it begins anew
        tab.until("view.isGoing && view.now < 30")


def test_what_is_zoomed_into_is_exact(tab):
    result = recording(200_001)
    result.values[123_456, 0] = 9.0
    with served(replayed(result)) as url:
        tab.show(url)
        tab.until("view.shown !== undefined")
        tab.run("(() => { const w = document.getElementById('window'); w.value = '0';"
                " w.dispatchEvent(new Event('change')); })()")  # fmt: skip
        tab.until("figures[0].isExact === false && figures[0].first.curves[0].x.length > 1000")
        tab.until("Math.max(...figures[0].first.curves[0].y) === 9")  # no peak is lost
        tab.run("figures[0].zoom(figures[0].first, [123.4, 123.5])")
        tab.until("figures[0].isExact === true && view.shownRange[0] === 123.4")
        expected = result.values[123_399:123_502, 0]
        assert json.loads(tab.run("JSON.stringify([...figures[0].first.curves[0].y])")) == list(
            expected
        )
        tab.run("document.getElementById('back').click()")
        tab.until("view.zoomed === null && figures[0].isExact === false")


def test_a_stretch_without_numbers_is_a_gap(tab):
    result = recording(4001, ("one.x",))
    result.values[1000:2000] = np.nan
    with served(replayed(result)) as url:
        tab.show(url)
        stand(tab, 1.5)
        assert tab.run("figures[0].first.curves[0].value.textContent") == "– m"
        assert tab.run("figures[0].first.curves[0].y.filter(Number.isNaN).length") == 1000


def test_a_server_that_is_gone_is_told(tab, monkeypatch):
    def gone(_shown):
        raise RuntimeError

    notice = "document.getElementById('notice')"
    with served(replayed(recording())) as url:
        tab.show(url)
        tab.until("view.shown > 0")
        with monkeypatch.context() as patch:
            patch.setattr(Shown, "state", gone)
            tab.until(f"{notice}.textContent.startsWith('The run does not answer')")
        tab.until(f"{notice}.hidden")


def test_it_can_be_printed(tab, system):
    with served(full(system)) as url:
        tab.show(url)
        tab.until("view.shown > 0")
        tab.call("Emulation.setEmulatedMedia", media="print")
        tab.frame()
        tools = tab.run("getComputedStyle(document.querySelector('.tools')).display")
        tab.call("Emulation.setEmulatedMedia", media="")
    assert tools == "none"


def test_a_page_follows_holds_is_loaded_again_and_keeps_the_end(tab):
    run = Going()
    with served(run.shown) as url:
        run.write(1000)
        tab.show(url)
        tab.until("view.shown === 0.999")
        value = tab.run(f"`${{written({float(run.all['one.x'][999])!r})}} m`")
        tab.until(f"figures[0].first.curves[0].value.textContent === '{value}'")
        for text in ("running", "0.999 of 3 s", "7 late steps", "0.5 ms before its deadline"):
            assert text in tab.run("document.querySelector('header').innerText")
        shares = "[...document.querySelectorAll('#timing tr')].map((one) => one.innerText.trim())"
        counted = [line.split("\t") for line in tab.run(shares)]
        known = {head: int(count) for head, count in counted if int(count)}
        assert known == {"up to 50 µs": 996, "beyond 10000 µs": 2}  # of 999 rows that are whole
        run.write(2000)
        tab.until("view.shown === 1.999")
        tab.run("document.getElementById('play').click()")  # hold
        run.write(2500)
        tab.until("state.cases[0].rows === 2500")
        assert tab.run("view.now") == 1.999
        tab.show(url)  # loaded again in the middle
        tab.until("view.shown === 2.499")
        run.write(3000)
        run.follower.take(Said("one", (), ("all went well",), is_over=True), None)
        run.follower.take(Ended("The run has ended."), None)
        tab.until("!document.getElementById('notice').hidden && view.shown === 3")
        tab.until("figures[0].first.curves[0].x.length === 3001")  # all, not only what was seen
        assert "all went well" in tab.run("document.body.innerText")
    tab.run("figures[0].zoom(figures[0].first, [2.5, 2.6])")  # of what it keeps
    tab.until("figures[0].first.u.scales.x.min === 2.5")
    assert tab.run("document.getElementById('notice').textContent") == "The run has ended."
    assert tab.errors == []


def test_a_run_is_steered_by_buttons(tab):
    run, wished = Going(), []
    run.shown.grant = wished.append
    shown = "getComputedStyle(document.getElementById('steer')).display"
    with served(run.shown) as url:
        run.write(10)
        tab.show(url)
        tab.until("view.shown > 0")
        assert tab.run(shown) == "none"
        run.shown.cases[0].is_steered = True
        tab.until(f"{shown} !== 'none'")
        tab.run("document.getElementById('pause').click()")
        run.follower.take(Stands(stands=True), None)
        tab.until("document.getElementById('pause').textContent === 'go on' && view.shown === 0.01")
        tab.run("document.querySelector('[data-wish=step]').click()")
        tab.run("document.getElementById('pause').click()")
        tab.run("document.querySelector('[data-wish=stop]').click()")
        tab.until("document.getElementById('state').textContent === 'standing'")
        while len(wished) < 4:
            tab.frame()
    assert sorted(one.request for one in wished) == ["go", "pause", "step", "stop"]
    assert tab.errors == []


@pytest.fixture
def asked(monkeypatch):
    """What is asked of a run and its rig, of which some is refused."""
    found = []

    def ask(_self, wish):
        found.append((wish.request, wish.name, wish.text, wish.ramp))
        if wish.text == "9":
            raise DescriptionError("one.k: beyond its limits")

    def operate(_self, wish, _viewer=""):
        found.append(wish)
        raise DescriptionError(f"'{wish}' is refused: arm first")

    monkeypatch.setattr(Shown, "ask", ask)
    monkeypatch.setattr(Shown, "operate", operate)
    return found


def test_values_are_set_and_moments_marked_and_a_rig_is_led(tab, asked):
    run = Going()
    about = {"name": "one.k", "unit": "m", "type": "Real", "value": 1.0, "limits": ">= 0"}
    run.shown.cases[0].facts["tunables"] = [about]
    rig = {"rig": "epos", "state": "SHADOW", "in_state_s": 1.0, "engaged_s": None, "armed": None}
    run.shown.rig._rig, run.shown.rig._asked, run.shown.cases[0].rig = rig, math.inf, "epos"
    answer = "document.getElementById('answer').textContent"
    with served(run.shown) as url:
        run.write(10)
        tab.show(url)
        tab.until("tunables.size === 1 && !at('set').hidden")
        tab.run("at('tuned').value = 'one.k'; at('tuned').dispatchEvent(new Event('input'))")
        assert tab.run("at('limits').textContent") == "now 1 m, >= 0"
        for value, said in (("2.5", "one.k = 2.5"), ("9", "one.k: beyond its limits")):
            tab.run(f"at('value').value = '{value}'; at('ramp').value = '0.5'")
            tab.run("document.querySelector('#set button').click()")
            tab.until(f"{answer} === '{said}'")
        run.follower.take(Done(Tuned(3, 3_000_000, "one.k", 1.0, 2.5, 4)), None)
        run.follower.take(Done(Mark(9, 9_000_000, HOSTILE)), None)
        tab.until("at('limits').textContent.startsWith('now 2.5 m')")
        assert HOSTILE in tab.run("at('tune').innerText")
        tab.until(
            "figures[0].described.spans.length === 1 && figures[0].described.spans[0][1] === 0.009"
        )
        tab.run(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'm', bubbles: true}))"
        )
        tab.until(f"{answer} === 'marked'")
        tab.run("document.querySelector('#operate [data-wish=engage]').click()")
        tab.until("at('operated').textContent.includes('arm first')")
        assert tab.run(OVERLAPS) == []
        run.follower.take(Ended("over"), None)
        tab.until("at('set').hidden && !at('tune').hidden")
        button = "document.querySelector('#operate [data-wish=engage]')"
        tab.until(f"{button}.getAttribute('aria-disabled') === 'true'")
        assert tab.run(f"{button}.title") == "The run is over."
        tab.run(f"{button}.click()")
        assert tab.run("at('operated').textContent") == "The run is over."
    first, second, marked, led = asked
    assert (first, second[2]) == (("set", "one.k", "2.5", 0.5), "9")
    assert (marked[0], marked[2], led) == ("mark", "mark", "engage")
    assert tab.errors == []
