"""What the model concluded, held against what it was shown: citations, support of sentences, ids in the prose.  Pure.

Called by body.py when a run has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from hindsight_aws.reflect.conversation.aliases import in_prose, uuids, verified, words_like_aliases
from hindsight_aws.reflect.conversation.evidence import KINDS, Evidence, of_kind
from hindsight_aws.reflect.conversation.transcript import Transcript

NOTHING_KNOWN = "I do not know: nothing in this memory answers the question."


@dataclass(frozen=True, slots=True)
class Supported:
    """A sentence of the answer, word for word, and the evidence the model says it rests on."""

    sentence: str
    by: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What the model concluded: its words, the evidence it cited, and how many ids it cited that it was never shown.

    `support` names only sentences that stand in the text, and only evidence that was shown.
    """

    text: str
    found: bool
    cited: tuple[Evidence, ...] = ()
    unknown: int = 0
    support: tuple[Supported, ...] = ()


def conclude(
    said: JsonObject | None, shown: Sequence[Evidence], transcript: Transcript, asked: Iterable[str]
) -> Conclusion:
    """The conclusion; without `said`, that nothing is known.

    `shown` is what the answer could be made from, `asked` are the texts that the model was given besides.
    """
    if said is None:
        return Conclusion(NOTHING_KNOWN, found=False)
    given = [*asked]
    by_name = {piece.id: piece for piece in shown} | {piece.alias: piece for piece in shown}
    named = [str(one) for one in _list(said.get("cited"))]
    cited = tuple(dict.fromkeys(by_name[one] for one in named if one in by_name))
    prose = _Prose(transcript, shown, given)
    text = prose.told(str(said["answer"]))
    return Conclusion(
        text=text,
        found=said.get("answer_found") is not False,
        cited=cited,
        unknown=sum(1 for one in named if one not in by_name),
        support=tuple(_supported(said.get("support"), text, by_name, prose)),
    )


def as_told(value: JsonValue, shown: Sequence[Evidence], transcript: Transcript, asked: Iterable[str]) -> JsonValue:
    """What else the model said, its texts treated as the answer's: no alias leaves, and no id it was not shown."""
    return _told_within(value, _Prose(transcript, shown, [*asked]))


def resting_on(conclusion: Conclusion, shown: Sequence[Evidence]) -> list[Evidence]:
    """What `based_on` lists: of each kind what was cited, or all that was found when none of the kind was."""
    kept: list[Evidence] = []
    for kind in KINDS:
        kept += of_kind(conclusion.cited, kind) or of_kind(shown, kind)
    return kept


class _Prose:
    """What the model may have meant by an alias or an id in its prose."""

    def __init__(self, transcript: Transcript, shown: Sequence[Evidence], given: Sequence[str]) -> None:
        self._ids = {**transcript.ids(), **{piece.alias: piece.id for piece in shown}}
        read = [part for piece in shown for part in (piece.text, *piece.sources)]
        self._words = words_like_aliases([*given, *read])
        self._known = uuids([*given, *read, *transcript.texts(), *self._ids.values()])

    def told(self, text: str) -> str:
        """The text without aliases, and with a mark for every id that stands in nothing the model was shown."""
        return verified(in_prose(text, self._ids, self._words), self._known)


def _supported(support: JsonValue, text: str, by_name: dict[str, Evidence], prose: _Prose) -> Iterable[Supported]:
    plain = _plain(text)
    for entry in _list(support):
        if not isinstance(entry, dict):
            continue
        sentence = prose.told(str(entry.get("sentence") or ""))
        ids = [str(one) for one in _list(entry.get("ids"))]
        by = tuple(dict.fromkeys(by_name[one] for one in ids if one in by_name))
        if by and _plain(sentence) and _plain(sentence) in plain:
            yield Supported(sentence, by)


def _told_within(value: JsonValue, prose: _Prose) -> JsonValue:
    if isinstance(value, str):
        return prose.told(value)
    if isinstance(value, list):
        return [_told_within(one, prose) for one in value]
    return {name: _told_within(one, prose) for name, one in value.items()} if isinstance(value, dict) else value


def _plain(text: str) -> str:
    return " ".join(text.split())


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
