"""The process of a device: ``python -m orchestrator.rig.device_units.io_loop SOCKET COMPONENT``.

It opens the device, puts every sample into the memory that it shares with the run, sends every
command that it finds there, and leaves the device in its safe state: when it is told to end, when
the run is gone, and when the run gives no commands any more. A gate decides what is sent, by the
orders of a supervisor or by itself, and the device stays until its command stands. A device that
was started anew is not commanded any more. When the device is lost, its process stands in for its
clock as long as the run is to go on.
"""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import Reason, SoftdockError, class_name
from orchestrator.core.simunits.isolation.wire import packed, receive, receive_memory, send
from orchestrator.engine import DeviceBlock
from orchestrator.rig.device_units.facts import device_facts
from orchestrator.rig.device_units.following import (
    FollowCheck,
    HeldCommands,
    JumpCheck,
    ShownCommand,
)
from orchestrator.rig.device_units.ledger import CommandLedger
from orchestrator.rig.device_units.samples import RateCheck, SampleLogWriter, delay_text
from orchestrator.rig.device_units.sequence import FIRST_PERIODS, SampleCounter
from orchestrator.rig.device_units.supervision import OwnGate, Seat, gate_of
from orchestrator.rig.devices import (
    Device,
    DeviceConnectors,
    DeviceError,
    Received,
    RestartedError,
    WireFormatError,
)

#: How long nobody looks whether the run wants the end, in seconds.
_LOOK = 0.02
#: How long a device may take to come to its safe state when nobody waits for it any more.
_LAST = 5.0
#: A device may take no command for so many of its cycles.
_LEAST_CYCLES = 3
#: It may take none for so many times the age at which a run's command is stale.
_PATIENCE = 3.0
#: A device that was silent for so many of its cycles, and for so long, may have restarted, s.
_SILENT_CYCLES, _SILENT_S = 5, 0.04
#: That it takes the last one is waited for at most, s.
_SETTLE_S = 0.3


_ADVICE = {
    errno.EADDRINUSE: "another program uses it: end that program, or choose another port",
    errno.EACCES: "permission denied: run Softdock as a user with this permission",
    errno.EPERM: "permission denied: run Softdock as a user with this permission",
    errno.ECONNREFUSED: "nothing listens there: check that the device is on, and its address"
    " and port",
    errno.ENETUNREACH: "there is no route to it: check the network connection",
    errno.EHOSTUNREACH: "there is no route to it: check the network connection",
}


def error_text(error: BaseException) -> str:
    """Say what an error is, and what helps against those of the system."""
    if isinstance(error, SoftdockError):
        return str(error)
    if isinstance(error, OSError) and error.errno in _ADVICE:
        return f"{error.strerror}: {_ADVICE[error.errno]}"
    return f"{type(error).__name__}: {error}"


def error_message(error: BaseException) -> dict[str, Any]:
    """Put an error into plain data for the run."""
    trace = "".join(traceback.format_exception(error))
    if not isinstance(error, SoftdockError):
        error = DeviceError(error_text(error))
    return {"error": class_name(error), "diagnostics": packed(error), "trace": trace}


class _Link:
    """A device, and the memory that its process shares with the run."""

    def __init__(
        self,
        device: Device,
        ports: DeviceConnectors,
        block: DeviceBlock,
        gate: OwnGate | Seat,
        run_on: float = 0.0,
    ) -> None:
        self._run_on = run_on
        self.device, self.block, self.gate = device, block, gate
        self._step_ns = 0
        inputs = [port.start for port in ports.inputs for _ in range(port.size)]
        outputs = [port.start for port in ports.outputs for _ in range(port.size)]
        self._command, self._values = np.array(inputs), np.array(outputs)
        silence_s, period = device.settings.stale_after, device.sequence_period
        self.counter = SampleCounter(len(outputs), ports.rate, period, silence_s)
        self.rate = RateCheck(ports.rate)
        shortest_wait = _LEAST_CYCLES * gate.period
        self._waits = max(_PATIENCE * device.settings.command_stale_after, shortest_wait)
        self.ledger = CommandLedger(gate.period, self._waits, inputs)
        self._follows, self._held = FollowCheck(ports), HeldCommands(ports)
        self._jumps, self._shown = JumpCheck(ports), ShownCommand(ports)
        self.ended = threading.Event()
        #: The run wants the end, or is gone.
        self.dismissed = threading.Event()
        self._remarked_ns = self._old = 0
        self._unanswered_ns = self._stood_ns = self._sampled_ns = 0
        self._silent_ns = round(1e9 * max(_SILENT_CYCLES * gate.period, _SILENT_S))
        self.refused, self._is_another = "", False
        self.error: BaseException | None = None
        log_path = device.settings.sample_log
        self._log = SampleLogWriter(answers=device.answers) if log_path else None
        #: The run has been told how it ended.
        self.told = False

    def receive_once(self) -> bool:
        """Wait a little for a sample; return whether there is a new one."""
        received = self.receive()
        self._remark()
        return received is not None and self.take(received, time.monotonic_ns())

    def take(self, received: Received, now_ns: int) -> bool:
        """Judge a sample, answer it if the device expects that; return whether it is new."""
        restarts, gap = self.counter.facts.restarts, self.counter.gap(received)
        is_new = self.counter.take(received, now_ns)
        has_restarted = self.counter.facts.restarts > restarts and self._command.size
        if has_restarted:
            self._publish()
            raise self._restarted(self.counter.begun_anew)
        if is_new:
            self._look_at_commands(received, gap, now_ns)
        unasked = self.device.takes_unasked and not self.counter.in_doubt
        if self.device.answers and (self.counter.follows or unasked):
            self.send()  # before a step that waits for this sample can give a command
        if self._log is not None and (ticks := len(self.counter.ticked_ns)):
            values = received.values if is_new else None
            number = self.counter.facts.number
            self._log.received(number, ticks, now_ns, received.late_answers, values)
        if is_new:
            self._values[:] = received.values
            if not self.rate.done:
                self.rate.take(received)
        self._publish()
        if self.counter.ticked_ns:
            self._sampled_ns = now_ns
        for moment in self.counter.ticked_ns:  # behind its sample, which a step that begins reads
            self.block.ticks.tick(moment)
        return is_new

    def receive(self) -> Received | None:
        """Wait a little for a sample; what is none is counted."""
        try:
            return self.device.receive(min(_LOOK, self.gate.period) if self._leads else _LOOK)
        except RestartedError as error:
            raise self._restarted(str(error)) from None
        except WireFormatError as error:
            self.refused = str(error)
            self.counter.refuse()
            self._publish()
            return None

    def _look_at_commands(self, received: Received, gap: int, now_ns: int) -> None:
        """See which commands the device took: limits are those of what it took.

        Raises
        ------
        RestartedError
            If its own counts say that it is not in the same motion.
        DeviceError
            If it takes none any more.
        """
        ledger, sample_ns = self.ledger, self.counter.facts.received_ns
        taken, reason = ledger.answers(received, gap)
        if received.taken is not None:
            dated = received.sequence is not None or received.device_time is not None
            reason = reason or ledger.took(received.taken, sample_ns, in_order=dated)
        reason = reason or self._shown.look(received.in_force)
        jumped = self._jumps.look(received.values, gap)
        if self.block.commands_given > 1:
            reason = reason or jumped
        if reason and self._command.size:
            self._publish()
            raise self._restarted(reason)
        if not taken:
            self.gate.take_back()
        if received.taken is not None and ledger.is_held(sample_ns):
            self.gate.take_back(ledger.values)
        if received.taken is None and received.late_answers is None and not self.gate.stopping:
            back = self._held.look(received.values, sample_ns, self.gate.sent.tolist())
            if back is not None:
                self.gate.take_back(back)
        self.counter.facts.taken, self.counter.facts.missed = ledger.taken, ledger.missed
        if self.block.commands_given > 1 and self._command.size and not self.gate.stopping:
            self._expect_taken(received, sample_ns, now_ns)

    def _expect_taken(self, received: Received, sample_ns: int, now_ns: int) -> None:
        loss = self.ledger.lost(sample_ns)
        unanswered_s = self._unanswered(now_ns)
        if not loss and unanswered_s > self._waits:
            loss = (
                f"it was sent no command for {unanswered_s:.3g} s: its samples are"
                f" {self.counter.delay_s:.3g} s older, by its own clock, than the quickest, and an"
                " answer comes too late for them"
            )
        loss = loss or self._follows.look(received.values, self.gate.sent.tolist(), now_ns)
        loss = loss or self._held.lost(self._command.tolist(), now_ns)
        if loss:
            reason = Reason.COMMAND_LOST
            self._publish()
            self.gate.strike(reason)
            if not self.device.settings.supervisor:
                raise DeviceError(f"{loss}; {reason.advice}")

    @property
    def account(self) -> str:
        """What is to be known of the device and its wire, in a sentence."""
        return "; ".join(text for text in (self.device.account(), self.ledger.account) if text)

    def _unanswered(self, now_ns: int) -> float:
        """Return for how long samples have been coming that are too old to be answered, s."""
        if self.counter.follows or not self.device.answers or self.device.takes_unasked:
            self._unanswered_ns = 0
            return 0.0
        self._unanswered_ns = self._unanswered_ns or now_ns
        return (now_ns - self._unanswered_ns) * 1e-9

    def _remark(self) -> None:
        """Keep in words what is wrong with the samples, for a step that finds them stale."""
        now_ns, facts = time.monotonic_ns(), self.counter.facts
        if now_ns - self._remarked_ns < _LOOK * 1e9 or not facts.number:
            return
        self._remarked_ns = now_ns
        old, delay_s = self.counter.old - self._old, self.counter.delay_s
        remark = ""
        if delay_s > max(_LEAST_CYCLES * self.gate.period, _LOOK):
            remark = delay_text(delay_s, is_asked=self.counter.answers_late)
        elif now_ns - facts.received_ns < _LEAST_CYCLES * self.gate.period * 1e9:
            self._old = self.counter.old
        elif self.counter.in_doubt:
            remark = "it sends numbers or times that do not follow from the newest sample"
        elif old:
            remark = f"since then {old} old or repeated sample{'s' * (old > 1)} came"
        else:
            remark = "since then no sample came"
        self.block.remark("; ".join(text for text in (remark, self.account) if text))

    def _restarted(self, cause: str) -> RestartedError:
        reason = Reason.DEVICE_RESTARTED
        self._is_another = True  # before the thread that sends finds a way to rest
        self.gate.strike(reason)
        message = f"{cause}: {reason.text}; it gets no further commands; {reason.advice}"
        return RestartedError(message)

    def _publish(self) -> None:
        facts = self.counter.facts
        if not facts.number:
            return
        valid = facts.valid
        self.gate.saw(facts, self._values)
        is_trusted = self.gate.trusted
        facts.valid = int(valid and is_trusted)
        self.block.hold(held=not is_trusted)
        self.block.put_sample(facts, self._values)
        facts.valid = valid

    def send(self) -> None:
        """Send the newest command, or what the connectors start with, as the gate lets it pass."""
        if self._is_another:
            return
        number, self._step_ns = self.block.newest_command(self._command)
        if self.error is not None:  # the run knows it, and may have given what is out of range
            return
        command = self.gate.command(self._command.tolist(), number, self._step_ns)
        now_ns = time.monotonic_ns()
        self.ledger.send(number, now_ns, command)
        self.device.send(command)
        left_ns = time.monotonic_ns()
        self.ledger.sent_late(left_ns)
        self._held.send(left_ns, command)
        self._shown.send(command)
        if self._log is not None:
            self._log.sent(number, now_ns, command)

    @property
    def _leads(self) -> bool:
        """Whether a device that is answered comes to rest by commands that answer nothing."""
        return self.device.takes_unasked and self.gate.stopping and not self.counter.in_doubt

    @property
    def is_over(self) -> bool:
        """Whether it is told to end, and nothing moves any more."""
        if not self.ended.is_set():
            return False
        if self.error is not None or not self.block.commands_given:
            return True
        return self.gate.is_over and self._has_settled

    @property
    def _has_settled(self) -> bool:
        """Whether the device took the command that stands: a robot may use its last one again."""
        now_ns = time.monotonic_ns()
        self._stood_ns = self._stood_ns or now_ns
        return self.ledger.rests or now_ns - self._stood_ns > _SETTLE_S * 1e9

    def receive_all(self) -> None:
        """Receive until the end."""
        while not self.is_over:
            if not self.receive_once() and self._leads:
                self.send()
            self.gate.watch(self.block, self._step_ns)
            self.block.hold(held=not self.gate.trusted)  # also of a silent device

    def send_all(self) -> None:
        """Send each command as soon as it is there, until the end."""
        newest = 0
        while not self.is_over:
            if self.gate.stopping or self.is_unknown or self.gate.behind:
                time.sleep(self.gate.period)
                if self.gate.stopping or not self.is_unknown:
                    self.send()
                continue
            now = self.block.wait_command(newest, int(_LOOK * 1e9))
            is_due = now != newest or self.ledger.is_overdue(time.monotonic_ns())
            if is_due and not self.is_unknown:
                newest = now
                self.send()

    @property
    def is_unknown(self) -> bool:
        """Whether the device may be another one: it was silent, or its last sample is in doubt.

        Nothing is sent to it until a sample follows: one that restarted would jump.
        """
        silent_ns = time.monotonic_ns() - self._sampled_ns
        return self.counter.in_doubt or self.ledger.in_doubt or silent_ns > self._silent_ns

    def guarded(self, loop: Callable[[], None]) -> None:
        """Run a loop; the first error of any ends all."""
        try:
            loop()
        except BaseException as error:  # noqa: BLE001 - whatever an adapter raises is told by the run
            if self.error is None:
                self.error = error
                self.block.hold(held=True)
                if not self._run_on:
                    self._lose()
            self.ended.set()

    def stand_in(self) -> None:
        """Let the clock of a lost device go on, its last values not valid; then lose it."""
        facts, step = self.counter.facts, self.counter.period_ns
        due = time.monotonic_ns()
        end = due + round(self._run_on * 1e9)
        while due < end and not self.dismissed.wait(max(0, due - time.monotonic_ns()) * 1e-9):
            facts.valid, facts.received_ns = 0, due
            self.block.put_sample(facts, self._values)
            self.block.ticks.tick(due)
            due += step
        self._lose()

    def _lose(self) -> None:
        if self.error is not None and not self.block.lost:
            self.block.lose(f"its device was lost: {error_text(self.error)}")

    def finish(self) -> None:
        """Send the last command and close the device."""
        try:
            if self.block.commands_given and self.error is None:
                last = self.device.safe(self.gate.sent.tolist())
                if last is not None:
                    self.device.send(last)
        finally:
            self.device.close()
            self.gate.leave()
            if self._log is not None:
                path = Path(self.device.settings.sample_log)
                self._log.write(path, len(self._command), len(self._values))


def _connect(link: _Link, seconds: float) -> None:
    """Open the device, wait for its first samples, and see whether its rate is the declared one."""
    link.device.open()
    end = time.monotonic() + seconds + FIRST_PERIODS * link.gate.period
    is_live = came = False
    while time.monotonic() < end and not link.ended.is_set():
        received, now_ns = link.receive(), time.monotonic_ns()
        is_live = is_live or (received is not None and link.counter.confirms(received, now_ns))
        if received is not None and is_live:
            came = link.take(received, now_ns) or came
        if came and link.rate.done:
            break
    if came:
        return
    limit = f"within {seconds:g} s (connect_timeout)"
    if link.counter.unconfirmed:
        raise DeviceError(f"no live sample came {limit}: {link.counter.unconfirmed}")
    count = link.counter.facts.malformed
    strange = f"datagrams of another protocol: {count}, the last: {link.refused}"
    raise DeviceError(
        f"no sample came {limit};"
        f" {strange if count else 'check that it is on, and its address and port'}"
    )


def _watch(channel: socket.socket, link: _Link) -> None:
    """Wait until the run wants the end, or is gone."""
    regularly = True
    try:
        receive(channel)
    except (OSError, EOFError, ValueError):
        if link.told:
            return
        # The run is gone: nobody else would end a device that hangs.
        faulthandler.dump_traceback_later(_LAST, exit=True)
        regularly = False
    link.gate.run_ended(regularly=regularly)
    link.dismissed.set()
    link.ended.set()


def _end_watch(channel: socket.socket, link: _Link, watcher: threading.Thread) -> None:
    """End the thread that watches: one that outlives the interpreter keeps what it has."""
    link.told = True
    with contextlib.suppress(OSError):
        channel.shutdown(socket.SHUT_RD)
    watcher.join()


def _serve(channel: socket.socket, link: _Link, seconds: float) -> None:
    watcher = threading.Thread(target=_watch, args=(channel, link), daemon=True)
    watcher.start()
    signal.signal(signal.SIGTERM, lambda *_: link.ended.set())
    try:
        _connect(link, seconds)
    except BaseException as error:  # noqa: BLE001 - whatever an adapter raises is told by the run
        link.device.close()
        send(channel, error_message(error))
        _end_watch(channel, link, watcher)
        return
    send(channel, {"opened": True})
    sender = threading.Thread(target=link.guarded, args=(link.send_all,), daemon=True)
    if not link.device.answers:
        sender.start()
    link.guarded(link.receive_all)
    if sender.ident is not None:
        sender.join()
    clock = threading.Thread(target=link.stand_in, daemon=True)
    if link.error is not None:
        clock.start()
    try:
        link.finish()
    except Exception as error:  # noqa: BLE001
        link.error = link.error or error
    if clock.ident is not None:
        clock.join()
    with contextlib.suppress(BrokenPipeError):  # the run is gone
        send(channel, {"account": link.account} | (error_message(link.error) if link.error else {}))
    _end_watch(channel, link, watcher)


def main(socket_file: int) -> None:
    """Serve one device until the run says that it is enough, or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when it ends
    with socket.socket(fileno=socket_file) as channel:
        hello, _ = receive(channel)
        memory, _ = receive_memory(channel)
        facts = device_facts(hello["location"])
        try:
            block = DeviceBlock(memory, hello["commands"], hello["measurements"])
        finally:
            os.close(memory)
        try:
            gate = gate_of(hello["component"], facts)
            device = facts.kind(facts.settings)
        except Exception as error:  # noqa: BLE001
            send(channel, error_message(error))
            return
        link = _Link(device, facts.ports, block, gate, facts.settings.run_on)
        _serve(channel, link, facts.settings.connect_timeout)


if __name__ == "__main__":
    main(int(sys.argv[1]))
