"""When a mental model is refreshed, how, and from what; and who made it.  Pure; one JSON form for wire and row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from hindsight_aws.errors import InvalidField
from hindsight_aws.model.cron import parse
from hindsight_aws.model.ids import TenantId
from hindsight_aws.model.principal import Permission, Principal
from hindsight_aws.model.tags import TagFilter, TagGroup, TagsMatch, group_to_json, parse_group, parse_groups

Mode = Literal["full", "delta"]
Document: TypeAlias = Mapping[str, object]
"""Something in its JSON form."""

_CRONS = ("refresh_cron", "full_refresh_cron")
_STRICT = {TagsMatch.ANY: TagsMatch.ANY_STRICT, TagsMatch.ALL: TagsMatch.ALL_STRICT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """When a model is refreshed, how, and from what; None means that the bank or the reflect defaults decide.

    `fact_types` None means all; `tag_groups` replaces the model's own tags as what it is written from.
    """

    budget: str | None = None
    mode: Mode = "full"
    refresh_after_consolidation: bool = False
    refresh_cron: str | None = None
    full_refresh_cron: str | None = None
    min_refresh_interval_seconds: int | None = None
    fact_types: tuple[str, ...] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: tuple[str, ...] | None = None
    tags_match: TagsMatch | None = None
    tag_groups: tuple[TagGroup, ...] | None = None
    include_chunks: bool | None = None
    recall_max_tokens: int | None = None
    recall_chunks_max_tokens: int | None = None
    reflect_search_observations_max_tokens: int | None = None
    reflect_search_observations_include_entities: bool | None = None
    response_schema: Document | None = None
    keep_trace: bool = False


@dataclass(frozen=True, slots=True)
class Creator:
    """Who made a model, and what their key could see: the model is written from nothing else, for good."""

    subject: str
    forced_tags: TagGroup | None = None
    fact_types: frozenset[str] | None = None
    exact_scopes: frozenset[frozenset[str]] | None = None

    @classmethod
    def of(cls, principal: Principal) -> Creator:
        """The creator that a caller is."""
        return cls(principal.subject, principal.forced_tags, principal.fact_types, principal.exact_scopes)

    def reader(self, tenant_id: TenantId) -> Principal:
        """Who the model's refreshes read as."""
        return Principal(
            tenant_id,
            self.subject,
            frozenset({Permission.READ}),
            forced_tags=self.forced_tags,
            fact_types=self.fact_types,
            exact_scopes=self.exact_scopes,
        )


def own_filter(tags: tuple[str, ...], trigger: Trigger) -> TagFilter:
    """The groups of the trigger where it has some; else the model's tags, which by default must all be there."""
    if trigger.tag_groups is not None:
        return TagFilter(trigger.tag_groups)
    default = TagsMatch.ALL_STRICT if tags else TagsMatch.ANY
    return TagFilter.flat(tags, trigger.tags_match or default)


def staling_filter(tags: tuple[str, ...], trigger: Trigger) -> TagFilter:
    """Which memories make a model stale: those it is written from, but for the untagged where it has tags."""
    mine = own_filter(tags, trigger)
    if trigger.tag_groups is not None or not tags:
        return mine
    match = trigger.tags_match or TagsMatch.ALL_STRICT
    return TagFilter.flat(tags, _STRICT.get(match, match))


def patched(trigger: Trigger, changes: Mapping[str, object]) -> Trigger:
    """The trigger with the fields that a request names, in their JSON form; one that is null is unset.

    Of the two ways to be refreshed by themselves, one that is set takes the place of the other.
    """
    given = {field.name: changes[field.name] for field in fields(Trigger) if field.name in changes}
    defaults = Trigger()
    values = {name: getattr(defaults, name) if value is None else _value(name, value) for name, value in given.items()}
    changed = replace(trigger, **values)  # type: ignore[arg-type]  # `_value` gives each field its own type
    if changed.refresh_cron is not None and changed.refresh_after_consolidation:
        if "refresh_cron" not in given:
            return replace(changed, refresh_cron=None)
        if "refresh_after_consolidation" not in given:
            return replace(changed, refresh_after_consolidation=False)
    return changed


def checked_changes(changes: Mapping[str, object]) -> dict[str, object]:
    """What a request says of a trigger, blank schedules taken for none.

    Raises: InvalidField for a schedule that is none, for both ways of being refreshed by itself at once, and for an
    empty list of types.
    """
    given = dict(changes)
    for name in _CRONS:
        expression = given.get(name)
        if isinstance(expression, str):
            given[name] = " ".join(expression.split()) or None
            _check_cron(f"trigger.{name}", given[name])
    if given.get("refresh_cron") is not None and given.get("refresh_after_consolidation") is True:
        raise InvalidField("trigger", "may have `refresh_after_consolidation` or `refresh_cron`, not both")
    if given.get("fact_types") == []:
        raise InvalidField("trigger.fact_types", "must name at least one type, or be null")
    return given


def checked_trigger(trigger: Trigger) -> Trigger:
    """The trigger, once it is whole.  Raises InvalidField for tags that would have to be guessed at each refresh."""
    if trigger.tag_groups is not None and TagFilter(trigger.tag_groups).is_fuzzy:
        raise InvalidField("trigger.tag_groups", "may not hold a leaf with resolve `fuzzy`")
    return trigger


def trigger_to_json(trigger: Trigger) -> dict[str, object]:
    """The trigger's JSON form, every field; `patched` on a new trigger gives back an equal one."""
    return {field.name: _plain(getattr(trigger, field.name)) for field in fields(Trigger)}


def creator_to_json(creator: Creator) -> dict[str, object]:
    """The creator's JSON form; `creator_from_json` gives back an equal one."""
    scopes = creator.exact_scopes
    return {
        "subject": creator.subject,
        "forced_tags": None if creator.forced_tags is None else group_to_json(creator.forced_tags),
        "fact_types": None if creator.fact_types is None else sorted(creator.fact_types),
        "exact_scopes": None if scopes is None else sorted(sorted(scope) for scope in scopes),
    }


def creator_from_json(document: Mapping[str, object]) -> Creator:
    """Reads what `creator_to_json` wrote."""
    forced, types, scopes = document["forced_tags"], document["fact_types"], document["exact_scopes"]
    return Creator(
        str(document["subject"]),
        None if forced is None else parse_group(forced),
        frozenset(_texts(types)) if isinstance(types, list) else None,
        frozenset(frozenset(_texts(scope)) for scope in scopes) if isinstance(scopes, list) else None,
    )


def _check_cron(field: str, expression: object) -> None:
    if not isinstance(expression, str):
        return
    try:
        parse(expression)
    except ValueError as wrong:
        raise InvalidField(field, str(wrong)) from None


def _value(name: str, value: object) -> object:
    match name:
        case "fact_types" | "exclude_mental_model_ids":
            return tuple(_texts(value))
        case "tags_match":
            return TagsMatch(str(value))
        case "tag_groups":
            return parse_groups(value, "trigger.tag_groups")
    return value


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [item if isinstance(item, str) else group_to_json(item) for item in value]
    return value.value if isinstance(value, TagsMatch) else value


def _texts(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, Collection) and not isinstance(value, str) else []
