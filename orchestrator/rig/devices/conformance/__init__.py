"""What every adapter must do, tried on it: its bytes, its emulator, everything that goes wrong."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.rig.devices.conformance.checks import (
        CHECKS as CHECKS,
        CheckResult as CheckResult,
        bench_of as bench_of,
        check_device as check_device,
    )
    from orchestrator.rig.devices.conformance.session import (
        Bench as Bench,
        EmulatorProcess as EmulatorProcess,
        Golden as Golden,
        Logged as Logged,
        Refused as Refused,
        RelayPlaces as RelayPlaces,
        Wiring as Wiring,
        free_tcp_port as free_tcp_port,
        free_udp_port as free_udp_port,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
