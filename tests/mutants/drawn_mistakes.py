"""Mistakes in the C++ engine at places that were drawn at random from all its files."""

from __future__ import annotations

from tests.mutants.engine_mistakes import Mistake

DRAWN = (
    Mistake(
        "anderson_without_orthogonal_changes",
        "algorithms/fixed_point.cpp",
        "change[i] -= part * changes_[k][i];",
        ";",
        "benchmark_problems/test_loops.py",
    ),
    Mistake(
        "unread_line_passed_over",
        "algorithms/step_executor.cpp",
        "status = Status::error;",
        ";",
        "unit/core/master/test_value_tables.py",
    ),
    Mistake(
        "curve_beyond_its_samples",
        "core/history.cpp",
        "end_ns <= points.times_ns[points.count - 1]",
        "true",
        "unit/engine/test_waveform.py -k sixth",
    ),
    Mistake(
        "correction_without_slope",
        "core/output_correction.cpp",
        "seconds * (member.order ? context.derivatives[row.target] : 0.0)",
        "0.0",
        "unit/core/coupling/test_corrector.py",
    ),
    Mistake(
        "unfit_outputs_of_a_row_pass",
        "core/unit_steps.cpp",
        "ends && !found.unfit",
        "ends",
        "unit/core/master/test_rows_of_units.py",
    ),
    Mistake(
        "divided_differences_of_neighbours",
        "core/waveform.cpp",
        "(t[i] - t[i - k])",
        "(t[i] - t[i - 1])",
        "unit/engine/test_waveform.py",
    ),
    Mistake(
        "command_beyond_its_limits",
        "devices/device_unit.cpp",
        "enforce(number, value)",
        "Status::ok",
        "unit/rig/device_units/test_device_unit.py -k that_is_set",
    ),
    Mistake(
        "played_values_of_another_time",
        "devices/log_unit.cpp",
        "now_ = kept_[number];",
        ";",
        "unit/core/simunits/logs/test_log_unit.py -k repeats",
    ),
    Mistake(
        "exported_end_not_told",
        "exported/fmi2.cpp",
        "status == Status::ok && system.wants_end()",
        "false",
        "unit/export/system/test_ends.py",
    ),
    Mistake(
        "no_tick_at_the_start",
        "fmi/fmu3_events.cpp",
        "if (!options_.event_mode) return status;\n"
        "    return std::max(status, clock_scheduler_.tick(*this));",
        "return status;",
        "unit/core/events/test_clocks.py",
    ),
    Mistake(
        "no_room_for_rounded_times",
        "exported/step.cpp",
        "slack_ns(std::fabs(time) + std::fabs(length))",
        "slack_ns(0.0)",
        "unit/export/system/test_life.py -k far_from",
    ),
    Mistake(
        "early_return_of_another_process_unknown",
        "isolation/worker_loop.cpp",
        "unit.cause().kind == FailureKind::early_return",
        "false",
        "unit/core/events/test_early_return.py -k all_the_same",
    ),
)
