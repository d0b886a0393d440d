"""TPDOs that come late, in heaps, twice, or not at all; characters that a serial line loses."""

import random
import struct
from collections import deque
from types import SimpleNamespace

import pytest
from canopen_bench import drive, settings

from hw_adapters.canopen_cia402 import line as line_module
from hw_adapters.canopen_cia402.answers import Answers, Use
from hw_adapters.canopen_cia402.codec import CanFrame
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.line import Line
from hw_adapters.canopen_cia402.slcan import LineSplitter, decode_line, encode_line
from orchestrator.rig.devices import WireFormatError

STATUS, VELOCITY = 0x181, 0x281
SIZES = {STATUS: 8, VELOCITY: 4}
SYNC, REQUEST, ANSWER = 0x80, 0x601, 0x581
GIVEN = settings(drive(), pace="clock", heartbeat_timeout_ms=60_000)


def answer_to(number):
    """The TPDOs of a drive at a SYNC; its position is the number."""
    first = struct.pack("<Hih", 0x1237, number, 0)
    return [CanFrame(STATUS, first), CanFrame(VELOCITY, struct.pack("<i", 1000))]


class Wire:
    """A line of one drive with a clock of its own, that keeps the order of frames.

    rule: Takes the number of a SYNC; returns the TPDOs that the drive sends, and after how long.
    delay: Takes a time; returns for how long what the drive sends then is on its way, s.
    lost, lost_back: Shares of the frames to and from the drive that do not arrive.
    """

    def __init__(self, rule, delay, lost, lost_back):
        self.now, self.count, self.rule, self.delay, self.asked = 100.0, -1, rule, delay, 0
        self.coming, self.lost, self.lost_back = [], lost, lost_back
        self.draws = random.Random(7)  # noqa: S311 - of a test

    def send(self, frames):
        for frame in frames:
            arrives = self.draws.random() >= self.lost
            if frame.identifier == SYNC and not arrives:
                self.count += 1
            elif frame.identifier == SYNC:
                self.count += 1
                for after, each in self.rule(self.count):
                    self.put(self.now + after, each)
            elif frame.identifier == REQUEST:
                self.asked += 1
                if arrives:  # it has what was asked for, or refuses that by its index
                    data = b"\x4b" + frame.data[1:4] + struct.pack("<I", 0x1237)
                    self.put(self.now + 2e-4, CanFrame(ANSWER, data))

    def put(self, moment, frame):
        if self.draws.random() < self.lost_back:
            return
        self.coming.append((moment + self.delay(moment), frame))
        self.coming.sort(key=lambda row: row[0])

    def receive(self, deadline):
        if self.coming and self.coming[0][0] <= max(deadline, self.now):
            due, frame = self.coming.pop(0)
            self.now = max(self.now, due)
            return frame
        self.now = max(self.now, deadline)
        return None


def answer(number):
    return [(1e-4, frame) for frame in answer_to(number)]


@pytest.fixture
def led(monkeypatch):
    def lead(rule=answer, delay=lambda _: 0.0, lost=0.0, lost_back=0.0):
        wire = Wire(rule, delay, lost, lost_back)
        monkeypatch.setattr(line_module, "time", SimpleNamespace(monotonic=lambda: wire.now))
        led = Drive(GIVEN.drives[0])
        line = Line(GIVEN, wire, [led])
        return wire, line, led

    return lead


def position(led):
    return round(led.position(displacement=False) / GIVEN.drives[0].position_scale)


def samples(wire, line, led, seconds):
    """Return time, number and position of each sample."""
    found, end = [], wire.now + seconds
    while wire.now < end:
        number = line.wait(wire.now + 0.02)
        if number is not None:
            found.append((wire.now, number, position(led)))
    return found


def test_after_a_pause_the_newest_counts(led):
    begin, end = 100.02, 100.097
    wire, line, one = led(delay=lambda now: end - now if begin <= now < end else 0.0)
    found = samples(wire, line, one, 0.2)
    after = [row for row in found if row[0] >= end]
    assert [number for _, number, _ in found] == [shown for _, _, shown in found]
    assert all(now - (100.0 + 1e-3 * number) < 2.5e-3 for now, number, _ in after)
    assert len(after) > 90


@pytest.mark.parametrize("delay", [0.003, 0.077])
def test_what_comes_later_keeps_the_number_of_its_cycle(led, delay):
    wire, line, one = led(delay=lambda now: 0.0 if now < 100.02 else delay)
    found = samples(wire, line, one, 0.5)
    assert all(number == shown for _, number, shown in found)
    late = [now - (100.0 + 1e-3 * number) for now, number, _ in found if number > 150]
    assert len(late) > 250
    assert all(each == pytest.approx(delay, abs=1.1e-3) for each in late)


def test_a_delay_that_grows_is_seen(led):
    wire, line, one = led(delay=lambda now: 0.3 * max(now - 100.1, 0.0))
    found = samples(wire, line, one, 1.0)
    assert all(number == shown for _, number, shown in found)
    now, number, _ = found[-1]
    assert now - (100.0 + 1e-3 * number) == pytest.approx(0.9 * 0.3 / 1.3, abs=2e-3)


def test_a_lost_frame_does_not_shift_the_count_for_long(led):
    def lossy(number):
        frames = answer(number)
        return frames[:1] if number == 50 else [] if number in {120, 121, 122} else frames

    wire, line, one = led(lossy)
    found = samples(wire, line, one, 0.3)
    wrong = [row for row in found if row[1] != row[2]]
    assert len(wrong) < 60  # until the drive has answered a question
    assert all(number == shown for _, number, shown in found[-100:])
    assert all(abs(number - shown) <= 3 for _, number, shown in found)
    assert 1 <= wire.asked <= 6


@pytest.mark.parametrize(("to_drive", "from_drive"), [(0.3, 0.0), (0.0, 0.3), (0.2, 0.2)])
def test_a_line_that_loses_a_third_of_its_frames_counts_no_sample_as_old(led, to_drive, from_drive):
    """Requests and answers are lost as well: an answer says which request it answers."""
    wire, line, one = led(lost=to_drive, lost_back=from_drive)
    found = samples(wire, line, one, 20.0)
    ages = [now - (100.0 + 1e-3 * number) for now, number, _ in found]
    truths = [now - (100.0 + 1e-3 * shown) for now, _, shown in found]
    assert all(age >= truth - 1e-9 for age, truth in zip(ages, truths, strict=True))
    assert max(ages) < 0.06
    assert len(found) > 6000


def turning(times, cycle):
    """The TPDOs of a drive at so many times its limit of velocity, in a cycle."""
    counts = round(times * GIVEN.drives[0].velocity_limit / GIVEN.drives[0].position_scale)
    first = struct.pack("<Hih", 0x1237, round(1e-3 * counts * cycle), 0)
    second = struct.pack("<i", counts)
    return [(1e-4, CanFrame(STATUS, first)), (1e-4, CanFrame(VELOCITY, second))]


@pytest.mark.parametrize(("to_drive", "from_drive"), [(0.1, 0.3), (0.3, 0.0), (0.0, 0.25)])
@pytest.mark.parametrize("times", [1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_lost_frames_of_a_fast_drive_are_no_fault_of_its_encoder(
    led, seed, times, to_drive, from_drive
):
    """Its position was to have jumped, or to stand while its velocity goes on."""
    wire, line, one = led(lambda n: turning(times, n), lost=to_drive, lost_back=from_drive)
    wire.draws.seed(seed)
    line.is_running = True
    found = samples(wire, line, one, 5.0)
    assert line.fault is None
    assert len(found) > 1000


@pytest.mark.parametrize("held_s", [0.02, 0.09])
def test_syncs_that_were_held_and_come_at_once_are_no_fault_of_an_encoder(led, held_s):
    """All of them are answered at one time, so that the position stands from one to the next."""
    begin, end = 0.1, 0.1 + held_s

    def held(number):
        due = max(end - 1e-3 * number, 0.0) if begin <= 1e-3 * number < end else 0.0
        return [(due + after, frame) for after, frame in turning(3.0, number + 1e3 * due)]

    wire, line, one = led(held)
    line.is_running = True
    found = samples(wire, line, one, 0.5)
    assert line.fault is None
    assert found[-1][1] > 490


def test_a_delay_longer_than_all_questions_is_not_hidden_by_an_answer(led):
    """The same question is asked again after 0.4 s: an answer may be that to the one before."""
    wire, line, one = led(delay=lambda now: 0.0 if now < 100.02 else 0.9)
    found = samples(wire, line, one, 3.0)
    assert all(number == shown for _, number, shown in found)
    assert len([row for row in found if row[0] > 101.0]) > 1500


def test_frames_that_come_twice_are_repetitions(led):
    wire, line, one = led(lambda n: [row for row in answer(n) for _ in range(2)])
    found = samples(wire, line, one, 0.05)
    assert all(number == shown for _, number, shown in found)
    assert len(found) > len({number for _, number, _ in found})
    assert line.fault is None


def test_frames_of_a_fast_drive_that_come_twice_are_no_fault(led):
    """The second one may come behind the next SYNC: it answers none."""
    held = [(0.30015, 0.30105), (0.50005, 0.5012), (0.80015, 0.8026)]  # from the second, or both

    def twice(number):
        rows = turning(3.0, number)
        return [(time, frame) for time in (1e-4, 2e-4) for _, frame in rows]

    def delay(now):
        return next((100.0 + end - now for begin, end in held if begin <= now - 100.0 < end), 0.0)

    wire, line, one = led(twice, delay)
    line.is_running = True
    found = samples(wire, line, one, 1.5)
    per_cycle = round(1e-3 * 3.0 * GIVEN.drives[0].velocity_limit / GIVEN.drives[0].position_scale)
    assert line.fault is None
    first = {number: shown for _, number, shown in reversed(found)}  # others are repetitions
    assert all(abs(shown - number * per_cycle) < number + 2 for number, shown in first.items())


@pytest.mark.parametrize("times", [0.0, 3.0])
def test_a_sync_that_comes_twice_is_no_fault(led, times):
    """The drive answers both, with newer values: they are surplus, not old."""

    def twice(number):
        rows = turning(times, number)
        more = [(4e-4, frame) for _, frame in turning(times, number + 0.3)]
        return [*rows, *(more if number % 10 == 0 else [])]

    wire, line, one = led(twice)
    line.is_running = True
    samples(wire, line, one, 1.5)
    assert line.fault is None


def test_old_frames_among_new_ones_end_the_run(led):
    wire, line, one = led(lambda n: [(d, f) for _, f in answer(n) for d in (2e-4, 0.0203)])
    line.is_running = True
    samples(wire, line, one, 0.1)
    assert "a node on the line repeats old frames" in line.fault.text


def test_without_faults_nothing_is_asked(led):
    wire, line, one = led()
    assert len(samples(wire, line, one, 0.2)) > 190
    assert wire.asked == 0


def stream(chance):
    """Ten cycles of one drive as characters, each with its cycle."""
    found = []
    for cycle in range(10):
        status = struct.pack("<Hih", 0x1237, 40 * cycle, chance.randrange(-200, 200))
        velocity = struct.pack("<i", chance.randrange(1000, 40000))
        for frame in (CanFrame(STATUS, status), CanFrame(VELOCITY, velocity)):
            found += [(cycle, bytes([c])) for c in encode_line(frame)]
    return found


def test_characters_that_are_lost_make_no_sample_that_was_never_sent():
    chance, forged, used = random.Random(1), 0, 0  # noqa: S311 - of a test
    given = settings(drive()).drives[0]
    for _ in range(400):
        characters = stream(chance)
        sent = set(b"".join(c for _, c in characters).split(b"\r"))
        first = chance.randrange(40, len(characters) - 130)
        del characters[first : first + chance.randrange(1, 100)]
        answers, splitter, cycle = Answers(given.measurement_maps), LineSplitter(), -1
        is_forged, done = {}, -1
        for due, character in characters:
            while cycle < due:
                cycle += 1
                answers.begin_cycle(cycle)
            for line in splitter.split(character):
                try:
                    frame = decode_line(line)
                except WireFormatError:
                    continue
                if frame is None or len(frame.data) != SIZES.get(frame.identifier):
                    continue
                forged += line not in sent
                if answers.take(frame.identifier, frame.data) is Use.NEW:
                    is_forged[frame.identifier] = line not in sent
                if answers.complete > done:
                    done = answers.complete
                    used += any(is_forged.values())
    assert forged > 0  # a line has no check sum
    assert used == 0


def test_an_adapter_is_told_to_leave_times_out(monkeypatch):
    from hw_adapters.canopen_cia402 import bus

    written = deque()
    port = SimpleNamespace(write=written.append, close=lambda: None)
    monkeypatch.setattr(bus, "SerialPort", lambda *_: port)
    bus.SlcanBus("none", 1_000_000, 115200)
    assert b"".join(written) == b"\rC\rZ0\rS8\rO\r"
