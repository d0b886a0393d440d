"""The command, run in the process of the tests."""

import pytest

from orchestrator.cli import main


@pytest.fixture
def softdock(monkeypatch, capsys):
    """Run a command line in this process; returns (exit code, standard output, standard error)."""

    def call(*arguments):
        monkeypatch.setattr("sys.argv", ["softdock", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, printed.err

    return call
