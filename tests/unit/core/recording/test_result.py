import math
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, UnknownNameError
from tests.page_plots import plots_of


def test_signal_by_name(result):
    assert result["chaser.position"].shape == (50,)
    np.testing.assert_array_equal(result["sheet.count"], result.values[:, 2])


def test_unknown_signal_lists_the_names(result, wording):
    with wording.raises(UnknownNameError):
        result["chaser.x"]


def test_time_is_seconds_correctly_rounded(result):
    assert result.time[3] == 0.0003
    assert result.time.dtype == np.float64


def test_real_time_factor(result):
    assert result.real_time_factor == 20.0
    assert math.isnan(replace(result, wall_seconds=0.0).real_time_factor)


def test_arrays_must_fit(result, wording):
    with wording.raises(DescriptionError):
        replace(result, values=result.values[:, :2])


def test_frame_is_indexed_by_time_and_has_units(result):
    frame = result.to_frame()
    assert frame.index.name == "time [s]"
    assert list(frame.columns) == list(result.names)
    assert frame.attrs["units"] == {"chaser.position": "m", "sheet.force[0,1]": "N"}
    np.testing.assert_array_equal(frame.to_numpy(), result.values)
    frame.iloc[0, 0] = 99.0
    assert result.values[0, 0] != 99.0


def test_dataset_has_arrays_units_and_descriptions(result):
    told = {"sheet.force[0,1]": "Force on the sheet"}
    dataset = replace(result, descriptions=told).to_xarray()
    np.testing.assert_array_equal(dataset.time, result.time)
    assert (dataset.time.attrs["units"], dataset.attrs["case"]) == ("s", result.name)
    for name in result.names:
        output = name.partition("[")[0]
        found = dataset[output] if output == name else dataset[output][:, 0]
        np.testing.assert_array_equal(found, result[name])
    assert dataset["sheet.force"].attrs == {"units": "N", "long_name": "Force on the sheet"}
    assert dataset["sheet.force"].dims == ("time", "sheet.force_element")
    dataset["chaser.position"][0] = 99.0
    assert result["chaser.position"][0] != 99.0


def test_without_its_package_a_dataset_says_how_to_get_it(result, monkeypatch, wording):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with wording.raises(CapabilityError):
        result.to_xarray()


def test_package_is_imported_without_its_heavy_libraries():
    code = (
        "import sys, orchestrator.core.recording\n"
        "heavy = {'matplotlib', 'pandas', 'pyarrow', 'jinja2', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_it_behaves_as_a_mapping_of_signals(result):
    assert list(result) == list(result.keys()) == list(result.names)
    assert len(result) == len(result.names) == len(dict(result))
    assert replace(result, names=(), values=result.values[:, :0])  # one without signals is one, too
    assert "sheet.count" in result
    assert "x" not in result
    assert 3 not in result
    assert dict(result)["sheet.count"] is not None


def test_an_unknown_signal_is_asked_about(result, wording):
    with wording.raises(UnknownNameError):
        result["chaser.positon"]


def test_csv_is_written(result, tmp_path):
    result.to_csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0] == 'time [s],chaser.position [m],"sheet.force[0,1] [N]",sheet.count'
    assert len(lines) == 51


def test_a_plot_has_a_panel_for_each_unit(result, wording):
    figure = result.plot()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["chaser.position [m]", "sheet.force[0,1] [N]", "sheet.count [1]"]
    assert len(result.plot("chaser.position", "sheet.*").axes) == 3
    assert len(result.plot("sheet.c?unt").axes) == 1
    with wording.raises(UnknownNameError):
        result.plot("chaser.positon")
    with wording.raises(UnknownNameError):
        result.plot("x*")


def test_a_notebook_shows_a_plot_without_being_told_to(result):
    assert result.plot("sheet.*")._repr_png_().startswith(b"\x89PNG")


def test_a_chart_holds_its_samples_and_asks_for_nothing(result, tmp_path, wording):
    chart = result.chart("chaser.*", title="<b>")
    (tmp_path / "chart.html").write_text(chart.html, encoding="utf-8")
    (panel,) = plots_of(tmp_path / "chart.html")["<b>"]["panels"]
    np.testing.assert_array_equal(panel["curves"][0]["y"], result["chaser.position"])
    assert not re.search(r'(src|href)="', chart.html)
    assert "<b>" not in chart.html
    with wording.raises(UnknownNameError):
        result.chart("x")


def test_it_is_shown_in_a_few_lines(result):
    many = replace(
        result,
        names=tuple(f"c.y_{i}<b>" for i in range(500)),
        values=np.zeros((50, 500)),
        units={"c.y_0<b>": "m"},
    )
    for shown in (result, many):
        text = repr(shown)
        assert len(text.splitlines()) <= 25
        assert max(map(len, text.splitlines())) <= 120
        assert "50 rows" in text
    assert "chaser.position [m]" in repr(result)
    assert "and 485 more" in repr(many)
    page = many._repr_html_()
    assert page.count("<tr>") <= 25
    assert "c.y_0&lt;b&gt;" in page
    assert "<b>" not in page


def test_it_shows_its_first_notes(result):
    notes = ("the run ends at 9 ms <b>", "x " * 500, "third", "fourth")
    noted = replace(result, notes=notes)
    text = repr(noted)
    assert "  note: the run ends at 9 ms <b>" in text
    assert "note: third\n  and 1 note more in remarks" in text
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) <= 25
    assert "the run ends at 9 ms &lt;b&gt;" in noted._repr_html_()
