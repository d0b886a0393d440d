"""Devices: what leads one by its wire protocol, and where adapters are found."""

from typing import TYPE_CHECKING

from orchestrator.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.rig.devices.device import (
        Device as Device,
        DeviceConnector as DeviceConnector,
        DeviceConnectors as DeviceConnectors,
        DeviceSettings as DeviceSettings,
        Received as Received,
        SteppedConnectors as SteppedConnectors,
        SteppedDevice as SteppedDevice,
    )
    from orchestrator.rig.devices.registry import (
        device_class as device_class,
        device_names as device_names,
        read_settings as read_settings,
    )
    from orchestrator.core.diagnostics import (
        DescriptionError as DescriptionError,
        DeviceError as DeviceError,
        RestartedError as RestartedError,
        WireFormatError as WireFormatError,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
