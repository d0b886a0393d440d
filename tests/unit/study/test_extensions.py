"""An extension of another package: found, used, and named where it fails; results are kept."""

import json
import re
from pathlib import Path

import pytest
from foreign_packages import BROKEN, EXPERIMENT, install, results, run, write_case

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "extension.md"
TABLE = "[extension.peaks]\nsignals = ['a.y']\nlimit = 0.01\n"
HOOKS = {
    "import": "raise OSError('no licence')",
    "make": "def __init__(self, name): raise OSError('no licence')",
    "begin": "def begin(self, run): raise OSError('no licence')",
    "prepare": "def prepare(self, run, case): raise OSError('no licence')",
    "enter": "def around(self, run, steps): raise OSError('no licence')",
    "leave": """@contextmanager
    def around(self, run, steps):
        yield steps
        raise OSError('no licence')""",
    "after": "def after(self, run, case, result): raise OSError('no licence')",
    "refuse": """def begin(self, run):
        raise SoftdockError('no licence')""",
    "own": """def after(self, run, case, result):
        raise SoftdockError('no licence')""",
    "end": "def end(self, run): raise OSError('no licence')",
    "break": """def end(self, run):
        raise SoftdockError('no licence')""",
}
#: One whose hook of the steps fails.
HOOK_OF_STEPS = """@contextmanager
    def around(self, run, steps):
        def fail(*_):
            raise OSError('no licence')
        yield dataclasses.replace(steps, {}=fail)"""
#: How messages name the extension of :data:`BROKEN`: before and after it is made.
NAMED = r"extension '(run\.broken' \(broken:Broken|broken') of the package broken 1\.0"


@pytest.fixture
def folder(tmp_path):
    return write_case(tmp_path)


def of_the_page():
    """The extension that the page for people shows, and its entry point."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    return code, ("table.peaks", "Peaks")


def test_what_it_finds_is_on_the_terminal_the_page_and_in_json(folder):
    install(folder, "peaks", *of_the_page())
    (folder / "experiment.toml").write_text(EXPERIMENT + TABLE)
    done = run(folder)
    assert done.returncode == 0, done.stderr
    assert "Peaks of one" in done.stdout
    assert "one: peaks above 0.01: a.y" in done.stdout
    assert "Peaks of one" in (results(folder) / "report.html").read_text(encoding="utf-8")
    summary = json.loads((results(folder) / "summary.json").read_text())
    assert summary["cases"]["one"]["peaks"] == pytest.approx({"a.y": 0.03})


def test_who_does_not_ask_for_it_does_not_import_it(folder):
    install(folder, "peaks", "raise OSError('imported')", ("table.peaks", "Peaks"))
    assert run(folder).returncode == 0


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[extension.peak]\n", "no extension with a table of this name is installed"),
        (TABLE.replace("limit", "limits"), "unknown key 'limits'"),
        (TABLE.replace("0.01", "'high'"), "expected a number"),
    ],
)
def test_a_wrong_table_is_one_error(folder, table, told):
    install(folder, "peaks", *of_the_page())
    (folder / "experiment.toml").write_text(EXPERIMENT + table)
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert told in said
    assert "extension.peak" in said
    assert not results(folder).exists()


@pytest.mark.parametrize("hook", HOOKS)
def test_what_fails_is_named_and_what_was_computed_is_kept(folder, hook):
    install(folder, "broken", BROKEN.format(hook=HOOKS[hook]), ("run.broken", "Broken"))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert len(re.findall(NAMED, said)) == 1, said
    assert "no licence" in said
    assert "Traceback" not in said
    kept = (results(folder) / "one.parquet").exists()
    assert kept is (hook in {"leave", "after", "own", "end"})
    assert (results(folder) / "one.partial.parquet").exists() is (hook == "break")


@pytest.mark.parametrize(
    ("hook", "kept"),
    [("begin", ""), ("end", "one.partial"), ("watch", "one.partial"), ("share", "")],
)
def test_a_hook_of_steps_that_fails_is_named(folder, hook, kept):
    text = BROKEN.format(hook=HOOK_OF_STEPS.format(hook))
    install(folder, "broken", f"import dataclasses\n{text}", ("run.broken", "Broken"))
    # The house's expectation watches too, and calls the broken one.
    expectation = '[expect.low]\nthat = "a.y < 1 m"\nstop = true\n'
    (folder / "experiment.toml").write_text(EXPERIMENT + expectation)
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert len(re.findall(NAMED, said)) == 1, said
    assert "OSError: no licence" in said
    assert "Traceback" not in said
    assert (results(folder) / f"{kept}.parquet").exists() is bool(kept)


#: Where foreign code ends a program, and how.
EXITS = [
    (hook, "sys.exit(0)")
    for hook in (*HOOKS, "watch", "share")
    if hook not in {"own", "refuse", "break"}
]
EXITS += [("after", how) for how in ("raise GeneratorExit", "raise BaseException('base')")]
EXITS += [("watch", "os._exit(0)"), ("begin", "os._exit(0)")]


@pytest.mark.parametrize(("hook", "how"), EXITS)
def test_an_exit_is_a_failure_and_keeps_what_was_computed(folder, hook, how):
    hooks = HOOKS | {key: HOOK_OF_STEPS.format(key) for key in ("watch", "share")}
    text = BROKEN.format(hook=hooks[hook].replace("raise OSError('no licence')", how))
    install(folder, "broken", f"import dataclasses, os, sys\n{text}", ("run.broken", "Broken"))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert re.search("SystemExit: 0|GeneratorExit|BaseException: base", said)
    assert "Traceback" not in said
    assert re.search(NAMED, said)
    kept = (results(folder) / "one.parquet").exists()
    assert kept is (hook in {"leave", "after", "end"})
    assert (results(folder) / "one.partial.parquet").exists() is (hook in {"watch", "share"})


SAYS = """
from orchestrator import Extension, Section

class Says(Extension):
    def after(self, run, case, result):
        run.add({case}, Section({section}))
        return result
"""


@pytest.mark.parametrize(
    ("case", "section", "told"),
    [
        ("'oen'", "'x'", "no case 'oen'. Did you mean 'one'? The only case is one"),
        ("case.name", "'measures', data=1", "section 'measures': case 'one' has an entry of that"),
        ("case.name", "'x', columns=('a', 'b'), rows=((1.0,),)", "row 0 has 1 cells; expected 2"),
        ("case.name", "'x', data={'peak': float('nan')}", "expected data of finite numbers"),
        ("case.name", "'x', data={1, 2}", "Object of type set is not JSON serializable"),
    ],
)
def test_what_it_says_is_looked_at(folder, case, section, told):
    install(folder, "says", SAYS.format(case=case, section=section), ("run.says", "Says"))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    kind = "ValueError: " if case[0] == chr(39) else "ValueError: section"
    assert f"extension 'says' of the package says 1.0: {kind}" in said
    assert told in said
    assert (results(folder) / "one.parquet").exists()
    assert "measures" in json.loads((results(folder) / "summary.json").read_text())["cases"]["one"]


@pytest.mark.parametrize(
    ("hook", "told"),
    [
        ("def prepare(self, run, case): pass", "prepare returned NoneType; expected a case"),
        ("def around(self, run, steps): pass", "around returned NoneType; expected a context"),
        ("def after(self, run, case, result): pass", "after returned NoneType; expected a result"),
    ],
)
def test_a_hook_that_returns_nothing_is_named(folder, hook, told):
    install(folder, "broken", BROKEN.format(hook=hook), ("run.broken", "Broken"))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2, said
    assert f"extension 'broken' of the package broken 1.0: TypeError: {told}" in said
    assert (results(folder) / "one.parquet").exists() is ("after" in hook)


def test_who_has_a_table_without_fields_is_named(folder):
    install(folder, "bare", BROKEN.format(hook="pass"), ("table.bare", "Broken"))
    (folder / "experiment.toml").write_text(EXPERIMENT + "[extension.bare]\n")
    done = run(folder)
    assert done.returncode == 2
    told = "extension 'bare' of the package bare 1.0: bare.Broken has no 'table' that declares"
    assert told in " ".join(done.stderr.split())


def test_a_wrong_name_imports_nobody_else(folder):
    install(folder, "gone", "raise OSError('imported')", ("table.gone", "Gone"))
    (folder / "experiment.toml").write_text(EXPERIMENT + "[extension.went]\n")
    said = " ".join(run(folder).stderr.split())
    assert "extension.went: no extension with a table of this name is installed" in said
    assert "the only installed extension is gone" in said


def test_what_was_entered_is_left_where_it_gives_no_steps(folder):
    hook = """@contextmanager
    def around(self, run, steps):
        try:
            yield
        finally:
            (run.output.parent / "left").touch()"""
    install(folder, "broken", BROKEN.format(hook=hook), ("run.broken", "Broken"))
    done = run(folder)
    assert done.returncode == 2
    told = "of the package broken 1.0: TypeError: around returned NoneType; expected one that gives"
    assert told in " ".join(done.stderr.split())
    assert (results(folder).parent / "left").exists()


def test_two_of_one_name(folder):
    install(folder, "peaks", *of_the_page())
    install(folder, "others", *of_the_page())
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "two packages register the extension 'table.peaks': others:Peaks of the package" in said
    assert "others 1.0 and peaks:Peaks of the package peaks 1.0; remove one" in said


def test_a_circle(folder):
    text = (
        "from orchestrator import Extension\n"
        "class One(Extension):\n    follows = ('two',)\n"
        "class Two(Extension):\n    follows = ('one',)\n"
    )
    install(folder, "circle", text, ("run.one", "One"), ("run.two", "Two"))
    done = run(folder)
    assert done.returncode == 2
    assert "extensions depend on each other in a cycle" in " ".join(done.stderr.split())


def test_a_table_of_the_house_stays_its_own(folder):
    text = BROKEN.format(hook="from pydantic import BaseModel as table")
    install(folder, "taken", text, ("table.defaults", "Broken"))
    said = " ".join(run(folder).stderr.split())
    assert (
        "'table.defaults' (taken:Broken of the package taken 1.0) reads a table of its own" in said
    )
    assert "[defaults] is a table of Softdock: register it under another name" in said


def test_a_table_that_softdock_has_registered_cannot_be_registered_again(folder):
    install(folder, "taken", BROKEN.format(hook="pass"), ("table.supervisor", "Broken"))
    done = run(folder)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "two packages register the extension 'table.supervisor'" in said
    assert "taken:Broken" in said
