import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from orchestrator import Block
from orchestrator.core.diagnostics import LoadError, PluginError, SoftdockError
from orchestrator.core.simunits import block
from orchestrator.core.system import Causality, Connector, System
from orchestrator.study.experiment import Case, RunOptions
from orchestrator.study.measure.outcome import Measured
from orchestrator.study.prepare.prepared_case import PreparedCase
from orchestrator.study.sweep import jobs
from orchestrator.study.sweep.jobs import Fingerprints, JobRecord
from orchestrator.study.sweep.store import Store

TEXT = """
[sweep.c]
cases = ["slope"]
measures = ["end"]
seeds = 2
[sweep.c.over.slope]
set = ["a.u"]
values = [3.0, 1.0]
"""


def ran(outcomes):
    return outcomes["c"].ran, outcomes["c"].stored_count


def test_what_is_done_is_not_done_again(swept):
    assert ran(swept(TEXT)) == (4, 0)
    assert ran(swept(TEXT)) == (0, 4)
    assert ran(swept(TEXT.replace("3.0, 1.0", "3.0, 1.0, 2.0"))) == (2, 4)
    fewer = swept(TEXT.replace("3.0, 1.0", "3.0"))["c"]
    assert set(fewer.records) == {job.key for job in fewer.plan.jobs}
    assert (len(fewer.records), fewer.ran) == (2, 0)
    assert ran(swept(TEXT, fresh=True)) == (4, 0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["end"]', '["end", "way"]'),
        ("seeds = 2", "seeds = [7, 8]"),
        ("seeds = 2", "seeds = 2\nstop = '2 s'"),
        ("seeds = 2", "seeds = 2\nevery = 2"),
    ],
)
def test_what_changed_is_run_again(swept, old, new):
    swept(TEXT)
    assert ran(swept(TEXT.replace(old, new))) == (4, 0)


def test_names_and_labels_change_nothing(swept):
    swept(TEXT)
    changed = TEXT.replace("seeds = 2", "seeds = 2\ntitle = 'other'").replace(
        "over.slope", "over.u"
    )
    assert ran(swept(changed)) == (0, 4)


def test_another_fmu_is_another_run(swept, folder, small_fmu):
    swept(TEXT)
    other = small_fmu("crash_on_demand", "-g")
    for name in ("slope.ssd", "flat.ssd"):
        path = folder / name
        text = path.read_text()
        start = text.index('source="') + len('source="')
        old = text[start : text.index('"', start)]
        path.write_text(text.replace(old, str(other)))
    assert ran(swept(TEXT)) == (4, 0)


@pytest.mark.parametrize("change", [{"unit": "mm"}, {"start": 2.0}])
def test_another_connector_of_the_system_itself_is_another_run(change):
    connector = Connector("reach", Causality.PARAMETER, unit="m", start=1.0)
    system = System("s", connectors={"reach": connector})
    other = replace(system, connectors={"reach": replace(connector, **change)})
    prints = Fingerprints()
    options = RunOptions(step="1 ms")
    first, second = (
        prints.run(PreparedCase("s", Case(system="s"), options, each)) for each in (system, other)
    )
    assert first != second


BLOCK = """
from orchestrator import Block

FACTOR = 1.0


class Half(Block):
    pass
"""


@pytest.mark.parametrize("files", [("__init__.py", "inner/halves.py"), ("inner/halves.py",)])
def test_another_text_of_a_package_is_another_run(tmp_path, monkeypatch, files):
    package = f"packed_in_{len(files)}"
    for name in files:
        path = tmp_path / package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BLOCK if path.stem == "halves" else "", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    half = block(f"{package}.inner.halves:Half").source
    first = Fingerprints().block(half)
    assert Fingerprints().block(half) == first
    path.write_text(BLOCK.replace("1.0", "2.0"), encoding="utf-8")
    assert Fingerprints().block(half) != first


def test_a_block_without_files_has_no_hash(monkeypatch, wording):
    made = ModuleType("made_by_hand")
    made.Half = type("Half", (Block,), {"__module__": "made_by_hand"})
    monkeypatch.setitem(sys.modules, "made_by_hand", made)
    half = block("made_by_hand:Half").source
    with wording.raises(PluginError):
        Fingerprints().block(half)


def test_what_hashes_remember_is_bounded(monkeypatch):
    monkeypatch.setattr(jobs, "_REMEMBERED", 3)
    prints, options = Fingerprints(), RunOptions(step="1 ms")
    keys = set()
    for start in range(20):
        own = {"reach": Connector("reach", Causality.PARAMETER, start=float(start))}
        variant = PreparedCase("s", Case(system="s"), options, System("s", connectors=own))
        keys |= {prints.run(variant), Fingerprints().run(variant)}
        assert len(prints._parts) <= 3
    assert len(keys) == 20


def test_a_line_that_was_not_finished_is_run_again(swept, folder):
    swept(TEXT)
    path = folder / "out" / "c.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-40])
    assert ran(swept(TEXT)) == (1, 3)
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 6  # three, a half one, the new one, nothing
    assert ran(swept(TEXT)) == (0, 4)


def test_a_line_may_end_anywhere(tmp_path):
    path = tmp_path / "c.jsonl"
    figures = {"end": Measured(1.0, "m", {"time_s": 2.0})}
    with Store(path) as store:
        store.append(JobRecord("k", "c", {"x": 1.0, "y": "z"}, 3, "done", measured=figures))
    whole = path.read_bytes().rstrip(b"\n")
    assert list(Store(path).read()) == ["k"]
    for end in range(len(whole)):
        path.write_bytes(whole[:end] + b"\n" + whole.replace(b'"k"', b'"l"') + b"\n")
        assert list(Store(path).read()) == ["l"]


@pytest.mark.parametrize("damage", ['{"key": "1"}', "not json", '{"key": "1", "case": 3}', "[]"])
def test_a_file_of_something_else_is_refused(swept, folder, damage, wording):
    swept(TEXT)
    path = folder / "out" / "c.jsonl"
    path.write_text(f"{damage}\n{path.read_text()}")
    with wording.raises(LoadError):
        swept(TEXT)
    assert ran(swept(TEXT, fresh=True)) == (4, 0)


GOOD = {
    "key": "k", "case": "c", "at": {"x": 1.5, "n": 3, "on": True, "law": "pi"}, "seed": 3,
    "status": "done", "reason": "", "wall_s": 1, "measures": {"m": {"value": 1, "unit": "m"}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"at": 3}, "'at': Input should be a valid dictionary, found '3'"),
        ({"at": {"x": None}}, "'at.x."),
        ({"status": "perhaps"}, "'status': Input should be 'done', 'failed'"),
        ({"seed": "3"}, "'seed': "),
        ({"wall_s": -1.0}, "'wall_s': "),
        ({"case": None}, "'case': "),
        ({"measures": {"m": {"value": "x", "unit": "m"}}}, "'measures.m.value': "),
        ({"measures": {"m": {"value": 1.0}}}, "'measures.m.unit': Field required"),
        ({"measures": {"m": {"value": 1.0, "unit": "m", "at": []}}}, "'measures.m.at."),
        ({"seed": 10**400}, "an integer of 401 digits"),
    ],
)
def test_a_record_that_cannot_be_meant_is_refused(tmp_path, change, expected):
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    assert Store(path).read()["k"].point == GOOD["at"]
    line = json.dumps(GOOD | change).replace('{"key": ', '{ "key": ')  # as no process writes it
    path.write_text(json.dumps(GOOD) + "\n" + line + "\n", encoding="utf-8")
    with pytest.raises(LoadError) as error:
        Store(path).read()
    assert f"{path}:2: expected a record of a run: " in str(error.value)
    assert expected in str(error.value)


def test_failed_runs_are_repeated_when_asked(swept):
    text = "[case.slope.measure.growth]\nkind = 'growth'\nsignal = 'a.y'\n"
    text += TEXT.replace('"end"', '"growth"')
    assert ran(swept(text)) == (4, 0)
    assert ran(swept(text)) == (0, 4)
    assert ran(swept(text, retry_failed=True)) == (4, 0)


def test_two_sweeps_do_not_write_one_file(swept, folder, wording):
    swept(TEXT)
    with Store(folder / "out" / "c.jsonl") as store:
        record = next(iter(store.read().values()))
        store.append(record)
        with wording.raises(SoftdockError):
            swept(TEXT.replace("3.0", "4.0"))
        with wording.raises(SoftdockError):
            swept(TEXT, fresh=True)
        assert len(store.read()) == 4
    assert ran(swept(TEXT.replace("3.0", "4.0"))) == (2, 2)


def test_what_cannot_be_written_is_said(wording):
    with Store(Path("/dev/full")) as store, wording.raises(SoftdockError):
        store.append(JobRecord("k", "c", {}, None, "done"))
