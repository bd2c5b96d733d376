"""The official Python client, unmodified and over real HTTP, does what its users do every day."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import NotFoundException
from hindsight_client_api.models.operation_status_response import OperationStatusResponse

from infra.local.stack import LocalStack
from tests.support import documents
from tests.support.bedrock import Bedrock
from tests.support.official import official_client

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")  # the client's own

_FINISHED_WITHIN_S = 60.0
_numbers = count(1)


@pytest.fixture(scope="module")
def client(stack: LocalStack) -> Iterator[Hindsight]:
    with official_client(stack.base_url) as client:
        yield client


@pytest.fixture(autouse=True)
def _model_without_scripts(bedrock: Bedrock) -> None:
    """The offline model answers by its rules."""


@pytest.fixture
def bank(client: Hindsight) -> str:
    """A bank of its own, which consolidates only when it is told to."""
    bank = f"official-{next(_numbers)}"
    client.create_bank(bank, name="Official")
    client.update_bank_config(bank, enable_auto_consolidation=False)
    return bank


def texts(client: Hindsight, bank: str) -> list[str]:
    return sorted(memory.text or "" for memory in client.list_memories(bank).items)


def finished(stack: LocalStack, bank: str, operation_id: str) -> OperationStatusResponse:
    """The operation once it has ended, as a caller with an event loop of its own waits for it."""

    async def wait() -> OperationStatusResponse:
        client = Hindsight(base_url=stack.base_url)
        async with asyncio.timeout(_FINISHED_WITHIN_S):
            while True:
                status = await client.operations.get_operation_status(bank, operation_id)
                if status.status not in {"pending", "processing"}:
                    await client.aclose()  # type: ignore[no-untyped-call]  # the client's own
                    return status
                await asyncio.sleep(0.05)

    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, wait()).result()


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until it holds."""
    give_up_at = time.monotonic() + _FINISHED_WITHIN_S
    while not holds():
        assert time.monotonic() < give_up_at
        time.sleep(0.05)


def test_the_version_is_the_one_the_client_was_made_for(client: Hindsight) -> None:
    version = client.get_version()

    assert version.api_version == "1.1.0"
    assert version.features.observations


def test_a_bank_is_made_with_its_name_mission_and_disposition(client: Hindsight) -> None:
    made = client.create_bank(
        "official-made", name="Made", reflect_mission="Remember bakers.", disposition_skepticism=5
    )

    assert (made.bank_id, made.name) == ("official-made", "Made")
    assert made.disposition.skepticism == 5
    assert client.get_bank_config("official-made")["overrides"]["reflect_mission"] == "Remember bakers."


def test_a_retained_text_is_found_by_recall_with_its_scores(client: Hindsight, bank: str) -> None:
    retained = client.retain(
        bank,
        "Olive bakes rye bread on Sundays. Her oven is blue.",
        timestamp=datetime(2031, 3, 9, 15, 30, tzinfo=UTC),
        context="kitchen talk",
        document_id="talk-1",
        metadata={"source": "diary"},
        entities=[{"text": "Olive", "type": "PERSON"}],
        tags=["user:olive"],
    )
    found = client.recall(bank, "When does Olive bake bread?", tags=["user:olive"], include_entities=True)

    assert (retained.success, retained.items_count, retained.var_async) == (True, 1, False)
    assert retained.usage is not None
    assert (retained.usage.total_tokens or 0) > 0
    first = found.results[0]
    assert first.text == "Olive bakes rye bread on Sundays."
    assert (first.document_id, first.context, first.tags) == ("talk-1", "kitchen talk", ["user:olive"])
    assert first.metadata == {"source": "diary"}
    assert (first.mentioned_at or "").startswith("2031-03-09T15:30")
    assert first.scores is not None
    assert first.scores.final > 0


def test_files_become_memories(stack: LocalStack, client: Hindsight, bank: str, tmp_path: Path) -> None:
    text, printed = tmp_path / "heron.txt", tmp_path / "mill.pdf"
    text.write_text("The heron nests by the weir.", encoding="utf-8")
    printed.write_bytes(documents.pdf("The mill was built in 1804."))

    taken = client.retain_files(bank, [text, printed], files_metadata=[{"document_id": "heron"}, {"tags": ["mill"]}])

    converted = [finished(stack, bank, operation_id) for operation_id in taken.operation_ids]
    assert [each.status for each in converted] == ["completed", "completed"]
    for each in converted:
        assert finished(stack, bank, (each.result_metadata or {})["retain_operation_id"]).status == "completed"
    assert texts(client, bank) == ["The heron nests by the weir.", "The mill was built in 1804."]
    # The bytes go a moment after the text is there.
    eventually(lambda: all("/transfers/" in key for key in stack.stored_files()))


def test_recall_answers_chunks_source_facts_and_a_trace_when_asked(client: Hindsight, bank: str) -> None:
    client.retain(bank, "The ferry to Sark leaves at nine.", document_id="timetable")

    found = client.recall(
        bank, "When does the ferry leave?", trace=True, include_chunks=True, include_source_facts=True, budget="low"
    )

    assert found.trace is not None
    assert [chunk.text for chunk in (found.chunks or {}).values()] == ["The ferry to Sark leaves at nine."]


def test_tags_shut_out_what_bears_others(client: Hindsight, bank: str) -> None:
    client.retain(bank, "The safe opens with a brass key.", tags=["user:ada"])

    mine = client.recall(bank, "What opens the safe?", tags=["user:ada"], tags_match="all_strict")
    yours = client.recall(bank, "What opens the safe?", tags=["user:ben"], tags_match="any_strict")

    assert (len(mine.results), len(yours.results)) == (1, 0)


def test_a_batch_of_retains_keeps_every_item(client: Hindsight, bank: str) -> None:
    kept = client.retain_batch(
        bank,
        [
            {"content": "The kiln reaches cone ten.", "tags": ["studio"]},
            {"content": "Glaze dries overnight.", "context": "studio", "timestamp": "2031-01-02T08:00:00Z"},
            {"content": "Clay comes on Tuesdays.", "document_id": "deliveries"},
        ],
        document_tags=["pottery"],
    )

    assert kept.items_count == 3
    assert texts(client, bank) == ["Clay comes on Tuesdays.", "Glaze dries overnight.", "The kiln reaches cone ten."]
    assert client.list_memories(bank, tags=["pottery"]).total == 3


def test_an_asynchronous_retain_finishes_under_the_id_it_answered(
    stack: LocalStack, client: Hindsight, bank: str
) -> None:
    operation_id = str(uuid4())
    accepted = client.retain(bank, "The comet returns in May.", retain_async=True, operation_id=operation_id)

    assert accepted.var_async
    assert accepted.operation_id is not None
    operation = finished(stack, bank, accepted.operation_id)

    assert (operation.status, operation.error_message) == ("completed", None)
    assert texts(client, bank) == ["The comet returns in May."]


def test_memories_are_listed_searched_and_paged(client: Hindsight, bank: str) -> None:
    client.retain_batch(bank, [{"content": f"Shelf {number} holds jars."} for number in range(1, 4)])

    page = client.list_memories(bank, type="world", limit=2, offset=1)
    searched = client.list_memories(bank, search_query="Shelf 2")

    assert (page.total, len(page.items), page.limit, page.offset) == (3, 2, 2, 1)
    assert [memory.text for memory in searched.items] == ["Shelf 2 holds jars."]
    assert str(UUID(searched.items[0].id)) == searched.items[0].id


def test_settings_of_a_bank_are_changed_read_and_reset(client: Hindsight, bank: str) -> None:
    strategies = [{"scopes": [{"tags": ["team:*"]}], "observations_mission": "Decisions only."}]
    client.update_bank_config(bank, consolidation_strategies=strategies, recall_max_tokens=512)

    changed = client.get_bank_config(bank)
    reset = client.reset_bank_config(bank)

    assert changed["config"]["consolidation_strategies"] == strategies
    assert changed["overrides"]["recall_max_tokens"] == 512
    assert reset["overrides"] == {}
    assert client.get_bank_config(bank)["config"]["recall_max_tokens"] != 512


def test_reflect_answers_in_words_and_names_what_it_rests_on(client: Hindsight, bank: str) -> None:
    client.retain(bank, "Mabel keeps her telescope in the barn.")

    answer = client.reflect(bank, "Where is Mabel's telescope?", include_facts=True, max_tokens=200)

    assert "barn" in answer.text
    assert answer.based_on is not None
    assert [memory.text for memory in answer.based_on.memories or []] == ["Mabel keeps her telescope in the barn."]
    assert answer.usage is not None
    assert (answer.usage.total_tokens or 0) > 0


def test_a_deleted_bank_is_gone_with_all_it_held(client: Hindsight, bank: str) -> None:
    client.retain(bank, "The spare key hangs by the door.")

    client.delete_bank(bank)

    with pytest.raises(NotFoundException):
        client.list_memories(bank)


def test_a_directive_binds_an_answer_in_words_and_in_a_schema(client: Hindsight, bank: str) -> None:
    client.retain(bank, "Olive bakes rye bread. Her oven is blue.")
    made = client.create_directive(bank, "colours", 'Never mention "blue".', tags=["kitchen"])
    changed = client.update_directive(bank, made.id, priority=5, tags=[])

    schema = {"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]}
    answer = client.reflect(bank, "What is known of Olive?", response_schema=schema, include_facts=True)

    assert (changed.priority, changed.tags) == (5, [])
    assert [listed.name for listed in client.list_directives(bank).items] == ["colours"]
    assert "rye bread" in answer.text
    assert "blue" not in answer.text
    assert answer.structured_output is not None
    assert "blue" not in str(answer.structured_output)
    assert answer.based_on is not None
    assert [rule.content for rule in answer.based_on.directives or []] == ['Never mention "blue".']
    client.delete_directive(bank, made.id)
    assert client.list_directives(bank).items == []


def test_a_mental_model_lives_its_life(client: Hindsight, stack: LocalStack, bank: str) -> None:
    client.retain(bank, "Olive bakes rye bread.")
    made = client.create_mental_model(bank, "Bread", "What does Olive bake?", id="bread", max_tokens=512)
    written = finished(stack, bank, made.operation_id)

    page = client.get_mental_model(bank, "bread")
    changed = client.update_mental_model(bank, "bread", trigger={"mode": "delta"})
    preview = client.dry_run_refresh_mental_model(bank, "bread")
    again = finished(stack, bank, client.refresh_mental_model(bank, "bread", mode="full").operation_id)
    past = client.get_mental_model_history(bank, "bread")

    assert written.details is not None
    assert written.details.outcome == "content_written"
    assert "rye bread" in (page.content or "")
    assert page.is_stale is False
    assert changed.trigger is not None
    assert changed.trigger.mode == "delta"
    assert (preview.outcome, preview.effective_mode) == ("content_preserved_no_new_facts", "delta")
    assert again.status == "completed"
    assert past
    assert [listed.name for listed in client.list_mental_models(bank).items] == ["Bread"]
    assert client.clear_mental_model(bank, "bread").content == ""
    client.delete_mental_model(bank, "bread")
    assert client.list_mental_models(bank).items == []


def test_a_knowledge_base_is_kept_searched_and_exported(client: Hindsight, stack: LocalStack, bank: str) -> None:
    client.retain(bank, "Olive bakes rye bread on Sundays.", tags=["kitchen"])
    folder = client.create_knowledge_folder(bank, "Kitchen")
    said = {"refresh_after_consolidation": False, "fact_types": ["world", "experience"]}
    page = client.create_knowledge_page(
        bank, "Bread", "Who bakes bread?", parent_id=folder.id, tags=["kitchen"], max_tokens=512, trigger=said
    )
    assert finished(stack, bank, page.operation_id).status == "completed"

    (root,) = client.get_knowledge_base_tree(bank, tags=["kitchen"], tags_match="all_strict").roots
    shown = client.get_knowledge_page(bank, page.page_id)
    found = client.search_knowledge_base(bank, "bread", limit=3, tag_groups=[{"tags": ["kitchen"]}])
    moved = client.update_knowledge_node(bank, page.page_id, name="Rye bread", parent_id=None)
    exported = client.export_knowledge_base(bank)
    client.delete_knowledge_node(bank, page.page_id)

    assert (root.id, [child.id for child in root.children or []]) == (folder.id, [page.page_id])
    assert root.children[0].trigger.refresh_after_consolidation is False
    assert "rye bread" in (shown.body or "")
    assert shown.markdown.startswith(f'---\nid: "{page.page_id}"\n')
    assert [result.id for result in found.results] == [page.page_id]
    assert (moved.name, moved.parent_id) == ("Rye bread", None)
    assert [file.path for file in exported.files] == ["index.md", f"{page.page_id}.md", f"{page.page_id}.log.md"]
    assert [node.name for node in client.get_knowledge_base_tree(bank).roots] == ["Kitchen"]
