"""FMPy's reader of model descriptions: see README.md."""

from .model_description import read_model_description as read_model_description
