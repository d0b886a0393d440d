"""A system that counts, and an experiment of two cases of it."""

import pytest

from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System


class Fuse(Block):
    """Counts, and blows at 0.5 s: raises an exception of the class ``blow``."""

    u: float = Input()
    y: float = Output(depends_on=())
    blow = None

    def step(self, t, h):
        self.y = t + h
        if self.blow is not None and t > 0.4999:
            raise self.blow("blown")


@pytest.fixture
def fuse(register, monkeypatch):
    def make(blow=None):
        monkeypatch.setattr(Fuse, "blow", blow)
        register(fuse=Fuse)
        return System("fused").add("fuse", block("fuse"), u=0.0)

    return make


def experiment(folder, text):
    path = folder / "experiment.toml"
    path.write_text(text)
    return path


GOOD = """
title = "two"
[defaults]
step = "100 ms"
stop = "1 s"
[case.a]
system = "fused.ssd"
[case.b]
system = "fused.ssd"
every = 2
"""
