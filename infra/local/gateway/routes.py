"""Which function serves a request, by the HTTP API's rules: the most specific route wins. Called by the gateway."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from infra.topology import DEFAULT_ROUTE, Route, Topology

_VARIABLE: Final = re.compile(r"\{([^{}+]+)(\+?)\}")


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """The winning route: its key (`POST /v1/{x}` or `$default`), its function, and the path's variables, decoded."""

    key: str
    function: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    method: str
    pattern: re.Pattern[str]
    rank: tuple[int, ...]
    key: str
    function: str


class RouteTable:
    """The routes of a topology, best first.

    Paths are matched as they came over the wire, so `%2F` does not end a segment. Segment by segment a literal beats a
    variable, a variable beats a greedy one, a named method beats ANY, and `$default` takes what is left. A greedy one
    takes an empty rest too: a route key may not end in a slash, so `/mcp/{proxy+}` is how `/mcp/` is served.
    """

    def __init__(self, topology: Topology) -> None:
        self._entries = sorted(
            (_entry(route, function.name) for function, route in topology.each(Route)), key=lambda entry: entry.rank
        )

    def match(self, method: str, path: str) -> RouteMatch | None:
        """The route for a request, or None when nothing matches and there is no `$default`."""
        for entry in self._entries:
            if entry.method not in {"ANY", method}:
                continue
            found = entry.pattern.fullmatch(path)
            if found is not None:
                variables = tuple((name, unquote(value)) for name, value in found.groupdict().items())
                return RouteMatch(entry.key, entry.function, variables)
        return None


def _entry(route: Route, function: str) -> _Entry:
    if route.path == DEFAULT_ROUTE:
        return _Entry("ANY", re.compile(".*", re.DOTALL), (9,), DEFAULT_ROUTE, function)
    pattern = ""
    rank: list[int] = []
    for segment in route.path.strip("/").split("/"):
        variable = _VARIABLE.fullmatch(segment)
        if variable is None:
            pattern += "/" + re.escape(segment)
            rank.append(0)
        elif variable[2]:
            pattern += f"/(?P<{variable[1]}>.*)"
            rank.append(2)
        else:
            pattern += f"/(?P<{variable[1]}>[^/]+)"
            rank.append(1)
    rank.append(int(route.method == "ANY"))
    return _Entry(route.method, re.compile(pattern), tuple(rank), f"{route.method} {route.path}", function)
