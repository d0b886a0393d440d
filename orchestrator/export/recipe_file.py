"""The form of a recipe file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationError,
)

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.diagnostics.validation import format_validation_error

_Number = StrictInt | StrictFloat


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FmuTable(_Table):
    """``[fmu]``: a Modelica class, the folders of its packages, the name of the FMU."""

    model: StrictStr
    root: StrictStr | Annotated[tuple[StrictStr, ...], Field(min_length=1)] = "../modelica"
    name: StrictStr | None = None

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders."""
        return (self.root,) if isinstance(self.root, str) else self.root


class FmiTable(_Table):
    """``[fmi]``: the versions of the archives."""

    versions: tuple[StrictStr, ...] = ("2.0",)


class SolverTable(_Table):
    """``[solver]``: how a co-simulation FMU integrates."""

    method: StrictStr = "dopri5"
    max_step: _Number | None = None
    tolerance: _Number | None = None


class ExperimentTable(_Table):
    """``[experiment]``: what an importer may propose."""

    start_time: _Number | None = None
    stop_time: _Number | None = None
    step_size: _Number | None = None


class RecipeFile(_Table):
    """Everything that a recipe says."""

    fmu: FmuTable
    fmi: FmiTable = FmiTable()
    solver: SolverTable = SolverTable()
    experiment: ExperimentTable = ExperimentTable()


def recipe_file(content: object, path: Path) -> RecipeFile:
    """Check the content of a recipe.

    Raises
    ------
    DescriptionError
        If keys are missing, unknown or of a wrong type; all problems at once.
    """
    try:
        return RecipeFile.model_validate(content)
    except ValidationError as error:
        raise DescriptionError(*format_validation_error(error, RecipeFile, path)) from None
