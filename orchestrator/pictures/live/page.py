"""The page that viewers open; it asks the server for all that it shows."""

from __future__ import annotations

from functools import cache

from orchestrator.pictures.drawing.page import environment
from orchestrator.pictures.report import TEMPLATES, digest, figure_style, script_of, uplot


@cache
def live_page(title: str) -> tuple[str, str]:
    """Return the HTML, and what a browser may do with it: its own scripts, and its own server."""
    scripts = (uplot(), script_of("figure_data.js", "figures.js", "live.js"))
    style = "\n".join((figure_style(), (TEMPLATES / "live.css").read_text(encoding="utf-8")))
    text = (
        environment(TEMPLATES)
        .get_template("live.html.j2")
        .render(title=title, scripts=scripts, style=style)
    )
    held = " ".join(map(digest, scripts))
    policy = (
        f"default-src 'none'; img-src data:; connect-src 'self'; script-src {held};"
        " style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )
    return text, policy
