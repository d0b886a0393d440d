"""The page of a rig in a browser: the operator's console."""

import time
from typing import ClassVar

import pytest
from browser import needs_chromium
from live_pages import Going, served

from orchestrator.core.diagnostics import DeviceError
from orchestrator.pictures.live.messages import Ended, Said

pytestmark = needs_chromium

RIG = {
    "rig": "epos", "state": "ACTIVE", "in_state_s": 3.0, "engaged_s": 12.7, "missing": [],
    "armed": None, "latched": [], "alarms": [], "present": [], "changes": [], "refusals": {},
    "signals": {
        "one.f": {"value": 9.0, "unit": "N", "margin": 1.0, "minimum": -10.0, "maximum": 10.0},
        "one.x": {"value": 0.5, "unit": "m", "margin": 1.5, "minimum": None, "maximum": 2.0},
    },
    "limits": [
        {"where": "one.f", "quantity": "force", "value": 9.0, "unit": "N", "minimum": -10.0,
         "maximum": 10.0, "used": 0.9, "level": "amber", "figures": "", "main": True},
        {"where": "one.x", "quantity": "position", "value": 0.5, "unit": "m", "minimum": None,
         "maximum": 2.0, "used": 0.25, "level": "fresh", "figures": "", "main": True},
        {"where": "one", "quantity": "age of the newest sample", "value": 2.0, "unit": "ms",
         "minimum": None, "maximum": 60.0, "used": 0.033, "level": "fresh", "figures": "",
         "main": False},
    ],
    "margins": {"robot.command": {"delay_s": 0.0123, "gain": 1.8}},
}  # fmt: skip
TOLD = [("FALLBACK", "red"), ("SAFE", "red"), ("ESTOP", "red"), ("BLEND", "active")]


class Supervisor:
    """The supervisor of a rig, as the page's server asks it."""

    status: ClassVar = RIG
    wishes: ClassVar = []
    by: ClassVar = []

    def __init__(self, rig):
        self.wish("status")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def wish(self, wish, page="", pages=()):
        if self.status is None:
            raise DeviceError("gone")
        if wish != "status":
            self.wishes.append(wish)
            self.by.append(page)
        own = {name: {"operator": f"session 1, {name}"} for name in pages}
        return {**self.status, "pages": own}


@pytest.fixture
def rig(monkeypatch):
    monkeypatch.setattr("orchestrator.pictures.live.rig_view.operator_of", Supervisor)
    monkeypatch.setattr(Supervisor, "status", RIG)
    monkeypatch.setattr(Supervisor, "wishes", [])
    monkeypatch.setattr(Supervisor, "by", [])

    def now(**changes):
        Supervisor.status = None if changes == {"gone": True} else {**RIG, **changes}

    return now


def text(tab, name):
    return tab.run(f"document.getElementById('{name}').innerText")


def test_the_state_of_a_rig_is_told_by_word_frame_reason_and_next_step(tab, rig):
    run = Going()
    run.shown.cases[0].rig, run.shown.cases[0].margin_s = "epos", 0.0179
    look = "document.body.dataset.look"
    place = "(({left, top}) => [left, top])(at('halt').getBoundingClientRect())"
    with served(run.shown) as url:
        rig(state="SHADOW")
        tab.show(url, 1366, 768)
        tab.until("at('state').textContent === 'HELD'")
        assert (tab.run(look), "Arm, then engage." in text(tab, "why")) == ("grey", True)
        stops = tab.run(place)
        rig(state="SHADOW", armed={"by": "pts/3", "left_s": 8.0, "of_s": 10.0})
        tab.until("at('state').textContent === 'ARMED'")
        assert (tab.run(look), "Armed by pts/3." in text(tab, "why")) == ("amber", True)
        tab.until("at('countdown').innerText.includes('to engage')")
        width = "parseFloat(document.querySelector('#countdown i div').style.width)"
        begun = tab.run(width)
        assert 20.0 < begun <= 80.0
        rig()
        tab.until("at('state').textContent === 'ACTIVE'")
        assert (tab.run(look), text(tab, "since")) == ("active", "00:12.7")
        assert text(tab, "margin") == "12.3 ms margin left"  # tracked, not that of arming
        near = tab.run("[...document.querySelectorAll('#near .limit')].map((one) => one.innerText)")
        assert [one.split()[0] for one in near] == ["one.f", "one.x"]  # the nearest first
        levels = "[...document.querySelectorAll('#near .limit')].map((one) => one.dataset.level)"
        assert tab.run(levels) == ["amber", "fresh"]
        assert "9 N" in near[0]
        for state, frame in TOLD:
            rig(state=state, latched=["sensor.fx: force beyond its limit (61 N)"], margins={})
            tab.until(f"at('state').textContent === '{state}'")
            assert tab.run(look) == frame
            assert tab.run(place) == stops  # whatever the texts beside them
        assert text(tab, "margin") == "17.9 ms margin left"  # that of arming
        rig(state="SAFE", latched=["force"], refusals={"reset": "the cause persists: force"})
        tab.until("at('why').textContent === 'force. the cause persists: force.'")
        assert tab.errors == []
        run.follower.take(Said("one", is_over=True), None)
        run.follower.take(Ended("over"), None)
        tab.until("!document.getElementById('notice').hidden")
    assert text(tab, "state") == "SAFE"  # what it was is kept
    assert "the next one begins with the rig held" in text(tab, "why")


def test_each_limit_of_the_supervisor_has_a_bar(tab, rig):
    """Main ones and those near their limit are in view, the others in a fold, none is left out."""
    own = {**RIG["limits"][2], "where": "two", "unit": "1/s", "quantity": "lost samples"}
    limits = [
        *RIG["limits"],
        {**own, "value": 95.0, "maximum": 100.0, "used": 0.95, "level": "amber"},
        {**own, "quantity": "restarts", "value": None, "maximum": 0.0, "used": None,
         "level": "none"},
        {**own, "quantity": "delay margin left", "value": 3.0, "maximum": None, "minimum": 4.0,
         "used": 1.25, "level": "red"},
    ]  # fmt: skip
    run = Going()
    run.shown.cases[0].rig = "epos"

    def bars(of):
        return tab.run(f"[...document.querySelectorAll('{of} .limit')].map((one) =>"
                       " [one.querySelector('small').innerText, one.dataset.level,"
                       " one.getAttribute('aria-label')])")  # fmt: skip

    with served(run.shown) as url:
        rig(limits=limits)
        tab.show(url, 1366, 768)
        tab.until("document.querySelectorAll('#limited > div .limit').length === 4")
        quantities = [quantity for quantity, _, _ in bars("#limited > div")]
        assert quantities == ["force", "position", "lost samples", "delay margin left"]
        said = {label for _, _, label in bars("#limited > div")}
        assert "one.f force: 9 N, limit -10 to 10 N, near its limit" in said
        assert "two delay margin left: 3 1/s, limit at least 4 1/s, beyond its limit" in said
        fold = "document.querySelector('#limited details')"
        assert tab.run(f"{fold}.innerText") == "2 others, none near its limit"
        tab.run(f"{fold}.open = true")
        tab.until("document.querySelectorAll('#limited .limit').length === 6")
        assert bars("#limited details")[1] == [
            "restarts", "none", "two restarts: not checked now, limit 0 1/s",
        ]  # fmt: skip
        near = [quantity for quantity, _, _ in bars("#near")]
        assert near == ["delay margin left", "lost samples"]
        kept = "document.querySelector('#limited .limit').kept"
        tab.run(f"{kept} = 1")
        rig(limits=[{**limit, "value": 1.0} for limit in limits])
        tab.until("document.querySelector('#limited .limit .value').innerText === '1 N'")
        assert tab.run(kept) == 1  # changed in place: a reader of the screen does not start again
    assert tab.errors == []


def test_a_page_that_loses_its_line_says_so_and_returns(tab, rig):
    run = Going()
    run.shown.cases[0].rig = "epos"

    def offline(is_so):
        tab.call("Network.emulateNetworkConditions", offline=is_so, latency=0,
                 downloadThroughput=-1, uploadThroughput=-1)  # fmt: skip

    with served(run.shown) as url:
        run.write(10)
        tab.show(url, 1366, 768)
        tab.until("at('state').textContent === 'ACTIVE'")
        offline(True)
        tab.until("at('age').textContent.startsWith('NOT CURRENT: connection lost')")
        tab.until("!at('notice').hidden")
        assert "does not answer" in text(tab, "notice")
        rig(state="SAFE", latched=["sensor.fx: force"])
        offline(False)
        tab.until("at('state').textContent === 'SAFE'")
        tab.until("at('notice').hidden")
        tab.until("!at('age').textContent.includes('connection lost')")


def test_a_reader_of_the_screen_hears_changes_and_no_numbers(tab, rig):
    """Each turn moves time, values and bars: what is read out by itself is what happened."""
    run = Going(("one.x", "one.f"))
    run.shown.cases[0].rig = "epos"
    live = "[role=status], [role=alert], [aria-live]:not([aria-live=off]), output:not([aria-live])"
    watch = f"""
        window.said = [];
        for (const node of document.querySelectorAll({live!r}))
          new MutationObserver(() => said.push(node.id || node.className + ' ' + node.innerText))
            .observe(node, {{childList: true, characterData: true, subtree: true}});
    """

    def moved(count, value):
        run.write(count)
        rig(limits=[{**one, "value": value, "used": value / 10.0} for one in RIG["limits"]])
        tab.until(f"state.cases[0].rows > {count - 2}")
        tab.until(f"document.querySelector('#limited .value').innerText === '{value:g} N'")

    with served(run.shown) as url:
        moved_from = 500
        run.write(moved_from)
        tab.show(url, 1366, 768)
        tab.until("strips?.figure?.labels.length === 2")
        assert tab.run("at('warned').textContent") == "Near a limit: one.f force."
        now = tab.run("at('now').textContent")
        tab.run(watch)
        for count in range(1, 6):
            moved(moved_from + 100 * count, float(count))
        assert tab.run("at('now').textContent") != now
        assert tab.run("said") == []
        rig(state="SAFE", latched=["sensor.fx: force"])
        tab.until("said.length > 0")
        assert tab.run("[...new Set(said)]") == ["state"]
        tree = tab.call("Accessibility.getFullAXTree")["nodes"]
    named = {node["role"]["value"]: [] for node in tree if node.get("role") and not node["ignored"]}
    for node in tree:
        if not node["ignored"]:
            named[node["role"]["value"]].append(node.get("name", {}).get("value", ""))
    assert {"STOP", "QUICK STOP space", "arm", "engage", "reset"} <= set(named["button"])
    for role in ("button", "image", "img", "slider", "combobox", "region", "toolbar"):
        assert "" not in named.get(role, []), role
    assert any("near its limit" in name for name in named.get("image", named.get("img", [])))


def test_two_pages_are_two_operators(tab, rig):
    """The supervisor hears which page asks, and each page is told what it may do itself."""
    run = Going()
    run.shown.cases[0].rig = "epos"
    with served(run.shown) as url:
        tab.show(url, 1366, 768)
        tab.until("state?.rig?.operator")
        first = tab.run("state.rig.operator")
        rig(state="SHADOW", armed={"by": first, "left_s": 8.0, "of_s": 10.0})
        tab.until("at('why').textContent.startsWith('Armed by you.')")
        tab.run("document.querySelector('#halt [data-wish=stop]').click()")
        tab.until("at('operated').textContent === 'you: stop'")
        tab.show(url, 1366, 768)  # another page
        tab.until("state?.rig?.operator")
        second = tab.run("state.rig.operator")
        tab.until(f"at('why').textContent.startsWith('Armed by {first}.')")
        tab.run("document.querySelector('#halt [data-wish=stop]').click()")
        tab.until("at('operated').textContent === 'you: stop'")
    assert first != second
    assert [f"session 1, {page}" for page in Supervisor.by] == [first, second]
    assert tab.errors == []


def test_space_is_the_quick_stop_wherever_the_focus_is_but_in_text(tab, rig):
    run = Going()
    run.shown.cases[0].rig = "epos"
    with served(run.shown) as url:
        run.write(10)
        tab.show(url, 1366, 768)
        tab.until("at('state').textContent === 'ACTIVE' && !at('marking').hidden")
        for count, place in enumerate(("#operate [data-wish=disengage]", "#window", "#slider"), 1):
            tab.run(f"document.querySelector('{place}').focus()")
            tab.press(" ")
            tab.until("at('operated').textContent === 'you: quickstop'")
            assert Supervisor.wishes == ["quickstop"] * count, place  # no button was pressed
            tab.run("at('operated').textContent = ''")
        tab.run("at('text').focus()")
        tab.press(" ")
        assert (tab.run("at('text').value"), len(Supervisor.wishes)) == (" ", 3)
        tab.press("Escape")
        tab.until("at('operated').textContent === 'you: quickstop'")
        assert len(Supervisor.wishes) == 4
        held = "new KeyboardEvent('keydown', {key: ' ', repeat: true, bubbles: true})"
        tab.run(f"document.body.dispatchEvent({held})")
        rig(refusals={"arm": "'arm' is possible in SHADOW"})
        arm = "document.querySelector('#operate [data-wish=arm]')"
        tab.until(f"{arm}.getAttribute('aria-disabled') === 'true'")
        tab.run(f"{arm}.click()")
        assert tab.run("at('operated').textContent") == "'arm' is possible in SHADOW"
        stops = "[...document.querySelectorAll('#halt button')]"
        assert tab.run(f"{stops}.map((one) => one.getAttribute('aria-disabled'))") == ["false"] * 2
        tab.run(f"{stops}[0].click()")
        tab.until("at('operated').textContent === 'you: stop'")
        scrolled = "(scrollTo(0, 400), document.querySelector('#bar').getBoundingClientRect().top)"
        assert tab.run(scrolled) == 0
    assert Supervisor.wishes[4:] == ["stop"]
    assert tab.errors == []


def test_how_old_the_picture_is_is_said_and_that_it_is_not_current(tab, rig):
    """By the newest row, the supervisor and the last answer, whichever is oldest."""
    run = Going()
    run.shown.cases[0].rig = "epos"
    with served(run.shown) as url:
        run.write(10)
        run.rows.clocks_ns[:10] = time.monotonic_ns()
        tab.show(url, 1366, 768)
        tab.until("['amber', 'red'].includes(document.body.dataset.age)")  # no row comes any more
        tab.until("document.body.dataset.age === 'red'")
        assert text(tab, "age").startswith("NOT CURRENT")
        assert "not current" in tab.run("at('stale').textContent")
        ages = "[[0.1, 0], [0.6, 0], [2.1, 0], [0.1, 1]].map(([age, lost]) => levelOf(age, lost))"
        assert tab.run(ages) == ["fresh", "amber", "red", "red"]
        aged = (
            "ageOf({}, {rows: 9, state: 'running', age_s: 0.1, factor: 1}, 5, 5, {age_s: 0.2}, 3)"
        )
        assert tab.run(aged) == pytest.approx(3.2)  # the computer slept for 3 s
        rig(gone=True)
        tab.until("state.rig.age_s > 0.5")
    tab.until("failures > 0")
    tab.until("at('age').textContent.startsWith('NOT CURRENT: connection lost')")


def test_channels_are_chosen_and_what_is_counted_stands_apart(tab, rig):
    run = Going(("one.x", "one.f", "one.lost", "two.v"))
    run.shown.cases[0].rig = "epos"
    with served(run.shown) as url:
        run.write(500)
        tab.show(url, 1366, 768)
        tab.until("strips?.figure?.labels.length === 2")  # the watched signals
        groups = "[...document.querySelectorAll('#add optgroup')].map((one) => one.label)"
        assert tab.run(groups) == ["one", "two", "one: what is counted"]
        tab.run("at('add').value = 'two.v'; at('add').dispatchEvent(new Event('change'))")
        tab.until("strips.figure.labels.includes('two.v')")
        tab.until("strips.figure.panels.at(-1).curves[0].x.length > 400")
        lines = tab.run("strips.figure.panels[0].described.lines.map(([label]) => label)")
        assert lines == ["", "limit -10 N", "limit 10 N"]
        tab.run("document.querySelector('#chosen button').click()")
        assert tab.run("strips.figure.labels") == ["one.x", "two.v"]
        assert tab.run("document.documentElement.scrollWidth") <= 1366
    assert tab.errors == []


@pytest.mark.slow
def test_a_page_that_is_looked_at_for_long_does_not_grow(tab, rig):
    """3,000 turns: five minutes of a viewer, driven as fast as the server answers."""
    run = Going()
    run.shown.cases[0].rig = "epos"

    def heap():
        tab.call("HeapProfiler.collectGarbage")
        return tab.call("Runtime.getHeapUsage")["usedSize"]

    turns = "(async () => { for (let i = 0; i < 1500; i++) { await turn(); moment(); } })()"
    with served(run.shown) as url:
        run.write(2900)
        tab.show(url, 1366, 768)
        tab.until("strips?.figure?.labels.length === 2")
        tab.run("(async () => { for (let i = 0; i < 200; i++) await turn(); })()")
        nodes = "document.querySelectorAll('*').length"
        before = heap(), tab.run(nodes)
        tab.run(turns)
        tab.run(turns)
        assert heap() < before[0] + 1e6
        assert tab.run(nodes) <= before[1] + 10
    assert tab.errors == []
