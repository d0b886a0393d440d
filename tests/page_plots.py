"""The figures of a page, read back: what its script draws."""

import base64
import json
import re
from pathlib import Path

import numpy as np


def plots_of(page):
    """Return the figures of a report by title, their curves with the arrays x and y."""
    page = Path(page)
    text = page.read_text(encoding="utf-8")
    match = re.search(r'<script type="application/json" id="figure-data">(.*?)</script>', text)
    if match:
        data = json.loads(match[1])
    else:
        beside = page.with_name(f"{page.stem}.data.js").read_text(encoding="utf-8")
        data = json.loads(beside.removeprefix("window.softdockFigures = ").removesuffix(";\n"))
    arrays = [unpacked(packed) for packed in data["arrays"]]
    for figure in data["figures"]:
        for panel in figure["panels"]:
            for curve in panel["curves"]:
                curve |= {name: arrays[curve[name]] for name in ("x", "y")}
                curve["band"] = curve["band"] and [arrays[place] for place in curve["band"]]
    return {figure["title"]: figure for figure in data["figures"]}


def unpacked(packed):
    """Return an array of a page."""
    if "step" in packed:
        return (packed["first"] + packed["step"] * np.arange(packed["count"])) / 1e9
    if "value" in packed:
        return np.full(packed["count"], packed["value"])
    ((kind, content),) = packed.items()
    return np.frombuffer(base64.b64decode(content), f"<{kind}").astype(float)
