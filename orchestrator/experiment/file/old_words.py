"""Words of experiment files that have been replaced, and are read as before."""

from __future__ import annotations

from typing import Any

from orchestrator.diagnostics import DescriptionError, Diagnostic, Severity
from orchestrator.diagnostics.toml_key import toml_key

_TABLE = "[campaign.NAME] is called [sweep.NAME] now"
_KEY = "'campaign' of a figure is called 'sweep' now"
#: Of what is read in its old words.
CODE = "EXP105"


def with_new_words(content: dict[str, Any]) -> tuple[dict[str, Any], list[Diagnostic]]:
    """Read ``[campaign.NAME]`` as ``[sweep.NAME]``, and ``campaign`` of figures as ``sweep``.

    Parameters
    ----------
    content
        Of a file; not changed.

    Returns
    -------
    content
        In the words of today.
    notes
        What to write instead, for each table and figure; empty if nothing is old.

    Raises
    ------
    DescriptionError
        If old and new words give one name two meanings.
    """
    notes: list[Diagnostic] = []
    campaigns, sweeps = content.get("campaign"), content.get("sweep", {})
    if isinstance(campaigns, dict) and isinstance(sweeps, dict):
        both = campaigns.keys() & sweeps.keys()
        if both:
            raise DescriptionError(
                *(
                    f"campaign '{name}': there is a sweep of this name, too: rename one of them"
                    for name in sorted(both)
                )
            )
        content = {key: table for key, table in content.items() if key != "campaign"}
        content["sweep"] = {**campaigns, **sweeps}
        notes += (_note(toml_key("campaign", name), _TABLE) for name in campaigns)
    figures = content.get("figure")
    if isinstance(figures, dict):
        renamed = {name: _figure(figure) for name, figure in figures.items()}
        if renamed != figures:
            content = {**content, "figure": renamed}
            old = (name for name, figure in figures.items() if renamed[name] != figure)
            notes += (_note(toml_key("figure", name, "campaign"), _KEY) for name in old)
    return content, notes


def _figure(table: Any) -> Any:
    """Rename the key of a figure; one that has both is told about the unknown old one."""
    if not isinstance(table, dict) or "campaign" not in table or "sweep" in table:
        return table
    return {("sweep" if key == "campaign" else key): value for key, value in table.items()}


def _note(key: str, text: str) -> Diagnostic:
    return Diagnostic(CODE, Severity.WARNING, text, key=key)
