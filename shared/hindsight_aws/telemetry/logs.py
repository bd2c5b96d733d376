"""How log lines are written: one JSON object each in the cloud, one readable line on a laptop, redacted in both.

Set up by runtime.py when a function starts.  The names of fields are those of Lambda's own JSON lines.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Final

from hindsight_aws.telemetry.event import current
from hindsight_aws.telemetry.redaction import masked, saying
from hindsight_aws.telemetry.spans import current_context

_OURS: Final = ("hindsight_aws", "functions")
_LONGEST: Final = 4_000
"""Characters of a message; a longer one is cut."""
_MOST_FRAMES: Final = 30


def write_logs(level: str, *, as_json: bool) -> None:
    """Has every log line of the process written by this module: by Lambda's handler, or by one of its own.

    `level` is the least of our own lines.  Libraries are heard from WARNING on, whatever it is: what they write below
    quotes requests.
    """
    root = logging.getLogger()
    of_lambda = [handler for handler in root.handlers if type(handler).__module__.startswith("awslambdaric")]
    for handler in of_lambda:
        handler.setFormatter(LogLines(as_json=as_json, ending="\n"))
    if not root.handlers:
        written = logging.StreamHandler(sys.stderr)
        written.setFormatter(LogLines(as_json=as_json))
        root.addHandler(written)
    wanted = logging.getLevelNamesMapping()[level]
    root.setLevel(max(wanted, logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(wanted)


class LogLines(logging.Formatter):
    """Formats records; `ending` closes a line where the handler does not."""

    def __init__(self, *, as_json: bool, ending: str = "") -> None:
        super().__init__()
        self._as_json = as_json
        self._ending = ending

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = told(record)
        written = json.dumps(line) if self._as_json else _readable(line, record)
        return written + self._ending


def told(record: logging.LogRecord) -> dict[str, object]:
    """What a line says: the message, the event in hand and whose it is, and an error without what it quotes."""
    event, span = current(), current_context()
    at = datetime.fromtimestamp(record.created, UTC)
    line: dict[str, object] = {
        "timestamp": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname,
        "message": _message(record),
        "logger": record.name,
        "function": event.function,
        "requestId": event.request_id,
        "coldStart": event.is_cold_start or None,
        "traceId": None if span is None else span.trace_id,
        **event.ids,
    }
    if record.exc_info and (error := record.exc_info[1]) is not None:
        line |= {
            "errorType": type(error).__name__,
            "errorMessage": saying(error),
            "stackTrace": _frames(error),
            "causes": [saying(cause) for cause in _causes(error)] or None,
        }
    return {name: value for name, value in line.items() if value not in (None, "")}


def _message(record: logging.LogRecord) -> str:
    """The message; an error among its parts says no more than `saying` does."""
    args = record.args
    if isinstance(args, tuple):
        args = tuple(saying(part) if isinstance(part, BaseException) else part for part in args)
    template = saying(record.msg) if isinstance(record.msg, BaseException) else str(record.msg)
    try:
        text = template % args if args else template
    except (TypeError, ValueError):  # a library's own mistake in a log call
        text = template
    text = masked(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _frames(error: BaseException) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    now: BaseException | None = error
    while now is not None and len(found) < _MOST_FRAMES:
        now = now.__cause__ or (None if now.__suppress_context__ else now.__context__)
        if now is None or now in found:
            break
        found.append(now)
    return found


def _readable(line: dict[str, object], record: logging.LogRecord) -> str:
    ids = " ".join(f"{name}={value}" for name, value in current().ids.items())
    parts = [f"{line['timestamp']} {record.levelname} {record.name}: {line['message']}", f"[{ids}]" if ids else ""]
    text = " ".join(part for part in parts if part)
    if "errorType" not in line:
        return text
    frames = line.get("stackTrace")
    shown = "".join(f"\n    {frame}" for frame in frames) if isinstance(frames, list) else ""
    return f"{text}\n  {line['errorType']}: {line['errorMessage']}{shown}"
