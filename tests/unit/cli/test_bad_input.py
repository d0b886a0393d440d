"""Bad input gives one clear error, and leaves what was there before."""

import json

import pytest

from orchestrator.core.diagnostics import enumerated
from orchestrator.core.recording import format_names


def damaged(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


def escaping(folder):
    import zipfile

    with zipfile.ZipFile(folder / "bad.ssp", "w") as archive:
        archive.writestr("SystemStructure.ssd", "<x/>")
        archive.writestr("../../escaped.txt", "out")


def cut_library(folder):
    import zipfile

    path = folder.parents[1] / "fmus/build/Chaser.fmu"
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content[:4000] if name.endswith(".so") else content)


BAD = {
    "library that was cut short": (
        cut_library,
        ["run", ".", "--case", "ideal"],
        ["chaser", "Chaser.so", "damaged"],
    ),
    "case name that leaves the folder": (
        lambda f: damaged(f, "experiment.toml", "[case.ideal]", '[case."../../evil"]'),
        ["run", "."],
        ["experiment.toml", "../../evil"],
    ),
    "stop before the first step": (
        None,
        ["run", ".", "--case", "ideal", "--stop", "0"],
        ["ideal", "the stop time is 0 s; expected at least one step of 0.001 s"],
    ),
    "step that is no time": (
        lambda f: damaged(f, "experiment.toml", 'step = "1 ms"', "step = true"),
        ["run", "."],
        ["experiment.toml", "step"],
    ),
    "parameter that is not finite": (
        None,
        ["run", ".", "--case", "ideal", "--set", "contact.k=nan"],
        ["case 'ideal'", "contact.k: expected a Real in N/m, found 'nan'"],
    ),
    "more than fits into memory": (
        None,
        ["run", ".", "--case", "ideal", "--step", "1 ns", "--stop", "1000 s"],
        ["ideal", "values in memory"],
    ),
    "missing FMU": (
        lambda f: (f.parents[1] / "fmus/build/Chaser.fmu").unlink(),
        ["run", "."],
        ["Chaser.fmu", "chaser", "softdock build"],
    ),
    "damaged FMU": (
        lambda f: (f.parents[1] / "fmus/build/Chaser.fmu").write_bytes(b"PK\3\4 broken"),
        ["run", "."],
        ["Chaser.fmu", "zip"],
    ),
    "unknown component in a file": (
        lambda f: damaged(f, "experiment.toml", '"damper.b" = 20', '"dampr.b" = 20'),
        ["run", "."],
        ["capture_b20", "dampr", "damper"],
    ),
    "unknown connector in a system": (
        lambda f: damaged(f, "ideal.ssd", 'endConnector="velocity_b"', 'endConnector="speed_b"'),
        ["run", "ideal.ssd"],
        ["speed_b", "velocity_b"],
    ),
    "unknown component on the command line": (
        None,
        ["run", ".", "--set", "chasr.m=3"],
        ["chasr", "chaser"],
    ),
    "unknown parameter on the command line": (
        None,
        ["run", ".", "--case", "ideal", "--set", "chaser.mass=3"],
        ["mass", "chaser", "v0"],
    ),
    "value of a wrong type": (
        None,
        ["run", ".", "--case", "ideal", "--set", "chaser.m=heavy"],
        ["chaser.m", "Real in kg", "heavy"],
    ),
    "swap for other ports": (
        None,
        ["run", ".", "--case", "ideal", "--swap", "contact=block:virtual_damper"],
        ["contact", "virtual_damper", "force_a"],
    ),
    "swap for an unknown block": (
        None,
        ["run", ".", "--case", "ideal", "--swap", "contact=block:nothing"],
        ["no block 'nothing' is registered; there are "],
    ),
    "unit that does not convert": (
        lambda f: damaged(
            f,
            "capture.ssd",
            'startConnector="velocity" endElement="damper"',
            'startConnector="position" endElement="damper"',
        ),
        ["run", "capture.ssd"],
        ["chaser.position", "damper.velocity", "'m'", "'m/s'"],
    ),
    "negative delay in a system": (
        lambda f: damaged(f, "capture.ssd", 'nominal="0.016"', 'nominal="-0.016"'),
        ["run", "capture.ssd"],
        ["capture.ssd", "-0.016"],
    ),
    "negative delay in an experiment": (
        lambda f: damaged(
            f,
            "experiment.toml",
            '-> hybrid.measured_force" = "32 ms"',
            '-> hybrid.measured_force" = "-32 ms"',
        ),
        ["run", "."],
        ["hybrid_sensor_delay", "negative"],
    ),
    "malformed XML": (
        lambda f: (f / "ideal.ssd").write_text("<ssd:SystemStructureDescription"),
        ["run", "ideal.ssd"],
        ["ideal.ssd", "malformed XML"],
    ),
    "entities": (
        lambda f: (f / "ideal.ssd").write_text(
            '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
        ),
        ["run", "ideal.ssd"],
        ["ideal.ssd", "document type"],
    ),
    "archive with an escaping path": (escaping, ["run", "bad.ssp"], ["bad.ssp", "escaped.txt"]),
    "unknown key in an experiment": (
        lambda f: damaged(f, "experiment.toml", "[case.ideal]", "[case.ideal]\nstpe = 1"),
        ["run", "."],
        ["experiment.toml", "case.ideal.stpe"],
    ),
    "step of zero": (
        None,
        ["run", ".", "--case", "ideal", "--step", "0"],
        ["step is 0 s; expected more than"],
    ),
    "time that is none": (None, ["run", ".", "--case", "ideal", "--step", "soon"], ["'soon'"]),
    "unknown algorithm": (
        None,
        ["run", ".", "--case", "ideal", "--algorithm", "magic"],
        ["magic", "gauss-seidel", "jacobi"],
    ),
    "no such file": (None, ["run", "nowhere.ssd"], ["nowhere.ssd"]),
    "pattern that matches nothing": (
        None,
        ["run", "ideal.ssd", "--record", "chasr.*"],
        [
            "case 'ideal': cannot record 'chasr.*': no variable that is a number matches it",
            "chaser.position",
        ],
    ),
    "unknown format": (
        None,
        ["run", "ideal.ssd", "--format", "xls"],
        ["case 'ideal': no format 'xls'; the formats are " + enumerated(format_names())],
    ),
    "flush of zero": (None, ["run", "ideal.ssd", "--flush", "0 s"], ["flush: expected > 0 s"]),
    "every of zero": (None, ["run", "ideal.ssd", "--every", "0"], ["--every"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_gives_one_clear_error(softdock, example, monkeypatch, tmp_path, name):
    damage, arguments, expected = BAD[name]
    monkeypatch.chdir(example)
    output = tmp_path / "out"
    output.mkdir()
    (output / "ideal.parquet").write_text("earlier result")
    if damage is not None:
        damage(example)
    code, out, err = softdock(*arguments, "--output", output)
    assert code == 2, err
    assert "Traceback" not in err
    assert out == ""
    for text in expected:
        assert text in err
    assert (output / "ideal.parquet").read_text() == "earlier result"
    assert not (tmp_path / "escaped.txt").exists()
    assert not (tmp_path.parent / "escaped.txt").exists()


@pytest.mark.slow
def test_a_measure_that_cannot_be_read_off_costs_nothing_else(softdock, example, tmp_path):
    arguments = ["run", example, "--case", "capture_b60", "--output", tmp_path / "out"]
    code, out, err = softdock(*arguments, "--set", "damper.b=4000", "--json")
    assert code == 2
    assert "case 'capture_b60', measure 'growth'" in err
    case = json.loads(out)["cases"]["capture_b60"]
    assert case["measures"] == {}
    assert any("measure 'growth'" in remark for remark in case["remarks"])
    assert (tmp_path / "out" / "report.html").is_file()
