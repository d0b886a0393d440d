"""The emulator of a device, which a run starts for it."""

from __future__ import annotations

from pydantic import ConfigDict, StrictBool, StrictFloat, StrictInt, StrictStr

from orchestrator.study.file.table import Table

_Option = StrictBool | StrictInt | StrictFloat | StrictStr


class EmulatorTable(Table):
    """Options of an emulator, ``--KEY VALUE`` each; which there are, the emulator says.

    A key that is ``true`` stands alone, one that is ``false`` is left out. ``"{NAME.PLACE}"`` in a
    text is where the emulator ``NAME``, which stands before it, can be reached under ``PLACE``.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)
    __pydantic_extra__: dict[str, _Option]

    @property
    def options(self) -> dict[str, bool | int | float | str]:
        """All keys as they are written."""
        return dict(self.__pydantic_extra__ or {})
