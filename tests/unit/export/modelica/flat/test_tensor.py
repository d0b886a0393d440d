from orchestrator.export.modelica.flat.tensor import Tensor


def test_arrays_are_joined_along_a_dimension() -> None:
    """As ``cat`` of Modelica 3.6, 10.4.2, also where another dimension is empty."""
    tensor, two = Tensor((2, 1), (1.0, 2.0)), Tensor((2, 2), (3.0, 4.0, 5.0, 6.0))
    joined = Tensor.concatenate(1, [tensor, two])
    assert (joined.shape, joined.items) == ((2, 3), (1.0, 3.0, 4.0, 2.0, 5.0, 6.0))
    empty = Tensor.concatenate(1, [Tensor((0, 2), ()), Tensor((0, 3), ())])
    assert (empty.shape, empty.items) == ((0, 5), ())
