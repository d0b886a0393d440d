"""What every registered format of results must do; a new one is here with its entry point."""

import inspect
from importlib.metadata import entry_points

import numpy as np
import pytest

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording import Result, format_names, writer


@pytest.fixture(params=sorted(format_names()))
def name(request):
    return request.param


@pytest.fixture
def result():
    values = np.array([[0.0, 1.0], [0.1, -1.0], [1 / 3, 1e300]])
    times = np.array([0, 1_000_000, 2_000_000])
    return Result("case", times, ("a.x", "b.y[0]"), values, units={"a.x": "m"})


def test_it_is_documented(name):
    (entry,) = entry_points(group="softdock.sinks", name=name)
    text = inspect.getdoc(entry.load())
    assert text
    assert "\nRaises\n---" in text


def test_a_file_is_written_and_nothing_beside_it(name, result, tmp_path):
    path = tmp_path / f"run.{name}"
    writer(name)(result, path)
    assert path.stat().st_size > 0
    assert list(tmp_path.iterdir()) == [path]


def test_equal_results_give_equal_bytes(name, result, tmp_path):
    for file in ("one", "two"):
        writer(name)(result, tmp_path / file)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_file_that_cannot_be_written_is_an_error_that_names_it(name, result, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").touch()
    with pytest.raises(SoftdockError, match="folder"):
        writer(name)(result, tmp_path / "folder")
    assert [p.name for p in tmp_path.rglob("*")] == ["folder", "file"]
