"""Functions with loops compute what CasADi's do, to the last bit, whatever shares what."""

import ctypes
import re
from itertools import pairwise
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from compile_cache import compiled

from orchestrator.export.codegen import function_code as module
from orchestrator.export.codegen.compiler import FLAGS, compiler_path
from orchestrator.export.codegen.function_code import function_code
from orchestrator.export.dae.residual_dae import Column

RUNTIME = Path(module.__file__).parents[1] / "runtime"
N = 13


def column(name, count=N):
    return Column(ca.SX.sym(name, count), tuple(f"{name}[{i}]" for i in range(1, count + 1)))


def named(name, values):
    return Column(ca.vertcat(*values), tuple(f"{name}[{i}]" for i in range(1, len(values) + 1)))


def joined(*columns):
    names = tuple(name for one in columns for name in one.names)
    return Column(ca.vertcat(*(one.values for one in columns)), names)


NOTHING = Column(ca.SX(0, 1), ())


def compiled_functions(sources, folder):
    """Functions in C as Python's: arguments and sizes of results to results."""
    (folder / "loops.h").write_bytes((RUNTIME / "loops.h").read_bytes())
    text = "".join(re.sub(r"VECTORISED static int", "VECTORISED int", source) for source in sources)
    (folder / "functions.c").write_text(f'#include <math.h>\n#include "loops.h"\n{text}')
    flags = [flag for flag in FLAGS if not flag.startswith("-fvisibility")]
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    command = [compiler_path(), *flags, *strict, "-o", "f.so", "functions.c", "-lm"]
    compiled(command, folder).check_returncode()
    library = ctypes.CDLL(str(folder / "f.so"))

    def call(name, arguments, sizes):
        results = [np.full(size, 7.0) for size in sizes]
        pointers = [
            (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
            for arrays in (arguments, results)
        ]
        assert library[name](*pointers, None, None, 0) == 0
        return results

    return call


def assert_equal_to_casadi(cases, folder, seeds=range(20)):
    """Compare functions, given by name, arguments, results and inner names, on random arguments."""
    sources = {name: function_code(name, *rest) for name, rest in cases.items()}
    assert None not in sources.values(), [n for n, source in sources.items() if source is None]
    call = compiled_functions(sources.values(), folder)
    for name, (arguments, results, _) in cases.items():
        exact = ca.Function(name, [a.values for a in arguments], [r.values for r in results])
        for seed in seeds:
            random = np.random.default_rng(seed)
            given = [random.normal(size=a.values.numel()) * 10.0 ** (seed % 3) for a in arguments]
            wanted = exact.call([ca.DM(one) for one in given])
            found = call(name, given, [r.values.numel() for r in results])
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, np.array(ca.densify(other)).ravel())


def chain():
    """A rope: differences with ends, roots, and what two rows share."""
    x, v, end = column("x"), column("v"), column("end", 2)
    at = [end.values[0], *ca.vertsplit(x.values), end.values[1]]
    dx = [b - a for a, b in pairwise(at)]
    e = [ca.sqrt(d * d + 1e-3) for d in dx]
    pull = [3.0 * (length - 0.1) * (d / length) for length, d in zip(e, dx, strict=True)]
    slopes = [b - a - 0.1 * ca.fmax(v.values[i], 0.0) for i, (a, b) in enumerate(pairwise(pull))]
    results = [joined(named("x", ca.vertsplit(v.values)), named("v", slopes))]
    inner = joined(named("dx", dx), named("e", e), named("pull", pull))
    return [x, v, end], results, inner


def recurrence():
    """Each element takes the one before: no loop, but what comes of it is one."""
    x = column("x")
    total, sums = ca.SX(0.0), []
    for one in ca.vertsplit(x.values):
        total = 0.5 * total + one
        sums.append(total)
    squares = [ca.fabs(s) * ca.sqrt(s * s + 1.0) + s * s * s + ca.fmin(s, 2.0) * s for s in sums]
    return [x], [named("y", squares)], named("sum", sums)


def in_turns():
    """Two rows of which each takes the element before of the other."""
    x = column("x")
    a, b = [x.values[0]], [2.0 * x.values[0]]
    for one in ca.vertsplit(x.values)[1:]:
        a.append(b[-1] * 0.5 + one)
        b.append(a[-1] - 3.0 * one)
    y = [
        p * q + ca.sqrt(p * p + q * q) / (1.0 + p * p) + ca.fabs(q)
        for p, q in zip(a, b, strict=True)
    ]
    return [x], [named("y", y)], joined(named("a", a), named("b", b))


def choices():
    """Conditions, a number that all take and that depends on all, constants, a single result."""
    x, p = column("x"), column("p", 3)
    mean = ca.sum1(x.values) * p.values[0]
    push = ca.if_else(mean > 0, p.values[1] * mean, 0.0)
    met = [ca.logic_and(one > p.values[2], one < mean) for one in ca.vertsplit(x.values)]
    y = [
        ca.if_else(m, push * one, -one)
        + ca.fmax(one, mean)
        - 0.0 * one
        + ca.if_else(one >= 0, 1, 2)
        for m, one in zip(met, ca.vertsplit(x.values), strict=True)
    ]
    return (
        [x, p],
        [named("y", y), Column(ca.vertcat(push, 3.0, x.values[2]), ("a", "b", "c"))],
        named("met", met),
    )


def vectors():
    """Rows that lie with a stride of three, and a cross product."""
    names = tuple(f"{{}}[{i},{j}]" for i in range(1, N + 1) for j in (1, 2, 3))
    r, w = (Column(ca.SX.sym(n, 3 * N), tuple(name.format(n) for name in names)) for n in "rw")
    rows = [r.values[3 * i : 3 * i + 3] for i in range(N)]
    spin = [w.values[3 * i : 3 * i + 3] for i in range(N)]
    speed = [ca.cross(a, b) / ca.sqrt(ca.dot(a, a)) for a, b in zip(spin, rows, strict=True)]
    turned = [ca.cross(a, b) for a, b in zip(spin, speed, strict=True)]
    inner = Column(ca.vertcat(*speed), tuple(name.format("speed") for name in names))
    results = Column(ca.vertcat(*turned), tuple(name.format("r") for name in names))
    return [r, w], [results], inner


def unnamed():
    """Nothing that is computed has a name but the results."""
    arguments, results, _ = chain()
    return arguments, results, NOTHING


MODELS = (chain, recurrence, in_turns, choices, vectors, unnamed)


def test_bits_of_casadi(tmp_path):
    assert_equal_to_casadi({model.__name__: model() for model in MODELS}, tmp_path)


def random_model(seed):
    """Rows upon rows, each of neighbours in others; some have names, some are results."""
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 15))
    x, p = column("x", n), column("p", 4)
    rows = [ca.vertsplit(x.values)]
    scalars = ca.vertsplit(p.values)
    inner = [NOTHING]
    for count in range(int(random.integers(4, 9))):
        a, b, c = (rows[int(k)] for k in random.integers(0, len(rows), 3))
        ahead = int(random.integers(-2, 3))
        kind = int(random.integers(0, 6))
        scalar = scalars[int(random.integers(0, len(scalars)))]
        last = scalar
        row = []
        for i in range(n):
            there = b[i + ahead] if 0 <= i + ahead < n else scalar
            shared = a[i] - there
            row.append(
                [
                    shared * shared + c[i],
                    ca.sqrt(shared * shared + 1.0) * scalar,
                    ca.if_else(shared > c[i], shared * scalar, c[i]),
                    ca.fmin(shared, c[i]) / (1.0 + shared * shared),
                    0.3 * last + shared,
                    ca.fmax(shared, 0.0) - ca.fabs(c[i]),
                ][kind]
            )
            last = row[-1]
        rows.append(row)
        if random.random() < 0.3:
            total = row[0]
            for one in row[1:]:
                total = total + one * scalar
            scalars.append(total)
        if random.random() < 0.6:
            first = int(random.integers(0, 3))
            inner.append(named(f"r{count}", row) if not first else named(f"q{count}", row[first:]))
    results = [named("y", rows[-1]), joined(named("z", rows[-2]), Column(scalars[-1], ("total",)))]
    return [x, p], results, joined(*inner)


@pytest.mark.slow
def test_bits_of_casadi_for_random_rows(tmp_path, monkeypatch):
    """Whatever takes whatever: with few loops, too."""
    monkeypatch.setattr(module, "_SMALLEST_SHARE", 0.0)
    monkeypatch.setattr(module, "_FEWEST", 0)
    cases = {f"random_{seed}": random_model(seed) for seed in range(60)}
    loops = [function_code(name, *case).count("for (int") for name, case in cases.items()]
    assert sum(count > 2 for count in loops) > 40
    assert_equal_to_casadi(cases, tmp_path, seeds=range(5))


def test_few_loops_are_left_to_casadi():
    x = column("x", 3)
    assert function_code("f", [x], [named("y", ca.vertsplit(x.values * 2.0))], NOTHING) is None
    x = column("x", 200)
    assert function_code("f", [x], [Column(ca.sum1(x.values), ("total",))], NOTHING) is None


def test_rows_that_do_not_fit_on_a_stack_are_left_to_casadi():
    x = column("x", 17_000)
    roots = ca.sqrt(x.values)
    y = ca.vertcat(
        *(a + b for a, b in zip(ca.vertsplit(roots)[1:], ca.vertsplit(roots), strict=False))
    )
    assert (
        function_code("f", [x], [named("y", ca.vertsplit(y))], named("r", ca.vertsplit(roots)))
        is None
    )


def test_an_operation_that_c_has_no_word_for_is_left_to_casadi():
    x = column("x", 100)
    y = [ca.erf(one) * one for one in ca.vertsplit(x.values)]
    assert function_code("f", [x], [named("y", y)], NOTHING) is None


def test_what_only_one_loop_reads_is_kept_nowhere():
    source = function_code("chain", *chain())
    assert source.count("for (int") <= 4
    assert "/* e[*]" not in source
    assert "/* pull[*]" in source
