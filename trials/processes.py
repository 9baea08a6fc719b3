"""Other programs: commands whose output is read, and programs that run next to the trial."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .failure import Failed

ONE_COMMAND_SECONDS = 60


def call(*words: object) -> str:
    """Returns the output of a command; fails with its message if the command does."""
    try:
        answer = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=ONE_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failed(str(problem)) from None
    if answer.returncode != 0:
        raise Failed(f"{' '.join(answer.args)}: {answer.stderr.strip() or answer.returncode}")
    return answer.stdout


def start(*words: object, log: Path) -> subprocess.Popen[bytes]:
    """Starts a program whose messages are appended to `log`, and whose other output is discarded."""
    with open(log, "ab") as errors:
        return subprocess.Popen(
            list(map(str, words)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)


def end_now(process: subprocess.Popen[bytes] | None) -> None:
    """Kills a process if it is still running."""
    if process and process.poll() is None:
        process.kill()
        process.wait()
