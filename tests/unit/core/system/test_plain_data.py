"""TOML and JSON within bounds."""

import pytest

from orchestrator.author import read_toml
from orchestrator.author.edit import TomlDocument
from orchestrator.checks.target import toml_lines
from orchestrator.core.diagnostics import LoadError
from orchestrator.core.files.plain_data import json_data, toml_data
from orchestrator.export.recipe import Recipe
from orchestrator.study import read_experiment


def test_what_is_sound_is_read():
    text = "a = 9223372036854775807\nb = [-9223372036854775808, 1.5]\nc = { d = true }"
    assert toml_data(text) == {"a": 2**63 - 1, "b": [-(2**63), 1.5], "c": {"d": True}}
    assert json_data('{"a": [18446744073709551615, -3, 1e3]}') == {"a": [2**64 - 1, -3, 1000.0]}


@pytest.mark.parametrize("digits", ["9" * 21, "9" * 400, "9" * 5000, "-" + "9" * 400])
def test_numbers_of_many_digits(digits):
    with pytest.raises(ValueError, match=r"64 bits|4300 digits"):
        toml_data(f"[a]\nb = [1, {{ c = {digits} }}]")
    with pytest.raises(ValueError, match="64 bits"):
        json_data(f'{{"a": {digits}}}')


@pytest.mark.parametrize("read", [toml_data, json_data])
def test_what_is_nested_too_deeply(read):
    with pytest.raises(ValueError, match="nested too deeply"):
        read(("a = " if read is toml_data else "") + "[" * 100_000)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (Recipe.read, "[fmu]\nmodel = 'A.B'\n[solver]\nstep = {}"),
        (read_experiment, "title = 't'\n[case.a]\nsystem = 's'\nstop = {}"),
        (read_experiment, "title = 't'\n[case.a]\nsystem = 's'\n[animation.m]\nspeed = {}"),
    ],
)
def test_recipes_and_experiments_name_the_file(tmp_path, read, text, wording):
    path = tmp_path / "a.toml"
    path.write_text(text.format("9" * 400), encoding="utf-8")
    with wording.raises(LoadError):
        read(path)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    assert toml_data("\ufeff[a]\nb = 1\n") == {"a": {"b": 1}}
    path = tmp_path / "e.toml"
    path.write_text('\ufefftitle = "t"\n[case.a]\nsystem = "s.ssd"\n', encoding="utf-8")
    assert read_experiment(path).title == "t"
    assert toml_lines(path)[("title",)] == 1


def test_a_file_with_a_byte_order_mark_keeps_it_when_it_is_edited(tmp_path):
    path = tmp_path / "s.toml"
    text = '\ufeff[system]\nname = "s"\n[component.a]\nsource = "block:virtual_damper"\n'
    path.write_text(text, encoding="utf-8")
    document = TomlDocument(path)
    document.update(document.system.set("a.b", 3.0))
    document.rename("a", "c")
    document.save()
    written = path.read_text(encoding="utf-8")
    assert written.startswith("\ufeff[system]")
    assert read_toml(path).value("c.b") == 3.0
