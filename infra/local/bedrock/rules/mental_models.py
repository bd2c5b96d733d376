"""The tasks of mental models by rule: add what no block says yet, take out what rested on things that are gone.

Called by the table in `rules`; calls `language` and `material`. Pure.
"""

from __future__ import annotations

from hindsight_aws.ports.model_gateway import JsonObject, JsonValue
from infra.local.bedrock.rules.language import content_words, overlap
from infra.local.bedrock.rules.material import Material, text_of
from infra.local.bedrock.shapes import a_list, a_text, objects

_SAYS = 0.6


def refresh_ops(material: Material) -> JsonObject:
    """The input of `refresh_ops`."""
    sections = _sections(material)
    said = [content_words(text_of(block)) for section in sections for block in a_list(section.get("blocks"))]
    new = [e.text for e in material.evidence() if not any(_says(content_words(e.text), words) for words in said)]
    if not new:
        return {"operations": []}
    if not sections:
        blocks: list[JsonValue] = [*new]
        heading = (material.question or "Known")[:80]
        return {"operations": [{"op": "add_section", "heading": heading, "level": 2, "blocks": blocks}]}
    section = a_text(sections[0].get("id"))
    return {"operations": [{"op": "append_block", "section_id": section, "text": text} for text in new]}


def retract(material: Material) -> JsonObject:
    """The input of `retract`."""
    gone = [content_words(text_of(record)) for record in material.records("retracted")]
    operations: list[JsonValue] = [
        {"op": "remove_block", "section_id": a_text(section.get("id")), "block_id": a_text(block.get("id"))}
        for section in _sections(material)
        for block in objects(section.get("blocks"))
        if any(_says(words, content_words(text_of(block))) for words in gone)
    ]
    return {"operations": operations}


def _sections(material: Material) -> list[JsonObject]:
    return [section for page in material.records("document") for section in objects(page.get("sections"))]


def _says(statement: frozenset[str], block: frozenset[str]) -> bool:
    return overlap(statement, block) >= _SAYS or (len(statement) > 1 and statement <= block)
