"""Runs a program that must not outlive the supervisor: `python guard.py PARENT SIGNAL USER -- program arguments`.

Started by `infra.local.processes` as a script; becomes the program by exec. Where the kernel offers it (Linux), the
program gets SIGNAL when PARENT dies, even by kill -9; elsewhere the next start finds leftovers by their pid files.
USER is the uid and gid to drop to, or -1 to stay.
"""

import ctypes
import os
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, signal_number: int) -> None:
    """Ties this process's life to its parent's; exits at once when the parent is gone already."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal_number)
        if os.getppid() != parent:
            sys.exit(1)


def main(arguments: list[str]) -> None:
    """Drops privileges first: the kernel forgets the death signal when credentials change."""
    parent, signal_number, user = (int(value) for value in arguments[:3])
    if user >= 0:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    die_with_parent(parent, signal_number)
    command = arguments[4:]
    os.execv(command[0], command)  # noqa: S606 - becoming the program is the point; there is no shell


if __name__ == "__main__":
    main(sys.argv[1:])
