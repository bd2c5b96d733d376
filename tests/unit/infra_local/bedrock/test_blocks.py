"""The endpoint's reading of data blocks: what breaks the contract is refused."""

from __future__ import annotations

import pytest

from infra.local.bedrock.blocks import BrokenBlock, read_blocks


def test_documents_are_grouped_by_kind_in_order_and_prose_is_not_read() -> None:
    text = 'Facts follow: {"text": "prose"}\n<data kind="facts">\n[1]\n</data>\nand\n<data kind="facts">\n[2]\n</data>'

    assert read_blocks([text, '<data kind="mission">\n{}\n</data>']) == {"facts": [[1], [2]], "mission": [{}]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<data kind="chunk">\n{"text": "a </data> b"}\n</data>', "not escaped"),
        ('<data kind="chunk">\n{"text": "a & b"}\n</data>', "not escaped"),
        ('<data kind="chunk">\n{"text": "never closed"}', "not closed"),
        ('<data kind="chunk">{"text": "one line"}</data>', "opens with"),
        ('<data kind="chunk">\n{} {}\n</data>', "not one JSON document"),
        ('<data kind="chunk">\nplain\n</data>', "not one JSON document"),
        ('<data kind="Chunk">\n{}\n</data>', "opens with"),
        ('<data kind="chunk" trusted="yes">\n{}\n</data>', "opens with"),
        ("<data>\n{}\n</data>", "opens with"),
    ],
)
def test_a_block_that_breaks_the_contract_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BrokenBlock, match=reason):
        read_blocks([text])
