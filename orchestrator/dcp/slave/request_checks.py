"""Whether a request may be carried out: support and meaning (Tables 107 and 110 to 119)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.dcp import pdus
from orchestrator.dcp.description import SlaveDescription
from orchestrator.dcp.error_codes import ErrorCode
from orchestrator.dcp.identifiers import OpMode, PduType
from orchestrator.dcp.slave.configuration import Configuration
from orchestrator.dcp.states import State

_OK = ErrorCode.NONE


@dataclass(frozen=True, slots=True)
class RequestChecks:
    """What is checked of requests behind their sequence number.

    Parameters
    ----------
    about
        The slave.
    unix
        UNIX time in s.
    """

    about: SlaveDescription
    unix: Callable[[], float]

    def supports(self, kind: PduType, mode: OpMode | None) -> bool:
        """Whether a slave has a request at all, by its capabilities and its operating mode."""
        can = self.about.capabilities
        if kind is PduType.CFG_LOGGING:
            return can.log_on_request or can.log_on_notification
        if kind is PduType.INF_LOG:
            return can.log_on_request
        if kind.is_configuration and not can.accept_config_pdus:
            return False
        if kind is PduType.STC_DO_STEP:
            return mode in {None, OpMode.NRT}
        return kind is not PduType.STC_RESET or can.handle_reset

    def of_transition(
        self,
        request: pdus.StateRequest,
        state: State,
        mode: OpMode | None,
        configuration: Configuration,
        stepped: int,
    ) -> ErrorCode:
        """Return what is wrong with a request for another state, in the order of its table.

        Parameters
        ----------
        request
            Of a length that is right, in a state that has it.
        state, mode
            Of the slave.
        configuration
            As far as it has come.
        stepped
            Steps of the computation before; 0: there was none.
        """
        if request.state != state:
            return ErrorCode.INVALID_STATE_ID
        if isinstance(request, pdus.Register):
            return self._of_register(request)
        if isinstance(request, pdus.Prepare) and mode is not None:
            return configuration.flaw(self.about, mode)
        if isinstance(request, pdus.Run):
            # It has whole seconds only: the one that runs is not in the past.
            past = request.time < 0 or 0 < request.time < int(self.unix())
            return ErrorCode.INVALID_START_TIME if past and mode is not OpMode.NRT else _OK
        return self._of_steps(request, stepped) if isinstance(request, pdus.DoStep) else _OK

    def _of_register(self, request: pdus.Register) -> ErrorCode:
        if request.uuid != self.about.uuid.bytes:
            return ErrorCode.INVALID_UUID
        if request.op_mode not in self.about.op_modes:
            return ErrorCode.INVALID_OP_MODE
        if request.major != self.about.major:
            return ErrorCode.INVALID_MAJOR_VERSION
        return _OK if request.minor == self.about.minor else ErrorCode.INVALID_MINOR_VERSION

    def _of_steps(self, request: pdus.DoStep, stepped: int) -> ErrorCode:
        if not self.about.nrt_steps.takes(request.steps):
            return ErrorCode.INVALID_STEPS
        if stepped not in {0, request.steps} and not self.about.capabilities.handle_variable_steps:
            return ErrorCode.NOT_SUPPORTED_VARIABLE_STEPS
        return _OK
