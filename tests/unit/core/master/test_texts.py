"""Strings and binaries on connections: FMUs in C and blocks."""

import numpy as np
import pytest
from oracle.reference import run_reference

from orchestrator.core.diagnostics import CapabilityError, ConvergenceError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, State, block, fmu
from orchestrator.core.system import Causality, System


class Speaker(Block):
    """Says how often it was asked, in words and in bytes."""

    text: str = Output(depends_on=())
    data: bytes = Output(depends_on=())
    count: int = State(start=0)

    def step(self, t, h):
        self.count += h > 0
        self.text = "\u00e4" * self.count
        self.data = bytes(range(self.count))


class Listener(Block):
    """Counts what it hears."""

    text: str = Input()
    data: bytes = Input()
    heard: float = Output()

    def step(self, t, h):
        self.heard = 100.0 * len(self.text) + len(self.data)


class Mute(Block):
    text: str = Output(start="", depends_on=())

    def step(self, t, h):
        if h > 0:
            self.text = 5


def texts_through(path):
    """Speaker, FMU, listener: texts pass through an FMU."""
    every = fmu(path)
    held = {c.name: c.start for c in every.of(Causality.INPUT) if c.name not in {"label", "blob"}}
    return (
        System("chain")
        .add("from", block(Speaker))
        .add("through", every, **held)
        .add("to", block(Listener))
        .connect("from.text", "through.label")
        .connect("from.data", "through.blob")
        .connect("through.label_out", "to.text")
        .connect("through.blob_out", "to.data")
    )


@pytest.fixture
def chain(c_fmu):
    return texts_through(c_fmu("every3"))


@pytest.mark.parametrize(("algorithm", "late"), [("gauss-seidel", 0), ("jacobi", 2)])
def test_texts_travel(chain, algorithm, late):
    with Execution(chain, step="1 s", algorithm=algorithm) as run:
        run.step(4)
        # Jacobi passes the values of the step before, once for each of two lines.
        assert run.get("to.heard") == 101.0 * (4 - late)
        assert run.get("to.text") == "\u00e4" * (4 - late)
        assert run.get("to.data") == bytes(range(4 - late))
        assert run.get("through.label_out") == "\u00e4" * (4 - late // 2)


@pytest.mark.parametrize("algorithm", ["gauss-seidel", "jacobi"])
def test_engine_and_reference_agree(chain, algorithm):
    with Execution(chain, step="1 s", algorithm=algorithm, record="to.heard") as run:
        expected = run_reference(run, 5)
    with Execution(chain, step="1 s", algorithm=algorithm, record="to.heard") as run:
        run.step(5)
        slot, _ = run.schedule.slots["to.heard"]
        assert np.array_equal(run.recording().values[:, 0], expected[:, slot])


def test_texts_go_back_with_a_checkpoint(chain):
    with Execution(chain, step="1 s", algorithm="jacobi") as run:
        run.step(3)
        saved = run.save()
        run.step(4)
        first = run.recording().values
        run.restore(saved)
        run.step(4)
        assert np.array_equal(run.recording().values, first)


def test_free_inputs_are_set_from_outside(chain):
    free = System("free", {k: v for k, v in chain.components.items() if k == "through"})
    free = free.replace(free.component("through").with_values({"label": "a", "blob": b""}))
    with Execution(free, step="1 s") as run:
        assert run.get("through.label_out") == "a"
        run.set("through.label", "b")
        run.set("through.blob", b"\x00")
        run.step()
        assert (run.get("through.label_out"), run.get("through.blob_out")) == ("b", b"\x00")


def test_a_null_pointer_is_an_empty_string(c_fmu):
    system = texts_through(c_fmu("every3", options=("-DEMPTY_TEXT=NULL",)))
    with Execution(system, step="1 s") as run:
        assert run.get("to.text") == ""  # nothing has been said yet
        run.step()
        assert run.get("to.text") == "\u00e4"


def test_texts_are_not_recorded(chain, wording):
    with Execution(chain, step="1 s") as run:
        assert "through.label_out" not in run.recording().names
    with wording.raises(CapabilityError):
        Execution(chain, step="1 s", record=["from.text"])


def test_texts_cannot_be_delayed(chain, wording):
    system = chain.with_delay("from.data", "through.blob", "1 s")
    with wording.raises(CapabilityError):
        Execution(system, step="1 s")


def test_a_string_with_a_zero_byte(c_fmu, chain, wording):
    class Cut(Speaker):
        def step(self, t, h):
            self.text = "a\0b"

    system = chain.replace(block(Cut).__class__("from", block(Cut).source))
    with wording.raises(StepError):
        Execution(system, step="1 s")


def test_a_block_that_gives_no_text(wording):
    class Hears(Block):
        text: str = Input()

        def step(self, t, h):
            pass

    system = (
        System("wrong").add("a", block(Mute)).add("b", block(Hears)).connect("a.text", "b.text")
    )
    with (
        Execution(system, step="1 s") as run,
        wording.raises(StepError),
    ):
        run.step()


class Grows(Block):
    """Adds a letter to what it hears, up to three behind the time; and turns a number over."""

    heard: str = Input()
    text: str = Output(depends_on=("heard",))
    u: float = Input(start=0.0)
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        begin = f"{t + h:.0f}"
        self.text = (self.heard + "x")[:4] if self.heard.startswith(begin) else begin
        self.y = 1.0 - 0.5 * self.u


class Swaps(Grows):
    """Says what it does not hear."""

    def step(self, t, h):
        self.text = "b" if self.heard == "a" else "a"


class Passes(Block):
    data: str = Input()
    out: str = Output(depends_on=("data",))
    u: float = Input(start=0.0)
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        self.out = self.data
        self.y = self.u


def ring(kind, *, numbers):
    system = System("ring").add("a", block(kind)).add("b", block(Passes))
    system = system.connect("a.text", "b.data").connect("b.out", "a.heard")
    if numbers:
        return system.connect("a.y", "b.u").connect("b.y", "a.u")
    return system.set("a.u", 0.0).set("b.u", 0.0)


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("algorithm", ["newton", "fixed-point", "waveform"])
def test_a_loop_of_texts_is_iterated_until_they_stay(algorithm, numbers):
    options = {"step": "1 s", "algorithm": algorithm, "record": "a.y"}
    with Execution(ring(Grows, numbers=numbers), **options) as run:
        expected = run_reference(run, 3)
    with Execution(ring(Grows, numbers=numbers), **options) as run:
        for end in ("1", "2", "3"):
            run.step()
            assert run.get("b.out") == f"{end}xxx"
        slot, _ = run.schedule.slots["a.y"]
        assert np.array_equal(run.recording().values[:, 0], expected[:, slot])
        if numbers:
            assert run.get("a.y") == pytest.approx(2.0 / 3.0, abs=1e-6)


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point"])
def test_a_loop_of_texts_without_a_solution_is_told(algorithm, wording):
    with wording.raises(ConvergenceError):
        Execution(ring(Swaps, numbers=False), step="1 s", algorithm=algorithm)
