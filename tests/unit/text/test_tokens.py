"""Token estimates, against counts recorded once with the o200k vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindsight_aws.text.tokens import count_tokens, truncate

RECORDED = [
    ("Yesterday we walked along the harbour and talked about the move to Lisbon.", 14),
    ("The deployment failed twice because the certificate of the internal registry had expired on Friday.", 16),
    ("def total(prices: list[float]) -> float:\n    return sum(price for price in prices if price > 0)\n", 26),
    ('{"id": 4711, "name": "Mara", "tags": ["user:mara", "team:blue"], "active": true}', 32),
    ("Er hat gestern seine Schwester in Leipzig besucht und ein Buch über Vögel gekauft.", 17),
    ("Ella prefiere el té verde y no come carne desde hace dos años.", 16),
    ("Elle a changé de travail en mars et habite maintenant près de la gare.", 16),
    ("Он переехал в новый город и каждое утро бегает в парке.", 18),
    ("她去年搬到了杭州，现在在一家设计公司上班。", 13),
    ("彼は毎朝、川沿いを走ってから会社に行きます。", 18),
    ("그는 매일 아침 강변을 달린 후 회사에 갑니다.", 17),
    ("انتقلت إلى مدينة جديدة وتعمل الآن في مستشفى.", 12),
    ("वह हर सुबह नदी के किनारे दौड़ता है।", 13),
]


@pytest.mark.parametrize(("text", "tokens"), RECORDED)
def test_one_text_is_off_by_no_more_than_a_third(text: str, tokens: int) -> None:
    assert abs(count_tokens(text) - tokens) <= max(1, tokens / 3)


def test_texts_together_are_off_by_no_more_than_a_tenth() -> None:
    estimated = sum(count_tokens(text) for text, _ in RECORDED)

    assert estimated == pytest.approx(sum(tokens for _, tokens in RECORDED), rel=0.1)


def test_nothing_is_no_token() -> None:
    assert count_tokens("") == 0


def test_a_text_within_the_limit_is_left_alone() -> None:
    assert truncate("tea and coffee", 3) == "tea and coffee"


def test_a_text_over_the_limit_is_cut_to_it() -> None:
    cut = truncate("tea and coffee and water", 3)

    assert "tea and coffee".startswith(cut.rstrip()) or cut.startswith("tea and coffee")
    assert count_tokens(cut) <= 3


def test_a_limit_of_nothing_leaves_nothing() -> None:
    assert truncate("tea", 0) == ""


@given(st.text(max_size=300), st.integers(0, 40))
def test_a_cut_is_a_beginning_that_fits(text: str, most: int) -> None:
    cut = truncate(text, most)

    assert text.startswith(cut)
    assert count_tokens(cut) <= most
