"""Pages, their logs and the index of an export as Markdown with YAML front matter.  Pure.

What people and models wrote stays text: it can neither add a key to the front matter nor change the shape of an index.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from hindsight_aws.knowledge.tree import Tree
from hindsight_aws.model.knowledge import KnowledgeNode
from hindsight_aws.ports.knowledge import PastText
from hindsight_aws.ports.mental_models import ModelView

PLAIN_TYPE: Final = "knowledge-page"
_TYPE_TAG: Final = "type:"
_NOT_WRITTEN: Final = "_This page has not been written yet._"
_NOTHING_KNOWN: Final = "_Nothing is known about this yet._"
_WITHHELD: Final = "_This page is being corrected: something that it rests on was deleted._"
_UNPRINTABLE: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""What YAML does not take as it is, or takes for the end of a line, beside what JSON escapes anyway."""
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()<>#|!~&])")


def page_type(tags: Iterable[str]) -> str:
    """What a page is: what its first tag `type:…` says, or else a plain page."""
    named = (tag.removeprefix(_TYPE_TAG) for tag in tags if tag.startswith(_TYPE_TAG))
    return next((name for name in named if name.strip()), PLAIN_TYPE)


def written_at(view: ModelView) -> datetime:
    """When the page was last written, or else made."""
    return view.model.last_refreshed_at or view.model.created_at


def body_of(view: ModelView) -> str | None:
    """The text of the page; None where there is none to show."""
    return None if view.is_withheld else view.model.content or None


def page_markdown(node: KnowledgeNode, view: ModelView) -> str:
    """The page with its front matter; a notice stands for a text that is not there."""
    model = view.model
    said: dict[str, str | list[str]] = {
        "id": node.id,
        "type": page_type(model.tags),
        "title": node.name,
        "description": model.source_query,
        "timestamp": written_at(view).isoformat(),
        "tags": list(model.tags),
    }
    return f"{front_matter(said)}\n{(body_of(view) or _notice(view)).rstrip()}\n"


def log_markdown(node: KnowledgeNode, past: Sequence[PastText], *, is_whole: bool) -> str:
    """The former texts of the page, the latest first, each under the time until which it stood."""
    title = f"{node.name} — history"
    parts = [f"# {plain(title)}"]
    for text in past:
        if text.content is None:
            shown = "_(withheld: something that it rested on was deleted)_"
        else:
            shown = text.content.rstrip() or "_(empty)_"
        parts.append(f"## {text.changed_at.isoformat()}\n\n{shown}")
    if not is_whole:
        parts.append("_Older texts are not part of this export._")
    return front_matter({"type": "log", "title": title}) + "\n" + "\n\n".join(parts) + "\n"


def index_markdown(tree: Tree, views: Mapping[str, ModelView]) -> str:
    """Folders and pages as nested lists, each page with a link to its file."""
    lines: list[str] = []

    def tell(folder_id: str | None, depth: int) -> None:
        for node in tree.within(folder_id):
            if node.kind == "folder":
                lines.append(f"{'  ' * depth}- **{plain(node.name)}**")
                tell(node.id, depth + 1)
            elif node.id in views:
                question = plain(views[node.id].model.source_query)
                link = f"[{plain(node.name)}]({node.id}.md)"
                lines.append(f"{'  ' * depth}- {link}{f': {question}' if question else ''}")

    tell(None, 0)
    listed = "\n".join(lines) or "_There are no pages._"
    return f"{front_matter({'type': 'index', 'title': 'Knowledge base'})}\n# Knowledge base\n\n{listed}\n"


def front_matter(values: Mapping[str, str | list[str]]) -> str:
    """YAML front matter; each value is a quoted scalar, or a list of such."""
    lines = [f"{name}: {_scalars(value)}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", ""])


def plain(text: str) -> str:
    """The text on one line, nothing of it markup."""
    return _MARKUP.sub(r"\\\1", " ".join(_UNPRINTABLE.sub(" ", text).split()))


def _scalars(value: str | list[str]) -> str:
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    """A double-quoted scalar, which YAML reads as JSON does."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def _notice(view: ModelView) -> str:
    if view.is_withheld:
        return _WITHHELD
    return _NOT_WRITTEN if view.model.last_refreshed_at is None else _NOTHING_KNOWN
