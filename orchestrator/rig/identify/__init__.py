"""Devices of a rig excited one by one: records, twins, a report, delays for the system."""
