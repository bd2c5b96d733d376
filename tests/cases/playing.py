"""Plays a case's steps against the running system and keeps what came of each.

Called by the test; calls the world.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from tests.cases.play import Play
from tests.cases.reading import Case, Step
from tests.cases.scripting import TASKS, as_replies, scripted
from tests.cases.staging import group_bank, make_banks, observe, place_vectors
from tests.support.world import QUEUES, Answer, World


class Player:
    """Plays one case once."""

    def __init__(self, case: Case, world: World) -> None:
        self.case, self.world, self.play = case, world, Play()
        self._replies = {task: as_replies(case.scripts[task]) for task in TASKS if task in case.scripts}
        self._taken_before: dict[str, int] = {}
        self._records: dict[str, tuple[str, str]] = {}

    def run(self) -> Play:
        """Prepares the banks, plays every step, and lets the queues come to rest."""
        self._stage()
        connects = self.world.stack.faults.connects()
        for step in self.case.steps:
            self._lay_scripts(step.bank)
            self._do(step)
            self._note_new()
        self.world.settle("ingest")
        self.play.connects = self.world.stack.faults.connects() - connects
        return self.play

    def _stage(self) -> None:
        make_banks(self.case, self.world)
        observe(self.case, self.world, self._replies.get("embed"))
        self._note_new()
        self.play.setup_facts = {identity for known in self.play.facts.values() for identity in known}
        self.play.facts.clear()
        if "vectors" in self.case.setup:
            self._replies.setdefault("embed", ["same"])
            place_vectors(self.case, self.world)
        self.world.model.clear()

    # the scripts ----------------------------------------------------------------------------------------------------

    def _lay_scripts(self, bank: str | None) -> None:
        """Gives the model the replies that are left, with the ids that are known by now."""
        resolve = self.play.resolver(bank)
        left: dict[str, Any] = {}
        for task, replies in self._replies.items():
            taken = len(self.world.calls(TASKS[task])) - self._taken_before.get(task, 0) if task != "embed" else 0
            rest = replies[min(taken, len(replies) - 1) :] if replies else []
            left[task] = [scripted(task, reply, resolve) for reply in rest]
        self.world.model.script(left)

    # the steps ------------------------------------------------------------------------------------------------------

    def _do(self, step: Step) -> None:
        getattr(self, f"_do_{step.do}")(step)

    def _say(self, step: Step, method: str, path: str, body: object = None, **params: str) -> Answer:
        answer = self.world.send(step.do, step.bank or "", method, path, body, params)
        self.play.answers.append(answer)
        return answer

    def _do_retain(self, step: Step) -> None:
        items = [dict(item) for item in step.fields.get("items", [])]
        if "generate" in step.fields:
            wanted = step.fields["generate"]
            lines = [wanted["pattern"].replace("{n}", str(n)) for n in range(1, wanted["lines"] + 1)]
            items.append({"content": "\n".join(lines)})
        for item in items:
            if "document_id" in step.fields:
                item.setdefault("document_id", step.fields["document_id"])
            self.play.contents.setdefault(step.bank or "", []).append(str(item.get("content", "")))
            if item.get("context"):
                self.play.contexts.append(item["context"])
        body: dict[str, object] = {"items": items}
        body |= {key: step.fields[key] for key in ("async", "document_tags") if key in step.fields}
        if "operation_id" in step.fields:
            body["operation_id"] = self._own_id(step.fields["operation_id"])
        answer = self._say(step, "POST", "/memories", body)
        if answer.status == 200 and (operation_id := answer.body.get("operation_id")):
            self.play.operations.append((step.bank or "", operation_id))

    def _own_id(self, given: object) -> object:
        """The case's own id in place of one it shares with other cases; what is no UUID goes out as it is."""
        try:
            return str(uuid5(NAMESPACE_URL, f"{self.world.prefix}/{UUID(str(given))}"))
        except ValueError:
            return given

    def _do_consolidate(self, step: Step) -> None:
        answer = self._say(step, "POST", "/consolidate", dict(step.fields))
        self._note_operation(step, answer)
        self.world.settle("consolidate")
        self.play.consolidated_after.append(self._consolidated(step.bank or ""))

    def _note_operation(self, step: Step, answer: Answer) -> None:
        if answer.status == 200:
            self.play.operations.append((step.bank or "", answer.body["operation_id"]))

    def _consolidated(self, bank: str) -> dict[str, int]:
        (row,) = self.world.sql(
            "SELECT count(*) FILTER (WHERE ended) AS consolidated, count(*) FILTER (WHERE open) AS pending, "
            "count(*) FILTER (WHERE broken) AS failed FROM (SELECT bool_and(state = 'done') AS ended, "
            "bool_or(state = 'pending') AS open, bool_or(state = 'failed') AS broken FROM consolidation_work "
            "WHERE bank_id = ANY(%s) AND fact_id <> ALL(%s) GROUP BY fact_id) AS facts",
            self.world.bank_ids([bank]), list(self.play.setup_facts),
        )  # fmt: skip
        return row

    def _do_recall(self, step: Step) -> None:
        self._say(step, "POST", "/memories/recall", dict(step.fields))

    def _do_reflect(self, step: Step) -> None:
        self._say(step, "POST", "/reflect", dict(step.fields))

    def _do_config(self, step: Step) -> None:
        self._say(step, "PATCH", "/config", {"updates": step.fields["updates"]})

    def _do_stats(self, step: Step) -> None:
        self._say(step, "GET", "/stats")

    def _do_get_config(self, step: Step) -> None:
        self._say(step, "GET", "/config")

    def _do_get_document(self, step: Step) -> None:
        self._say(step, "GET", f"/documents/{step.fields['document_id']}")

    def _do_delete_document(self, step: Step) -> None:
        self._say(step, "DELETE", f"/documents/{step.fields['document_id']}")

    def _do_clear_memories(self, step: Step) -> None:
        self._say(step, "DELETE", "/memories", **({"type": step.fields["type"]} if "type" in step.fields else {}))

    def _do_delete_bank(self, step: Step) -> None:
        self._say(step, "DELETE", "")

    def _do_get_operation(self, step: Step) -> None:
        own = [known for bank, known in self.play.operations if bank == step.bank]
        given = step.fields.get("operation_id")
        self._say(step, "GET", f"/operations/{self._own_id(given) if given else own[-1]}")

    def _do_directive(self, step: Step) -> None:
        self._say(step, "POST", "/directives", dict(step.fields))

    def _do_dry_run(self, step: Step) -> None:
        self._say(step, "POST", "/memories/dry-run-extract", dict(step.fields))

    def _do_drain(self, step: Step) -> None:
        """Works off what waits; consolidation too, where the case scripts it."""
        self.world.settle("ingest")
        if "consolidate" not in self._replies:
            return
        for bank in self.case.banks:
            self._note_new()
            self._lay_scripts(bank)
            self.world.send("drain", bank, "POST", "/consolidate", {})
            self.world.settle("consolidate")

    def _do_parallel(self, step: Step) -> None:
        with ThreadPoolExecutor(len(step.inner)) as pool:
            list(pool.map(self._do, step.inner))

    def _do_api_event(self, step: Step) -> None:
        """An API event reaches the function through the gateway, which makes the event of the request."""
        self._do(step.inner[0])

    def _do_sqs_event(self, step: Step) -> None:
        """One batch for the ingest function: each record wakes an operation that nobody else was told of."""
        records = step.fields["records"]
        for record in records:
            if record["id"] not in self._records:
                self._records[record["id"]] = self._unheard_operation(group_bank(record), record["id"])
        failing = [UUID(self._records[record["id"]][1]) for record in records if record.get("op") == "fail"]
        event = {"Records": [self._record(record["id"]) for record in records]}
        self.world.model.script({"extract": "ECHO"})
        with self.world.refusing(failing):
            outcome = self.world.stack.invoke("ingest", json.dumps(event).encode())
        failures = json.loads(outcome.payload)["batchItemFailures"]
        self.play.batch_failures.append([failure["itemIdentifier"] for failure in failures])

    def _unheard_operation(self, bank: str, name: str) -> tuple[str, str]:
        self.world.stack.queues.lose("ingest")
        item = {"content": f"Record {name} is on its way."}
        answer = self.world.send("sqs_event", bank, "POST", "/memories", {"items": [item], "async": True})
        self.play.operations.append((bank, answer.body["operation_id"]))
        (row,) = self.world.sql(
            "SELECT tenant_id, operation_id FROM operations WHERE parent_id = %s", UUID(answer.body["operation_id"])
        )
        return str(row["tenant_id"]), str(row["operation_id"])

    def _record(self, name: str) -> dict[str, object]:
        tenant_id, operation_id = self._records[name]
        return {
            "messageId": name,
            "receiptHandle": name,
            "body": json.dumps({"tenant_id": tenant_id, "operation_id": operation_id}),
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "eventSource": "aws:sqs",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:ingest",
            "awsRegion": "us-east-1",
        }

    def _do_redeliver(self, _step: Step) -> None:
        """Every wake-up of the case comes once more."""
        ids = self.world.bank_ids(self.case.banks)
        queues = self.world.stack.queues
        for row in self.world.sql("SELECT tenant_id, operation_id FROM operations WHERE bank_id = ANY(%s)", ids):
            queues.send("ingest", json.dumps({key: str(value) for key, value in row.items()}))
        for row in self.world.sql("SELECT tenant_id, bank_id, scope_id FROM scopes WHERE bank_id = ANY(%s)", ids):
            queues.send("consolidate", json.dumps({key: str(value) for key, value in row.items()}))
        self.world.settle(*QUEUES)

    def _do_kill_db_sockets(self, _step: Step) -> None:
        self.world.stack.faults.cut_wire()

    def _do_stub_recovers(self, _step: Step) -> None:
        """From now on the model answers by the `…_after` replies; a task without them by rule."""
        self._taken_before = {task: len(self.world.calls(name)) for task, name in TASKS.items() if task != "embed"}
        after = {
            task: as_replies(self.case.scripts[f"{task}_after"])
            for task in TASKS
            if f"{task}_after" in self.case.scripts
        }
        broken = {
            task for task, replies in self._replies.items() if any(str(reply)[:6] == "RAISE:" for reply in replies)
        }
        self._replies = {task: replies for task, replies in self._replies.items() if task not in broken} | after

    def _do_start_consolidation_blocked(self, step: Step) -> None:
        """Starts it and holds it after the model has answered, before anything is written."""
        faults = self.world.stack.faults
        faults.pause_at("consolidate.after_model")
        self._note_operation(step, self._say(step, "POST", "/consolidate", {}))
        faults.wait_for("consolidate.after_model")

    def _do_unblock(self, _step: Step) -> None:
        self.world.stack.faults.clear()
        self.world.settle("consolidate")

    # after each step ------------------------------------------------------------------------------------------------

    def _note_new(self) -> None:
        """Numbers facts and observations in the order in which they were stored; what is gone keeps its number."""
        for bank in self.case.banks:
            for held, are_observations in ((self.play.facts, False), (self.play.observations, True)):
                known = held.setdefault(bank, [])
                found = self.world.stored_ids(bank, observations=are_observations)
                known += [
                    identity for identity in found if identity not in known and identity not in self.play.setup_facts
                ]
