"""The extensions of this package; see :mod:`orchestrator.experiment.extension`."""
