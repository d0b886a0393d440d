"""Which device stands in the place of a component."""

from __future__ import annotations

from typing import Any

from pydantic import ConfigDict, StrictStr

from orchestrator.study.file.table import Table


class DeviceTable(Table):
    """A device and its settings; which settings there are, its adapter says.

    Without ``device`` the component is one already, and some of its settings are other ones.
    """

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)

    device: StrictStr | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """All keys but ``device``, as they are written."""
        return dict(self.model_extra or {})
