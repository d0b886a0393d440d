from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaign.experiment import Case, RunOptions
from orchestrator.campaign.outcome import Measured
from orchestrator.campaign.targets import Variant
from orchestrator.errors import LoadError, SoftdockError
from orchestrator.sweep import fingerprint
from orchestrator.sweep.fingerprint import Fingerprints
from orchestrator.sweep.job import Record
from orchestrator.sweep.store import Store
from orchestrator.system import Causality, Connector, System

TEXT = """
[campaign.c]
cases = ["slope"]
measures = ["end"]
seeds = 2
[campaign.c.over.slope]
set = ["a.u"]
values = [3.0, 1.0]
"""


def ran(outcomes):
    return outcomes["c"].ran, outcomes["c"].kept


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
    own = Connector("reach", Causality.PARAMETER, unit="m", start=1.0)
    system = System("s", connectors={"reach": own})
    other = replace(system, connectors={"reach": replace(own, **change)})
    prints = Fingerprints()
    options = RunOptions(step="1 ms")
    first, second = (
        prints.run(Variant(Case(system="s"), options, each)) for each in (system, other)
    )
    assert first != second


def test_what_hashes_remember_is_bounded(monkeypatch):
    monkeypatch.setattr(fingerprint, "_REMEMBERED", 3)
    prints, options = Fingerprints(), RunOptions(step="1 ms")
    keys = set()
    for start in range(20):
        own = {"reach": Connector("reach", Causality.PARAMETER, start=float(start))}
        variant = Variant(Case(system="s"), options, System("s", connectors=own))
        keys |= {prints.run(variant), Fingerprints().run(variant)}
        assert len(prints._parts) <= 3
    assert len(keys) == 20


def test_a_line_that_was_not_finished_is_run_again(swept, folder):
    swept(TEXT)
    path = folder / "out" / "c.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    assert ran(swept(TEXT)) == (1, 3)
    lines = path.read_bytes().split(b"\n")
    assert len(lines) == 6  # three, a half one, the new one, nothing
    assert ran(swept(TEXT)) == (0, 4)


def test_a_line_may_end_anywhere(tmp_path):
    path = tmp_path / "c.jsonl"
    figures = {"end": Measured(1.0, "m", {"time_s": 2.0})}
    with Store(path) as store:
        store.append(Record("k", "c", {"x": 1.0, "y": "z"}, 3, "done", measured=figures))
    whole = path.read_bytes().rstrip(b"\n")
    assert list(Store(path).read()) == ["k"]
    for end in range(len(whole)):
        path.write_bytes(whole[:end] + b"\n" + whole.replace(b'"k"', b'"l"') + b"\n")
        assert list(Store(path).read()) == ["l"]


@pytest.mark.parametrize("damage", ['{"key": "1"}', "not json", '{"key": "1", "case": 3}', "[]"])
def test_a_file_of_something_else_is_refused(swept, folder, damage):
    swept(TEXT)
    path = folder / "out" / "c.jsonl"
    path.write_text(f"{damage}\n{path.read_text()}")
    with pytest.raises(LoadError, match=r"c\.jsonl:1: expected a record"):
        swept(TEXT)
    assert ran(swept(TEXT, fresh=True)) == (4, 0)


def test_failed_runs_are_repeated_when_asked(swept):
    text = "[case.slope.measure.growth]\nkind = 'growth'\nsignal = 'a.y'\n"
    text += TEXT.replace('"end"', '"growth"')
    assert ran(swept(text)) == (4, 0)
    assert ran(swept(text)) == (0, 4)
    assert ran(swept(text, retry_failed=True)) == (4, 0)


def test_two_sweeps_do_not_write_one_file(swept, folder):
    swept(TEXT)
    with Store(folder / "out" / "c.jsonl") as store:
        record = next(iter(store.read().values()))
        store.append(record)
        with pytest.raises(SoftdockError, match=r"c\.jsonl: another sweep is writing this file"):
            swept(TEXT.replace("3.0", "4.0"))
        with pytest.raises(SoftdockError, match=r"c\.jsonl: another sweep is writing this file"):
            swept(TEXT, fresh=True)
        assert len(store.read()) == 4
    assert ran(swept(TEXT.replace("3.0", "4.0"))) == (2, 2)


def test_what_cannot_be_written_is_said():
    with Store(Path("/dev/full")) as store, pytest.raises(SoftdockError, match="No space left"):
        store.append(Record("k", "c", {}, None, "done"))
