"""Whatever is said of a page, its front matter says just that."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.knowledge.markdown import front_matter, page_type, plain

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_front_matter_is_read_as_it_was_meant(title: str, tags: list[str]) -> None:
    text = front_matter({"title": title, "tags": tags})

    assert text.startswith("---\n")
    assert text.endswith("\n---\n")
    assert text.count("\n") == 4
    assert yaml.safe_load(text.removeprefix("---\n").removesuffix("---\n")) == {"title": title, "tags": tags}


@given(TEXTS)
def test_plain_text_stays_on_one_line(text: str) -> None:
    assert len(plain(text).splitlines()) <= 1


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ([], "knowledge-page"), (["a", "type:how-to", "type:other"], "how-to"), (["type:"], "knowledge-page"),
        (["type: ", "type:x"], "x"), (["atype:x"], "knowledge-page"),
    ],
    ids=["none", "first", "empty", "blank", "within"],
)  # fmt: skip
def test_a_tag_may_say_what_a_page_is(tags: list[str], kind: str) -> None:
    assert page_type(tags) == kind
