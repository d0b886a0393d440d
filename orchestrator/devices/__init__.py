"""Devices: what leads one by its wire protocol, and where adapters are found."""

from typing import TYPE_CHECKING

from orchestrator.lazy_names import lazy_names

if TYPE_CHECKING:
    from orchestrator.devices.connectors import (
        DeviceConnector as DeviceConnector,
        DeviceConnectors as DeviceConnectors,
    )
    from orchestrator.devices.device import Device as Device
    from orchestrator.devices.received import Received as Received
    from orchestrator.devices.registry import (
        device_class as device_class,
        device_names as device_names,
        read_settings as read_settings,
    )
    from orchestrator.devices.settings import DeviceSettings as DeviceSettings
    from orchestrator.devices.stepped_device import (
        SteppedConnectors as SteppedConnectors,
        SteppedDevice as SteppedDevice,
    )
    from orchestrator.diagnostics import (
        DescriptionError as DescriptionError,
        DeviceError as DeviceError,
        RestartedError as RestartedError,
        WireFormatError as WireFormatError,
    )
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
