"""Everything that is wrong with a sweep is told before the first run, in one go."""

import pytest

from orchestrator.checks import check_target
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.study import read_experiment
from orchestrator.study.sweep import plans_of

GOOD = """
[sweep.c]
cases = ["slope"]
measures = ["end"]
seeds = 2
[sweep.c.over.slope]
set = ["a.u"]
values = [3.0, 1.0]
[sweep.c.over.delay]
delay = ["a.y -> b.u"]
values = ["100 ms", "200 ms"]
[figure.f]
kind = "map"
title = "t"
sweep = "c"
measure = "end"
x = "slope"
y = "delay"
panels = [{ case = "slope" }]
"""
NAMES = [
    ('["slope"]', '["slop"]', "sweep.c.cases': no case 'slop'. Did you mean 'slope'? The"),
    ('["end"]', '["ends"]', "sweep.c.measures': no measure 'ends'. Did you mean 'end'? The"),
    ('sweep = "c"', 'sweep = "d"', "figure.f.sweep': no sweep 'd'; the only sweep is c"),
    (
        'measure = "end"',
        'measure = "way"',
        "figure.f.measure': no measure 'way'; the only measure is end",
    ),
    (
        'x = "slope"',
        'x = "slop"',
        "no axis 'slop'. Did you mean 'slope'? The axes are slope and delay",
    ),
    (
        "{ case =",
        "{ at = { z = 1 }, case =",
        "figure.f.at': no axis 'z'; the axes are slope and delay",
    ),
    ("seeds = 2", "seeds = true", "'sweep.c.seeds': expected a whole number or a list"),
    ("seeds = 2", "sed = 2", "unknown key 'sweep.c.sed'. Did you mean 'seed'?"),
    ("values = [3.0, 1.0]", "values = []", "sweep.c.over.slope.values"),
]
VALUES = [
    (
        '["a.u"]',
        '["a.uu"]',
        r"over.slope: no case has 'a.uu'. Did you mean 'a.u'\?",
    ),
    ('set = ["a.u"]', "", "over.slope: changes nothing: expected set, delay, step"),
    ('["a.y -> b.u"]', '["a.y -> a.u"]', "over.delay: no case has 'a.y -> a.u'"),
    ('["a.y -> b.u"]', '["a.y, b.u"]', "over.delay: delay: expected 'a.out -> b.in'"),
    ("[3.0, 1.0]", "[3.0, 3.0]", "over.slope: has one value several times"),
    (
        "[3.0, 1.0]",
        "[3.0, 'x']",
        "over.slope: values: expected numbers only, text only, or Booleans only",
    ),
    ("[3.0, 1.0]", "[true, 'x']", "over.slope: values: expected numbers only, text only"),
    ('set = ["a.u"]', 'set = ["a.u"]\nlabel = "end"', "another column is called 'end'"),
    ("over.delay]", "over.delay]\nlabel = 'slope'", "another column is called 'slope'"),
    ("[3.0, 1.0]", "[3.0, inf]", "over.slope: expected finite numbers, found inf"),
    ("[3.0, 1.0]", "['x', 'y']", "over.slope = x, y: .*a.u: expected|over.slope = x: a.u"),
    ("values = [3.0, 1.0]", "from = 1\nto = 2", "needs values = .*, or from, to and count"),
    ("values = [3.0, 1.0]", "from = 2\nto = 1\ncount = 3", "expected from < to, found 2 and 1"),
    ("values = [3.0, 1.0]", "from = 0\nto = 1\ncount = 3\nspacing = 'log'", "needs from > 0"),
    ("values = [3.0, 1.0]", "values = [1.0]\ncount = 3", "has values and 'count'"),
    ("[3.0, 1.0]", "[3.0, 1.0]\nstep = true", "changes times and other quantities together"),
    ('"100 ms", ', '"-1 ms", ', "over.delay = -1.0: .*a delay cannot be negative"),
    ('"100 ms", ', '"soon", ', "over.delay: values: expected seconds or a time .* found 'soon'"),
    ('"200 ms"]', '"200 ms"]\nunit = "N"', "over.delay: unit 's' .* does not convert to 'N'"),
    ("[3.0, 1.0]", "[3.0, 1.0]\nproportional = ['b.z']", "no case has 'b.z'"),
    ("seeds = 2", "seeds = 0", "seeds: expected a number >= 1, .* found 0"),
    ("seeds = 2", "seeds = [1, -1]", "seeds: expected a number >= 1, or different ones >= 0"),
    ("seeds = 2", "seeds = [1, 1]", "seeds: expected a number >= 1, or different ones"),
    ("seeds = 2", "seeds = 2\ncount = 3", "count: a grid has the counts of its axes"),
    ("seeds = 2", "design = 'random'", "design 'random' needs a count of points"),
    ("seeds = 2", "stop = '1 ms'", "over.slope = 3.0, 1.0: .*the stop time is 0.001 s; expected"),
    ("seeds = 2", "seeds = 900000", "3.6e.06 runs; expected at most 1e.06"),
    ("seeds = 2", "cases = ['slope', 'slope']", "cases: one is named twice"),
    ("{ case =", "{ at = { slope = 3.0 }, case =", "at.slope: this axis is drawn"),
    ('y = "delay"', 'y = "slope"', "x and y are the same axis 'slope'"),
    ('y = "delay"', 'y = "delay"\ncontour = "end"', "contour .* needs levels"),
    ('y = "delay"', "y = 'delay'\nreduce = 'share above limit'", "needs a limit"),
    ("seeds = 2", "design = 'random'\ncount = 3", "has no grid, only a design of kind 'random'"),
]


def told(write, text):
    path = write(text)
    with pytest.raises(DescriptionError) as error:
        plans_of(read_experiment(path), path.parent)
    return error.value.problems


def changed(old, new):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    return text.replace('cases = ["slope"]\n', "") if "cases = ['" in new else text


def test_the_good_one_is_good(write):
    path = write(GOOD)
    assert len(plans_of(read_experiment(path), path.parent)["c"].jobs) == 8
    assert check_target(path).exit_code(strict=False) == 0


@pytest.mark.parametrize(("old", "new", "expected"), NAMES)
def test_names_that_do_not_exist(write, old, new, expected):
    problems = told(write, changed(old, new))
    assert any(expected in text for text in problems), problems


def test_a_case_that_does_not_exist_is_the_only_problem(write):
    text = changed('cases = ["slope"]', 'cases = ["slop"]').partition("[figure.f]")[0]
    (problem,) = told(write, text)
    assert "'sweep.c.cases': no case 'slop'. Did you mean 'slope'?" in problem


@pytest.mark.parametrize(("old", "new", "expected"), VALUES)
def test_what_cannot_be_run(write, old, new, expected):
    import re

    problems = told(write, changed(old, new))
    assert any(re.search(expected, text) for text in problems), problems
    # `softdock check` tells the same.
    messages = [finding.message for finding in check_target(write(changed(old, new))).findings]
    assert any(re.search(expected, text) for text in messages), messages


def test_an_axis_that_is_not_drawn_needs_a_value(write):
    text = GOOD + "[sweep.c.over.other]\nset = ['b.at']\nvalues = [1.0, 2.0]\n"
    (problem,) = told(write, text)
    assert "axis 'other' is not drawn: choose its value with at = { other = .. }" in problem
    (problem,) = told(write, text.replace("{ case =", "{ at = { other = 5 }, case ="))
    assert "at.other: no value 5; it has: 1.0, 2.0" in problem
    path = write(text.replace("{ case =", "{ at = { other = 2 }, case ="))
    assert plans_of(read_experiment(path), path.parent)


def test_seeds_without_anything_random(write):
    text = GOOD.replace("slope", "flat").replace("'a.y -> b.u'", "")
    text = text[: text.index("[sweep.c.over.delay]")] + "[case.flat.measure]\n"
    (problem,) = told(write, text + "end = { kind = 'final', signal = 'a.y' }\n")
    assert "seeds change nothing: no case has a fault of kind 'noise'" in problem


def test_a_short_sweep_is_one_with_an_axis(write):
    listed = "[sweep.s]\ncase = 'slope'\nover = ['a.u', 'fault.noise.sigma']\nvalues = [1, 2]\n"
    long = "[sweep.t]\ncases = ['slope']\nmeasures = ['end']\n[sweep.t.over.value]\n"
    long += "label = 'a.u, fault.noise.sigma'\nset = ['a.u']\nfault = ['noise.sigma']\n"
    long += "values = [1, 2]\n"
    experiment = read_experiment(write(GOOD + listed + "measures = ['end']\n" + long))
    assert list(experiment.listed_sweeps) == ["s"]
    assert experiment.sweeps["s"] == experiment.sweeps["t"] == experiment.sweep["t"]


def test_a_window_after_the_end(write):
    text = "[case.slope.measure.late]\nkind = 'final'\nsignal = 'a.y'\nfrom = '0.9 s'\n"
    text += GOOD.replace('"end"', '"late"').replace("seeds = 2", "stop = '0.5 s'")
    (problem,) = told(write, text)
    assert "case 'slope', measure 'late' begins at 0.9 s; expected it before the stop" in problem


def test_all_problems_together(write):
    text = GOOD.replace('["a.u"]', '["a.x"]').replace('["a.y -> b.u"]', '["a.y -> a.u"]')
    assert len(told(write, text)) == 2
