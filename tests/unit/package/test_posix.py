"""What only POSIX or Linux has is asked for in one file; where else it is used is listed here."""

import re
from pathlib import Path

import orchestrator

PACKAGE = Path(orchestrator.__file__).parent
ONLY = re.compile(
    r"\b(fcntl|termios|tty|resource|flock|renameat2|prctl|memfd_create|pidfd_open|pthread_\w+"
    r"|sched_[gs]et\w+|getpriority|setpriority|os\.(?:nice|killpg|getuid)"
    r"|SIG(?:HUP|PIPE|KILL|STOP|USR1)"
    r"|AF_UNIX|pass_fds|process_group|start_new_session)\b|/proc/"
)
#: Where else, but for rigs and their adapters, which are Linux's.
ELSEWHERE = {
    "cli/dcp.py": "signals that end a slave",
    "cli/supervisor.py": "keys of a terminal",
    "cli/failure.py": "the exit code of a closed pipe",
    "core/accounts.py": "whose a socket, a folder and a port are",
    "core/own_process.py": "how modules are started, and end",
    "core/simunits/fmi/wine.py": "the process of Wine, and how it ends",
    "core/recording/journal.py": "how a process ended",
    "core/recording/whole_folder.py": "one call, and what is done without it",
    "export/codegen/compiler.py": "compilers that are ended with what they started",
    "export/modelica/front_end_child.py": "a limit of memory",
    "export/modelica/front_end_process.py": "a process that a tether starts, and how it ended",
    "core/simulation.py": "a signal to the main thread",
    "study/sweep/executors.py": "signals that processes hold back while they start",
}


def test_what_only_posix_has_is_asked_for_in_one_file():
    found = {
        file.relative_to(PACKAGE).as_posix()
        for file in PACKAGE.glob("**/*.py")
        if file.relative_to(PACKAGE).parts[0] != "rig" and ONLY.search(_code(file))
    }
    assert found == {"core/posix.py", *ELSEWHERE}


def _code(file):
    """Return a file without its docstrings and comments."""
    text = re.sub(r'"""(?s:.*?)"""', "", file.read_text())
    return re.sub(r"#.*", "", text)
