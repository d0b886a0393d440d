"""JSON schemas: what the readers take is valid, and a key that is misspelt is found."""

import json
import tomllib
from copy import deepcopy
from pathlib import Path
from random import Random

import jsonschema
import pytest

from orchestrator.cli.files import MODELS, file_text, kinds, schema_of

ROOT = Path(__file__).parents[3]
FILES = [
    *sorted(ROOT.glob("examples/**/*.toml")),
    *sorted(ROOT.glob("fmus/*.toml")),
    *sorted(ROOT.glob("examples/**/plants/*.toml")),
]


@pytest.fixture(scope="module")
def validators():
    return {kind: jsonschema.Draft202012Validator(schema_of(kind)) for kind in MODELS}


def kind_of(content):
    """What a file is, by the tables that its reader looks for."""
    marks = {"fmu": "recipe", "pair": "twin", "case": "experiment", "system": "system"}
    return next((kind for mark, kind in marks.items() if mark in content), "scene")


def test_all_files_that_ship_are_valid(validators):
    assert len(FILES) > 70
    for file in FILES:
        content = tomllib.loads(file.read_text())
        errors = list(validators[kind_of(content)].iter_errors(content))
        assert errors == [], file


def spoilt(content, chance):
    """Misspell one key whose name its table fixes, at any depth."""
    changed = deepcopy(content)
    keys = list(_fixed_keys(changed, named=False))
    table, key = chance.choice(keys)
    table[f"{key}_"] = table.pop(key)
    return changed, key


def _fixed_keys(table, *, named):
    """Tables with their keys; those of a table of names are the user's."""
    for key, value in table.items():
        if not named:
            yield table, key
        if isinstance(value, dict) and (named or key not in OPEN):
            yield from _fixed_keys(value, named=not named and key in NAMES)


#: Tables whose keys are names that the user gives: of cases, components, signals.
NAMES = {
    *("case", "sweep", "figure", "animation", "ledger", "expect", "component", "nested", "view"),
    *("frame", "part", "measure", "set", "swap", "delays", "values", "derived", "over", "rates"),
    *("options", "connectors", "fault", "recorder", "unit", "rest", "input", "connections"),
    *("algorithm_options", "power", "bus", "stages", "port", "account", "interface"),
    *("commands", "signals", "energy", "tracking", "reactions", "budgets", "at"),
}
#: Tables that an adapter or an emulator reads, whose schemas are others, or of models.
OPEN = {"devices", "emulators", "models", "extension"}


def test_forty_of_forty_misspelt_keys_are_found(validators):
    chance = Random(36)  # noqa: S311
    for _ in range(40):
        file = chance.choice(FILES)
        content = tomllib.loads(file.read_text())
        changed, key = spoilt(content, chance)
        assert list(validators[kind_of(content)].iter_errors(changed)), f"{file}: {key}"


@pytest.mark.parametrize("kind", kinds())
def test_each_schema_is_one(kind):
    jsonschema.Draft202012Validator.check_schema(json.loads(file_text(kind)))


def _keys(schema):
    tables = {"": schema, **schema.get("$defs", {})}
    return {name: sorted(table.get("properties", ())) for name, table in tables.items()}


@pytest.mark.parametrize("kind", MODELS)
def test_the_schema_that_ships_has_the_keys_of_the_model(kind):
    """Written by `softdock schema KIND --output examples/schemas`."""
    shipped = json.loads((ROOT / "examples" / "schemas" / f"{kind}.json").read_text())
    assert _keys(shipped) == _keys(schema_of(kind))


def test_each_file_that_ships_names_its_schema():
    for file in FILES:
        first, _, _ = file.read_text().partition("\n")
        system = (file.parent / first.removeprefix("#:schema ")).resolve()
        kind = kind_of(tomllib.loads(file.read_text()))
        assert system == ROOT / "examples" / "schemas" / f"{kind}.json", file
