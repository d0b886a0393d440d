"""The memory of a device: the newest sample and the newest command, and who waits for them."""

import mmap
import multiprocessing
import os
import threading
import time

import numpy as np
import pytest

from orchestrator.engine import DeviceBlock, DeviceUnit, SampleFacts

SECOND = 1_000_000_000


@pytest.fixture
def memory():
    file = os.memfd_create("test")
    os.ftruncate(file, DeviceBlock.size(2, 3))
    yield file
    os.close(file)


def unit_of(block, **rules):
    chosen = {"stale_ns": SECOND, "holds": False, "clamps": True} | rules
    limits = [("a", -1.0, 1.0, 0.5), ("b[0]", -np.inf, np.inf, 0.0)]
    return DeviceUnit(block, "rig", limits=limits, **chosen)


def facts(number, **more):
    found = SampleFacts()
    found.received_ns, found.number, found.valid = time.monotonic_ns(), number, 1
    for name, value in more.items():
        setattr(found, name, value)
    return found


def test_the_newest_sample_is_read_by_another_mapping(memory):
    writer, reader = DeviceBlock(memory, 2, 3), DeviceBlock(memory, 2, 3)
    unit = unit_of(reader)
    unit.bind([], [0, 1, 2, 4, 10])
    outputs = np.empty(5)
    assert unit.get_outputs(outputs) == 0
    assert outputs[-1] == 0.0  # nothing is valid before the first sample
    writer.put_sample(facts(1), np.array([1.0, 2.0, 3.0]))
    writer.put_sample(facts(2, lost=7), np.array([4.0, 5.0, 6.0]))
    assert unit.get_outputs(outputs) == 0
    assert outputs.tolist() == [4.0, 5.0, 6.0, 7.0, 1.0]
    assert (unit.facts.number, reader.samples_given) == (2, 2)


def test_commands_have_numbers(memory):
    run, device = DeviceBlock(memory, 2, 3), DeviceBlock(memory, 2, 3)
    unit, command = unit_of(run), np.zeros(2)
    unit.bind([1], [])
    assert unit.set_inputs(np.array([3.0])) == 0  # before the run has begun nothing goes out
    assert (device.newest_command(command), device.commands_given) == ((0, 0), 0)
    assert unit.begin() == 0
    assert (device.newest_command(command), command.tolist()) == ((1, 0), [0.5, 3.0])
    assert unit.set_inputs(np.array([4.0])) == 0
    assert (device.newest_command(command), command.tolist()) == ((2, 0), [0.5, 4.0])


def test_who_waits_for_a_sample_is_woken_by_it(memory):
    """So a device's sample can be the clock of a run."""
    writer, reader = DeviceBlock(memory, 2, 3), DeviceBlock(memory, 2, 3)
    woken = []
    waiting = threading.Thread(target=lambda: woken.append(reader.wait_sample(0, 10 * SECOND)))
    waiting.start()
    writer.put_sample(facts(1), np.zeros(3))
    waiting.join(5.0)
    assert woken == [1]
    assert reader.wait_sample(1, 1000) == 1  # in vain


def test_a_record_whose_writer_stopped_in_the_middle_is_not_read(memory):
    """An odd version says that the record is being written."""
    block = DeviceBlock(memory, 2, 3)
    unit, outputs = unit_of(block), np.empty(3)
    unit.bind([], [0, 1, 2])
    block.put_sample(facts(1), np.array([1.0, 2.0, 3.0]))
    assert unit.get_outputs(outputs) == 0
    block.put_sample(facts(2), np.array([4.0, 5.0, 6.0]))
    with mmap.mmap(memory, 0) as shared:
        version = int.from_bytes(shared[:4], "little")
        shared[:4] = (version + 1).to_bytes(4, "little")
    assert unit.get_outputs(outputs) == 0
    assert outputs.tolist() == [1.0, 2.0, 3.0]


def _write_records(file, values):
    """Write records of one number each, until the parent ends this process."""
    block = DeviceBlock(file, 2, values)
    parent = os.getppid()
    number = 0
    while os.getppid() == parent:
        number += 1
        block.put_sample(facts(number), np.full(values, float(number)))
        time.sleep(1e-4)


def test_a_record_is_read_whole_while_another_process_writes():
    """A record takes as long to write as to read, so that most readings meet a writer."""
    values = 50_000
    file = os.memfd_create("test")
    os.ftruncate(file, DeviceBlock.size(2, values))
    block = DeviceBlock(file, 2, values)
    unit = DeviceUnit(block, "rig", SECOND, False, True, [("a", -1.0, 1.0, 0.0)] * 2)
    unit.bind([], range(values))
    writer = multiprocessing.get_context("fork").Process(
        target=_write_records, args=(file, values), daemon=True
    )
    writer.start()
    try:
        outputs, seen = np.zeros(values), set()
        limit = time.monotonic() + 60.0
        while len(seen) < 300 and time.monotonic() < limit:
            assert unit.get_outputs(outputs) == 0
            assert outputs.min() == outputs.max() == unit.facts.number
            seen.add(unit.facts.number)
    finally:
        writer.kill()
        writer.join()
        writer.close()
        os.close(file)
    assert len(seen) == 300


@pytest.mark.parametrize("holds", [False, True])
def test_a_lost_device(memory, holds):
    block = DeviceBlock(memory, 2, 3)
    unit = unit_of(block, holds=holds)
    block.put_sample(facts(1), np.zeros(3))
    assert unit.step(0, SECOND) == 0
    block.lose("the cable is out")
    assert unit.step(SECOND, SECOND) == (0 if holds else 3)
    assert unit.failure == ("" if holds else "the cable is out")
    assert (unit.stale_steps, unit.first_stale_ns) == (1, SECOND)
    assert unit.values[-4] == 0.0  # valid; behind it samples, and commands taken and missed


@pytest.mark.parametrize("clamps", [False, True])
@pytest.mark.parametrize("how", ["held", "lost"])
def test_the_range_of_a_command_is_not_judged_while_its_device_is_held(memory, clamps, how):
    run, device = DeviceBlock(memory, 2, 3), DeviceBlock(memory, 2, 3)
    unit = unit_of(run, clamps=clamps, holds=True)
    unit.bind([0], [])
    assert unit.begin() == 0
    device.put_sample(facts(1), np.zeros(3))
    device.hold(held=True) if how == "held" else device.lose("the cable is out")
    assert run.held
    for second, value in enumerate((0.5, 7.0, -7.0)):
        assert unit.step(second * SECOND, SECOND) == 0
        assert unit.set_inputs(np.array([value])) == 0
    assert unit.give(0, 8.0) == 0
    assert (unit.unsent, unit.first_unsent_ns) == (3, 2 * SECOND)
    assert unit.set_inputs(np.array([np.nan])) == 3  # no number is wrong in any state
    assert unit.values[-5] == 0.0  # clamped
    if how == "held":
        device.hold(held=False)
        assert unit.set_inputs(np.array([9.0])) == (0 if clamps else 3)
        assert unit.unsent == 3


def test_the_first_command_is_judged_although_the_rig_is_held_until_it_is_engaged(memory):
    run = DeviceBlock(memory, 2, 3)
    unit = unit_of(run, clamps=False)
    unit.bind([0], [])
    run.hold(held=True)
    assert unit.set_inputs(np.array([7.0])) == 0
    assert unit.begin() == 3
    assert "its command 'a' is 7, beyond its range of -1 to 1" in unit.failure


def test_wrong_sizes_are_refused(memory):
    block = DeviceBlock(memory, 2, 3)
    with pytest.raises(ValueError, match="expected 3 values, found 2"):
        block.put_sample(facts(1), np.zeros(2))
    with pytest.raises(ValueError, match="not as many as its commands"):
        DeviceUnit(block, "rig", SECOND, False, True, [])
    with pytest.raises(ValueError, match="a connector is bound that the device has not"):
        unit_of(block).bind([2], [])
