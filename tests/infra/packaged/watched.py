"""Runs a script as Python would, and on SIGUSR1 writes where each module comes from, beside the function's task root.

`python -I -S -B watched.py script argument...`, put before the local stack's own entry by `WatchedPackages`.
"""

import json
import os
import runpy
import signal
import sys
import threading
from pathlib import Path


def _answer_signals() -> None:
    root = Path(os.environ["LAMBDA_TASK_ROOT"])
    said = root.parents[1] / f"{root.name}.{os.getpid()}.json"
    while True:
        signal.sigwait({signal.SIGUSR1})
        modules = list(sys.modules.items())
        places = {name: getattr(module, "__file__", None) for name, module in modules}
        unfinished = said.with_suffix(".unfinished")
        unfinished.write_text(json.dumps({"modules": places, "path": sys.path}), encoding="utf-8")
        unfinished.replace(said)


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
threading.Thread(target=_answer_signals, daemon=True).start()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
