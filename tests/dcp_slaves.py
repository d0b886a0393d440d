"""Slaves for tests of DCP: a description, a model in Python, a wire that only remembers."""

import uuid

from orchestrator.core.diagnostics import StepError
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description import (
    Ipv4,
    LogTemplate,
    PduSteps,
    Resolution,
    SlaveCapabilities,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport
from orchestrator.dcp.slave import Slave
from orchestrator.dcp.slave_data import SlaveModel, SlaveWire

#: Of the example slave of DCPLib, whose trace is the golden one.
UUID = uuid.UUID("b5279485-720d-4542-9f29-bee4d9a75ef9")
FLOAT = DcpType.FLOAT64
OUTPUT = SlaveVariable("y", 1, VariableKind.OUTPUT, FLOAT, steps=PduSteps(1, False, 1, 100))
INPUT = SlaveVariable("a", 2, VariableKind.INPUT, FLOAT, (10.0,), minimum=-100.0, maximum=100.0)
GAIN = SlaveVariable("gain", 3, VariableKind.PARAMETER, FLOAT, (1.0,), variability="fixed")
TUNED = SlaveVariable("bias", 4, VariableKind.PARAMETER, FLOAT, (0.0,), variability="tunable")
TEXT = SlaveVariable(
    "name", 5, VariableKind.PARAMETER, DcpType.STRING, ("",), max_size=4, variability="fixed"
)


def description(**changes):
    """Describe a slave with an output, an input and parameters."""
    facts = {
        "name": "dcpslave",
        "uuid": UUID,
        "variables": (OUTPUT, INPUT, GAIN, TUNED, TEXT),
        "op_modes": frozenset(OpMode),
        "nrt_steps": PduSteps(1, False, 1, 10),
        "resolutions": (Resolution(1, 100, True),),
        "transports": {Transport.UDP_IPV4: Ipv4("127.0.0.1", 8080)},
        "capabilities": SlaveCapabilities(True, True, True, False, True, True),
        "categories": {1: "slave"},
        "templates": (LogTemplate(1, 1, LogLevel.FATAL, "%string", (DcpType.STRING,)),),
    }
    return SlaveDescription(**{**facts, **changes})


class Integrator(SlaveModel):
    """y' = gain (a + bias), and y = a at the start; it fails where it is told to."""

    def __init__(self, fails_at_s=1e9):
        self.fails_at_s, self.log = fails_at_s, []

    def configure(self, parameters):
        self.gain = parameters.get(3, (1.0,))[0]
        self.values = {1: (0.0,), 2: (10.0,), 4: (0.0,)}
        self.log.append("configure")

    def set(self, reference, values):
        self.values[reference] = values

    def get(self, reference):
        return self.values[reference]

    def initialise(self):
        self.values[1] = self.values[2]

    def begin(self):
        self.log.append("begin")

    def step(self, begin_ns, end_ns):
        if end_ns * 1e-9 > self.fails_at_s:
            raise StepError("the integrator broke")
        rate = self.gain * (self.values[2][0] + self.values[4][0])
        self.values[1] = (self.values[1][0] + rate * (end_ns - begin_ns) * 1e-9,)
        self.log.append((begin_ns, end_ns))

    def close(self):
        self.log.append("close")


class Memory(SlaveWire):
    """A wire that remembers what was sent, and opens nothing."""

    def __init__(self):
        self.answers, self.data, self.opened = [], [], []

    def answer(self, origin, content):
        self.answers.append((origin, content))

    def listen(self, transport, port):
        if port == 1:
            raise OSError(13, "Permission denied")
        self.opened.append(("listen", transport, port))

    def connect(self, transport, address):
        self.opened.append(("connect", transport, address))

    def send(self, transport, address, content):
        self.data.append((address, content))

    def take_waiting(self):
        pass

    def release(self):
        self.opened.clear()

    def take(self):
        """Return the answers since the last call, in hexadecimal digits."""
        taken, self.answers = [content.hex() for _, content in self.answers], []
        return taken


class Clock:
    """A clock in ns that a test moves."""

    def __init__(self):
        self.ns = 0

    def __call__(self):
        return self.ns

    def unix(self):
        return 1_700_000_000 + self.ns * 1e-9


def machine(model=None, **changes):
    """Return a slave with its wire and its clock."""
    wire, clock = Memory(), Clock()
    slave = Slave(description(**changes), model or Integrator(), wire, clock, clock.unix)
    return slave, wire, clock
