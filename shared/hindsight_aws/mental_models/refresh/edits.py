"""Edits of a page, as a model lists them: read strictly, then applied one by one to a copy.  Pure.

One edit that is not as it must be refuses the whole list; one that names what is not there is left out, with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hindsight_aws.mental_models.refresh.document import (
    DEEPEST_LEVEL,
    PREAMBLE,
    Block,
    PageDocument,
    Section,
    blocks_of,
    clean_heading,
    closed,
    holds_heading,
    section_id_for,
)
from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

_TEXT, _LEVEL, _TEXTS = "a string", f"a whole number from 1 to {DEEPEST_LEVEL}", "a list of strings"
_FIELDS: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = {
    "append_block": ({"section_id": _TEXT, "text": _TEXT}, {}),
    "insert_block": ({"section_id": _TEXT, "text": _TEXT}, {"after_block_id": _TEXT}),
    "replace_block": ({"section_id": _TEXT, "block_id": _TEXT, "text": _TEXT}, {}),
    "remove_block": ({"section_id": _TEXT, "block_id": _TEXT}, {}),
    "add_section": (
        {"heading": _TEXT, "level": _LEVEL, "blocks": _TEXTS},
        {"after_section_id": _TEXT, "new_id": _TEXT},
    ),
    "remove_section": ({"section_id": _TEXT}, {}),
    "replace_section_blocks": ({"section_id": _TEXT, "blocks": _TEXTS}, {}),
    "rename_section": ({"section_id": _TEXT, "heading": _TEXT}, {}),
}
"""By edit: the fields it must have, and those it may."""
REMOVALS = frozenset({"replace_block", "remove_block", "remove_section", "replace_section_blocks"})
_MOST_EDITS = 200


@dataclass(frozen=True, slots=True)
class Edited:
    """What came of a list of edits: the new document, the edits applied, and those left out with their reason."""

    document: PageDocument
    applied: tuple[JsonObject, ...]
    skipped: tuple[JsonObject, ...]


class _Skipped(Exception):
    """An edit cannot be applied; the message says why."""


def read_edits(reply: JsonObject, allowed: frozenset[str] = frozenset(_FIELDS)) -> tuple[list[JsonObject], list[str]]:
    """The edits of a reply, and what is wrong with it; with anything wrong there are no edits."""
    listed = reply.get("operations")
    if set(reply) != {"operations"} or not isinstance(listed, list):
        return [], ["The reply must be an object with the one field `operations`, a list."]
    if len(listed) > _MOST_EDITS:
        return [], [f"There are more than {_MOST_EDITS} operations."]
    edits: list[JsonObject] = []
    problems: list[str] = []
    for index, edit in enumerate(listed):
        if not isinstance(edit, dict):
            problems.append(f"operations[{index}] must be an object.")
            continue
        problems += [f"operations[{index}]{problem}" for problem in _problems(edit, allowed)]
        edits.append(edit)
    return ([], problems) if problems else (edits, [])


def apply(document: PageDocument, edits: Sequence[JsonObject]) -> Edited:
    """The document after the edits, in their order; the one given stays as it is."""
    applied: list[JsonObject] = []
    skipped: list[JsonObject] = []
    for edit in edits:
        try:
            document = _APPLIERS[str(edit["op"])](document, edit)
        except _Skipped as why:
            skipped.append({**edit, "reason": str(why)})
        else:
            applied.append(edit)
    return Edited(document, tuple(applied), tuple(skipped))


def known_ids(document: PageDocument) -> str:
    """The ids that edits may name, in words for a model."""
    lines = [f"{section.id}: {', '.join(block.id for block in section.blocks)}" for section in document.sections]
    return "Sections with their blocks: " + "; ".join(lines) if lines else "The page has no sections."


def _problems(edit: JsonObject, allowed: frozenset[str]) -> list[str]:
    name = edit.get("op")
    if not isinstance(name, str) or name not in allowed:
        return [f".op must be one of {', '.join(sorted(allowed))}."]
    required, optional = _FIELDS[name]
    fields = {**required, **optional}
    problems = [f" has no field `{field}`." for field in required if field not in edit]
    problems += [f".{field} does not belong to {name}." for field in edit if field != "op" and field not in fields]
    for field, kind in fields.items():
        value = edit.get(field)
        if field in edit and not (value is None and field in optional) and not _is(kind, value):
            problems.append(f".{field} must be {kind}.")
    return problems


def _is(kind: str, value: JsonValue) -> bool:
    if kind == _LEVEL:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= DEEPEST_LEVEL
    if kind == _TEXTS:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, str)


def _append_block(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    return _with_blocks(document, section, _inserted(document, section, len(section.blocks), _text(edit, "text")))


def _insert_block(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    after = edit.get("after_block_id")
    place = 0 if after is None else _place(document, section, str(after)) + 1
    return _with_blocks(document, section, _inserted(document, section, place, _text(edit, "text")))


def _replace_block(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    place = _place(document, section, str(edit["block_id"]))
    former = section.blocks[place]
    first, *rest = blocks_of(_text(edit, "text"), set(document.block_ids))
    blocks = (*section.blocks[:place], replace(first, id=former.id), *rest, *section.blocks[place + 1 :])
    return _with_blocks(document, section, blocks)


def _remove_block(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    place = _place(document, section, str(edit["block_id"]))
    return _with_blocks(document, section, (*section.blocks[:place], *section.blocks[place + 1 :]))


def _add_section(document: PageDocument, edit: JsonObject) -> PageDocument:
    heading = _heading(edit)
    taken = {section.id for section in document.sections}
    blocks = _blocks(document, edit)
    section_id = section_id_for(str(edit.get("new_id") or heading), taken)
    level = edit["level"]
    new = Section(section_id, heading, level if isinstance(level, int) else 1, blocks)
    after = edit.get("after_section_id")
    place = len(document.sections) if after is None else _anchor(document, str(after)) + 1
    return PageDocument((*document.sections[:place], new, *document.sections[place:]))


def _remove_section(document: PageDocument, edit: JsonObject) -> PageDocument:
    gone = _section(document, edit)
    return PageDocument(tuple(section for section in document.sections if section.id != gone.id))


def _replace_section_blocks(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    return _with_blocks(document, section, _blocks(_with_blocks(document, section, ()), edit))


def _rename_section(document: PageDocument, edit: JsonObject) -> PageDocument:
    section = _section(document, edit)
    if section.id == PREAMBLE and not section.level:
        raise _Skipped("the text before the first heading has no heading to rename")
    return _with_section(document, replace(section, heading=_heading(edit)))


_APPLIERS: Mapping[str, Callable[[PageDocument, JsonObject], PageDocument]] = {
    "append_block": _append_block,
    "insert_block": _insert_block,
    "replace_block": _replace_block,
    "remove_block": _remove_block,
    "add_section": _add_section,
    "remove_section": _remove_section,
    "replace_section_blocks": _replace_section_blocks,
    "rename_section": _rename_section,
}


def _section(document: PageDocument, edit: JsonObject) -> Section:
    wanted = str(edit["section_id"])
    for section in document.sections:
        if section.id == wanted:
            return section
    raise _Skipped(f"there is no section {wanted!r}")


def _anchor(document: PageDocument, wanted: str) -> int:
    """The place of a section by its id, or by its heading where that is one section's alone."""
    for place, section in enumerate(document.sections):
        if section.id == wanted:
            return place
    named = [place for place, section in enumerate(document.sections) if section.heading == clean_heading(wanted)]
    if len(named) != 1:
        raise _Skipped(f"there is no section {wanted!r} to add one after")
    return named[0]


def _place(document: PageDocument, section: Section, block_id: str) -> int:
    for place, block in enumerate(section.blocks):
        if block.id == block_id:
            return place
    if block_id in document.block_ids:
        raise _Skipped(f"the block {block_id!r} stands in another section than {section.id!r}")
    raise _Skipped(f"there is no block {block_id!r}")


def _inserted(document: PageDocument, section: Section, place: int, text: str) -> tuple[Block, ...]:
    """The section's blocks with the text at this place; rows of a table that stands before it join that table."""
    before = section.blocks[place - 1] if place else None
    if before is not None and _is_rows(text) and _is_table(before.text):
        grown = replace(before, text=f"{before.text}\n{text.strip()}")
        return (*section.blocks[: place - 1], grown, *section.blocks[place:])
    return (*section.blocks[:place], *blocks_of(text, set(document.block_ids)), *section.blocks[place:])


def _is_rows(text: str) -> bool:
    """Whether these are rows of a table without a head of their own."""
    lines = text.strip().split("\n")
    return all(_is_row(line) for line in lines) and not any(_is_rule(line) for line in lines)


def _is_table(text: str) -> bool:
    lines = text.split("\n")
    return any(_is_rule(line) for line in lines) and _is_row(lines[-1])


def _is_row(line: str) -> bool:
    return line.strip().startswith("|")


def _is_rule(line: str) -> bool:
    marks = line.strip().replace(" ", "")
    return "-" in marks and "|" in marks and set(marks) <= set("|-:")


def _text(edit: JsonObject, field: str) -> str:
    return _checked(str(edit[field]))


def _checked(text: str) -> str:
    if not text.strip():
        raise _Skipped("the text is empty")
    if holds_heading(text):
        raise _Skipped("the text holds a heading, which begins a section: use add_section")
    return closed(text)


def _heading(edit: JsonObject) -> str:
    heading = clean_heading(str(edit["heading"]))
    if not heading:
        raise _Skipped("the heading is empty")
    return heading


def _blocks(document: PageDocument, edit: JsonObject) -> tuple[Block, ...]:
    texts = edit["blocks"]
    pieces = [_checked(text) for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
    if not pieces:
        raise _Skipped("there are no blocks")
    return blocks_of("\n\n".join(pieces), set(document.block_ids))


def _with_blocks(document: PageDocument, section: Section, blocks: tuple[Block, ...]) -> PageDocument:
    return _with_section(document, replace(section, blocks=blocks))


def _with_section(document: PageDocument, changed: Section) -> PageDocument:
    return PageDocument(tuple(changed if section.id == changed.id else section for section in document.sections))
