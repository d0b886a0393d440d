"""What a master says to a slave in tests of DCP, and what it reads."""

import struct

from dcp_slaves import description, machine

from orchestrator.dcp import pdus
from orchestrator.dcp.identifiers import OpMode
from orchestrator.dcp.pdus import decode, encode
from orchestrator.dcp.states import ErrorCode

MASTER, OTHER = ("127.0.0.1", 5000), ("127.0.0.1", 5001)
UUID = description().uuid.bytes
TARGET = pdus.place_of("127.0.0.1", 8090)
SOURCE = pdus.place_of("127.0.0.1", 8080)


class Talk:
    """A master that counts its requests and reads the answers."""

    def __init__(self, model=None, **changes):
        self.slave, self.wire, self.clock = machine(model, **changes)
        self.sequence = 0

    def ask(self, kind, *fields, origin=MASTER):
        self.sequence += 1
        return self.tell(kind(self.sequence, 1, *fields), origin)

    def tell(self, pdu, origin=MASTER):
        self.slave.receive(pdu if isinstance(pdu, bytes) else encode(pdu), origin)
        return [decode(bytes.fromhex(each)) for each in self.wire.take()]

    def error(self, kind, *fields):
        (answer,) = self.ask(kind, *fields)
        assert isinstance(answer, pdus.Nack)
        return ErrorCode(answer.error)

    def register(self, mode=OpMode.NRT):
        return self.ask(pdus.Register, 0, UUID, mode)

    def configure(self, mode=OpMode.NRT, *, steps=1, more=()):
        self.register(mode)
        for kind, *fields in (
            (pdus.ConfigureScope, 1, 0),
            (pdus.ConfigureInput, 1, 0, 2, 9),
            (pdus.SourceNetworkInformation, 1, 0, SOURCE),
            (pdus.ConfigureScope, 2, 0),
            (pdus.ConfigureOutput, 2, 0, 1),
            (pdus.TargetNetworkInformation, 2, 0, TARGET),
            (pdus.Steps, steps, 2),
            (pdus.TimeRes, 1, 100),
            *more,
        ):
            assert isinstance(self.ask(kind, *fields)[0], pdus.Ack), kind

    def start(self, mode=OpMode.NRT, **how):
        self.configure(mode, **how)
        self.ask(pdus.Prepare, 1)
        self.ask(pdus.Configure, 3)
        self.ask(pdus.Initialize, 5)
        self.ask(pdus.SendOutputs, 7)
        self.ask(pdus.Run, 5, 0)

    def data(self, value, number=0):
        self.tell(pdus.Data(number, 1, struct.pack("<d", value)))

    @property
    def outputs(self):
        return [struct.unpack("<d", content[5:])[0] for _, content in self.wire.data]
