"""The supervisor of a rig: a process that outlives the loop and brings the devices to rest.

It is no safety function: what protects people and machines is hard-wired.
"""
