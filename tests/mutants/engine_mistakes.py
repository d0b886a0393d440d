"""The mistakes that ``tests/mutate_engine.py`` makes in the C++ engine, and who should notice them.

A mistake replaces ``right``, which stands once in a file of ``orchestrator/engine/src``, with
``wrong``. Both are expressions, or both statements, which end with a semicolon.
"""

from __future__ import annotations

from typing import NamedTuple


class Mistake(NamedTuple):
    """A mistake and the tests, below ``tests``, that should fail with it."""

    name: str
    file: str
    right: str
    wrong: str
    tests: str


MISTAKES = (
    # Lines between units
    Mistake(
        "slope_without_unit",
        "core/read.cpp",
        "factor * ((end - value) / span)",
        "(end - value) / span",
        "property/test_waveforms.py -k slopes",
    ),
    Mistake(
        "followed_slope_without_unit",
        "core/read.cpp",
        "factor * found.derivatives[k]",
        "found.derivatives[k]",
        "property/test_waveforms.py",
    ),
    Mistake(
        "grid_cut_instead_of_rounded",
        "core/context.cpp",
        "static_cast<Wide>(2) * count * rest_numerator + rest_denominator",
        "static_cast<Wide>(2) * count * rest_numerator",
        "unit/core/master/run/test_step_grid.py",
    ),
    Mistake(
        "prediction_through_a_jump",
        "core/context.cpp",
        "settling > 0 ? 0 : step_ns",
        "step_ns",
        "property/test_faults.py::test_varying_steps_equal_the_reference_and_end_at_faults",
    ),
    # Runs
    Mistake(
        "checkpoint_loses_last_length",
        "run/engine_state.cpp",
        "context_.last_ns = static_cast<std::int64_t>(*from++);",
        "++from;",
        "unit/core/master/run/test_checkpoint.py -k another_run",
    ),
    Mistake(
        "checkpoint_loses_jitter",
        "core/history_state.cpp",
        "normal_ = numbers[1];",
        "normal_ = 0.0;",
        "unit/core/master/run/test_checkpoint.py -k another_run",
    ),
    Mistake(
        "checkpoint_loses_held_fault",
        "run/engine_state.cpp",
        "fault.held_at_ns = *mark++;",
        "++mark;",
        "unit/core/master/run/test_checkpoint.py -k another_run",
    ),
    Mistake(
        "steps_over_a_fault",
        "run/engine.cpp",
        "std::min(goal_ns, context_.faults.next_change(begin_ns))",
        "goal_ns",
        "property/test_faults.py::test_varying_steps_equal_the_reference_and_end_at_faults",
    ),
    Mistake(
        "length_kept_at_a_fault",
        "run/engine.cpp",
        "control_->restart();",
        ";",
        "property/test_faults.py::test_varying_steps_equal_the_reference_and_end_at_faults",
    ),
    Mistake(
        "room_for_rows_counted_from_here",
        "run/recorder.cpp",
        "(done + steps) / every_ - done / every_",
        "steps / every_",
        "unit/engine/test_tables.py",
    ),
    # Algorithms
    Mistake(
        "anderson_without_combination",
        "algorithms/fixed_point.cpp",
        "x_[i] -= gamma * steps_[k][i];",
        ";",
        "benchmark_problems/test_loops.py",
    ),
    Mistake(
        "doubling_of_another_order",
        "algorithms/doubling.cpp",
        "std::pow(2.0, rule_.order) - 1.0",
        "std::pow(2.0, rule_.order)",
        "benchmark_problems/test_reference.py",
    ),
    Mistake(
        "prediction_of_equal_steps",
        "algorithms/embedded.cpp",
        "context.step_ratio * (begin - context.before[slot])",
        "(begin - context.before[slot])",
        "benchmark_problems/test_reference.py",
    ),
    Mistake(
        "ecco_without_last_error",
        "algorithms/ecco.cpp",
        "std::pow(memory_[1], proportional)",
        "1.0",
        "benchmark_problems/test_reference.py",
    ),
    Mistake(
        "samples_of_a_rejected_step_kept",
        "algorithms/step_executor.cpp",
        "context_.histories[i].rewind(saved_newest_[i]);",
        ";",
        "unit/core/master/test_held_out_loops.py -k steps_that_vary",
    ),
    Mistake(
        "loop_ends_while_integers_change",
        "algorithms/loop_solver.cpp",
        "changed_ ? 2.0 : 0.0",
        "0.0",
        "unit/core/master/test_texts.py -k a_loop_of_texts",
    ),
    Mistake(
        "tangent_without_unit",
        "algorithms/tangent.cpp",
        "line.factor * context.tangent[line.source]",
        "context.tangent[line.source]",
        "benchmark_problems/test_derivatives.py",
    ),
    # Events
    Mistake(
        "input_moves_on_after_early_return",
        "events/event_phase.cpp",
        "(part.active && !holds) || jumps",
        "part.active || jumps",
        "unit/core/events/test_early_return.py",
    ),
    Mistake(
        "inputs_lost_on_the_way_back",
        "events/event_steps.cpp",
        "std::copy_n(inputs_.begin(), count, context.signals.begin() + first);",
        ";",
        "unit/core/events/test_early_return.py",
    ),
    Mistake(
        "clocked_values_pass_without_a_tick",
        "events/event_phase.cpp",
        "line.kind != EventLine::Kind::clocked",
        "true",
        "unit/core/events/test_clocks.py",
    ),
    Mistake(
        "event_at_the_end_of_a_step_passed_over",
        "events/event_phase.cpp",
        "stepped && candidate.reached().event",
        "false",
        "unit/core/events/test_early_return.py",
    ),
    Mistake(
        "clock_instants_cut",
        "fmi/clock_scheduler.cpp",
        "(rest * giga + period.resolution / 2) / period.resolution",
        "rest * giga / period.resolution",
        "unit/core/events/test_clocks.py",
    ),
    # Pacing
    Mistake(
        "slip_without_whole_ticks",
        "pacing/pacer.cpp",
        "slipped_ns_ += clock_.slip(found.late_ns);",
        "clock_.slip(found.late_ns); slipped_ns_ += found.late_ns;",
        "unit/engine/test_pacing.py",
    ),
    Mistake(
        "overruns_in_a_row_never_end",
        "pacing/pacer.cpp",
        "in_row_ = 0;\n        return true;",
        "return true;",
        "unit/core/master/run/test_real_time.py",
    ),
    Mistake(
        "drift_through_a_silence",
        "pacing/drift_estimate.cpp",
        "silent_ns_ += late_ns;\n        begin_line(device_ns, here_ns);",
        "silent_ns_ += late_ns;",
        "unit/engine/test_pacing.py",
    ),
    Mistake(
        "factor_turned_over",
        "pacing/pacer.cpp",
        "static_cast<double>(simulated) / rules_.factor",
        "static_cast<double>(simulated) * rules_.factor",
        "unit/core/master/run/test_real_time.py",
    ),
    Mistake(
        "step_before_its_tick",
        "pacing/tick_clock.cpp",
        "1 + skipped_ + (offset_ns + period_ns_ - 1) / period_ns_",
        "1 + skipped_ + offset_ns / period_ns_",
        "unit/engine/test_pacing.py",
    ),
    # Isolation
    Mistake(
        "restart_from_before_the_way_back",
        "isolation/remote_unit.cpp",
        "fresh_ = held_;\n    stale_ = true;",
        "fresh_ = held_;",
        "unit/core/simunits/isolation/test_hold_and_restart.py -k went_back",
    ),
    Mistake(
        "stepped_after_a_failed_one",
        "isolation/worker_loop.cpp",
        "i != no_member && !goes_on(header)",
        "false",
        "unit/core/simunits/isolation/test_shared_process.py -k those_after",
    ),
    Mistake(
        "held_outputs_of_another_time",
        "isolation/remote_unit.cpp",
        "last_ = kept_[number].outputs;",
        ";",
        "unit/core/simunits/isolation/test_hold_and_restart.py -k belongs",
    ),
    Mistake(
        "replay_without_slopes",
        "isolation/remote_restart.cpp",
        "new_order_ = row.order;",
        "new_order_ = 0;",
        "unit/core/simunits/isolation/test_hold_and_restart.py -k slopes",
    ),
    Mistake(
        "one_time_out_for_all",
        "isolation/remote_process.cpp",
        "busy = now;\n            began = now_ns();",
        "busy = now;",
        "unit/core/simunits/isolation/test_shared_process.py -k a_time_out_begins",
    ),
    # Devices
    Mistake(
        "torn_record",
        "devices/device_block.cpp",
        "own.version.load(std::memory_order_relaxed) == version",
        "true",
        "unit/engine/test_device_block.py",
    ),
    Mistake(
        "record_read_while_written",
        "devices/device_block.cpp",
        "version % 2 != 0",
        "false",
        "unit/engine/test_device_block.py",
    ),
    Mistake(
        "stale_sample_is_valid",
        "devices/device_unit.cpp",
        "age_ns < rules_.stale_ns && !block_.lost()",
        "!block_.lost()",
        "unit/rig/device_units/test_device_unit.py -k silent",
    ),
    Mistake(
        "time_of_the_last_clamp",
        "devices/device_unit.cpp",
        "if (clamped_++ == 0) first_clamped_ns_ = now_ns_;",
        "++clamped_; first_clamped_ns_ = now_ns_;",
        "unit/rig/device_units/test_device_unit.py -k clamped",
    ),
    Mistake(
        "held_columns_interpolated",
        "devices/log_unit.cpp",
        "now_.weight == 0.0 || log_.held[place]",
        "now_.weight == 0.0",
        "unit/core/simunits/logs/test_log_unit.py",
    ),
    Mistake(
        "twin_speed_of_another_sign",
        "devices/twin_unit.cpp",
        "fall * (speed * (c - z * w * s) - off * w * w * s)",
        "fall * (speed * (c + z * w * s) - off * w * w * s)",
        "unit/rig/test_twin_unit.py",
    ),
    # Exported systems
    Mistake(
        "state_without_integrator",
        "exported/state.cpp",
        "status = fmu.put_back(state->memories[i]);",
        ";",
        "unit/export/system/test_states.py -k checkpoint",
    ),
    Mistake(
        "events_at_the_end_hidden",
        "exported/step.cpp",
        "execute_lines(engine_->context(), line);",
        ";",
        "unit/export/system/test_interface.py",
    ),
    Mistake(
        "parameter_without_offset",
        "exported/values.cpp",
        "target.factor * values_[place + i] + target.offset",
        "target.factor * values_[place + i]",
        "unit/export/system/test_interface.py",
    ),
    Mistake(
        "faults_not_begun",
        "exported/instance.cpp",
        "begin_faults(engine_->context());",
        ";",
        "unit/export/system/test_trajectory.py -k faults_act",
    ),
    # Delayed lines, and what they remember
    Mistake(
        "jitter_louder_than_declared",
        "core/channel.cpp",
        "std::sqrt(1.0 - kept * kept) * fresh",
        "fresh",
        "property/test_lines.py",
    ),
    Mistake(
        "recorded_delay_by_stairs",
        "core/channel.cpp",
        "delay + rounded(share * change)",
        "delay",
        "unit/core/master/test_varying_delay.py -k recorded",
    ),
    Mistake(
        "overtaking_on_an_ordered_line",
        "core/history.cpp",
        "channel_->in_order ? latest_due_ : known",
        "known",
        "property/test_lines.py",
    ),
    Mistake(
        "deepened_without_samples",
        "core/history.cpp",
        "values[at] = values_[place(n)];",
        ";",
        "unit/core/master/run/test_tuning.py",
    ),
    Mistake(
        "checkpoint_loses_arrivals",
        "core/history_state.cpp",
        "latest_due_ = marks[3];",
        ";",
        "unit/core/master/run/test_checkpoint.py -k overtake",
    ),
    Mistake(
        "checkpoint_loses_settling",
        "run/engine_state.cpp",
        "context_.settling = static_cast<std::int64_t>(*from++);",
        "++from;",
        "unit/core/master/run/test_checkpoint.py -k going_back",
    ),
    Mistake(
        "compensation_without_unit_of_answer",
        "core/compensation.cpp",
        "(begin[answered] / answer_factor)",
        "(begin[answered])",
        "unit/core/coupling/test_compensations.py -k opposite_line",
    ),
    Mistake(
        "compensation_without_offset",
        "core/compensation.cpp",
        "factor * context.begin[source] + offset",
        "factor * context.begin[source]",
        "unit/core/coupling/test_compensations.py",
    ),
    Mistake(
        "mean_without_unit",
        "core/exchange.cpp",
        "line.factor * mean + line.offset",
        "mean + line.offset",
        "unit/core/master/run/test_execution.py -k mean_over",
    ),
    Mistake(
        "extrapolation_of_equal_steps",
        "core/exchange.cpp",
        "line.weight * context.step_ratio * (now - context.before[line.source])",
        "line.weight * (now - context.before[line.source])",
        "property/test_faults.py",
    ),
    Mistake(
        "cube_without_its_part_of_the_slope",
        "core/waveform.cpp",
        "keeps_end ? 0.5 : 0.6",
        "0.5",
        "unit/engine/test_waveform.py",
    ),
    Mistake(
        "aitken_without_relaxation",
        "algorithms/fixed_point.cpp",
        "below > 0.0 ? -above / below : 1.0",
        "1.0",
        "benchmark_problems/test_loops.py",
    ),
    Mistake(
        "clock_without_shift",
        "fmi/clock_scheduler.cpp",
        "multiple_ns(timer.interval, 0, timer.shift_counter)",
        "multiple_ns(timer.interval, 0, 0)",
        "unit/core/events/test_clocks.py",
    ),
    Mistake(
        "event_before_its_time",
        "fmi/clock_scheduler.cpp",
        "std::ceil(ns)",
        "std::floor(ns)",
        "unit/core/events/test_clocks.py -k no_earlier",
    ),
)
