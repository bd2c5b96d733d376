"""What a definition must hold to besides its syntax. Called by the tests and by the local stack when it loads one."""

from collections.abc import Iterator

from infra.local.workflow.definition import Choice, Fail, Machine, Map, State, Succeed, Task

PASSING = ("DatabaseUnavailable", "DatabaseTooSlow", "WorkRaced")
"""What may come of any step that writes: nothing was written, and the same step may succeed next time."""


def lint(machine: Machine, *, is_caught: bool = False) -> list[str]:
    """Every fault as one sentence; an empty list when there is none.

    Every target exists, every state is reachable and reaches an end, every Task is retried, also after what may come of
    any write, and every Task and Map is caught: by itself, or (`is_caught`) by the Map around it.
    """
    faults = [
        f"{name}: there is no state {target!r}"
        for name, target in [("StartAt", machine.start), *_edges(machine)]
        if target not in machine.states
    ]
    if faults:
        return faults
    reachable = _reachable_from(machine, machine.start)
    faults += [f"{name}: nothing leads here" for name in machine.states if name not in reachable]
    for name, state in machine.states.items():
        if not any(_ends(machine.states[other]) for other in _reachable_from(machine, name)):
            faults.append(f"{name}: leads to no end")
        faults += [f"{name}: {fault}" for fault in _faults_of(state, is_caught=is_caught)]
    return faults


def _faults_of(state: State, *, is_caught: bool) -> Iterator[str]:
    if isinstance(state, Task) and not state.retry:
        yield "a task without Retry"
    elif isinstance(state, Task):
        retried = {error for retrier in state.retry for error in retrier.errors}
        yield from (f"{error} is not retried" for error in PASSING if not retried & {error, "States.ALL"})
    if isinstance(state, Task | Map) and not state.catch and not is_caught:
        yield "a state that may fail without Catch"
    if isinstance(state, Map):
        yield from lint(state.processor, is_caught=bool(state.catch))


def _targets(state: State) -> Iterator[str]:
    if isinstance(state, Choice):
        yield from (rule.next for rule in state.rules)
        if state.default is not None:
            yield state.default
    elif isinstance(state, Task | Map):
        if state.next is not None:
            yield state.next
        yield from (catcher.next for catcher in state.catch)


def _edges(machine: Machine) -> list[tuple[str, str]]:
    return [(name, target) for name, state in machine.states.items() for target in _targets(state)]


def _reachable_from(machine: Machine, name: str) -> set[str]:
    seen: set[str] = set()
    left = [name]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left.extend(_targets(machine.states[here]))
    return seen


def _ends(state: State) -> bool:
    return isinstance(state, Succeed | Fail) or (isinstance(state, Task | Map) and state.next is None)
