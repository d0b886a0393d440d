import json

import numpy as np
import pandas as pd
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study.sweep import jobs

SLOPES = """
[sweep.c]
cases = ["slope"]
measures = ["end"]
[sweep.c.over.slope]
label = "Slope"
unit = "1"
set = ["a.u"]
values = [3.0, 1.0]
"""


def rows(outcome):
    """Rows of the table, without the time that they took."""
    return pd.read_csv(next(p for p in outcome.files if p.suffix == ".csv")).drop(
        columns="wall time [s]"
    )


def test_a_grid_is_run_in_the_order_of_the_file(swept):
    outcome = swept(
        SLOPES + '[sweep.c.over.step]\nstep = true\nlabel = "Step"\nvalues = ["50 ms", 0.1]\n'
    )["c"]
    table = rows(outcome)
    assert list(table.columns) == [
        "Slope", "Step [ms]", "case", "end", "end: time_s", "status", "reason",
    ]  # fmt: skip
    np.testing.assert_array_equal(table["Slope"], [3, 3, 1, 1])
    np.testing.assert_array_equal(table["Step [ms]"], [50, 100, 50, 100])
    # Sums of 20 or 10 equal steps, rounded in each.
    np.testing.assert_allclose(table["end"], [3, 3, 1, 1], rtol=1e-14)
    assert set(table["status"]) == {"done"}
    assert [outcome.ran, outcome.stored_count] == [4, 0]


def test_the_parquet_table_is_the_same_as_the_csv(swept):
    outcome = swept(SLOPES)["c"]
    parquet = pd.read_parquet(outcome.files[0]).drop(columns="wall time [s]")
    import pyarrow.parquet as pq

    content = json.loads(pq.read_schema(outcome.files[0]).metadata[b"softdock"])
    assert content["over"] == {
        "slope": {"label": "Slope", "unit": "1", "set": ["a.u"], "values": [3.0, 1.0]}
    }
    assert content["versions"]["softdock"]
    assert set(parquet.pop("reason")) == {""}
    pd.testing.assert_frame_equal(parquet, rows(outcome).drop(columns="reason"))


@pytest.mark.parametrize(
    ("axis", "ends"),
    [
        ("set = ['a.u']\nscale = true\nvalues = [2.0, 5.0]", [2.0, 5.0]),
        ("set = ['a.u']\nfrom = 2\nto = 8\ncount = 3\nspacing = 'log'", [2.0, 4.0, 8.0]),
        ("set = ['b.at']\nproportional = ['a.u']\nvalues = [1e9, 3e9]", [1.0, 3.0]),
        ("set = ['a.phase']\nfrom = 0\nto = 0.0\ncount = 1\n", None),
    ],
)
def test_axes_change_what_they_say(swept, axis, ends, wording):
    text = SLOPES[: SLOPES.index("label")] + axis + "\n"
    if ends is None:
        with wording.raises(DescriptionError, code="EXP102", key="sweep.c"):
            swept(text)
        return
    np.testing.assert_allclose(rows(swept(text)["c"])["end"], ends, rtol=1e-14)


def test_a_delay_is_swept_where_the_case_has_the_connection(swept):
    text = SLOPES[: SLOPES.index("label")].replace('"end"', '"way"')
    text += 'delay = ["a.y -> b.u"]\nvalues = ["200 ms", "400 ms"]\n'
    outcome = swept(text.replace("[sweep.c]", "[sweep.c]\nseeds = [0]"))["c"]
    table = rows(outcome)
    np.testing.assert_array_equal(table["slope [ms]"], [200, 400])
    # Less of the slope has arrived after a longer delay; both have the same noise.
    early, late = table["way"]
    assert early > late


def test_figures_of_faults_are_swept_and_seeds_give_other_noise(swept):
    text = SLOPES[: SLOPES.index("label")].replace('"end"', '"way"')
    text += "fault = ['noise.sigma']\nvalues = [0.0, 1.0]\n"
    table = rows(swept(text.replace("[sweep.c]", "[sweep.c]\nseeds = 3"))["c"])
    quiet, loud = table[table["slope"] == 0.0]["way"], table[table["slope"] == 1.0]["way"]
    assert list(table["seed"]) == [1, 2, 3, 1, 2, 3]
    assert len(set(quiet)) == 1
    assert len(set(loud)) == 3


def test_a_case_that_a_seed_does_not_reach_is_run_once(swept):
    text = SLOPES.replace("[sweep.c]", "[sweep.c]\nseeds = 4").replace(
        'cases = ["slope"]', 'cases = ["slope", "flat"]'
    )
    text = text + "[case.flat.measure]\nend = { kind = 'final', signal = 'a.y' }\n"
    outcome = swept(text)["c"]
    assert len(outcome.plan.jobs) == 16
    assert len(outcome.plan.distinct) == 2 * 4 + 2
    assert len(rows(outcome)) == 16


def test_what_is_compared_with_is_run_once_for_a_point(swept, monkeypatch):
    ran = []
    run_case = jobs.run_case
    monkeypatch.setattr(
        jobs,
        "run_case",
        lambda case, **key: ran.append(case.name) or run_case(case, **key),
    )
    text = SLOPES.replace('"end"', '"apart"').replace("[sweep.c]", "[sweep.c]\nseeds = 3")
    text = text.replace("values = [3.0, 1.0]", "values = [3.0, 7.0]")
    table = rows(swept(text)["c"])
    # The slope is set in both cases, so they differ by nothing but what the noise does not reach.
    np.testing.assert_array_equal(table["apart"], 0.0)
    assert sorted(ran) == ["flat"] * 2 + ["slope"] * 6


def test_a_run_that_fails_is_a_row(swept, register, monkeypatch):
    from orchestrator.core.simunits import Block, Input, Output

    class Fuse(Block):
        u: float = Input()
        y: float = Output()

        def step(self, t, h):
            if self.u > 0.5:
                raise ValueError("blown")
            self.y = self.u

    register(fuse=Fuse)
    text = SLOPES.replace('"slope"]', '"fused"]').replace("3.0, 1.0", "1.0, 0.1")
    text = "[case.fused]\nsystem = 'slope.ssd'\nswap = { b = 'block:fuse' }\n" + text
    text += "[case.fused.measure]\nend = { kind = 'final', signal = 'b.y' }\n"
    outcome = swept(text)["c"]
    table = rows(outcome)
    assert list(table["status"]) == ["failed", "done"]
    assert "component 'b' failed" in table["reason"][0]
    assert "blown" in table["reason"][0]
    assert np.isnan(table["end"][0])
    assert outcome.counts() == {"failed": 1, "done": 1}


def test_an_error_of_any_kind_is_a_row(swept, monkeypatch):
    run_case = jobs.run_case

    def broken(case, **rest):
        if case.system.value("a.u") == 1.0:
            raise RuntimeError("not\nforeseen")
        return run_case(case, **rest)

    monkeypatch.setattr(jobs, "run_case", broken)
    table = rows(swept(SLOPES)["c"])
    assert list(table["status"]) == ["done", "failed"]
    assert table["reason"][1] == "RuntimeError: not foreseen"


def test_a_safe_state_is_told_and_is_no_failure(swept, register):
    from orchestrator.core.simunits import Block, Input, Notice, Output

    class Guard(Block):
        u: float = Input()
        y: float = Output()

        def step(self, t, h):
            self.y = self.u

        def notices(self):
            return (Notice(400_000_000, "too fast", safe=True),) if self.y > 0.5 else ()

    register(guard=Guard)
    text = SLOPES.replace('"slope"]', '"guarded"]').replace("3.0, 1.0", "1.0, 0.1")
    text = "[case.guarded]\nsystem = 'slope.ssd'\nswap = { b = 'block:guard' }\n" + text
    text += "[case.guarded.measure]\nend = { kind = 'final', signal = 'b.y' }\n"
    outcome = swept(text)["c"]
    table = rows(outcome)
    assert list(table["status"]) == ["safe state", "done"]
    assert table["reason"][0] == "SAFE STATE of component 'b' at 0.4 s: too fast"
    np.testing.assert_allclose(table["end"], [1.0, 0.1], rtol=1e-14)
    assert swept(text, retry_failed=True)["c"].ran == 0


@pytest.mark.slow
def test_components_may_have_processes_of_their_own(swept):
    text = SLOPES.replace("[sweep.c]", "[sweep.c]\nseeds = [0]")
    text += "[case.slope.unit.a]\nisolation = 'process'\n"
    table = rows(swept(text, workers=2)["c"])
    np.testing.assert_allclose(table["end"], [3, 1], rtol=1e-14)


def test_a_measure_that_cannot_be_read_off_leaves_the_others(swept):
    text = SLOPES.replace('["end"]', '["end", "growth"]')
    text = "[case.slope.measure.growth]\nkind = 'growth'\nsignal = 'a.y'\n" + text
    table = rows(swept(text)["c"])
    assert list(table["status"]) == ["unmeasured", "unmeasured"]
    assert table["reason"][0].startswith("measure 'growth': case 'slope', 'a.y': growth fit")
    np.testing.assert_allclose(table["end"], [3, 1], rtol=1e-14)


def test_what_is_not_finite_is_told(swept):
    text = SLOPES.replace("3.0, 1.0", "1e308, 1.0").replace('"end"', '"way"')
    outcome = swept(text.replace("[sweep.c]", "[sweep.c]\nstop = '10 s'"))["c"]
    assert [r.status for r in outcome.records.values()][1] == "done"
    first = next(iter(outcome.records.values()))
    assert first.status in {"diverged", "failed"}
    assert first.reason


@pytest.mark.parametrize("design", ["latin-hypercube", "random"])
def test_random_designs_lie_between_the_ends(swept, design):
    text = SLOPES.replace("[sweep.c]", f"[sweep.c]\ndesign = '{design}'\ncount = 8")
    text = text.replace("values = [3.0, 1.0]", "from = 1\nto = 9")
    text += "[sweep.c.over.other]\nset = ['b.at']\nfrom = 1\nto = 1e8\nspacing = 'log'\n"
    table = rows(swept(text)["c"])
    np.testing.assert_allclose(table["end"], table["Slope"], rtol=1e-14)
    if design == "latin-hypercube":  # one point in each of eight slices
        assert sorted(((table["Slope"] - 1) // 1).astype(int)) == list(range(8))
        assert sorted(np.log10(table["other"]) // 1) == list(range(8))
    assert rows(swept(text, output="again")["c"])["Slope"].equals(table["Slope"])


@pytest.mark.slow
def test_a_run_sweeps_as_the_command_does(swept, write):
    from orchestrator.study import read_experiment, run_experiment

    text = "[sweep.s]\ncase = 'slope'\nover = ['a.u', 'fault.noise.sigma']\nvalues = [2, 4]\n"
    text += "measures = ['way']\n"
    table = rows(swept(text)["s"])
    path = write(text)
    ran = run_experiment(read_experiment(path), path.parent, path.parent / "run").sweeps["s"]
    np.testing.assert_array_equal(table["way"], [m.value for m in ran.measured["way"]])
