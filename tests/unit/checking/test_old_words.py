"""Old words are read, and the check says which ones are written now: file, line and word."""

from diagnostic_cases.files import FILES, copied

from orchestrator.checking import check_target

BLOCK = """
from orchestrator import Block, Input, Output


class Renamed(Block):
    load: float = Input(formerly="burden")
    total: float = Output(depends_on=(), formerly="sum")

    def step(self, t: float, h: float) -> None:
        self.total = self.load
"""
SYSTEM = """[system]
name = "s"
[component.first]
source = "block:own.py:Renamed"
values = { burden = 3.0 }
[component.second]
source = "block:own.py:Renamed"
[connections]
"first.sum -> second.burden" = { delay = "1 ms" }
"""
EXPERIMENT = """title = "t"
[case.a]
system = "s.toml"
step = "1 ms"
stop = "10 ms"
[case.a.measure]
end = { kind = "final", signal = "second.sum" }
[campaign.c]
cases = ["a"]
measures = ["end"]
[campaign.c.over.load]
set = ["first.burden"]
values = [1.0, 2.0]
"""


def told(path, *codes):
    findings = check_target(path).findings
    assert not [each for each in findings if each.severity == "error"]
    return [(each.line, each.message) for each in findings if each.code in codes]


def test_former_names_of_a_system_are_told_and_are_no_errors(tmp_path):
    (tmp_path / "own.py").write_text(BLOCK)
    path = tmp_path / "s.toml"
    path.write_text(SYSTEM)
    assert told(path, "CON122") == [
        (3, "'first.burden' is now called 'load'"),
        (9, "'first.sum' is now called 'total'"),
        (9, "'second.burden' is now called 'load'"),
    ]


def test_old_words_of_an_experiment_are_told_where_they_stand(tmp_path):
    (tmp_path / "own.py").write_text(BLOCK)
    (tmp_path / "s.toml").write_text(SYSTEM.replace("burden", "load").replace("sum", "total"))
    path = tmp_path / "e.toml"
    path.write_text(EXPERIMENT)
    assert told(path, "CON122", "EXP105") == [
        (7, "'second.sum' is now called 'second.total'"),
        (8, "[campaign.NAME] is called [sweep.NAME] now"),
        (12, "'first.burden' is now called 'first.load'"),
    ]


def test_an_old_import_is_told_in_the_file_that_has_it(tmp_path, probe):
    path = FILES["CAP113"].bad(tmp_path, copied(probe, tmp_path))
    (found,) = (each for each in check_target(path).findings if each.code == "CAP113")
    assert (found.file, found.line) == (str(tmp_path / "own.py"), 3)
    assert found.message == "'orchestrator.errors' is now 'orchestrator.diagnostics'"
