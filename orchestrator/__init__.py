"""Softdock: co-simulation for rigs that dock hardware against simulated spacecraft.

The names that most programs need are here; the rest is in the rooms: ``system``, ``ssp``,
``authoring``, ``simunits``, ``coupling``, ``master``, ``analysis``, ``recording``, ``export``,
``campaign``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.analysis import ContactLoop
    from orchestrator.authoring import read_system, read_toml, write_toml
    from orchestrator.campaign import (
        read_checkpoint,
        read_experiment,
        run_experiment,
        simulate,
        swap_component,
        write_checkpoint,
    )
    from orchestrator.export import build_block, build_model, build_recipe
    from orchestrator.master import DelayMode, Execution, start
    from orchestrator.recording import Result
    from orchestrator.simunits import (
        Block,
        Input,
        Output,
        Parameter,
        State,
        block,
        fmu,
        resolve,
        where,
    )
    from orchestrator.ssp import Document, write_ssd, write_ssp
    from orchestrator.system import DefaultExperiment, Fault, Source, System, TransportDelay
    from orchestrator.system_fmu import export_system

_HOMES = {
    "Block": "simunits",
    "ContactLoop": "analysis",
    "DefaultExperiment": "system",
    "DelayMode": "master",
    "Document": "ssp",
    "Execution": "master",
    "Fault": "system",
    "Input": "simunits",
    "Output": "simunits",
    "Parameter": "simunits",
    "Result": "recording",
    "Source": "system",
    "State": "simunits",
    "System": "system",
    "TransportDelay": "system",
    "block": "simunits",
    "build_block": "export",
    "build_model": "export",
    "build_recipe": "export",
    "export_system": "system_fmu",
    "fmu": "simunits",
    "read_checkpoint": "campaign",
    "read_experiment": "campaign",
    "read_system": "authoring",
    "read_toml": "authoring",
    "resolve": "simunits",
    "run_experiment": "campaign",
    "simulate": "campaign",
    "start": "master",
    "swap_component": "campaign",
    "where": "simunits",
    "write_checkpoint": "campaign",
    "write_ssd": "ssp",
    "write_ssp": "ssp",
    "write_toml": "authoring",
}

__all__ = [
    "Block",
    "ContactLoop",
    "DefaultExperiment",
    "DelayMode",
    "Document",
    "Execution",
    "Fault",
    "Input",
    "Output",
    "Parameter",
    "Result",
    "Source",
    "State",
    "System",
    "TransportDelay",
    "block",
    "build_block",
    "build_model",
    "build_recipe",
    "export_system",
    "fmu",
    "read_checkpoint",
    "read_experiment",
    "read_system",
    "read_toml",
    "resolve",
    "run_experiment",
    "simulate",
    "start",
    "swap_component",
    "where",
    "write_checkpoint",
    "write_ssd",
    "write_ssp",
    "write_toml",
]


def __getattr__(name: str) -> Any:
    """Import a room when the first of its names is used: start-up stays short."""
    if name not in _HOMES:
        raise AttributeError(f"module 'orchestrator' has no attribute '{name}'")
    return getattr(importlib.import_module(f"orchestrator.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the names that are imported on use, too."""
    return sorted({*globals(), *_HOMES})
