"""What Zep exports becomes documents that keep all of it; the people in them are invented."""

from __future__ import annotations

import json

import pytest

from hindsight_aws.importing import NotUnderstood, read_zep

MESSAGES = [
    {"uuid": "u-2", "role": "Bruno", "role_type": "user", "content": "In Turin.", "created_at": "2026-03-01T10:01:00Z"},
    {"uuid": "u-1", "role_type": "assistant", "content": "Where do you live?", "created_at": "2026-03-01T10:00:00Z"},
]
EDGE = {
    "uuid": "e-1",
    "fact": "Bruno lives in Turin",
    "name": "LIVES_IN",
    "source_node_uuid": "n-1",
    "target_node_uuid": "n-2",
    "valid_at": "2026-03-01T10:01:00Z",
    "invalid_at": "2026-05-01T00:00:00Z",
    "created_at": "2026-03-02T00:00:00Z",
    "episodes": ["u-2"],
    "mood": "calm",
}


def test_a_sessions_messages_are_one_conversation_in_their_order() -> None:
    read = read_zep([{"sessions": [{"session_id": "s", "user_id": "bruno", "messages": MESSAGES}]}])

    (record,) = read.records
    turns = json.loads(record.content)
    assert [turn["content"] for turn in turns] == ["Where do you live?", "In Turin."]
    assert turns[1] == {
        "role": "user",
        "name": "Bruno",
        "content": "In Turin.",
        "timestamp": "2026-03-01T10:01:00+00:00",
    }
    assert record.document_id == "zep:session:s:0"
    assert record.timestamp == "2026-03-01T10:00:00+00:00"
    assert set(record.tags) == {"user:bruno", "session:s"}
    assert read.counts == {"conversations": 1, "messages": 2}


def test_a_long_conversation_is_several_documents() -> None:
    messages = [{"role": "user", "content": f"line {n}", "uuid": str(n)} for n in range(450)]

    read = read_zep([{"threads": [{"thread_id": "t", "messages": messages}]}])

    assert [record.document_id for record in read.records] == [f"zep:session:t:{n}" for n in range(3)]


def test_an_edge_that_ended_says_so_in_its_text() -> None:
    read = read_zep([{"user_id": "bruno", "edges": [EDGE]}])

    (record,) = read.records
    assert record.content == "Bruno lives in Turin (true until 2026-05-01, and no longer)"
    assert record.timestamp == "2026-03-01T10:01:00+00:00"
    assert record.tags == ("user:bruno",)
    assert record.metadata["zep_name"] == "LIVES_IN"
    assert record.metadata["zep_mood"] == "calm"
    assert read.unknown == {"mood": 1}


def test_facts_episodes_nodes_and_users_are_read_wherever_they_stand() -> None:
    document = {
        "users": [{"user_id": "bruno", "first_name": "Bruno", "metadata": {"plan": "free"}, "facts": ["Bruno paints"]}],
        "episodes": [
            {"uuid": "u-1", "content": "assistant: Where do you live?", "source": "message"},
            {"uuid": "x-1", "content": "Opened a shop.", "source": "text", "created_at": "2026-04-01T00:00:00Z"},
        ],
        "messages": MESSAGES,
        "nodes": [{"uuid": "n-1", "name": "Bruno", "summary": "A painter."}, {"uuid": "n-2", "name": "Turin"}],
        "facts": [{"uuid": "f-1", "fact": "Bruno is calm", "rating": 0.9}],
    }

    read = read_zep([document])

    assert {record.content for record in read.records if not record.content.startswith("[")} == {
        "User bruno: Bruno",
        "Bruno paints",
        "Opened a shop.",
        "Bruno: A painter.",
        "Bruno is calm",
    }
    assert read.skipped == []


def test_an_episode_whose_message_is_there_is_not_sent_twice() -> None:
    episode = {"uuid": "u-1", "content": "Where do you live?", "source": "message"}

    read = read_zep([{"messages": MESSAGES, "episodes": [episode]}])

    assert read.counts["episodes (their message is there)"] == 1
    assert len(read.records) == 1


def test_what_is_not_known_is_told() -> None:
    read = read_zep([{"edges": [EDGE, 5, {"uuid": "e"}], "colours": []}])

    assert read.skipped == [
        "edges[1] is nothing that is known: left out",
        "edges[2] has no text: left out",
        "colours is no list that is known: left out",
    ]
    with pytest.raises(NotUnderstood):
        read_zep([{}])


def test_an_episode_without_an_id_is_no_message_without_one() -> None:
    message = {"role": "user", "content": "In Turin."}
    episodes = [{"content": "Opened a shop."}, {"content": "Closed it.", "uuid": None}]

    read = read_zep([{"messages": [message], "episodes": episodes}])

    assert {"Opened a shop.", "Closed it."} < {record.content for record in read.records}


def test_messages_are_ordered_by_their_moment_whatever_zone_tells_it() -> None:
    told = {
        "second": "2024-01-01T12:00:00+02:00",
        "third": "2024-01-01T11:00:00Z",
        "first": "2024-01-01T10:30:00+05:00",
    }
    messages = [{"role": "user", "content": content, "created_at": at} for content, at in told.items()]

    [record] = read_zep([{"sessions": [{"session_id": "s", "messages": messages}]}]).records

    assert [turn["content"] for turn in json.loads(record.content)] == ["first", "second", "third"]


def test_a_conversation_of_long_messages_is_several_documents() -> None:
    messages = [{"role": "user", "content": "word " * 60_000, "uuid": str(n)} for n in range(20)]

    read = read_zep([{"threads": [{"thread_id": "t", "messages": messages}]}])

    assert len(read.records) == 7
    assert max(len(record.content) for record in read.records) < 1_100_000


def test_lists_and_ids_of_another_shape_are_told_or_passed_by() -> None:
    read = read_zep(
        [
            {
                "users": "none",
                "sessions": [{"session_id": {"a": 1}, "messages": [{"role": "user", "content": "Hello."}]}],
                "nodes": [{"uuid": "n", "name": None, "summary": "A painter."}],
            }
        ]
    )

    assert read.skipped == ["users is no list: left out"]
    assert {"A painter."} < {record.content for record in read.records}
