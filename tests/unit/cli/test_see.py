import json
import shutil
from pathlib import Path

import pytest
from lxml import etree

from orchestrator.core.ssp import read_system, write_ssd

EXAMPLE = Path(__file__).parents[3] / "examples" / "epos"


@pytest.fixture
def example(plants, tmp_path):
    folder = tmp_path / "examples" / "epos"
    shutil.copytree(EXAMPLE, folder)
    (tmp_path / "fmus").mkdir()
    (tmp_path / "fmus" / "build").symlink_to(plants)
    return folder


def test_graph_writes_a_page_on_demand(softdock, example, tmp_path):
    command = ("graph", example, "--case", "hybrid_total_delay", "--output", tmp_path / "g")
    code, out, err = softdock(*command, "--html", "--json")
    assert (code, err) == (0, "")
    content = json.loads(out)
    names = [Path(path).name for path in content["files"]["hybrid_total_delay"]]
    assert names == [f"hybrid_total_delay-graph{suffix}" for suffix in (".svg", ".png", ".html")]
    assert {loop["physical_delay_ms"] for loop in content["loops"]["hybrid_total_delay"]} == {32}
    assert not any(loop["is_algebraic"] for loop in content["loops"]["hybrid_total_delay"])
    page = (tmp_path / "g" / names[2]).read_text(encoding="utf-8")
    assert '"GUID"' in page  # facts of FMUs
    svg = etree.parse(tmp_path / "g" / names[0])
    assert "32 ms" in [t.text for t in svg.iter("{*}text")]


def test_graph_writes_no_page_unasked(softdock, example, tmp_path):
    softdock("graph", example / "ideal.ssd", "--output", tmp_path)
    assert sorted(path.suffix for path in tmp_path.glob("ideal-graph.*")) == [".png", ".svg"]


def test_graph_draws_what_no_algorithm_can_run_and_says_why(softdock, example, tmp_path):
    path = example / "experiment.toml"
    path.write_text(
        'title = "t"\n[case.a]\nsystem = "ideal.ssd"\nalgorithm = "jacobi"\n'
        "rates = { nobody = 2 }\n"
    )
    code, _, err = softdock("graph", example, "--output", tmp_path / "g")
    assert code == 0
    assert "a: rate of 'nobody': no such component" in err
    assert (tmp_path / "g" / "a-graph.svg").is_file()


def test_a_case_of_a_nested_system_is_drawn_nested(softdock, example, tmp_path):
    system = read_system(example / "SystemStructure.ssd")
    system = system.group("emulation", ["sheet", "hybrid", "wall"])
    write_ssd(system, example / "nested.ssd")
    (example / "experiment.toml").write_text(
        'title = "t"\n[case.plain]\nsystem = "nested.ssd"\n[case.late]\nsystem = "nested.ssd"\n'
        '[case.late.delays]\n"emulation/hybrid.force_1 -> chaser.force" = "32 ms"\n'
        '[case.late.set]\n"emulation/sheet.k" = 1234\n'
    )
    code, out, _ = softdock("graph", example, "--case", "late", "--output", tmp_path / "g")
    assert code == 0
    assert "loop (32 ms): chaser.position -> emulation/hybrid.force_1 -> chaser" in out
    svg = etree.parse(tmp_path / "g" / "late-graph.svg")
    frames = [g.get("data-part") for g in svg.iter("{*}g") if g.get("class") == "frame"]
    assert frames == ["emulation"]
    assert "32 ms" in [t.text for t in svg.iter("{*}text")]
    code, out, _ = softdock("diff", f"{example}#plain", f"{example}#late")
    assert code == 1
    assert out.splitlines()[2:] == [
        "~ component emulation/sheet",
        "    value k: 1000.0 → 1234",
        "~ connection emulation.hybrid.force_1 -> chaser.force",
        "    delay: none → 32 ms, assumed",
    ]


def test_a_part_of_a_system_is_drawn_as_it_was_written(softdock, example, tmp_path):
    system = read_system(example / "SystemStructure.ssd")
    part = system.group("emulation", ["sheet", "hybrid", "wall"]).systems["emulation"]
    write_ssd(part, example / "part.ssd")
    code, _, err = softdock("graph", example / "part.ssd", "--output", tmp_path / "g")
    assert code == 0
    assert "of system 'emulation' has no value" in err
    svg = etree.parse(tmp_path / "g" / "part-graph.svg")
    pins = [g for g in svg.iter("{*}g") if g.get("class") == "pin"]
    assert len(pins) == len(part.connectors)


def test_an_unknown_case_is_named(softdock, example):
    code, _, err = softdock("graph", example, "--case", "nope")
    assert code == 2
    assert "no case 'nope'; the cases are ideal, hybrid" in err
    assert softdock("diff", f"{example}#nope", f"{example}#ideal")[0] == 2


def test_a_folder_that_cannot_be_written_is_named(softdock, example, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code, _, err = softdock("graph", example / "ideal.ssd", "--output", blocked / "g")
    assert code == 2
    assert "cannot be written" in err
    assert blocked.read_text() == "in the way"


def test_diff_of_equal_systems_is_zero(softdock, example):
    code, out, _ = softdock("diff", example / "ideal.ssd", example / "ideal.ssd")
    assert (code, out) == (0, "the systems are equal\n")


def test_diff_says_that_equal_systems_are_written_in_another_way(softdock, example):
    other = example / "other.ssd"
    text = (example / "ideal.ssd").read_text()
    other.write_text(text.replace("?>", "?>\n<!-- the same -->", 1))
    code, out, _ = softdock("diff", example / "ideal.ssd", other)
    assert code == 0
    assert "write the same system in another way" in out


def test_diff_of_cases_is_one_and_tells_what_differs(softdock, example):
    sides = (f"{example}#hybrid_total_delay", f"{example}#hybrid")
    code, out, _ = softdock("diff", *sides)
    assert code == 1
    assert "    delay: 32 ms, assumed → none" in out.splitlines()
    code, out, _ = softdock("diff", *sides, "--json")
    assert code == 1
    content = json.loads(out)
    assert content["equal"] is False
    assert {change["name"] for change in content["changes"]} == {
        "hybrid.force_1 -> chaser.force",
        "hybrid.force_2 -> target.force",
    }
    assert content["changes"][0]["fields"] == [
        {"name": "delay", "before": "32 ms, assumed", "after": "none"}
    ]


def test_diff_compares_how_cases_are_run(softdock, example):
    sides = (f"{example}#capture_b60", f"{example}#capture_b60_jacobi")
    code, out, _ = softdock("diff", *sides)
    assert code == 1
    assert "~ options of the run" in out
    assert "    step: 1 ms → 8 ms" in out


def test_diff_draws_on_demand(softdock, example, tmp_path):
    sides = (f"{example}#ideal", f"{example}#hybrid")
    code, out, _ = softdock("diff", *sides, "--html", "--output", tmp_path / "d", "--json")
    assert code == 1
    files = [Path(path) for path in json.loads(out)["files"]]
    assert [path.name for path in files] == [
        f"ideal-hybrid-diff{suffix}" for suffix in (".svg", ".png", ".html")
    ]
    assert "- component contact" in files[2].read_text(encoding="utf-8")


def test_diff_asks_which_case(softdock, example):
    code, _, err = softdock("diff", example, example / "ideal.ssd")
    assert code == 2
    assert "name one, as in" in err


def test_diff_of_a_missing_file_is_two(softdock, tmp_path):
    code, _, err = softdock("diff", tmp_path / "a.ssd", tmp_path / "b.ssd")
    assert code == 2
    assert "a.ssd: no such file" in err
