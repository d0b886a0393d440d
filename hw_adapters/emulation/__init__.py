"""What the emulators of devices have in common: faults of their link, a log, the life of a process.

An emulator is a program of its own. It writes and reads its protocol by itself, from the document
of the protocol, and takes nothing from the codec of the adapter that it is the peer of.
"""
