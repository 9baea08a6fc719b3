"""Ends a trial's processes, mounts and networks with the trial, however it ends.

There are three processes: this one, which others know and signal; a guard in its own session, which a signal to the
process group doesn't reach; and the trial. The guard adopts every descendant that loses its parent, and kills the
remaining ones when the trial has ended. When this process is gone, the guard ends the trial. For root, guard and trial
have their own mounts and networks, which the kernel removes with their last process, so trials disturb neither each
other nor other programs.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

ENDINGS = (signal.SIGTERM, signal.SIGINT)
# The time in which a trial that must end saves its diagnostics and ends its processes.
GRACE_SECONDS = 15

# From <linux/prctl.h>, <sched.h>, <sys/mount.h>, <linux/sockios.h>, <net/if.h>.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, CLONE_NEWNET = 0x0002_0000, 0x4000_0000
MS_REC, MS_PRIVATE = 0x4000, 0x4_0000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1

_libc = ctypes.CDLL(None, use_errno=True)

# Whether this process has its own mounts and networks.
is_alone = False
# Whether a signal has told the trial to end; threads with long work check it.
is_ending = False


def run(trial: Callable[[], int]) -> int:
    """Runs `trial` under guard. Returns its exit status."""
    sys.stdout.flush()
    sys.stderr.flush()
    starter = os.getpid()
    # With nohup, the user wants the trial to outlive the program that started it.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        _end_with(os.getppid(), signal.SIGTERM)
    # Signals wait until every process can handle them.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)
    guard = os.fork()
    if guard == 0:
        os._exit(_stand_guard(starter, trial))
    _hear(lambda number: os.kill(guard, number))
    _, status = os.waitpid(guard, 0)
    ended = os.waitstatus_to_exitcode(status)
    return ended if ended >= 0 else 128 - ended


def _stand_guard(starter: int, trial: Callable[[], int]) -> int:
    os.setsid()
    _libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _be_alone()
    guard = os.getpid()
    worker = os.fork()
    if worker == 0:
        os._exit(_try(guard, trial))

    def tell(number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, number)

    def pass_on(number: int) -> None:
        tell(number)
        signal.alarm(GRACE_SECONDS)

    signal.signal(signal.SIGALRM, lambda *_: tell(signal.SIGKILL))
    _hear(pass_on)
    _end_with(starter, signal.SIGTERM)
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == worker:
            break
    _kill_children()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _try(guard: int, trial: Callable[[], int]) -> int:
    def end(number: int) -> None:
        """Ends the trial by an exception, so that its `finally` blocks run; further signals are ignored."""
        global is_ending
        if not is_ending:
            is_ending = True
            sys.exit(128 + number)

    try:
        _end_with(guard, signal.SIGKILL)
        _hear(end)
        return trial()
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _hear(action: Callable[[int], None]) -> None:
    for number in ENDINGS:
        signal.signal(number, lambda number, _: action(number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDINGS)


def _end_with(parent: int, number: int) -> None:
    """Makes the kernel send a signal to this process when its parent ends or has ended."""
    _libc.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def _be_alone() -> None:
    """Gives root separate mounts and networks. Without root, a trial that needs them reports it."""
    global is_alone
    if os.geteuid() != 0 or _libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        return
    is_alone = _libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0
    with socket.socket() as loopback:
        fcntl.ioctl(loopback, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


def _kill_children() -> None:
    """Kills every descendant of this process, which adopts the children of those that it kills."""
    while True:
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The state and the parent follow the name, which may contain anything.
            if int(status.read_text(errors="replace").rpartition(")")[2].split()[1]) == os.getpid():
                found.append(int(status.parent.name))
    return found
