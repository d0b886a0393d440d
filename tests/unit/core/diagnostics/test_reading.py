"""What no reader foresees is an error that names the file, also on the command line."""

import io
import json
import struct
import threading
import zipfile

import numpy as np
import pytest
from typer.testing import CliRunner

from orchestrator import LoadError, SoftdockError, read_result
from orchestrator.author import read_system
from orchestrator.checks import check_target
from orchestrator.cli.main import app
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.diagnostics.reading import cause_of, reading, reads
from orchestrator.core.files.plain_data import toml_data
from orchestrator.core.simunits import read_fmu
from orchestrator.core.ssp import diagnose
from orchestrator.core.system import DelayTrace
from orchestrator.study import read_experiment

DIGITS = "9" * 4301
DEEP = 1000
FMU2 = """<?xml version="1.0"?><fmiModelDescription fmiVersion="2.0" modelName="m" guid="g">
<CoSimulation modelIdentifier="m"/><ModelVariables>
<ScalarVariable name="a [1]" valueReference="{reference}" {more}><Real {real}/></ScalarVariable>
</ModelVariables><ModelStructure/></fmiModelDescription>"""


def archive(path, **entries):
    with zipfile.ZipFile(path, "w") as zip_file:
        for name, content in entries.items():
            zip_file.writestr(name.replace("__", "."), content)
    return path


def fmu_with(path, **given):
    given = {"reference": "0", "more": "", "real": "", **given}
    return archive(path, modelDescription__xml=FMU2.format(**given))


def npz_with(path, header):
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
    names = ("time", "names", "values", "about")
    return archive(path, **{f"{name}__npy": head for name in names})


def made_by(folder):
    """Files by name, and what reads them."""
    deep_json = json.dumps({"units": {}})[:-1] + ', "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
    arrays = io.BytesIO()
    empty = np.zeros((0, 0))
    np.savez(arrays, time=np.zeros(0), names=np.array([], str), values=empty, about=deep_json)
    (folder / "deep.npz").write_bytes(arrays.getvalue())
    (folder / "dotted.toml").write_text(".".join(["a"] * DEEP) + "=1")
    (folder / "lists.toml").write_text("a=" + "[" * DEEP + "]" * DEEP)
    (folder / "digits.toml").write_text(f"[system]\nname = 'x'\nnumber = {DIGITS}\n")
    (folder / "digits.csv").write_text(f"time,delay\n0,{DIGITS}e999\n")
    ssd = f'<a xmlns="x">{DIGITS}</a>'
    (folder / "digits.ssd").write_text(ssd)
    return {
        fmu_with(folder / "reference.fmu", reference=DIGITS): read_fmu,
        fmu_with(folder / "derivative.fmu", real=f'derivative="{DIGITS}"'): read_fmu,
        npz_with(folder / "open.npz", b"{'descr': "): read_result,
        npz_with(folder / "deep_header.npz", b"(" * 9_000): read_result,
        npz_with(folder / "digits.npz", f"{{'shape': ({DIGITS},)}}".encode()): read_result,
        folder / "deep.npz": read_result,
        folder / "dotted.toml": read_system,
        folder / "lists.toml": read_experiment,
        folder / "digits.toml": read_system,
        folder / "digits.csv": DelayTrace.read,
        folder / "digits.ssd": read_system,
    }


def test_files_that_no_reader_foresees(tmp_path):
    for path, read in made_by(tmp_path).items():
        with pytest.raises(SoftdockError) as caught:
            read(path)
        assert path.name in str(caught.value)


def test_the_same_in_a_thread_of_its_own(tmp_path):
    """Threads have a smaller stack, and their own depth of recursion."""
    found = {}

    def work(path, read):
        try:
            read(path)
        except Exception as error:  # noqa: BLE001 - whatever it is
            found[path] = error

    for path, read in made_by(tmp_path).items():
        thread = threading.Thread(target=work, args=(path, read))
        thread.start()
        thread.join()
        assert isinstance(found[path], SoftdockError), path


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("reference.fmu", ["fmu", "info"]),
        ("reference.fmu", ["check"]),
        ("dotted.toml", ["check"]),
        ("lists.toml", ["run"]),
        ("open.npz", ["convert"]),
    ],
)
def test_the_command_line_says_it_in_a_sentence(tmp_path, name, command):
    made_by(tmp_path)
    more = [str(tmp_path / "x.csv")] if command == ["convert"] else []
    result = CliRunner().invoke(app, [*command, str(tmp_path / name), *more])
    assert result.exit_code != 0
    assert result.exception is None or isinstance(result.exception, (SoftdockError, SystemExit))


def test_a_device_whose_setting_is_nested_too_deeply(tmp_path):
    (tmp_path / "dev.toml").write_text(
        f'[system]\nname="x"\n[component.a]\nsource="device:udp?port={"[" * DEEP}"\n[connections]\n'
    )
    assert check_target(tmp_path / "dev.toml").findings


def test_a_diagnosis_raises_nothing(tmp_path, monkeypatch):
    from orchestrator.core.ssp.read import package

    (tmp_path / "s.ssd").write_text("<a/>")

    def fails(*_):
        raise RecursionError

    monkeypatch.setattr(package, "read_into", fails)
    system, found = diagnose(tmp_path / "s.ssd")
    assert system is None
    assert "nested too deeply" in found[0].text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RecursionError("maximum"), "nested too deeply"),
        (KeyError("names"), "it has no 'names'"),
        (MemoryError(), "more memory than there is"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "can't decode"),
        (OverflowError("too large"), "too large"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_a_boundary_names_file_and_cause(error, said, wording):
    refused = wording.raises(FmuError)
    with refused as caught, reading("a [1].fmu", "expected an FMU", FmuError):
        raise error
    assert said in str(caught.value)
    assert caught.value.__cause__ is error


def test_digits_are_said_plainly():
    with pytest.raises(ValueError, match="4300 digits") as caught:
        int(DIGITS)
    assert cause_of(caught.value) == "it has an integer of more than 4300 digits"


@pytest.mark.parametrize("error", [LoadError("as it is"), ModuleNotFoundError("no module")])
def test_what_says_enough_passes(error):
    @reads("expected another")
    def read(path):
        raise error

    with pytest.raises(type(error)) as caught:
        read("a.csv")
    assert caught.value is error


def test_interruptions_pass():
    with pytest.raises(KeyboardInterrupt), reading("a.csv"):
        raise KeyboardInterrupt


def test_toml_of_some_depth_is_read():
    assert toml_data(".".join(["a"] * 60) + "=-0.0")
    with pytest.raises(ValueError, match="nested too deeply"):
        toml_data(".".join(["a"] * 70) + "=1")
