"""What cannot be exported, and what an exported system does with bad input: one error each."""

import ctypes
import re
import shutil
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path

import fmpy
import pytest

from orchestrator.core.diagnostics import DescriptionError, SoftdockError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import Causality, Connector, DataType, System
from orchestrator.export.system import export_system


def refusal(system, path, **options):
    options.setdefault("step", "1 ms")
    with pytest.raises(SoftdockError) as caught:
        export_system(system, path, **options)
    assert list(path.parent.glob("*")) == []  # nothing, and no half of it
    return str(caught.value).splitlines()


def test_every_component_that_cannot_be_exported_is_named_with_a_way_out(
    capture, c_fmu, tmp_path, sample_blocks
):
    folder = tmp_path / "empty"
    folder.mkdir()
    system = (
        capture()
        .add("contact", block("spring_dashpot"))
        .add("old", fmu(c_fmu("slave1")))
        .with_options("chaser", isolation="process")
        .with_options("sheet", backend="fmpy")
    )
    lines = refusal(system, folder / "x.fmu")
    assert [line.split("'")[1] for line in lines] == ["chaser", "sheet", "old"]
    assert "process of its own" in lines[0]
    assert "run by 'fmpy'" in lines[1]
    assert "FMI 1.0" in lines[2]


def test_a_system_without_a_step_or_without_components(capture, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert "no communication step" in refusal(capture(), folder / "x.fmu", step=None)[0]
    assert "has no components" in refusal(System("none"), folder / "x.fmu")[0]


def test_names_that_clash_own_outputs_without_a_source_and_clocks(driven, tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    system = driven()
    inner = System("a", components={"b": replace(system.components["chaser"], name="b")})
    thrust = {"thrust": 0.0, "force": 0.0}
    inner = inner.replace(inner.components["b"].with_values(thrust))
    both = System("clash", systems={"a": inner})
    own = {"a.b.velocity": Connector("a.b.velocity", Causality.INPUT)}
    (message,) = refusal(replace(both, connectors=own), folder / "x.fmu")
    assert message.startswith("two variables of the FMU would be called 'a.b.velocity': a dot")
    lost = replace(system, connections=system.connections[:-1])
    assert refusal(lost, folder / "x.fmu") == [
        "output 'position' of system 'driven' has no source; connect one"
    ]
    clock = {**system.connectors, "tick": Connector("tick", Causality.INPUT, DataType.CLOCK)}
    assert (
        "'tick' of system 'driven' is a clock"
        in refusal(replace(system, connectors=clock), folder / "x.fmu")[0]
    )


def test_a_target_that_cannot_be_written_keeps_what_was_there(
    capture, tmp_path, sample_blocks, wording
):
    (tmp_path / "file").write_text("in the way")
    with wording.raises(SoftdockError):
        export_system(capture(), tmp_path / "file" / "x.fmu", step="1 ms")
    path = export_system(capture(), tmp_path / "x.fmu", step="1 ms")
    before = path.read_bytes()
    with pytest.raises(DescriptionError):
        export_system(capture().add("gain", block("gain")), path, step="1 ms")  # u is open
    assert path.read_bytes() == before


def test_equal_systems_make_equal_archives(capture, tmp_path):
    content = export_system(capture(), tmp_path / "one.fmu", step="1 ms").read_bytes()
    assert export_system(capture(), tmp_path / "two.fmu", step="1 ms").read_bytes() == content


def changed(path, target, change):
    """Copy an archive with some entries changed; ``None`` leaves one out."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as archive:
        for entry in source.infolist():
            content = change(entry.filename, source.read(entry))
            if content is not None:
                archive.writestr(entry, content)
    return target


def said(path):
    """What the library says when it is not instantiated."""
    with pytest.raises(SoftdockError) as caught:
        Execution(System("outer").add("it", fmu(path)), step="1 ms")
    return str(caught.value)


@pytest.mark.parametrize("at", [0, 9, 13, 40, 200, -1])
def test_damaged_tables_are_refused(capture, tmp_path, at):
    path = export_system(capture(), tmp_path / "x.fmu", step="1 ms")

    def flip(name, content):
        if not name.endswith("system.bin"):
            return content
        wrong = bytearray(content)
        wrong[at] ^= 0x40
        return bytes(wrong)

    message = said(changed(path, tmp_path / "y.fmu", flip))
    assert "system.bin" in message
    assert ("damaged" in message) or ("version" in message)


def test_a_kind_of_member_that_there_is_not_is_refused(capture, tmp_path):
    path = export_system(capture(), tmp_path / "x.fmu", step="1 ms")
    # Kind and number of the FMU, eight numbers of places and sizes, and one tick.
    row = rb"\x00%b\x00\x00\x00.{32}\x01\x00\x00\x00"

    def change(name, content):
        if not name.endswith("system.bin"):
            return content
        both = row % rb"\x00" + row % rb"\x01"
        (found,) = re.finditer(both, content[16:], re.DOTALL)
        wrong = bytearray(content[16:])
        wrong[found.start()] = 3
        return content[:12] + struct.pack("<I", zlib.crc32(wrong)) + wrong

    assert "a kind of member" in said(changed(path, tmp_path / "y.fmu", change))


@pytest.mark.parametrize("kind", ["ModelExchange", "ScheduledExecution"])
def test_interfaces_that_it_has_not_say_so_to_the_importer(driven, tmp_path, kind):
    path = export_system(driven(), tmp_path / "x.fmu", fmi=3, step="1 ms")
    folder = fmpy.extract(str(path), str(tmp_path / "unpacked"))
    library = ctypes.CDLL(str(next(Path(folder).glob("binaries/*/*.so"))))
    heard = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)
    def log(environment, status, category, message):
        heard.append((environment, status, category, message.decode()))

    instantiate = library[f"fmi3Instantiate{kind}"]
    instantiate.restype = ctypes.c_void_p
    texts = [ctypes.c_char_p(text) for text in (b"it", b"token", b"")]
    flags = [ctypes.c_bool(False), ctypes.c_bool(False)]
    made = instantiate(*texts, *flags, ctypes.c_void_p(47), log, None, None, None)
    words = "".join(f" {letter}" if letter.isupper() else letter for letter in kind)
    assert made is None
    assert heard == [(47, 3, b"logStatusError", f"this FMU has no{words}")]


def test_tables_that_end_too_early_missing_tables_and_missing_fmus(capture, tmp_path):
    path = export_system(capture(), tmp_path / "x.fmu", step="1 ms")

    def cut(name, content):
        return content[:300] if name.endswith("system.bin") else content

    def without(ending):
        return lambda name, content: None if name.endswith(ending) else content

    assert "system.bin is damaged" in said(changed(path, tmp_path / "a.fmu", cut))
    assert "system.bin: cannot be opened" in said(
        changed(path, tmp_path / "b.fmu", without("system.bin"))
    )
    message = said(changed(path, tmp_path / "c.fmu", without("Chaser.so")))
    assert "component 'chaser'" in message
    assert "Chaser.so" in message


def test_a_description_of_another_export_is_refused(capture, tmp_path):
    path = export_system(capture(), tmp_path / "one.fmu", step="1 ms")
    two = export_system(capture(delay="20 ms"), tmp_path / "two.fmu", step="1 ms")
    with zipfile.ZipFile(two) as archive:
        description = archive.read("modelDescription.xml")

    def mix(name, content):
        return description if name == "modelDescription.xml" else content

    assert "modelDescription.xml is of another export" in said(
        changed(path, tmp_path / "mixed.fmu", mix)
    )


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_step_that_is_no_multiple_says_both_figures(driven, tmp_path, instance, begin, fmi):
    log = []
    slave, _ = instance(export_system(driven(), tmp_path / "x.fmu", fmi=fmi, step="1 ms"), log=log)
    begin(slave)
    slave.doStep(0.0, 3e-3)
    with pytest.raises(Exception, match="DoStep failed"):
        slave.doStep(3e-3, 1.5e-3)
    told = " ".join(str(part) for message in log for part in message)
    assert "a communication step of 0.0015 s was asked for" in told
    assert "a whole multiple of the system's own step of 0.001 s" in told
    slave.doStep(3e-3, 1e-3)  # nothing was changed by it
    with pytest.raises(Exception, match="DoStep failed"):
        slave.doStep(1.0, 1e-3)
    told = " ".join(str(part) for message in log for part in message)
    assert "a step from t = 1 s was asked for, but the system stands at t = 0.004 s" in told


def test_a_component_that_fails_is_named(make_fmu, tmp_path, instance, begin):
    system = System("failing").add("a", fmu(make_fmu()), u=1.0, n=0, flag=False, error_at=2e-3)
    log = []
    slave, _ = instance(export_system(system, tmp_path / "x.fmu", step="1 ms"), log=log)
    begin(slave)
    with pytest.raises(Exception, match="DoStep failed"):
        slave.doStep(0.0, 5e-3)
    told = " ".join(str(part) for message in log for part in message)
    assert "component 'a' failed: asked to fail (in the step from t = 0.002 s)" in told


def test_fmpy_and_its_folder_are_left_clean(capture, tmp_path):
    """The archive holds what is needed and nothing else."""
    path = export_system(capture(), tmp_path / "x.fmu", step="1 ms")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
    assert names[:3] == [
        "modelDescription.xml",
        "resources/system.bin",
        "binaries/linux64/capture.so",
    ]
    inside = {name.split("/", 2)[2] for name in names[3:]}
    assert inside == {
        "modelDescription.xml",
        "binaries/linux64/Chaser.so",
        "binaries/linux64/Compliance.so",
    }
    shutil.rmtree(fmpy.extract(str(path)))


FUZZ = """
import random, struct, sys, zlib
from pathlib import Path
import fmpy
from fmpy.fmi2 import FMU2Slave

source, tables = sys.argv[1], Path(sys.argv[2])
about = fmpy.read_model_description(source)
good, draws = tables.read_bytes(), random.Random(1)
made = 0
for number in range(250):
    body = bytearray(good[16:])
    for _ in range(draws.choice([1, 1, 2])):
        at, how = draws.randrange(len(body)), draws.random()
        if how < 0.5:
            body[at] = draws.randrange(256)
        elif how < 0.8:
            body[at : at + 4] = struct.pack("<i", draws.choice([-1, 1, 255, 2**31 - 1, -(2**31)]))
        else:
            del body[at : at + draws.randrange(1, 9)]
    tables.write_bytes(good[:12] + struct.pack("<I", zlib.crc32(body)) + body)
    it = FMU2Slave(guid=about.guid, unzipDirectory=str(tables.parents[1]), instanceName="x",
                   modelIdentifier=about.coSimulation.modelIdentifier)
    try:
        it.instantiate()
    except Exception:
        continue
    made += 1
    try:
        it.setupExperiment(startTime=0.0)
        it.enterInitializationMode()
        it.exitInitializationMode()
        for step in range(20):
            it.doStep(step * 1e-3, 1e-3)
    except Exception:
        pass
    it.freeInstance()
print(made)
"""


@pytest.mark.slow
def test_no_table_however_wrong_ends_the_process(driven, tmp_path):
    """Their check sum is made to fit: what is left are the checks of every place and number."""
    path = export_system(driven(incoming="3 ms"), tmp_path / "x.fmu", step="1 ms")
    folder = Path(fmpy.extract(str(path), str(tmp_path / "unpacked")))
    arguments = [sys.executable, "-c", FUZZ, str(path), str(folder / "resources" / "system.bin")]
    ended = subprocess.run(arguments, capture_output=True, text=True, check=False)  # noqa: S603
    assert (ended.returncode, ended.stderr) == (0, "")
    assert 20 < int(ended.stdout.splitlines()[-1]) < 230  # some are refused, some are harmless
