"""Hexapods of Physik Instrumente: text of GCS 2 over TCP, some tens of samples a second."""
