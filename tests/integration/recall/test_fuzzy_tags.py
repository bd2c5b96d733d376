"""Fuzzy leaves of a recall's filter: against the bank's own tags, and none that the key does not see."""

from __future__ import annotations

import psycopg
import pytest

from hindsight_aws.access import sight
from hindsight_aws.errors import InvalidField
from hindsight_aws.model.ids import BankId, TenantId
from hindsight_aws.model.tags import TagFilter, TagLeaf, TagsMatch, parse_groups
from hindsight_aws.recall import RecallQuery, resolve_fuzzy
from tests.support.database import Database
from tests.support.recalling import NORTH, Asking
from tests.support.units import Unit, insert_units


def _ask(asking: Asking, *tags: str) -> list[str]:
    group = {"tags": list(tags), "resolve": "fuzzy"}
    return sorted(asking.texts(RecallQuery("tea", tags=TagFilter(parse_groups([group])))))


def _told(database: Database, tenant: TenantId, bank: BankId, *tags: str) -> None:
    insert_units(database.admin_url, tenant, bank, [Unit(f"tea {tag}", vector=NORTH, tags=(tag,)) for tag in tags])


def test_a_misspelt_tag_finds_what_is_tagged(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    """[Q072]."""
    _told(database, tenant, bank, "lang:typescript", "kafka", "Team:Red")

    assert _ask(asking, "lang:typsecript") == ["tea lang:typescript"]
    assert _ask(asking, "team:red") == ["tea Team:Red"]
    assert _ask(asking, "zzz") == []
    assert _ask(asking, "kakfa") == []


def test_a_key_resolves_against_the_tags_that_it_sees(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    units = [
        Unit("mine", vector=NORTH, tags=("user:me", "lang:typescript")),
        Unit("theirs", vector=NORTH, tags=("user:you", "lang:TypeScripts")),
        Unit("seen", "observation", vector=NORTH, tags=("lang:typescriptum",)),
    ]
    insert_units(database.admin_url, tenant, bank, units)
    mine = asking.limited(forced_tags=TagLeaf(frozenset({"user:me"})))
    scoped = asking.limited(exact_scopes=frozenset({frozenset({"lang:typescriptum"})}))

    with asking.store.transaction(tenant) as tx:
        named = {
            who: tx.tags.names(bank, sight(one.principal), 10)
            for who, one in (("all", asking), ("mine", mine), ("scoped", scoped))
        }
        misspelt = TagFilter((TagLeaf(frozenset({"lang:typescript?"}), TagsMatch.ANY, "fuzzy"),))
        found = resolve_fuzzy(tx, bank, misspelt, scoped.principal)

    every = {"lang:typescript", "lang:TypeScripts", "lang:typescriptum", "user:me", "user:you"}
    assert named == {"all": sorted(every), "mine": ["lang:typescript", "user:me"], "scoped": ["lang:typescriptum"]}
    assert found == TagFilter((TagLeaf(frozenset({"lang:typescriptum"}), TagsMatch.ANY),))
    assert _ask(mine, "lang:typescripts") == ["mine"]


def test_a_bank_of_too_many_tags_refuses_to_resolve(
    database: Database, tenant: TenantId, bank: BankId, asking: Asking
) -> None:
    _told(database, tenant, bank, "kafka")
    with psycopg.connect(database.admin_url) as admin:
        admin.execute(
            "INSERT INTO hindsight.unit_tags (tenant_id, bank_id, tag, unit_id) "
            "SELECT u.tenant_id, u.bank_id, 'tag' || n, u.id "
            "FROM hindsight.memory_units AS u, generate_series(1, 5000) AS n WHERE u.bank_id = %s",
            (bank,),
        )

    assert asking.texts("tea")
    with asking.store.transaction(tenant) as tx:
        unseen = sight(asking.limited(fact_types=frozenset({"observation"})).principal)
        assert tx.tags.names(bank, unseen, 501) == []
        assert tx.tags.names(bank, unseen, 500) is None, "5,001 tags looked through for nothing"
    with pytest.raises(InvalidField, match="tag_groups cannot be resolved: fuzzy needs a bank of at most 5,000 tags"):
        _ask(asking, "kafka")
