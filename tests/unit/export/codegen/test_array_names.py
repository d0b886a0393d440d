"""Which names are elements of which row."""

from orchestrator.export.codegen.rows import RowElement, elements


def test_rows_are_along_the_longest_dimension():
    names = [f"x[{i},{j}]" for i in range(1, 4) for j in (1, 2)]
    assert elements(["a", *names]) == {
        1 + 2 * (i - 1) + j - 1: RowElement(f"x[*,{j}]", i) for i in range(1, 4) for j in (1, 2)
    }


def test_components_in_arrays_count_as_dimensions():
    names = [f"node[{i}].v[{j}]" for i in range(1, 6) for j in (1, 2)]
    found = elements(names)
    assert found[0] == RowElement("node[*].v[1]", 1)
    assert found[9] == RowElement("node[*].v[2]", 5)


def test_arrays_in_one_component_stay_apart_from_those_of_another():
    found = elements(["a.x[1]", "a.x[2]", "b.x[1]", "b.x[2]"])
    assert [element.row for element in found.values()] == ["a.x[*]", "a.x[*]", "b.x[*]", "b.x[*]"]


def test_derivatives_are_rows_of_their_own():
    assert elements(["der(x[3])"]) == {0: RowElement("der(x[*])", 3)}
