"""One delivery for each event and hook; tried under a lease until it is taken, or six times."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from hindsight_aws.errors import DatabaseUnavailable
from hindsight_aws.jobs.deliver import deliver
from hindsight_aws.jobs.outcomes import Outcome
from hindsight_aws.ports.deliveries import ServerHook
from hindsight_aws.ports.webhooks import WebhookChange
from hindsight_aws.settings import Settings
from hindsight_aws.store.postgres import PostgresStore
from hindsight_aws.webhooks.deliver import MOST_AT_A_FAILING_HOOK, MOST_AT_ONCE, MOST_EVENTS, PATIENCE
from tests.integration.webhooks.conftest import Post
from tests.support.erasing import take_away
from tests.support.models import NotedWakeups
from tests.support.sweeping import sweep_once


def test_each_event_is_one_delivery_for_each_hook_that_wants_it(post: Post) -> None:
    first, second = post.hook(), post.hook(event_types=("retain.completed", "consolidation.completed"))
    post.hook(event_types=("consolidation.completed",))
    post.hook(is_enabled=False)
    post.tell(2)

    for _ in range(3):
        post.fan_out()

    assert sorted(str(row["webhook_id"]) for row in post.rows()) == sorted([str(first), str(second)] * 2)
    assert len(post.messages.orders) == 4


def test_workers_that_fan_out_at_once_write_each_delivery_once(post: Post, store: PostgresStore) -> None:
    post.hook()
    post.hook()
    post.tell(8)
    stores = [PostgresStore(lambda: post.database.write_url, connect_for_s=30.0) for _ in range(4)]
    workers = [threading.Thread(target=post.fan_out, args=[replace(post.deliver_ports, store=each)]) for each in stores]

    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for each in stores:
        each.close()
    post.fan_out()

    pairs = [(row["event_id"], row["webhook_id"]) for row in post.rows()]
    assert len(pairs) == len(set(pairs)) == 16
    assert len(post.messages.orders) == 16


def test_a_hook_hears_of_nothing_from_before_it_was_made_or_while_it_was_disabled(post: Post) -> None:
    assert not post.tell()
    hook = post.hook()
    assert post.tell()
    post.fan_out()
    (heard,) = post.rows()
    with post.store.transaction(post.tenant) as tx:
        tx.webhooks.change(post.bank, hook, _enabled(False))
    assert not post.tell()
    with post.store.transaction(post.tenant) as tx:
        tx.webhooks.change(post.bank, hook, _enabled(True))

    post.fan_out()

    assert [row["delivery_id"] for row in post.rows()] == [heard["delivery_id"]]


def test_the_servers_own_hook_hears_of_banks_without_one(post: Post) -> None:
    post.settings = Settings(
        hindsight_api_webhook_url="https://ops.example.com/h", hindsight_api_webhook_event_types=("retain.completed",)
    )
    post.tell()
    post.tell(event="consolidation.completed")
    wakeups = NotedWakeups()
    sweep_once(post.store, wakeups, post.settings)

    post.fan_out()
    post.fan_out()

    assert wakeups.webhooks == [(post.tenant, post.bank)]
    (row,) = post.rows()
    assert (row["webhook_id"], row["url"]) == (None, "https://ops.example.com/h")
    (order,) = post.messages.orders
    assert "Signature" not in order


def test_a_wake_up_that_was_lost_is_sent_by_the_sweep_and_none_for_what_nobody_wants(post: Post) -> None:
    post.tell()
    quiet = NotedWakeups()
    sweep_once(post.store, quiet, post.settings)
    post.hook()
    post.tell()
    woken = NotedWakeups()

    sweep_once(post.store, woken, post.settings)
    post.fan_out()
    after = NotedWakeups()
    sweep_once(post.store, after, post.settings)

    assert (quiet.webhooks, woken.webhooks, after.webhooks) == ([], [(post.tenant, post.bank)], [])


def test_more_events_than_one_go_takes_are_woken_for_again(post: Post) -> None:
    post.hook()
    post.tell()
    post.sql(
        "INSERT INTO webhook_events (tenant_id, bank_id, event_id, event, operation_id, status) "
        "SELECT tenant_id, bank_id, gen_random_uuid(), event, operation_id, status FROM webhook_events, "
        f"generate_series(1, {MOST_EVENTS})"
    )

    post.fan_out()
    assert post.wakeups.webhooks == [(post.tenant, post.bank)]
    post.fan_out()

    assert len(post.rows()) == MOST_EVENTS + 1
    assert len(post.messages.orders) == MOST_AT_ONCE + 1
    assert len(post.wakeups.deliveries) == MOST_EVENTS - MOST_AT_ONCE
    assert len(post.wakeups.webhooks) == 1


def test_a_delivery_is_held_by_one_and_free_again_after_its_lease(post: Post) -> None:
    post.hook()
    post.tell()
    post.fan_out()
    (row,) = post.rows()
    wake = post.message("delivery", delivery_id=row["delivery_id"])

    deliver(post.deliver_ports, wake)
    assert len(post.messages.orders) == 1
    post.sql("UPDATE webhook_deliveries SET lease_until = now() - interval '1 second'")
    woken = NotedWakeups()
    sweep_once(post.store, woken, post.settings)
    deliver(post.deliver_ports, wake)

    assert [entry[2] for entry in woken.deliveries] == [row["delivery_id"]]
    fences = [json.loads(order)["fence"] for order in post.messages.orders]
    assert fences == [1, 2]
    assert post.rows()[0]["attempts"] == 2


def test_a_receipt_for_an_attempt_that_is_over_changes_nothing(post: Post) -> None:
    post.hook()
    post.tell()
    post.fan_out()
    post.sql("UPDATE webhook_deliveries SET lease_until = '-infinity'")
    (row,) = post.rows()
    deliver(post.deliver_ports, post.message("delivery", delivery_id=row["delivery_id"]))
    before = post.rows()
    late = _receipt(post, row["delivery_id"])

    assert deliver(post.deliver_ports, json.dumps(late)) is Outcome.DONE

    assert post.rows() == before
    deliver(post.deliver_ports, json.dumps(late | {"fence": 2}))
    deliver(post.deliver_ports, json.dumps(late | {"fence": 2, "status": 500}))
    assert post.rows()[0]["status"] == "completed"


def test_workers_that_die_of_a_delivery_cannot_repeat_it_for_ever(post: Post) -> None:
    post.hook()
    post.tell()
    post.fan_out()
    for _ in range(8):
        post.sql("UPDATE webhook_deliveries SET lease_until = '-infinity'")
        post.try_due_without_answer()

    (row,) = post.rows()
    assert (row["status"], row["attempts"]) == ("failed", 6)
    assert row["last_error"] == "no receipt came back for the last attempt"
    assert len(post.messages.orders) == 6


def test_a_hook_that_is_disabled_meanwhile_is_not_called(post: Post) -> None:
    hook = post.hook()
    post.tell()
    with post.store.transaction(post.tenant) as tx:
        tx.deliveries.fan_out(post.bank, _nobody(), 10)
        tx.webhooks.change(post.bank, hook, _enabled(False))

    post.try_due()

    (row,) = post.rows()
    assert (row["status"], row["attempts"], row["last_error"]) == ("failed", 0, "the webhook is disabled")
    assert post.messages.orders == []


def test_a_hook_that_is_deleted_takes_its_deliveries_along(post: Post) -> None:
    hook = post.hook()
    post.tell()
    post.fan_out()
    with post.store.transaction(post.tenant) as tx:
        assert tx.webhooks.remove(post.bank, hook)

    post.send_all_refused()

    assert post.rows() == []


def test_a_hook_that_is_being_deleted_costs_its_neighbour_nothing(post: Post) -> None:
    """Who fans out waits for the deletion, and then knows nothing of the hook."""
    doomed, kept = post.hook(), post.hook()
    post.tell()
    with post.store.transaction(post.tenant) as tx:
        tx.webhooks.remove(post.bank, doomed)
        other = PostgresStore(lambda: post.database.write_url, connect_for_s=30.0)
        worker = threading.Thread(target=post.fan_out, args=[replace(post.deliver_ports, store=other)])
        worker.start()
        worker.join(0.2)
        assert worker.is_alive()
    worker.join()
    other.close()

    assert [row["webhook_id"] for row in post.rows()] == [kept]
    assert len(post.messages.orders) == 1


def test_a_bank_goes_with_its_hooks_events_and_deliveries(post: Post) -> None:
    post.hook()
    post.tell()
    post.fan_out()

    with post.store.transaction(post.tenant) as tx:
        take_away(tx, post.bank)
    assert post.fan_out() is Outcome.DONE

    assert post.rows() == []
    assert post.sql("SELECT FROM webhooks") == []


def test_a_receipt_that_the_database_could_not_take_comes_again(post: Post) -> None:
    body = json.dumps(_receipt(post, post.bank))
    away = PostgresStore(_nowhere, connect_for_s=0.01)

    outcome = deliver(replace(post.deliver_ports, store=away), body)

    assert outcome is Outcome.DONE
    assert (post.messages.receipts, post.messages.delays) == ([body], [60])


def test_a_message_that_names_nothing_is_dropped_and_not_repeated_in_the_log(
    post: Post, caplog: pytest.LogCaptureFixture
) -> None:
    for body in ("", "{}", post.message("delivery"), post.message("receipt"), '{"secret": "hush"}'):
        assert deliver(post.deliver_ports, body) is Outcome.GIVEN_UP

    assert "hush" not in caplog.text


def _receipt(post: Post, delivery_id: object) -> dict[str, object]:
    said: dict[str, object] = json.loads(post.message("receipt", delivery_id=delivery_id))
    return {**said, "fence": 1, "status": 200, "error": None}


def _enabled(is_enabled: bool) -> WebhookChange:
    return WebhookChange(is_enabled=is_enabled)


def _nobody() -> ServerHook:
    return ServerHook(None, ())


def _nowhere() -> str:
    raise DatabaseUnavailable("nobody is there")


def test_a_receiver_that_fails_is_asked_little_and_rests_until_it_answers(post: Post) -> None:
    """What waits for it costs no attempt; after its rest a few are tried, and a yes sets all of them free."""
    hook = post.hook()
    post.tell(MOST_AT_A_FAILING_HOOK + PATIENCE + 2)
    post.fan_out()
    post.send_all_refused()
    resting = post.sql("SELECT failures, rests_until > now() AS rests FROM webhooks")
    post.messages.orders.clear()
    post.wakeups.deliveries.clear()

    post.sql("UPDATE webhook_deliveries SET due_at = now()")
    post.try_due_without_answer()
    asked_in_rest, waiting = len(post.messages.orders), len(post.wakeups.deliveries)
    post.sql("UPDATE webhooks SET rests_until = now()")
    post.sql("UPDATE webhook_deliveries SET due_at = now()")
    post.try_due_without_answer()
    asked_after = len(post.messages.orders)
    post.send_all_taken()
    post.sql("UPDATE webhook_deliveries SET due_at = now() WHERE status = 'pending'")
    post.try_due_without_answer()

    count = MOST_AT_A_FAILING_HOOK + PATIENCE + 2
    assert resting == [{"failures": count, "rests": True}]
    assert (asked_in_rest, waiting) == (0, count)
    assert asked_after == MOST_AT_A_FAILING_HOOK
    assert len(post.messages.orders) == count - MOST_AT_A_FAILING_HOOK
    assert {row["attempts"] for row in post.rows()} == {2}
    assert str(hook) in {str(row["webhook_id"]) for row in post.rows()}


def test_what_a_resting_receiver_was_kept_from_for_a_day_has_failed(post: Post) -> None:
    post.hook()
    post.tell(2)
    post.fan_out()
    post.sql("UPDATE webhooks SET failures = 9, rests_until = now() + interval '9 minutes'")
    post.sql(
        "UPDATE webhook_deliveries "
        "SET due_at = now(), lease_until = '-infinity', created_at = now() - interval '25 hours'"
    )

    post.try_due_without_answer()

    assert {row["status"] for row in post.rows()} == {"failed"}
    assert {row["last_error"] for row in post.rows()} == {"the receiver does not answer"}


def test_another_receiver_and_a_hook_that_is_changed_are_asked_at_once(post: Post) -> None:
    failing, well = post.hook(), post.hook()
    post.sql(
        "UPDATE webhooks SET failures = 9, rests_until = now() + interval '9 minutes' WHERE webhook_id = %s", failing
    )
    post.tell(3)

    post.fan_out()
    asked = len(post.messages.orders)
    with post.store.transaction(post.tenant) as tx:
        tx.webhooks.change(post.bank, failing, WebhookChange(url="https://example.com/mended"))
    post.sql("UPDATE webhook_deliveries SET due_at = now() WHERE lease_until < now()")
    post.try_due_without_answer()

    assert asked == 3
    assert len(post.messages.orders) == 6
    assert well != failing
