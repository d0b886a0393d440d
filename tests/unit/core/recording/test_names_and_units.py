"""Names and units come back from every kind of file, also those that look like others."""

import struct

import numpy as np
import pytest

from orchestrator import LoadError, System, block, read_result, simulate
from orchestrator.core.files.columns import split_title, titled
from orchestrator.core.recording.formats import format_names, writer
from orchestrator.core.recording.result import Result
from orchestrator.core.simunits import component_of
from orchestrator.core.simunits.logs import read_recorded
from orchestrator.core.system import Source, SourceKind
from orchestrator.study.prepare.inputs import read_signal

NAMES = (
    *("speed", "speed [rpm]", "a [1]", "a [2]", "a[1]", "a[2]", "v[0]", "v[1]", "one[0]"),
    *("[x]", "a]b", "q [x", "x [a [b]]", "x []", "der(x)", "back\\slash [\\]", 'Über, "x"'),
    *("100 % [%s]", "{}", "trailing ", " leading", "x [s] [t]", "x [[s]", "# [1]"),
)
UNITS = ("rpm", "rad/s", "m|mm", "rad [deg]", "[", "]", "a\\", ":#(x", "#/min", "1", "°", "%")


def result_with(names, units, descriptions):
    values = np.linspace(-1.0, 1.0, 3 * len(names)).reshape(3, len(names))
    values[0, :] = -0.0
    return Result("r", np.arange(3) * 10**8, names, values, units, descriptions)


@pytest.fixture(params=format_names())
def kind(request):
    if request.param in {"parquet", "mcap"}:
        pytest.importorskip({"parquet": "pyarrow", "mcap": "mcap"}[request.param])
    return request.param


def hard_result():
    names = tuple(f"m.{name}" for name in NAMES)
    units = {name: UNITS[i % len(UNITS)] for i, name in enumerate(names) if i % 2}
    units |= {f"m.unit{i}": unit for i, unit in enumerate(UNITS)}
    names += tuple(f"m.unit{i}" for i in range(len(UNITS)))
    about = {name: f"angle [see figure {i}]" for i, name in enumerate(names) if i % 3}
    return result_with(names, units, about)


def test_names_units_and_bits_come_back(kind, tmp_path):
    result = hard_result()
    path = tmp_path / f"r.{kind}"
    writer(kind)(result, path)
    found = read_result(path)
    assert found.names == result.names
    assert found.units == result.units
    assert found.values.tobytes() == result.values.tobytes()  # -0.0 is not 0.0


def test_a_recording_has_the_same_names(kind, tmp_path):
    result = hard_result()
    path = tmp_path / f"r.{kind}"
    writer(kind)(result, path)
    recorded = read_recorded(path, "m")
    assert tuple(f"m.{name}" for name in recorded.columns) == result.names
    assert {f"m.{name}": unit for name, unit in recorded.units.items()} == result.units
    assert recorded.values.tobytes() == result.values.tobytes()


def test_a_recording_plays_scalars_whose_names_end_like_elements(kind, tmp_path):
    path = tmp_path / f"r.{kind}"
    writer(kind)(result_with(("m.a[1]", "m.a[2]", "m.v[0]", "m.v[1]", "m.one[0]"), {}, {}), path)
    component = component_of(Source(SourceKind.LOG, f"{path}?component=m"))
    shapes = {name: each.shape for name, each in component.connectors.items()}
    assert shapes == {"a[1]": (), "a[2]": (), "v": (2,), "one[0]": ()}


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_an_input_is_read_by_its_name(ending, tmp_path):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    result = hard_result()
    writer(ending)(result, tmp_path / f"r.{ending}")
    for number, name in enumerate(result.names):
        if ending == "csv" and name.endswith(" "):
            continue  # blanks around titles of tables by hand are none of the names
        signal_file = read_signal(tmp_path / f"r.{ending}", name)
        assert signal_file.unit == result.units.get(name)
        assert np.array_equal(signal_file.values, result.values[:, number])


@pytest.mark.parametrize(
    "name", ["speed", "", "a [1]", "[x]", "x []", "x [] []", "q [x", "line\n[u]"]
)
@pytest.mark.parametrize("unit", ["", *UNITS])
def test_a_title_is_split_as_it_was_made(name, unit):
    assert split_title(titled(name, unit)) == (name, unit)


def test_plain_titles_are_as_ever_and_others_units_are_cut():
    assert titled("chaser.position", "m") == "chaser.position [m]"
    assert titled("chaser.position", None) == "chaser.position"
    assert titled("m.speed [rpm]", None) == "m.speed [rpm] []"
    assert split_title("Position [m|mm]") == ("Position", "m")
    assert split_title("Count [:#(type=Integer)]") == ("Count", "")
    assert split_title("Angle [rad|deg:#(type=Real)]") == ("Angle", "rad")


def mat_file(
    path, times, values, names, about, *, normal=False, coding="latin-1", row=(2, 2, 0, -1)
):
    """Write a file as Dymola and OpenModelica do."""

    def matrix(title, code, content, dtype):
        content = np.asarray(content, dtype)
        content = content.T if normal and title != "Aclass" else content
        head = struct.pack("<5i", code, *content.shape, 0, len(title) + 1)
        return head + title.encode() + b"\0" + content.tobytes(order="F")

    def characters(texts, fill=b"\0"):
        coded = [text.encode(coding) for text in texts]
        width = max(map(len, coded))
        rows = [list(text.ljust(width, fill)) for text in coded]
        return np.array(rows, np.uint8)

    kind = "binNormal" if normal else "binTrans"
    data = np.vstack([times, values])
    path.write_bytes(
        matrix("Aclass", 51, characters(["Atrajectory", "1.1", "", kind], b" "), np.uint8)
        + matrix("name", 51, characters(names).T, np.uint8)
        + matrix("description", 51, characters(about).T, np.uint8)
        + matrix("dataInfo", 20, np.array([(0, 1, 0, -1), row]).T, "<i4")
        + matrix("data_1", 0, [[times[0], times[-1]]], "<f8")
        + matrix("data_2", 0, data, "<f8")
    )
    return path


@pytest.mark.parametrize("normal", [False, True], ids=["binTrans", "binNormal"])
def test_files_of_other_tools(tmp_path, normal):
    times, values = [0, 0.1, 0.2, 0.2, 0.3, 0.3], [-0.0, 1, 2, 5, 6, 6]
    names, about = ("time", "x [1]"), ("Time in [s]", "Höhe [m|mm]")
    for coding in ("latin-1", "utf-8"):
        path = mat_file(
            tmp_path / "o.mat", times, values, names, about, normal=normal, coding=coding
        )
        result = read_result(path)
        assert result.names == ("x [1]",)
        assert result.units == {"x [1]": "m"}
        assert result.time.tolist() == [0, 0.1, 0.2, 0.3]
        assert result["x [1]"].tolist() == [0, 1, 5, 6]
        assert np.signbit(result["x [1]"][0])
        assert result.notes == (
            "o.mat: 2 rows left out, as another one of the same time follows (events)",
        )


def test_a_negated_alias_of_another_tool(tmp_path):
    path = mat_file(
        tmp_path / "n.mat", [0, 1], [1, 2], ("time", "x"), ("Time in [s]", "x"), row=(2, -2, 0, -1)
    )
    assert read_result(path)["x"].tolist() == [-1, -2]


def test_times_that_go_back_are_refused(tmp_path, wording):
    path = mat_file(tmp_path / "b.mat", [0, 2, 1], [1, 2, 3], ("time", "x"), ("Time in [s]", "x"))
    with wording.raises(LoadError):
        read_result(path)


def test_a_system_runs_by_the_recording_of_odd_names(tmp_path):
    """From a run to a file and back into a run, with a block as what reads it."""
    for ending in ("csv", "npz", "mat"):
        path = tmp_path / f"p.{ending}"
        writer(ending)(result_with(("m.speed [rpm]",), {"m.speed [rpm]": "N"}, {}), path)
        component = component_of(Source(SourceKind.LOG, f"{path}?component=m"))
        system = System("s").add("m", component).add("b", block("saturation"))
        system = system.connect("m.speed [rpm]", "b.wanted")
        result = simulate(system, step="0.1 s", stop="0.2 s", record=["m.speed [rpm]"])
        assert np.signbit(result["m.speed [rpm]"][0])
        assert result["m.speed [rpm]"].tolist() == [-0.0, 1 / 2 - 1 / 2, 1.0]
