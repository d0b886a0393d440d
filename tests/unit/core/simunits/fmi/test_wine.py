"""Windows libraries of FMUs, run under Wine."""

import os
import re
import signal
import stat
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from orchestrator import RealTime, simulate
from orchestrator.author.reading import read_system
from orchestrator.author.toml_write import write_toml
from orchestrator.checks.inspection import fmu_info
from orchestrator.checks.run_checks import check_case, check_declaration
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu, make_unit
from orchestrator.core.simunits.fmi import wine
from orchestrator.core.simunits.fmi.library_file import needed_libraries
from orchestrator.core.ssp import write_ssd
from orchestrator.core.structs import replace
from orchestrator.core.system import Causality, System
from orchestrator.export import Recipe, build_recipe
from orchestrator.export.portable import make_portable
from orchestrator.export.system import export_system

pytestmark = [pytest.mark.slow, pytest.mark.native]
STEP, EXIT_3, SEGMENTATION_FAULT = 4, 3, 0
SECOND = 10**9
ROOT = Path(__file__).parents[5]


@pytest.fixture
def crash(windows_fmu):
    return windows_fmu("crash_on_demand")


def windows_only(path, **values):
    return System("s").add("bad", fmu(path, platform="win64"), u=1.0, **values)


def host_of(component="bad"):
    """Process number of the only Wine host that a worker of this process has started."""
    del component
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"fmu_host" in command:
            return int(folder.name)
    raise AssertionError("no host is running")


def test_a_windows_library_integrates(crash):
    with Execution(windows_only(crash), step="0.125 s") as run:
        run.advance("1 s")
        values = run.recording().values[:, 0]
    np.testing.assert_array_equal(values, np.arange(9) / 8)
    assert any("runs under wine-" in note for note in run.notes)


def test_a_checkpoint_is_restored(crash):
    with Execution(windows_only(crash), step="0.125 s") as run:
        run.advance("0.5 s")
        saved = run.save()
        run.advance("1 s")
        run.restore(saved)
        run.advance("1 s")
        values = run.recording().values[:, 0]
    np.testing.assert_array_equal(values, np.arange(9) / 8)


def test_real_time_under_wine_is_asked_for_and_its_times_are_kept(crash, tmp_path, monkeypatch):
    made, pace = windows_only(crash), RealTime(priority=0, lock_memory=False)
    given = {"step": "1 ms", "stop": "1.2 s"}
    kept = tmp_path / "step-times.json"
    monkeypatch.setattr(wine, "_times_file", lambda: kept)
    expected = "component 'bad' runs under Wine.*a step of 1000 us: its steps were not measured"
    with pytest.raises(CapabilityError, match=expected):
        simulate(made, **given, realtime=pace)
    result = simulate(made, **given, realtime=replace(pace, wine=True))
    (taken_ns, steps) = wine.measured(str(crash))
    assert steps == 1200
    assert taken_ns == result.timing.units["bad"].percentile_ns(99.9)
    figure = rf"99\.9 % of 1200 steps .* took at most {taken_ns / 1e3:.1f} us"
    with pytest.raises(CapabilityError, match=figure):
        simulate(made, **given, realtime=pace)
    declared, _ = check_declaration(made)
    notes = {each.code: each.message for each in check_case(declared, is_sound_system=True)[0]}
    assert re.search(figure, notes["CAP116"])


def test_a_run_of_few_steps_in_real_time_is_not_kept(crash, tmp_path, monkeypatch):
    monkeypatch.setattr(wine, "_times_file", lambda: tmp_path / "step-times.json")
    pace = RealTime(priority=0, lock_memory=False, wine=True)
    simulate(windows_only(crash), step="1 ms", stop="0.1 s", realtime=pace)
    assert wine.measured(str(crash)) is None


@pytest.mark.parametrize(
    ("how", "reason"),
    [(EXIT_3, "ended with exit code 3"), (SEGMENTATION_FAULT, "the library crashed: exception")],
)
def test_a_crash_is_told_with_its_last_words(crash, how, reason):
    made = windows_only(crash, phase=STEP, how=how, at=0.5)
    with Execution(made, step="0.125 s") as run:
        expected = r"^component 'bad' failed in the step from t = 0\.5 s .*" + reason
        with pytest.raises(StepError, match=expected):
            run.advance("2 s")
        assert run.recording().time_ns[-1] == 500_000_000


def test_a_killed_host_is_noticed_before_the_time_out(crash, wording):
    made = windows_only(crash).with_options("bad", step_timeout="100 s")
    with Execution(made, step="1 ms") as run:
        run.advance("0.1 s")
        os.kill(host_of(), signal.SIGKILL)
        begin = time.monotonic()
        with wording.raises(StepError):
            run.advance("2 s")
        assert time.monotonic() - begin < 50.0


def test_a_stopped_host_meets_the_time_out(crash, wording):
    made = windows_only(crash).with_options("bad", step_timeout="0.5 s")
    with Execution(made, step="1 ms") as run:
        run.advance("0.1 s")
        host = host_of()
        os.kill(host, signal.SIGSTOP)
        with wording.raises(StepError):
            run.advance("2 s")
    assert not Path(f"/proc/{host}/exe").exists()


def recordings(path, *, step="0.125 s", stop="2 s", **values):
    """What an FMU without connections does, by its libraries for Linux and for Windows."""
    made = []
    for platform in (None, "win64"):
        system = System("s").add("unit", fmu(path, platform=platform), **values)
        system = system.with_options("unit", isolation="process")  # event mode is led in there
        with Execution(system, step=step) as run:
            run.advance(stop)
            made.append(run.recording())
    return made


@pytest.mark.parametrize("name", ["asker3", "relay3", "clock3", "source3", "counter3", "early3"])
def test_events_and_clocks_are_those_of_linux(both_platforms, name):
    linux, windows = recordings(both_platforms(name, "x86_64-windows"))
    assert windows.names == linux.names
    np.testing.assert_array_equal(windows.values, linux.values)


#: Of every type of FMI 3.0 a value; texts and bytes that hold what text formats trip over.
VALUES = {
    "float32": 1.5,
    "int8": -128,
    "uint8": 255,
    "int16": -(2**15),
    "uint16": 2**16 - 1,
    "int32": -(2**31),
    "uint32": 2**32 - 1,
    "int64": 2**53 - 1,
    "uint64": 2**53,
    "boolean": True,
    "u": -0.0,
    "x": (0.1, -0.2),
    "label": "Prüfling [1]\n\u65e5",
    "blob": b"\0\1\xff",
    "color": 7,
}


def test_every_type_of_fmi3_is_that_of_linux(both_platforms):
    path = both_platforms("every3", "x86_64-windows")
    seen = []
    for platform in (None, "win64"):
        unit = replace(fmu(path, platform=platform).with_values(VALUES), name="unit")
        made = make_unit(replace(unit, options=replace(unit.options, isolation="none")))
        made.bind([], [c.name for c in made.description.of(Causality.OUTPUT)])
        made.setup(0, None)
        made.exit_initialisation()
        assert made.native.step(0, SECOND) == 0
        names = [c.name for c in made.description.of(Causality.OUTPUT)]
        seen.append({name: np.asarray(made.value(name)).tolist() for name in names})
        made.terminate()
    linux, windows = seen
    assert windows == linux
    assert windows["label_out"] == VALUES["label"]
    assert windows["blob_out"] == VALUES["blob"]


def test_fmi1_is_that_of_linux(both_platforms):
    linux, windows = recordings(both_platforms("slave1", "win64"))
    np.testing.assert_array_equal(windows.values, linux.values)


@pytest.mark.parametrize("interface", ["cs", "me"])
@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_a_plant_is_that_of_linux(windows, tmp_path, interface, fmi):
    """By Model Exchange, too: states, derivatives, event indicators, directional derivatives."""
    del windows
    recipe = Recipe.read(ROOT / "fmus" / "BouncingBall.toml")
    recipe = replace(recipe, platforms=("linux64", "win64"))
    path = build_recipe(recipe, tmp_path, fmi=(fmi,)).path
    rows = []
    for platform in (None, "win64"):
        system = System("s").add("ball", fmu(path, platform=platform))
        system = system.with_options("ball", interface=interface, isolation="process")
        with Execution(system, step="10 ms") as run:
            run.advance("2 s")
            rows.append(run.recording().values)
    np.testing.assert_allclose(rows[1], rows[0], rtol=1e-12, atol=1e-12)
    assert np.ptp(rows[0], axis=0).max() > 0.1


def test_the_description_names_the_way(crash):
    expected = r"no binary for this machine.*found platforms: win64; platform = 'win64' runs that"
    with pytest.raises(FmuError, match=expected):
        fmu(crash)


def _with_library(crash, tmp_path, library, name="crash_on_demand"):
    path = tmp_path / "changed.fmu"
    with zipfile.ZipFile(crash) as there, zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", there.read("modelDescription.xml"))
        archive.writestr(f"binaries/win64/{name}.dll", library)
    return path


def _machine(data, number):
    at = int.from_bytes(data[0x3C:0x40], "little") + 4
    return data[:at] + number.to_bytes(2, "little") + data[at + 2 :]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda data: _machine(data, 0x14C), "is a library for 32-bit x86; expected"),
        (lambda data: _machine(data, 0xAA64), "is a library for 64-bit ARM"),
        (lambda data: b"\x7fELF" + data[4:], "is damaged: expected a whole library"),
        (lambda data: data[: len(data) // 2], "is damaged: expected a whole library"),
        (lambda _: b"", "is damaged: expected a whole library"),
    ],
)
def test_another_file_is_refused(crash, tmp_path, change, expected):
    with zipfile.ZipFile(crash) as archive:
        data = archive.read("binaries/win64/crash_on_demand.dll")
    path = _with_library(crash, tmp_path, change(data))
    with pytest.raises(FmuError, match=r"component 'bad'.*crash_on_demand\.dll' " + expected):
        Execution(windows_only(path), step="1 ms")


def test_an_absent_library_is_named(crash, tmp_path, wording):
    with zipfile.ZipFile(crash) as archive:
        data = archive.read("binaries/win64/crash_on_demand.dll")
    needed = next(n for n in needed_libraries(data) if n.lower() == "kernel32.dll")
    path = _with_library(crash, tmp_path, data.replace(needed.encode(), b"MATLAB32.dll"))
    with wording.raises(FmuError):
        Execution(windows_only(path), step="1 ms")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"isolation": "none"}, "has isolation 'none'"),
        ({"isolation": "process", "process": "shared"}, "shares process 'shared'"),
        ({"backend": "fmpy"}, "has back-end 'fmpy'"),
    ],
)
def test_options_that_do_not_fit(crash, options, expected):
    made = windows_only(crash).with_options("bad", **options)
    with pytest.raises(CapabilityError, match=f"component 'bad': option platform.*{expected}"):
        Execution(made, step="1 ms")


def test_a_block_has_no_platform(wording):
    made = (
        System("s").add("b", block("dead_zone"), measured=0.0).with_options("b", platform="win64")
    )
    with wording.raises(CapabilityError):
        Execution(made, step="1 ms")


@pytest.fixture
def elsewhere(monkeypatch):
    """Forget which Wine was found, before and after."""

    def forget():
        wine.wine.cache_clear()
        wine._version_of.cache_clear()

    forget()
    yield monkeypatch
    forget()


def test_wine_is_absent(crash, elsewhere, tmp_path):
    elsewhere.setenv("PATH", str(tmp_path))
    elsewhere.setattr(wine, "_FOLDERS", (str(tmp_path),))
    expected = "platform 'win64' needs Wine, which was not found; install Wine"
    with pytest.raises(CapabilityError, match=expected):
        Execution(windows_only(crash), step="1 ms")


def test_wine_is_too_old(crash, elsewhere, tmp_path, wording):
    program = tmp_path / "wine64"
    program.write_text("#!/bin/sh\necho wine-5.0.3\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    elsewhere.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with wording.raises(CapabilityError):
        Execution(windows_only(crash), step="1 ms")


def test_a_prefix_that_cannot_be_written(crash, elsewhere, tmp_path, wording):
    (tmp_path / "file").touch()
    elsewhere.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with wording.raises(CapabilityError):
        Execution(windows_only(crash), step="1 ms")


def test_a_long_path_with_blanks_and_umlauts(crash, tmp_path):
    folder = tmp_path / "Prüfstand für Kräfte" / ("x" * 120) / ("y" * 120)
    folder.mkdir(parents=True)
    path = folder / "Größe 1.fmu"
    path.write_bytes(crash.read_bytes())
    with Execution(windows_only(path), step="0.125 s") as run:
        run.advance("1 s")
        assert run.recording().values[-1, 0] == 1.0


def test_files_keep_the_platform(crash, tmp_path):
    made = windows_only(crash)
    for name, write in (("s.ssd", write_ssd), ("s.toml", write_toml)):
        write(made, tmp_path / name)
        assert read_system(tmp_path / name).components["bad"].options.platform == "win64"


def test_a_run_by_the_command_line(softdock, crash, tmp_path):
    write_ssd(System("s").add("bad", fmu(crash, platform="win64"), u=1.0), tmp_path / "s.ssd")
    text = (tmp_path / "s.ssd").read_text().replace(' platform="win64"', "")
    (tmp_path / "s.ssd").write_text(text)
    out = tmp_path / "out"
    arguments = ["run", tmp_path / "s.ssd", "--step", "0.125 s", "--stop", "1 s", "--output", out]
    code, _, error = softdock(*arguments)
    assert code == 2
    assert "platform = 'win64' runs that one under Wine" in " ".join(error.split())
    assert softdock(*arguments, "--platform", "win64")[0] == 0
    summary = (out / "summary.json").read_text(encoding="utf-8")
    assert "component bad: the FMU's Windows library runs under wine-" in summary


def test_a_wrong_platform_is_refused(crash, wording):
    with wording.raises(DescriptionError):
        fmu(crash, platform="win32")


def test_an_exported_system_names_it(crash, tmp_path, wording):
    with wording.raises(CapabilityError):
        export_system(windows_only(crash), tmp_path / "s.fmu", step="1 ms")


def test_a_portable_archive_says_so(crash, tmp_path):
    portable = make_portable(windows_only(crash), tmp_path, step_ns=SECOND)
    assert any("component 'bad'" in remark and "win64" in remark for remark in portable.remarks)


def test_what_libraries_need_is_listed(crash):
    facts = fmu_info(crash)["windows_libraries"]["binaries/win64/crash_on_demand.dll"]
    assert "kernel32.dll" in map(str.lower, facts["needs"])
    assert facts["absent"] == []
