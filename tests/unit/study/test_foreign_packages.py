"""Packages of others that are damaged, old or slow, or that fail: named, and results are kept."""

import pytest
from foreign_packages import BROKEN, EXPERIMENT, install, python, run, write_case

from orchestrator.core import plugins
from orchestrator.core.plugins import PluginNames


@pytest.fixture
def folder(tmp_path):
    return write_case(tmp_path)


#: Entry points that another version of a package, or of Softdock, made.
OLD = {
    "gone": ("Gone", "", "module 'older' has no attribute 'Gone'"),
    "colons": ("older:Broken", "", ""),
    "name": ("Broken", "from orchestrator import OldExtension", "OldExtension"),
    "module": ("Broken", "import orchestrator.study.old_hooks", "orchestrator.study.old_hooks"),
    "class": ("Old", "class Old: pass", "expected a subclass of Extension"),
}


@pytest.mark.parametrize("way", OLD)
def test_an_entry_point_of_another_version_is_named(folder, way):
    target, line, told = OLD[way]
    install(folder, "older", f"{line}\n{BROKEN.format(hook='pass')}", ("run.older", target))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert f"extension 'run.older' (older:{target} of the package older 1.0)" in said
    assert told in said
    assert ("it needs another version of Softdock than" in said) is (way in {"name", "module"})
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("entry_points.txt", b"[softdock.extensions]\nrun.half\n", "half 1.0 is damaged"),
        (
            "entry_points.txt",
            b"[softdock.extensions]\nrun.half = half:P\xff",
            "half 1.0 is damaged",
        ),
        ("entry_points.txt", b"[softdock.extensions]\nrun.half = a b\n", "MODULE:OBJECT"),
        ("METADATA", b"", "without METADATA) cannot be imported"),
    ],
)
def test_a_package_that_is_installed_in_part_is_named(folder, file, content, told):
    install(folder, "half", "raise OSError('no licence')", ("run.half", "Half"))
    (folder / "site" / "half-1.0.dist-info" / file).write_bytes(content)
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert told in said
    assert "Traceback" not in said


def test_a_damaged_package_of_others_is_none_of_our_business(folder):
    install(folder, "half", "", ("run.half", "Half"))
    file = folder / "site" / "half-1.0.dist-info" / "entry_points.txt"
    file.write_bytes(b"[console_scripts]\nname = \xff")
    assert run(folder).returncode == 0


def test_an_import_that_takes_long_is_named(monkeypatch, caplog):
    group = PluginNames("softdock.blocks", "block")
    group.loaded("virtual_damper")
    assert not caplog.messages
    monkeypatch.setattr(plugins, "_LONG_IMPORT_S", -1.0)
    group.loaded("dead_zone")
    (text,) = caplog.messages
    begin = "the import of block 'dead_zone' (python_blocks.control.nonlinearities:DeadZone of the"
    assert text.startswith(f"{begin} package softdock ")
    assert text.endswith(") took 0 s")


#: What is wrong with a table that an extension declares.
TABLES = {
    "exit": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "import": ("raise OSError('no licence')", "no licence"),
    "none": ("table = 3", "table: expected a subclass of pydantic.BaseModel, found 3"),
    "validator": (
        """class table(BaseModel):
        @model_validator(mode="after")
        def all(self): raise OSError('no licence')""",
        "OSError: no licence",
    ),
    "check": (
        """class table(BaseModel): pass
    def check(self, experiment, cases, recorded): raise OSError('no licence')""",
        "OSError: no licence",
    ),
    "follows": (
        """class table(BaseModel): pass
    follows = 'report'""",
        "follows: expected a tuple of names of extensions, found 'report'",
    ),
}
API = """
from orchestrator import SoftdockError, read_experiment, run_experiment
try:
    run_experiment(read_experiment("experiment.toml"), ".", "out")
except SoftdockError as error:
    print(type(error).__name__, error, file=sys.stderr)
    sys.exit(2)
"""


@pytest.mark.parametrize(
    ("kind", "way"),
    [*((kind, "check") for kind in TABLES), ("exit", "run"), ("check", "run"), ("check", "python")],
)
def test_a_table_that_fails_is_named_by_every_command(folder, kind, way):
    hook, told = TABLES[kind]
    text = f"from pydantic import BaseModel, model_validator\n{BROKEN.format(hook=hook)}"
    install(folder, "broken", text, ("table.broken", "Broken"))
    (folder / "experiment.toml").write_text(EXPERIMENT + "[extension.broken]\n")
    done = python(folder, f"import sys\n{API}") if way == "python" else run(folder, command=way)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in {1, 2}, said
    assert told in said
    assert "of the package broken 1.0" in said
    assert "Traceback" not in said


CHECKED = """
from pydantic import BaseModel
from orchestrator import Extension

class Checked(Extension):
    class table(BaseModel):
        signal: str

    def check(self, experiment, cases, recorded):
        signal = experiment.extension[self.name].signal
        for case, names in recorded.items():
            if signal not in names:
                yield f"case '{case}' does not record '{signal}'"
"""


@pytest.mark.parametrize("command", ["run", "check"])
def test_an_extension_checks_its_table_against_the_cases(folder, command):
    install(folder, "checked", CHECKED, ("table.checked", "Checked"))
    for signal, code in (("a.y", 0), ("a.yy", 1 if command == "check" else 2)):
        table = f"[extension.checked]\nsignal = '{signal}'\n"
        (folder / "experiment.toml").write_text(EXPERIMENT + table)
        done = run(folder, command=command)
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == code, said
        assert ("case 'one' does not record 'a.yy'" in said) is (code != 0)


@pytest.mark.parametrize("how", ["raise OSError('no licence')", "import sys; sys.exit(0)", ""])
def test_a_format_that_fails_is_named_and_rows_are_kept(folder, how):
    write = f"def write(result, path):\n    {how or 'pass'}\n"
    install(folder, "broken", write if how else "write = 3", ("bad", "write"), group="sinks")
    done = run(folder, "--format", "bad")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert "format 'bad' (broken:write of the package broken 1.0)" in said
    assert "Traceback" not in said
    kept = list((folder / "results").rglob("one.partial.parquet"))
    assert len(kept) == bool(how)  # what is no function is found before the run


@pytest.mark.parametrize(
    ("how", "command", "told"),
    [
        ("raise OSError('no licence')", "run", "OSError: no licence"),
        ("import sys; sys.exit(0)", "check", "SystemExit: 0"),
        ("return None", "check", "returned NoneType; expected a Plan"),
    ],
)
def test_an_algorithm_that_fails_is_named(folder, command, how, told):
    plan = f"def plan(system):\n    {how}\n"
    install(folder, "broken", plan, ("bad", "plan"), group="algorithms")
    text = EXPERIMENT.replace("[case.one]", 'algorithm = "bad"\n[case.one]')
    (folder / "experiment.toml").write_text(text)
    done = run(folder, command=command)
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode in {1, 2}, said
    assert "algorithm 'bad' (broken:plan of the package broken 1.0)" in said
    assert told in said
    assert "Traceback" not in said


def test_two_formats_of_one_name(folder):
    for package in ("first", "second"):
        install(folder, package, "def write(result, path): pass", ("bad", "write"), group="sinks")
    done = run(folder, "--format", "bad")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert "two packages register the format 'bad': first:write of the package first 1.0" in said


def test_a_device_that_cannot_be_imported_hides_no_other(folder):
    install(folder, "broken", "raise OSError('no licence')", ("bad", "Bad"), group="devices")
    done = python(folder, "-m", "orchestrator", "devices", "list")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0, said
    assert "ati_net_ft" in done.stdout
    assert "device 'bad' (broken:Bad of the package broken 1.0) cannot be imported: no" in said
