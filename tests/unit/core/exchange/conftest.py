"""Model Exchange FMUs for the tests: tests/fixtures/exchange, compiled about a model."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from compile_cache import compile_fixture

from orchestrator.core.operating_system import platforms
from orchestrator.core.simunits import make_unit
from orchestrator.core.simunits.fmi.model_exchange_unit import ModelExchangeUnit
from orchestrator.core.simunits.registry import fmu

HERE = platforms.here()

#: Number of states and of event indicators, as in the headers.
MODELS = {
    "clock": (0, 0),
    "decay": (1, 0),
    "ending": (1, 0),
    "endless": (1, 0),
    "lines": (2, 4),
    "oscillator": (2, 0),
    "relay": (1, 1),
    "root": (1, 0),
    "stepper": (1, 0),
    "wave": (0, 2),
    "zeno": (2, 1),
}


def _variable(name: str, reference: int, attributes: str, kind: str) -> str:
    head = f'<ScalarVariable name="{name}" valueReference="{reference}" {attributes}>'
    return f"{head}{kind}</ScalarVariable>"


def description(model: str) -> str:
    """Return the model description: value references as in exchange.c."""
    states, indicators = MODELS[model]
    variables = [
        _variable(f"x{i}", i, 'initial="exact"', '<Real start="0"/>') for i in range(states)
    ]
    variables += [
        _variable(f"der(x{i})", 3 + i, "", f'<Real derivative="{i + 1}"/>') for i in range(states)
    ]
    variables += [
        _variable("u", 6, 'causality="input"', '<Real start="0"/>'),
        _variable("y", 7, 'causality="output"', "<Real/>"),
        _variable("p", 8, 'causality="parameter" variability="fixed"', '<Real start="1"/>'),
        _variable("count", 0, 'causality="output" variability="discrete"', "<Integer/>"),
    ]
    unknowns = "".join(f'<Unknown index="{states + 1 + i}"/>' for i in range(states))
    listed = f"<Derivatives>{unknowns}</Derivatives>" if states else ""
    outputs = (
        f'<Unknown index="{2 * states + 2}" dependencies=""/>'
        f'<Unknown index="{2 * states + 4}" dependencies=""/>'
    )
    initial = f'<Unknown index="{2 * states + 2}"/>' + unknowns
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{model}" guid="{{exchange}}"
  numberOfEventIndicators="{indicators}">
<ModelExchange modelIdentifier="{model}" canGetAndSetFMUstate="true"
  canSerializeFMUstate="true" providesDirectionalDerivative="true"/>
<ModelVariables>{"".join(variables)}</ModelVariables>
<ModelStructure><Outputs>{outputs}</Outputs>{listed}
<InitialUnknowns>{initial}</InitialUnknowns></ModelStructure>
</fmiModelDescription>
"""


@pytest.fixture(scope="session")
def exchange(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build the Model Exchange FMU about one of the models, once."""
    folder = tmp_path_factory.mktemp("exchange")

    def build(model: str) -> Path:
        path = folder / f"{model}.fmu"
        if path.exists():
            return path
        library = folder / f"{model}{HERE.suffix}"
        compile_fixture("exchange/exchange.c", library, f'-DMODEL="{model}.h"')
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", description(model))
            archive.write(library, f"{HERE.folder('2.0')}/{model}{HERE.suffix}")
        return path

    return build


@pytest.fixture
def open_unit(exchange: Callable[[str], Path]) -> Callable[..., ModelExchangeUnit]:
    """Make the unit of a model, bound and initialised at a start time in ns."""

    def make(
        model: str, start_ns: int = 0, values: dict | None = None, **options: object
    ) -> ModelExchangeUnit:
        path = exchange(model)
        component = fmu(path).with_values(values or {})
        component = replace(component, name=model, options=component.options.changed(options))
        unit = make_unit(component)
        assert isinstance(unit, ModelExchangeUnit)
        unit.bind(["u"], ["y", "count"])
        unit.setup(start_ns, None)
        unit.exit_initialisation()
        return unit

    return make
