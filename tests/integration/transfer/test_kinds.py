"""Every table of the schema that holds something of a bank is carried by transfers, or there is a reason why not."""

from __future__ import annotations

import re

from hindsight_aws.store.queries import queries
from hindsight_aws.transfer.kinds import BANK, KINDS, NOT_CARRIED
from tests.support.admin import admin
from tests.support.database import Database

_WRITES = {name.removeprefix("write_"): query.text.decode() for name, query in queries("transfer_write").items()}


def test_every_table_of_banks_is_carried_or_has_a_reason_not_to_be(database: Database) -> None:
    carried = {table for text in _WRITES.values() for table in re.findall(r"INSERT INTO (\w+)", text)}

    with admin(database.admin_url) as connection:
        found = connection.execute(
            "SELECT c.relname FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid "
            "WHERE c.relnamespace = 'hindsight'::regnamespace AND c.relkind = 'r' AND a.attname = 'bank_id'"
        ).fetchall()

    assert {str(name) for (name,) in found} == carried | NOT_CARRIED.keys()
    assert carried & NOT_CARRIED.keys() == set()


def test_every_kind_is_read_and_written() -> None:
    kinds = {kind.name for kind in KINDS}

    assert {name.removeprefix("read_") for name in queries("transfer_read")} == kinds
    assert _WRITES.keys() == kinds - {BANK.name}


def test_each_reason_is_a_sentence() -> None:
    assert [table for table, reason in NOT_CARRIED.items() if len(reason) < 10] == []
