"""FMUs and systems as slaves of the Distributed Co-Simulation Protocol."""

from orchestrator.dcp.unit.served_slave import ServeOptions, ServedSlave, served_slave

__all__ = ["ServeOptions", "ServedSlave", "served_slave"]
