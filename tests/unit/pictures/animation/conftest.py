import base64
import json
import re

import numpy as np
import pytest

from orchestrator.core.recording import Result
from orchestrator.pictures.animation import Animation

RATE = 2.0  # rad/s


def turning(name="run", step=0.01, stop=2.0):
    """A point on a circle of 1 m that faces outwards: position, attitude and a force along it."""
    t = np.arange(0.0, stop + step / 2, step)
    angle = RATE * t
    columns = {
        "body.r[0]": np.cos(angle),
        "body.r[1]": np.sin(angle),
        "body.r[2]": 0.5 * t,
        "body.q[0]": np.cos(angle / 2),
        "body.q[1]": 0.0 * t,
        "body.q[2]": 0.0 * t,
        "body.q[3]": np.sin(angle / 2),
        "body.force[0]": 100.0 + 0.0 * t,
        "body.force[1]": 0.0 * t,
        "body.force[2]": 0.0 * t,
        "rail.x": 0.01 * np.sin(angle),
    }
    units = dict.fromkeys([n for n in columns if n.startswith("body.r[")], "m")
    units |= dict.fromkeys([n for n in columns if n.startswith("body.force")], "N") | {
        "rail.x": "m"
    }
    return Result(
        name,
        np.rint(t * 1e9).astype(np.int64),
        tuple(columns),
        np.column_stack([*columns.values()]),
        units,
    )


TABLE = {
    "title": "turning",
    "cases": ["run"],
    "fps": 10,
    "frame": {
        "bench": {"position": [0.0, 0.0, 3.0]},
        "body": {"in": "bench", "position": "body.r", "attitude": "body.q"},
        "slide": {"position": ["rail.x", 0, 1]},
    },
    "part": {
        "disc": {"shape": "cylinder", "in": "body", "radius": 0.2, "length": 0.1, "label": "disc"},
        "bar": {
            "shape": "line",
            "from": {"in": "bench"},
            "to": {"in": "body", "at": [0.5, 0, 0]},
            "radius": 0.02,
        },
        "pull": {
            "shape": "arrow",
            "in": "body",
            "vector": "body.force",
            "scale": 0.01,
            "label": "force",
        },
    },
}


@pytest.fixture
def table():
    def make(**changes):
        return Animation.model_validate({**TABLE, **changes})

    return make


class Decoded:
    """What a page holds, read as its script reads it."""

    def __init__(self, page):
        text = re.search(
            r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL
        )
        self.data = json.loads(text[1])

    def tracks(self, case=0):
        coded = self.data["cases"][case]
        values = np.frombuffer(base64.b64decode(coded["values"]), dtype="<f4")
        found, at = [], 0
        for rows, width in coded["tracks"]:
            found.append(values[at : at + rows * width].reshape(rows, width))
            at += rows * width
        assert at == len(values)
        return found

    def frame(self, name, case=0):
        return self.tracks(case)[self.data["frames"].index(name)]

    def segments(self, case=0):
        return self.tracks(case)[len(self.data["frames"]) :]
