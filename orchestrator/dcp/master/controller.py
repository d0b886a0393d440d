"""Running one slave: from a plan to data in both directions."""

from __future__ import annotations

import time

from orchestrator.core.diagnostics import DeviceError
from orchestrator.dcp import pdus
from orchestrator.dcp.codec import encode
from orchestrator.dcp.error_codes import ErrorCode
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.master.link import open_link
from orchestrator.dcp.master.plan import Plan, started
from orchestrator.dcp.master.rollout import Group, Rollout, roll_out
from orchestrator.dcp.master.session import RefusedError, Session
from orchestrator.dcp.payload import Values
from orchestrator.dcp.states import State

_SEQUENCES = 2**16


class Controller:
    """Leads one slave through its states and exchanges data with it.

    Parameters
    ----------
    plan
        What is asked of it.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        link = open_link(plan.transport, (plan.host, plan.port), plan.patience_s)
        self.session = Session(plan.about, link, plan.number, plan.patience_s)
        self.rollout = self._rolled_out()
        self._sent = {group.data_id: 0 for group in self.rollout.inputs}
        self._layouts = {group.data_id: group for group in self.rollout.outputs}
        self.values: dict[int, Values] = {}
        for variable in (*plan.inputs, *plan.outputs):
            self.values[variable.reference] = started(plan.about, variable)

    def _rolled_out(self) -> Rollout:
        plan = self.plan
        return roll_out(
            plan.about,
            (*plan.inputs, *plan.outputs),
            plan.mode,
            plan.transport,
            plan.port,
            self.session.link.address,
            plan.resolution,
            plan.steps,
            plan.of_parameters(),
        )

    def connect(self) -> None:
        """Register the slave and configure it."""
        self.session.register(self.plan.mode)
        self.session.configure(self.rollout.requests)
        self._prepare()
        self.session.move(pdus.Configure, until=State.CONFIGURED)

    def _prepare(self) -> None:
        try:
            self.session.move(pdus.Prepare, until=State.PREPARED)
        except RefusedError as error:
            # DCPLib wants CFG_steps in NRT as well, where Table 63 does not have it.
            if error.error != ErrorCode.INCOMPLETE_CONFIG_STEPS or self.plan.mode is not OpMode.NRT:
                raise
            steps = ((pdus.Steps, (g.steps, g.data_id)) for g in self.rollout.outputs)
            self.session.configure(tuple(steps))
            self.session.move(pdus.Prepare, until=State.PREPARED)

    def initialise(self, *, wait: bool = True) -> None:
        """Let the slave find outputs that are consistent with its inputs; may be repeated."""
        self.send_inputs()
        self.session.move(pdus.Initialize, until=State.INITIALIZED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=State.CONFIGURED)
        if wait:
            self._await_outputs()

    def run(self, start: int = 0) -> None:
        """Start the slave, at a UNIX time in s; 0: now."""
        self.session.move(pdus.Run, start, until=State.SYNCHRONIZED)
        self.session.move(pdus.Run, 0, until=State.RUNNING)

    def step(self, steps: int) -> None:
        """Send the inputs, let the slave compute so many steps (NRT), and take its outputs."""
        self.session.beat()
        self.send_inputs()
        self.session.move(pdus.DoStep, steps, until=State.COMPUTED)
        self.session.data.clear()
        self.session.move(pdus.SendOutputs, until=State.RUNNING)
        self._await_outputs()

    def send_inputs(self) -> None:
        """Send the values of all inputs."""
        for group in self.rollout.inputs:
            number = self._sent[group.data_id]
            content = group.payload.pack(self.values)
            pdu = pdus.Data(number, group.data_id, content)
            self._sent[group.data_id] = (number + 1) % _SEQUENCES
            self.session.link.send_data(self.rollout.port, encode(pdu))

    def take(self, pdu: pdus.Data) -> Group | None:
        """Take values of outputs; ``None`` if they are of no group here."""
        group = self._layouts.get(pdu.data_id)
        if group is not None:
            self.values.update(group.payload.unpack(pdu.payload))
        return group

    def _await_outputs(self) -> None:
        missing = set(self._layouts)
        deadline = time.monotonic() + self.plan.patience_s
        while missing:
            while self.session.data:
                pdu = self.session.data.popleft()
                self.take(pdu)
                missing.discard(pdu.data_id)
            left = deadline - time.monotonic()
            if missing and not self.session.listen(left):
                ids = ", ".join(map(str, sorted(missing)))
                raise DeviceError(
                    f"{self.session.who}: no outputs came within {self.plan.patience_s:g} s"
                    f" (data id {ids}); a firewall between them?"
                )

    def close(self) -> None:
        """Halt and release the slave; more than once is no harm."""
        self.session.release()
