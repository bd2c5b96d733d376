"""A page's text in sections of blocks, each with an id that edits can name.  Pure.

Split and rendered by the refreshes; blocks are opaque: a table, a list or a fence is never taken apart.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue

PREAMBLE = "preamble"
DEEPEST_LEVEL = 6
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_FENCE = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_NOT_SLUG = re.compile(r"[^\w]+")
_LONGEST_SLUG = 60


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of Markdown, verbatim."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it; text before the first heading is the preamble, at level 0."""

    id: str
    heading: str
    level: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class PageDocument:
    """A whole page; ids are unique among its sections, and among all its blocks."""

    sections: tuple[Section, ...] = ()

    @property
    def block_ids(self) -> frozenset[str]:
        """Every block's id."""
        return frozenset(block.id for section in self.sections for block in section.blocks)


def split(text: str) -> PageDocument:
    """The text in sections: cut only at headings, and into blocks only at blank lines, both outside fences."""
    sections: list[Section] = []
    section_ids: set[str] = set()
    block_ids: set[str] = set()
    for heading, level, lines in _sections(text):
        blocks = blocks_of("\n".join(lines), block_ids)
        if level == 0 and not blocks:
            continue
        section_id = section_id_for(heading, section_ids) if level else PREAMBLE
        section_ids.add(section_id)
        sections.append(Section(section_id, heading, level, blocks))
    return PageDocument(tuple(sections))


def render(document: PageDocument) -> str:
    """The document as Markdown; what is split from it renders to the same text."""
    parts: list[str] = []
    for section in document.sections:
        if section.level:
            parts.append(f"{'#' * section.level} {section.heading}".rstrip())
        parts += [block.text for block in section.blocks]
    return "\n\n".join(parts) + "\n" if parts else ""


def blocks_of(text: str, taken: set[str]) -> tuple[Block, ...]:
    """The text's blocks, with ids that are not `taken`; those join it."""
    blocks = []
    for piece in _pieces(text):
        block_id = block_id_for(piece, taken)
        taken.add(block_id)
        blocks.append(Block(block_id, piece))
    return tuple(blocks)


def block_id_for(text: str, taken: Iterable[str]) -> str:
    """`b` and eight digits that follow from the text, or from its repetition where they are taken."""
    known = set(taken)
    for repetition in range(len(known) + 1):
        seed = text if repetition == 0 else f"{text}\n{repetition}"
        digest = hashlib.sha1(seed.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
        if (block_id := f"b{digest[:8]}") not in known:
            return block_id
    raise AssertionError("one more id than are taken was tried")


def section_id_for(heading: str, taken: Iterable[str]) -> str:
    """A slug of the heading, numbered where it is taken."""
    known = {*taken, PREAMBLE}
    plain = unicodedata.normalize("NFKC", heading).casefold()
    slug = _NOT_SLUG.sub("-", plain).strip("-_")[:_LONGEST_SLUG].strip("-_") or "section"
    if slug not in known:
        return slug
    return next(f"{slug}-{number}" for number in range(2, len(known) + 3) if f"{slug}-{number}" not in known)


def clean_heading(heading: str) -> str:
    """The heading as one line that stays what it is when it is rendered and split."""
    line = " ".join(heading.split())
    while (shorter := _CLOSING.sub("", line)) != line:
        line = shorter
    return line


def holds_heading(text: str) -> bool:
    """Whether the text would begin a section if it were split."""
    return any(level for _, level, _ in _sections(text))


def closed(text: str) -> str:
    """The text with its last fence closed, so that what follows it stays outside."""
    fence = None
    for line in _lines(text):
        fence = _fence_after(line, fence)
    return text if fence is None else f"{text.rstrip()}\n{fence}"


def to_json(document: PageDocument) -> JsonObject:
    """The document's JSON form; `from_json` gives back an equal one."""
    sections: list[JsonValue] = [
        {
            "id": section.id,
            "heading": section.heading,
            "level": section.level,
            "blocks": [{"id": block.id, "text": block.text} for block in section.blocks],
        }
        for section in document.sections
    ]
    return {"version": 2, "sections": sections}


def from_json(document: Mapping[str, object]) -> PageDocument:
    """Reads what `to_json` wrote.  Raises ValueError for anything else."""
    sections = document.get("sections")
    if not isinstance(sections, list):
        raise ValueError("a document needs a list of sections")
    return PageDocument(tuple(_section(section) for section in sections))


def written(sections: Sequence[tuple[str, int, Sequence[str]]]) -> PageDocument:
    """The document of sections as a model writes them: heading, level, blocks of Markdown in whatever shape."""
    parts: list[str] = []
    for heading, level, blocks in sections:
        line = clean_heading(heading)
        if line:
            parts.append(f"{'#' * min(max(level, 1), DEEPEST_LEVEL)} {line}")
        parts += [closed(block) for block in blocks if block.strip()]
    return split("\n\n".join(parts))


def _section(value: object) -> Section:
    match value:
        case {"id": str(section_id), "heading": str(heading), "level": int(level), "blocks": list(blocks)}:
            return Section(section_id, heading, level, tuple(_block(block) for block in blocks))
    raise ValueError("a section needs id, heading, level and blocks")


def _block(value: object) -> Block:
    match value:
        case {"id": str(block_id), "text": str(text)}:
            return Block(block_id, text)
    raise ValueError("a block needs id and text")


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _fence_after(line: str, fence: str | None) -> str | None:
    """The fence that is open after the line; None outside of any."""
    found = _FENCE.match(line)
    if fence is None:
        return None if found is None else found[1]
    mark = line.strip()
    is_closing = mark != "" and set(mark) == {fence[0]} and len(mark) >= len(fence)
    return None if is_closing else fence


def _sections(text: str) -> Iterator[tuple[str, int, list[str]]]:
    heading, level, lines, fence = "", 0, list[str](), None
    for line in _lines(text):
        found = _HEADING.fullmatch(line) if fence is None else None
        fence = _fence_after(line, fence) if found is None else None
        if found is None:
            lines.append(line)
            continue
        yield heading, level, lines
        heading, level, lines = clean_heading(found[2] or ""), len(found[1]), []
    yield heading, level, lines


def _pieces(text: str) -> Iterator[str]:
    """Runs of lines between blank lines, whole fences kept; leading indentation and hard breaks stay."""
    lines, fence = list[str](), None
    for line in _lines(text):
        if fence is None and not line.strip():
            if lines:
                yield "\n".join(lines)
            lines = []
            continue
        lines.append(line)
        fence = _fence_after(line, fence)
    while lines and not lines[-1].strip():
        lines.pop()
    if lines:
        yield "\n".join(lines)
