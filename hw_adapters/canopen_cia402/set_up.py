"""How drives are set up, from power-on on."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hw_adapters.canopen_cia402.bus import Bus
from hw_adapters.canopen_cia402.codec import PRE_OPERATIONAL, CanFrame, boot_up, nmt
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.faults import emergency_text
from hw_adapters.canopen_cia402.objects import DEVICE_TYPE, MAPPABLE
from hw_adapters.canopen_cia402.sdo import SdoClient
from hw_adapters.canopen_cia402.settings import CanopenSettings
from hw_adapters.canopen_cia402.state_machine import IN_FAULT, state_of
from orchestrator.rig.devices import DeviceError


class _BootedError(Exception):
    """A drive of this name said its boot-up message."""


def set_up(bus: Bus, drives: Sequence[Drive], settings: CanopenSettings) -> None:
    """Set every drive up, and anew if one boots meanwhile, which knows nothing of it any more.

    Raises
    ------
    DeviceError
        If a drive does not answer in time, refuses something, is in fault, or boots again and
        again.
    """
    deadline = time.monotonic() + settings.start_timeout
    while True:
        bus.send([nmt(PRE_OPERATIONAL, drive.settings.node) for drive in drives])
        try:
            for drive in drives:
                _set_up(bus, drive, drives, settings, deadline)
        except _BootedError as error:
            if time.monotonic() >= deadline:
                raise DeviceError(
                    f"{error}: it restarted while it was set up, for {settings.start_timeout:g} s"
                    " (start_timeout): check its power supply"
                ) from None
        else:
            return


def _set_up(
    bus: Bus, drive: Drive, drives: Sequence[Drive], settings: CanopenSettings, deadline: float
) -> None:
    booted = {boot_up(drive.settings.node): drive.name for drive in drives}

    def look(frame: CanFrame) -> None:
        if frame in booted:
            raise _BootedError(booted[frame])

    sdo = SdoClient(bus, drive.settings.node, drive.name, settings.answer_timeout, look)
    try:
        if not sdo.wait_for(DEVICE_TYPE, deadline):
            raise DeviceError(
                f"{drive.name}: no answer about {DEVICE_TYPE}, and no boot-up message, within"
                f" {settings.start_timeout:g} s (start_timeout): check that it is on and has this"
                " node number"
            )
        drive.configure(sdo, settings)
        statusword = sdo.read(MAPPABLE["statusword"])
        code = sdo.read(MAPPABLE["error_code"])
    except DeviceError as error:
        raise _explained(bus, settings.bitrate, error) from None
    if settings.enable and not settings.fault_reset and state_of(statusword) in IN_FAULT:
        raise DeviceError(
            f"{drive.name}: it is in fault, error code {emergency_text(code)}; remove the cause"
            " and acknowledge it, or set fault_reset"
        )


def _explained(bus: Bus, bitrate: int, error: DeviceError) -> DeviceError:
    """Add what the CAN adapter knows of the line."""
    trouble = bus.trouble()
    if not trouble:
        return error
    return DeviceError(
        f"{error}; {trouble}: check that the line runs at {bitrate} bit/s and is terminated"
    )
