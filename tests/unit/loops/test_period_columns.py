import numpy as np
import pytest

from orchestrator.loops.period_map import entries_of


@pytest.mark.parametrize("seed", range(4))
def test_all_columns_are_found_with_few_vectors(seed):
    """Sixty numbers that are kept, lost or handed on, and four that act on others."""
    draw = np.random.default_rng(seed)
    size, kept, lost = 64, np.arange(0, 20), np.arange(20, 40)
    matrix = np.zeros((size, size))
    matrix[kept, kept] = 1.0
    successors = np.full(size, -1)
    for i in range(40, 63):
        successors[i] = i + 1
        matrix[i + 1, i] = 1.0
    for column in (3, 25, 41, 63):
        matrix[:, column] = draw.normal(size=size)
    calls = []

    def apply(before):
        calls.append(before)
        return matrix @ before

    rows, columns, values = entries_of(apply, [kept, lost, np.arange(40, 64)], successors)
    found = np.zeros((size, size))
    np.add.at(found, (rows, columns), values)  # a place that is there twice would count twice
    assert np.array_equal(found, matrix)
    assert len(calls) < 2 * size // 3
