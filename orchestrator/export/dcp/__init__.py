"""FMUs and systems as slaves of the Distributed Co-Simulation Protocol."""

from orchestrator.export.dcp.served_slave import ServeOptions, ServedSlave, served_slave

__all__ = ["ServeOptions", "ServedSlave", "served_slave"]
