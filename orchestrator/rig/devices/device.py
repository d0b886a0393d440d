"""The base class of adapters: what leads a device by its wire protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from orchestrator.rig.devices.connectors import DeviceConnectors
from orchestrator.rig.devices.received import Received
from orchestrator.rig.devices.settings import DeviceSettings

if TYPE_CHECKING:
    from orchestrator.rig.devices.stepped_device import SteppedDevice


class Device(ABC):
    """A device that can stand in the place of a component.

    A subclass is registered by an entry point ``softdock.devices``. It runs in a process of its
    own, one for each device of a run, so that no step of a run waits for a wire: that process
    calls :meth:`open` before the run, then :meth:`receive` again and again, :meth:`send` for every
    command, and :meth:`close` after the run. Everything that is common to devices is done around
    it and must not be done in it: the age of samples, lost, late and repeated ones, the range of
    commands, the reaction to silence.

    Parameters
    ----------
    settings
        Validated, an instance of :attr:`Settings`. Nothing may be opened yet.
    """

    #: The form of its settings; a key that it does not have is refused before anything is opened.
    Settings: ClassVar[type[DeviceSettings]] = DeviceSettings
    #: Whether each datagram that is received must be answered by one with a command: then the
    #: device is the clock. If not, :meth:`send` is called as soon as there is a new command, in a
    #: thread of its own beside :meth:`receive`.
    answers: ClassVar[bool] = False
    #: Whether a device that is answered takes commands without a sample before them as well: then
    #: it is brought to rest although its samples do not come.
    takes_unasked: ClassVar[bool] = False
    #: After how many samples the device's counter begins again at 0; ``None``: never.
    sequence_period: int | None = None

    def __init__(self, settings: DeviceSettings) -> None:
        self.settings = settings

    @classmethod
    @abstractmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return what the device takes and gives with these settings; nothing is opened for it.

        Raises
        ------
        DescriptionError
            If the settings do not fit each other.
        """

    @classmethod
    def stepped(cls, settings: DeviceSettings) -> SteppedDevice | None:
        """Return what a run steps, if with these settings the device has no clock of its own.

        Nothing may be opened yet. Then there is no process, and no sample: :meth:`connectors` and
        all below are not used.

        Raises
        ------
        DescriptionError
            If the settings do not fit each other.
        """
        del settings
        return None

    @abstractmethod
    def open(self) -> None:
        """Connect to the device.

        Raises
        ------
        DeviceError, OSError
            If it is not there, the port is in use, or a permission is missing. An ``OSError`` is
            told as it is, with the name of the device.
        """

    @abstractmethod
    def close(self) -> None:
        """Disconnect; it may be called after an :meth:`open` that failed, and more than once."""

    @abstractmethod
    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next sample.

        Parameters
        ----------
        timeout_s
            For so many seconds at most.

        Returns
        -------
        Received or None
            ``None`` if none came in time.

        Raises
        ------
        WireFormatError
            If what came is no sample of this protocol: it is counted, and receiving goes on.
        DeviceError, OSError
            If the connection is lost: the device is dead for the rest of the run.
        """

    @abstractmethod
    def send(self, values: Sequence[float]) -> None:
        """Send a command.

        Parameters
        ----------
        values
            Of the inputs in the order of :meth:`connectors`, arrays row by row: finite, and within
            the range of their connector. If the device :attr:`answers`, they answer the sample
            that was received last.

        Raises
        ------
        DeviceError, OSError
            As :meth:`receive`.
        """

    def safe(self, values: Sequence[float]) -> Sequence[float] | None:
        """Return the command that is sent last, before :meth:`close`, when a run ends or fails.

        Parameters
        ----------
        values
            Those that were sent last, in the order of :meth:`send`.

        Returns
        -------
        Sequence or None
            The default holds them; ``None``: nothing is sent.
        """
        return values
