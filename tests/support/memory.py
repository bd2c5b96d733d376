"""How much memory a process has held at most.  Read by tests that measure one in a process of its own."""

from pathlib import Path


def peak_mb() -> int:
    """The most that this process has held resident, in MB.

    From the process's own map: `ru_maxrss` is handed down by whoever started it.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    raise AssertionError("the kernel does not tell VmHWM")
