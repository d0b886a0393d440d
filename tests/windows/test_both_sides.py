"""The same commands on Windows, under Wine, and here: files and figures are the same."""

import csv
import json
import re
import zipfile
from itertools import chain

import numpy as np
import pytest

from orchestrator import read_result

NEAR = 1e-12  # of the largest value of a signal, or of 1
#: What a run measures of the computer, and which package wrote its table.
OF_THE_COMPUTER = {"wall_s", "real_time_factor", "seconds", "versions", "machine", "result"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("both")


@pytest.fixture(scope="module")
def epos(folder, sides):
    """Folders of the results of EPOS, of this side and of Windows."""
    linux, _ = sides
    linux.softdock("examples", "copy", "epos", cwd=folder)
    for side in sides:
        side.softdock("run", "epos", "--output", side.name, cwd=folder)
    return tuple(folder / side.name for side in sides)


TWO = """\
[system]
name = "two"
[component.chaser]
source = "epos/fmus/build/Chaser.fmu"
[component.target]
source = "epos/fmus/build/Target.fmu"
[connectors]
position = { causality = "output", unit = "m" }
velocity = { causality = "output", unit = "m/s" }
[connections]
"chaser.position -> position" = {}
"target.velocity -> velocity" = {}
"""


MAPS = """\
title = "Peak force"
[case.ideal]
system = "epos/ideal.ssd"
step = "1 ms"
stop = "1 s"
algorithm = "gauss-seidel"
[case.ideal.measure]
peak = { kind = "peak", signal = "contact.force_b" }
[sweep.mass]
cases = ["ideal"]
measures = ["peak"]
[sweep.mass.over.mass]
label = "Mass"
unit = "kg"
set = ["chaser.m"]
values = [500, 750, 1000, 1250]
"""


def _without_facts(description):
    """Leave out what is different in each export: its time, and the hash of its libraries."""
    return re.sub(rb' (?:generationDateAndTime|guid|generationTool)="[^"]*"', b"", description)


def _tables(folder):
    files = chain(folder.glob("*.parquet"), folder.glob("*.npz"))
    return {file.stem: read_result(file) for file in files}


def _distance(here, there):
    here, there = np.asarray(here, float), np.asarray(there, float)
    assert here.shape == there.shape
    assert (np.isnan(here) == np.isnan(there)).all()
    scale = max(1.0, np.nanmax(np.abs(here), initial=0.0))
    return np.nanmax(np.abs(here - there), initial=0.0) / scale


def test_tables_of_epos_are_equal(epos):
    here, there = map(_tables, epos)
    assert here.keys() == there.keys()
    assert len(here) == 12
    for name, table in here.items():
        assert (table.time_ns == there[name].time_ns).all()
        assert table.names == there[name].names
        assert max(_distance(table[n], there[name][n]) for n in table.names) <= NEAR


def test_ledgers_of_epos_are_equal(epos):
    names = sorted(file.name for file in epos[0].glob("*.ledger.csv"))
    assert len(names) == 8
    assert names == sorted(file.name for file in epos[1].glob("*.ledger.csv"))
    for name in names:
        here, there = (
            list(csv.reader((folder / name).read_text(encoding="utf-8").splitlines()))
            for folder in epos
        )
        assert here[0] == there[0]
        assert [row[0] for row in here[1:]] == [row[0] for row in there[1:]]
        here, there = ([_figures(row) for row in rows[1:]] for rows in (here, there))
        assert _distance(here, there) <= NEAR


def _figures(row):
    def figure(cell):
        try:
            return float(cell)
        except ValueError:
            return np.nan

    return [figure(cell) for cell in row]


def _leaves(value, at=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in OF_THE_COMPUTER:
                yield from _leaves(inner, f"{at}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{number}]")
    else:
        yield at, value


def test_summaries_of_epos_are_equal(epos):
    here, there = (
        dict(_leaves(json.loads((folder / "summary.json").read_text(encoding="utf-8"))))
        for folder in epos
    )
    assert here.keys() == there.keys()
    assert len(here) > 500
    for place, value in here.items():
        if isinstance(value, float):
            assert there[place] == pytest.approx(value, rel=NEAR, abs=NEAR), place
        elif place.startswith(".files"):
            assert there[place].partition("/")[2] == value.partition("/")[2], place
        else:
            assert there[place] == value, place


def test_texts_of_a_report_have_the_line_ends_of_linux(epos):
    for folder in epos:
        for file in ("summary.json", "report.html", "verdicts.json", "ideal.ledger.csv"):
            assert b"\r\n" not in (folder / file).read_bytes(), file


def test_edited_systems_are_equal_byte_for_byte(folder, epos, sides):
    """SSP and TOML: written, edited, converted there and back."""
    written = {}
    for side in sides:
        inner = folder / f"edit-{side.name}"
        inner.mkdir()
        (inner / "a.ssd").write_bytes((folder / "epos" / "ideal.ssd").read_bytes())
        fmus = inner / "fmus" / "build"
        fmus.mkdir(parents=True)
        for file in (folder / "epos" / "fmus" / "build").glob("*.fmu"):
            (fmus / file.name).write_bytes(file.read_bytes())
        for words in (
            ("system", "set", "a.ssd", "chaser.m=41"),
            ("system", "rename", "a.ssd", "chaser", "jäger"),
            ("system", "convert", "a.ssd", "b.system.toml"),
            ("system", "convert", "b.system.toml", "c.ssd"),
            ("export", "ssp", "c.ssd", "--output", "d.ssp"),
            ("system", "set", "d.ssp", "jäger.m=42"),
        ):
            side.softdock(*words, cwd=inner)
        with zipfile.ZipFile(inner / "d.ssp") as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        files = {name: (inner / name).read_bytes() for name in ("a.ssd", "b.system.toml", "c.ssd")}
        written[side.name] = files | entries
    here, there = written.values()
    assert here.keys() == there.keys()
    assert [name for name in here if here[name] != there[name]] == []


def test_a_packed_system_of_one_side_runs_on_the_other(folder, epos, sides):
    for side, other in (sides, sides[::-1]):
        archive = f"of-{side.name}.ssp"
        side.softdock("export", "ssp", "epos/ideal.ssd", "--output", archive, cwd=folder)
        other.softdock(
            "run", archive, "--stop", "0.5 s", "--output", f"by-{other.name}", cwd=folder
        )
    here, there = (_tables(folder / f"by-{side.name}") for side in sides)
    ((_, first),), ((_, second),) = here.items(), there.items()
    assert len(first.time_ns) > 100
    assert max(_distance(first[name], second[name]) for name in first.names) <= NEAR


@pytest.mark.parametrize("suffix", ["npz", "csv", "mat", "parquet"])
def test_a_result_of_one_side_is_read_on_the_other(folder, epos, sides, suffix):
    linux, windows = sides
    for source, writer, reader in ((epos[0], linux, windows), (epos[1], windows, linux)):
        table = next(chain(source.glob("ideal.parquet"), source.glob("ideal.npz")))
        file, back = f"by-{writer.name}.{suffix}", f"back-{reader.name}-{suffix}.npz"
        writer.softdock("convert", table.relative_to(folder), file, cwd=folder)
        reader.softdock("convert", file, back, cwd=folder)
        before, after = read_result(table), read_result(folder / back)
        assert after.names == before.names
        assert (after.time_ns == before.time_ns).all()
        assert all((after[name] == before[name]).all() for name in before.names)


def test_an_exported_system_of_one_side_runs_on_the_other(folder, epos, sides):
    """Exported for both platforms here; what Windows exports has the same description.

    A system of FMUs alone: Zig, which compiles blocks on Windows, does not run under Wine 8.
    """
    linux, windows = sides
    (folder / "two.system.toml").write_text(TWO, encoding="utf-8")
    linux.softdock("export", "fmu", "two.system.toml", "--step", "1 ms", "--platform",
                   "linux64,win64", "--output", "both.fmu", cwd=folder)  # fmt: skip
    windows.softdock("export", "fmu", "two.system.toml", "--step", "1 ms",
                     "--output", "windows.fmu", cwd=folder)  # fmt: skip
    both, alone = folder / "both.fmu", folder / "windows.fmu"
    with zipfile.ZipFile(both) as zip_file, zipfile.ZipFile(alone) as two:
        name = "modelDescription.xml"
        assert _without_facts(zip_file.read(name)) == _without_facts(two.read(name))
        library = next(name for name in two.namelist() if name.startswith("binaries/"))
        assert library.startswith("binaries/win64/")
        assert library in zip_file.namelist()
    results = []
    for side, file in ((linux, "both.fmu"), (windows, "both.fmu"), (windows, "windows.fmu")):
        output = f"{side.name}-{file.removesuffix('.fmu')}"
        lines = (
            "from orchestrator import System, fmu, simulate",
            f"system = System('s').add('a', fmu({file!r}))",
            f"simulate(system, stop='0.5 s', step='1 ms').save({output + '.npz'!r})",
        )
        code, printed, errors = side.run("-c", "\n".join(lines), cwd=folder)
        assert code == 0, printed + errors
        results.append(read_result(folder / f"{output}.npz"))
    first, *others = results
    assert first.names == ("a.position", "a.velocity")
    for other in others:
        assert other.names == first.names
        assert max(_distance(first[name], other[name]) for name in first.names) <= NEAR


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sweep_has_the_same_points(folder, epos, sides, workers):
    del epos
    (folder / "maps.toml").write_text(MAPS, encoding="utf-8")
    tables = []
    for side in sides:
        output = folder / f"maps-{side.name}-{workers}"
        words = ("sweep", "maps.toml", "--workers", workers, "--output", output.name)
        side.softdock(*words, cwd=folder)
        tables.append(list(csv.reader((output / "mass.csv").read_text("utf-8").splitlines())))
    assert len(tables[0]) == 1 + 4
    assert tables[0][0][-1] == "wall time [s]"
    here, there = ([row[:-1] for row in rows] for rows in tables)
    assert here == there
