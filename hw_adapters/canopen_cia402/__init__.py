"""Drives of CiA 402 on a CANopen line: the adapter gives SYNC, 1 kHz and below."""
