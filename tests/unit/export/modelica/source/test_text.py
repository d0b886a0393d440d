"""The outline of Modelica files: classes, lines, experiment annotations, and where classes lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.core.diagnostics import DescriptionError, ModelicaError
from orchestrator.export import (
    BuildJob,
    BuildResult,
    Experiment,
    Recipe,
    build_all,
    build_model,
)
from orchestrator.export.modelica.source.changed_sources import with_copied_inputs
from orchestrator.export.modelica.source.class_place import place_by_name, place_in_file
from orchestrator.export.modelica.source.text import ModelicaText

TEXT = """within Lib.Part; // end Lib; model Comment
package Parts "a string with end Parts; and model Text and \\" a quote"
  /* model Hidden annotation(experiment(StopTime=9)); end Hidden; */
  partial model Base
    Real x[3] annotation(Placement(transformation(extent={{-1,-1},{1,1}})));
  equation
    for i in 1:3 loop x[i] = if i > 2 then x[end - 1] else 1; end for;
    when x[1] > 0 then reinit(x[1], 0); end when;
    annotation(experiment(StopTime=99));
  end Base;
  type Length = Real(unit="m");
  model Stiff = Base(redeclare model M = Other) annotation(experiment(StopTime=7));
  operator record R
    Real re;
  end R;
  model Used
    extends Base;
    annotation(
      Documentation(info="experiment(StopTime=5)"),
      __Tool(experiment(StopTime = 3)),
      experiment(StartTime=-1, StopTime = 2.5e+1, Interval=.5, __Tool_x(StopTime=8), NumberOf=3));
  end Used;
end Parts;
"""


@pytest.fixture
def text(tmp_path: Path) -> ModelicaText:
    path = tmp_path / "Parts.mo"
    path.write_text(TEXT, encoding="utf-8")
    return ModelicaText(path)


def test_classes_of_a_file(text: ModelicaText) -> None:
    assert text.within == "Lib.Part"
    assert {(c.name, c.word, c.line) for c in text.classes} == {
        ("Parts", "package", 2),
        ("Parts.Base", "model", 4),
        ("Parts.Length", "type", 11),
        ("Parts.Stiff", "model", 12),
        ("Parts.R", "record", 13),
        ("Parts.Used", "model", 16),
    }
    assert [c.name for c in text.classes if c.is_model] == ["Parts.Stiff", "Parts.Used"]


def test_experiment_is_that_of_the_class_alone(text: ModelicaText) -> None:
    assert text.experiment("Parts.Used") == Experiment(-1.0, 25.0, 0.5)
    assert text.experiment("Parts.Base") == Experiment(stop_time=99.0)
    assert text.experiment("Parts") == Experiment()


def test_experiment_that_is_no_number(tmp_path: Path, wording) -> None:
    path = tmp_path / "A.mo"
    path.write_text("model A\n  annotation(experiment(\n  StopTime=2*T));\nend A;")
    with wording.raises(ModelicaError):
        ModelicaText(path).experiment("A")


def test_a_component_called_experiment_is_no_annotation(tmp_path: Path) -> None:
    path = tmp_path / "A.mo"
    path.write_text(
        "model A\n  B b(experiment(StopTime=3));\n  annotation(experiment(StopTime=5));\nend A;"
    )
    assert ModelicaText(path).experiment("A") == Experiment(stop_time=5.0)


def test_copies_of_inputs_stand_before_the_first_section_and_are_used_before_it() -> None:
    text = "model A\n  input Boolean b;\n  Boolean e = edge(b);\nequation\n  e = b;\nend A;"
    copied = with_copied_inputs(text, "A")
    assert "edge(b_at_events);\nprotected Boolean b_at_events = b; equation\n  e = b;" in copied


def test_lines_of_a_name_leave_out_strings_and_comments(text: ModelicaText) -> None:
    assert text.lines_of("Hidden") == []
    assert text.lines_of("Other") == [12]
    assert text.lines_of("Lib.Part") == [1]


def test_experiment_completes_and_checks(wording) -> None:
    said = Experiment(stop_time=3.0).or_else(Experiment(1.0, 9.0, 0.1, 1e-5))
    assert said == Experiment(1.0, 3.0, 0.1, 1e-5)
    assert Experiment(start_time=4.0).interval == (4.0, 5.0)
    for wrong in ({"step_size": 0.0}, {"stop_time": float("inf")}, {"tolerance": 1.0}):
        with wording.raises(DescriptionError):
            Experiment(**wrong)
    with wording.raises(DescriptionError):
        _ = Experiment(2.0, 1.0).interval


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A package ``P.Q`` of files, beside a folder that must not be read."""
    folder = tmp_path / "P" / "Q"
    folder.mkdir(parents=True)
    (tmp_path / "P" / "package.mo").write_text("package P end P;")
    (folder / "package.mo").write_text("within P; package Q end Q;")
    (folder / "A.mo").write_text("within P.Q; model A model I end I; end A;")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "Bad.mo").write_text("model model")
    return tmp_path


def test_package_of_a_file_is_found(library: Path) -> None:
    place = place_in_file(library / "P/Q/A.mo", None, [])
    assert (place.model, place.roots) == ("P.Q.A", (library / "P",))
    assert [file.name for file in place.files] == ["A.mo", "package.mo", "package.mo"]
    for named in ("I", "A.I", "P.Q.A.I"):
        assert place_in_file(library / "P/Q/A.mo", named, []).model == "P.Q.A.I"
    assert place_in_file(library / "P/Q/A.mo", "P.Q.A.I", []).local_name == "A.I"
    assert place_by_name("P.Q.A", [library / "P"]).file == place.file


def test_file_in_the_wrong_folder(library: Path, wording) -> None:
    moved = (library / "P/Q/A.mo").rename(library / "A.mo")
    with wording.raises(ModelicaError):
        place_in_file(moved, None, [])


def test_several_models_are_listed(text: ModelicaText, wording) -> None:
    with wording.raises(ModelicaError):
        place_in_file(text.path, None, [])
    with wording.raises(ModelicaError):
        place_in_file(text.path, "Base", [])


@pytest.mark.slow
def test_builds_in_parallel_come_in_order_and_keep_their_errors(tmp_path: Path) -> None:
    for name, right in (("A", "-x"), ("B", "-y"), ("C", "-2*x")):
        text = f"model {name} Real x(start=1, fixed=true); equation der(x) = {right}; end {name};"
        (tmp_path / f"{name}.mo").write_text(text)
    recipes = [Recipe.of_file(tmp_path / f"{name}.mo", None, ()) for name in "ABC"]
    jobs = [BuildJob(recipe, tmp_path / "o") for recipe in recipes]
    counts: list[int] = []
    first, second, third = build_all(jobs, workers=2, done=counts.append)
    assert isinstance(first, BuildResult)
    assert isinstance(second, ModelicaError)
    assert isinstance(third, BuildResult)
    assert (first.name, third.name, counts) == ("A", "C", [1, 2, 3])
    assert "B.mo:1" in str(second)
    assert build_all([]) == []


def test_second_root_supplies_what_the_first_uses(tmp_path: Path) -> None:
    lag = (
        "within Lib; model Lag parameter Real k = 1; Real x(start=1, fixed=true);"
        " equation der(x) = -k*x; end Lag;"
    )
    for name, text in (
        ("own/Mine", "model Mine\n  Lib.Lag lag(k = 3);\nend Mine;"),
        ("other/Lib/package", "package Lib end Lib;"),
        (
            "other/Lib/Lag",
            lag,
        ),
    ):
        path = tmp_path / f"{name}.mo"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    roots = [tmp_path / "own", tmp_path / "other"]
    built = build_model("Mine", roots, tmp_path / "o")
    assert not built.cached
    assert build_model("Mine", roots, tmp_path / "o").cached
    by_file = build_model(None, [tmp_path / "own/Mine.mo", roots[1]], tmp_path / "p")
    assert by_file.name == "Mine"
    (tmp_path / "other/Lib/Lag.mo").write_text(
        (tmp_path / "other/Lib/Lag.mo").read_text().replace("-k", "-2*k")
    )
    assert not build_model("Mine", roots, tmp_path / "o").cached
