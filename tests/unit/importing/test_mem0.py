"""What Mem0 exports becomes documents that keep all of it; the people in them are invented."""

from __future__ import annotations

import json

import pytest

from hindsight_aws.importing import NotUnderstood, batches_of, documents_in, read_mem0

MEMORY = {
    "id": "m-1",
    "memory": "Odile grows lemons on her roof",
    "hash": "abc",
    "user_id": "odile",
    "agent_id": "gardener",
    "run_id": "r-7",
    "categories": ["hobbies", "plants"],
    "metadata": {"source": "chat", "rank": 3},
    "created_at": "2026-01-02T03:04:05.678-08:00",
    "updated_at": "2026-02-02T00:00:00Z",
    "shoe_size": 39,
}


@pytest.mark.parametrize(
    "document",
    [
        {"results": [MEMORY], "relations": []},
        {"count": 1, "next": None, "previous": None, "results": [MEMORY]},
        {"memories": [MEMORY]},
        {"results": {"results": [MEMORY]}, "memories": [MEMORY]},
        [MEMORY],
        MEMORY,
    ],
    ids=["get_all", "paged", "memories", "beside-a-stranger", "list", "one"],
)
def test_a_memory_keeps_all_that_is_known_of_it(document: object) -> None:
    read = read_mem0([document])

    (record,) = read.records
    assert record.document_id == "mem0:memory:m-1"
    assert record.content == "Odile grows lemons on her roof"
    assert record.timestamp == "2026-01-02T03:04:05.678000-08:00"
    assert record.tags == ("user:odile", "agent:gardener", "run:r-7", "category:hobbies", "category:plants")
    assert record.metadata == {
        "mem0_id": "m-1",
        "mem0_hash": "abc",
        "mem0_updated_at": "2026-02-02T00:00:00Z",
        "mem0_shoe_size": "39",
        "source": "chat",
        "rank": "3",
    }
    assert read.unknown["shoe_size"] == 1


def test_lines_of_json_are_read_as_well() -> None:
    read = read_mem0(documents_in("\n".join(json.dumps(MEMORY | {"id": each}) for each in ("a", "b"))))

    assert [record.document_id for record in read.records] == ["mem0:memory:a", "mem0:memory:b"]


def test_relations_become_sentences_and_what_has_no_text_is_told() -> None:
    graph = {"source": "odile", "relationship": "lives_in", "target": "lyon", "user_id": "odile"}

    read = read_mem0([{"results": [{"id": "x"}, 7], "relations": [graph]}])

    assert [record.content for record in read.records] == ["odile lives in lyon"]
    assert read.skipped == [
        "results[0] has no text in memory, text, data, content: left out",
        "results[1] is no object: left out",
    ]


def test_a_memory_without_an_id_has_the_same_one_each_time() -> None:
    first, second = (read_mem0([[{"memory": "Odile hums"}]]).records[0].document_id for _ in range(2))

    assert first == second


def test_metadata_that_is_too_long_for_its_place_is_in_the_text() -> None:
    read = read_mem0([[MEMORY | {"metadata": {"long": "x" * 20_000}}]])

    assert "x" * 20_000 in read.records[0].content


def test_metadata_of_two_sources_has_room_together() -> None:
    strange = {f"strange{n}": "y" * 140 for n in range(95)}

    [record] = read_mem0([[MEMORY | strange | {"metadata": {f"own{n}": "x" * 140 for n in range(95)}}]]).records

    assert len(record.metadata) <= 100
    assert sum(len(name) + len(value) for name, value in record.metadata.items()) <= 16_384
    assert all(name in record.metadata or f"{name}: " in record.content for name in ("strange94", "own94", "own0"))


@pytest.mark.parametrize(
    ("odd", "name", "kept"),
    [
        ({"data": "Odile has a dog"}, "mem0_data", "Odile has a dog"),
        ({"metadata": "from an interview"}, "metadata", "from an interview"),
        ({"user_id": {"name": "odile"}}, "mem0_user_id", '{"name": "odile"}'),
        ({"categories": ["plants", {"main": "trees"}]}, "mem0_categories", '["plants", {"main": "trees"}]'),
    ],
    ids=["second-text", "metadata-that-is-text", "tag-that-is-an-object", "list-with-an-object"],
)
def test_what_is_not_of_the_usual_shape_is_kept(odd: dict[str, object], name: str, kept: str) -> None:
    [record] = read_mem0([[MEMORY | odd]]).records

    assert record.metadata[name] == kept


@pytest.mark.parametrize(
    ("odd", "told"),
    [
        ({"memory": "\u200b\x00"}, "has no text that can be seen"),
        ({"user_id": "o" * 600}, "has a tag of more than 512 bytes"),
        ({"memory": "ab" * 2_500_001}, "is longer than the 5,000,000 bytes"),
    ],
    ids=["blank", "long-tag", "long-text"],
)
def test_a_memory_that_no_retain_takes_is_told_and_costs_no_other(odd: dict[str, object], told: str) -> None:
    read = read_mem0([[MEMORY | odd, MEMORY | {"id": "m-2"}]])

    assert [record.document_id for record in read.records] == ["mem0:memory:m-2"]
    assert [told in sentence for sentence in read.skipped] == [True]


def test_tags_past_what_a_retain_takes_are_in_the_text() -> None:
    [record] = read_mem0([[MEMORY | {"categories": [f"c{n}" for n in range(150)]}]]).records

    assert len(record.tags) == 100
    assert record.tags[0] == "user:odile"
    assert "tag: category:c149" in record.content


def test_a_page_of_several_and_a_memory_there_twice_are_told() -> None:
    read = read_mem0([{"results": [MEMORY, MEMORY], "next": "https://example.com/?page=2"}])

    assert len(read.records) == 1
    assert read.counts["memories (there twice)"] == 1
    assert any("one page of several" in sentence for sentence in read.skipped)


@pytest.mark.parametrize("text", ["{}", "[]", "not json"], ids=["nothing", "empty", "words"])
def test_what_is_no_export_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        read_mem0(documents_in(text))


@pytest.mark.parametrize(
    "when",
    [
        1e30,
        253_370_764_800_000,
        float("inf"),
        -5,
        True,
        "yesterday",
        "0001-01-01T00:00:00Z",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        [],
    ],
    ids=["far", "year-9999", "endless", "before", "truth", "word", "zero", "first", "last", "list"],
)
def test_a_time_that_is_none_leaves_a_memory_without_a_date(when: object) -> None:
    [record] = read_mem0([[MEMORY | {"created_at": when, "updated_at": None}]]).records

    assert record.timestamp is None


def test_ids_that_a_retain_would_make_one_are_one() -> None:
    read = read_mem0([[MEMORY | {"id": "m\x00-1"}, MEMORY]])

    assert [record.document_id for record in read.records] == ["mem0:memory:m-1"]


def test_half_a_character_is_replaced_and_odd_ends_of_lines_are_text() -> None:
    lines = ['{"id": "1", "memory": "a\\ud800b"}', '{"id": "2", "memory": "c\u2028d"}']

    read = read_mem0(documents_in("\r\n".join(lines)))

    assert [record.content for record in read.records] == ["a\ufffdb", "c\u2028d"]
    assert sum(len(batch.items) for batch in batches_of("b", read.records)) == 2
