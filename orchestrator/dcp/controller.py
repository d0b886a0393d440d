"""Running one slave, from a plan to data in both directions."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

from orchestrator.core.diagnostics import DeviceError
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import Values
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.link import open_link
from orchestrator.dcp.pdus import encode, number_gap
from orchestrator.dcp.plan import SlavePlan, VariableGroup, roll_out, started
from orchestrator.dcp.session import RefusedError, SlaveSession, repetitions
from orchestrator.dcp.states import ErrorCode, SlaveState


class Controller:
    """Leads one slave through its states and exchanges data with it.

    plan: The requested exchange.
    """

    def __init__(self, plan: SlavePlan) -> None:
        self.plan = plan
        link = open_link(plan.transport, (plan.host, plan.port), plan.patience_s)
        self.session = SlaveSession(plan.description, link, plan.number, plan.patience_s)
        self.rollout = roll_out(plan, link.address)
        self._sent = {group.data_id: -1 for group in self.rollout.inputs}
        #: Outputs that came again, or later than newer ones.
        self.stale_outputs = 0
        self._taken: dict[int, int] = {}
        self._layouts = {group.data_id: group for group in self.rollout.outputs}
        self.values: dict[int, Values] = {}
        for variable in (*plan.inputs, *plan.outputs):
            self.values[variable.reference] = started(plan.description, variable)

    def connect(self) -> None:
        """Register the slave and configure it."""
        self.session.register(self.plan.mode)
        self.session.configure(self.rollout.requests)
        self._prepare()
        self.session.move(pdus.Configure, until=SlaveState.CONFIGURED)

    def _prepare(self) -> None:
        try:
            self.session.move(pdus.Prepare, until=SlaveState.PREPARED)
        except RefusedError as error:
            # DCPLib needs CFG_steps in NRT as well, where Table 63 does not have it.
            if error.error != ErrorCode.INCOMPLETE_CONFIG_STEPS or self.plan.mode is not OpMode.NRT:
                raise
            steps = ((pdus.Steps, (g.steps, g.data_id)) for g in self.rollout.outputs)
            self.session.configure(tuple(steps))
            self.session.move(pdus.Prepare, until=SlaveState.PREPARED)

    def initialise(self, *, wait: bool = True) -> None:
        """Let the slave find outputs that are consistent with its inputs; may be repeated."""
        self._give_inputs()
        self.session.move(pdus.Initialize, until=SlaveState.INITIALIZED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=SlaveState.CONFIGURED)
        if wait:
            self._await_outputs()

    def run(self, start: int = 0) -> None:
        """Start the slave, at a UNIX time in s; 0: now."""
        self.session.move(pdus.Run, start, until=SlaveState.SYNCHRONIZED)
        self.session.move(pdus.Run, 0, until=SlaveState.RUNNING)

    def step(self, steps: int) -> None:
        """Send the inputs, let the slave compute a number of steps (NRT), and take its outputs.

        Raises
        ------
        DeviceError
            If the slave fails, or does not confirm its inputs, or outputs of this step are lost.
        """
        self.session.beat()
        self._give_inputs()
        self.session.move(pdus.DoStep, steps, until=SlaveState.COMPUTED)
        self.session.move(pdus.SendOutputs, until=SlaveState.RUNNING)
        self._await_outputs()

    def send_inputs(self) -> dict[int, int]:
        """Send the values of all inputs; return the number of each group's PDU by data id."""
        for content in self._new_inputs().values():
            self.session.link.send_data(self.rollout.port, content)
        return dict(self._sent)

    def has_taken(self, numbers: Mapping[int, int]) -> bool:
        """Whether the slave has confirmed PDUs of inputs with these numbers, or later ones."""
        confirmed = self.session.confirmed
        return all(
            data_id in confirmed and number_gap(number, confirmed[data_id]) >= 0
            for data_id, number in numbers.items()
        )

    def _new_inputs(self) -> dict[int, bytes]:
        changed = {}
        for group in self.rollout.inputs:
            number = (self._sent[group.data_id] + 1) % pdus.SEQUENCES
            pdu = pdus.Data(number, group.data_id, group.payload.pack(self.values))
            self._sent[group.data_id], changed[group.data_id] = number, encode(pdu)
        return changed

    def _give_inputs(self) -> None:
        """Send the inputs until the slave has confirmed all of them, if it confirms any."""
        waiting = self._new_inputs()
        begin, patience = time.monotonic(), self.plan.patience_s
        for due in repetitions(patience, self.session.round_s):
            for content in waiting.values():
                self.session.link.send_data(self.rollout.port, content)
            if not self.rollout.confirmed:
                return
            while waiting and (remaining_s := begin + min(due, patience) - time.monotonic()) > 0.0:
                self.session.expect_sound()
                self.session.listen(remaining_s)
                confirmed = self.session.confirmed
                waiting = {n: c for n, c in waiting.items() if confirmed.get(n) != self._sent[n]}
            if not waiting:
                return
            self.session.repeated += len(waiting)
        self.session.asked_state()  # one that does not answer at all has another trouble
        ids = ", ".join(map(str, waiting))
        raise DeviceError(
            f"{self.session.who} did not confirm its inputs within {patience:g} s (data id {ids}):"
            " they do not arrive; a firewall between them?"
        )

    def take(self, pdu: pdus.Data) -> VariableGroup | None:
        """Take values of outputs, unless newer ones have come; ``None``: of no group here."""
        group = self._layouts.get(pdu.data_id)
        if group is None:
            return None
        values, last = group.payload.unpack(pdu.payload), self._taken.get(pdu.data_id)
        if last is None or number_gap(last, pdu.sequence) >= 0:
            self.values.update(values)
            self._taken[pdu.data_id] = pdu.sequence
        return group

    def _take_next(self, pdu: pdus.Data) -> int | None:
        """Take outputs in NRT; return their data id, ``None`` if they are of an earlier step."""
        last = self._taken.get(pdu.data_id)
        gap = 1 if last is None else number_gap(last, pdu.sequence)
        if gap <= 0:
            self.stale_outputs += 1
            return None
        if gap > 1:
            raise DeviceError(
                f"{self.session.who}: its outputs are incomplete: after data PDU {last} of data id"
                f" {pdu.data_id} came {pdu.sequence}; those between were lost"
            )
        return None if self.take(pdu) is None else pdu.data_id

    def _await_outputs(self) -> None:
        missing = set(self._layouts)
        deadline = time.monotonic() + self.plan.patience_s
        while missing:
            while self.session.data:
                if (taken := self._take_next(self.session.data.popleft())) is not None:
                    missing.discard(taken)
            remaining_s = deadline - time.monotonic()
            if missing and not self.session.listen(remaining_s):
                ids = ", ".join(map(str, sorted(missing)))
                raise DeviceError(
                    f"{self.session.who}: no outputs came within {self.plan.patience_s:g} s"
                    f" (data id {ids}); they were lost, or a firewall is between them"
                )

    def close(self) -> None:
        """Halt and release the slave; more than once is no harm.

        Raises
        ------
        DeviceError
            If the slave does not confirm that it has stopped.
        """
        self.session.release()

    def abandon(self) -> None:
        """Release the slave after an error, as far as it can be led."""
        with suppress(DeviceError):
            self.session.release()
