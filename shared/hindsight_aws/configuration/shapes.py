"""Shapes of the nested bank settings: strategies, labels, options, triggers.

Shape and types are strict; what is merely unfinished (no tags yet, nothing set yet) passes, because drafts are stored.
Called by memory_fields.py and answer_fields.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hindsight_aws.errors import InvalidField, InvalidRequest
from hindsight_aws.model.principal import FACT_TYPES
from hindsight_aws.model.screening import parse_policy
from hindsight_aws.model.strategy import parse_new
from hindsight_aws.model.trigger import Trigger, checked_changes, checked_trigger, patched

SCOPE_MODES = frozenset({"per_tag", "combined", "all_combinations", "shared"})
_ARMS = ("semantic", "keyword", "graph", "temporal")
_BOOST_LEVELS = ("low", "medium", "high")
_LABEL_TYPES = ("value", "multi-values", "text", "multi-text", "map")
_DEEPEST_MAP = 5
_TAG_MODES = ("any", "all", "any_strict", "all_strict", "exact")
_BOOLEAN_TRIGGERS = frozenset(
    {
        "refresh_after_consolidation",
        "exclude_mental_models",
        "include_chunks",
        "reflect_search_observations_include_entities",
        "keep_trace",
    }
)
_INTEGER_TRIGGERS = frozenset(
    {
        "min_refresh_interval_seconds",
        "recall_max_tokens",
        "recall_chunks_max_tokens",
        "reflect_search_observations_max_tokens",
    }
)
_OTHER_TRIGGERS = frozenset(
    {
        "budget",
        "mode",
        "refresh_cron",
        "full_refresh_cron",
        "fact_types",
        "exclude_mental_model_ids",
        "tags_match",
        "tag_groups",
        "response_schema",
    }
)


def check_boosts(name: str, value: object) -> None:
    """Accepts an object of recall's arms and levels.  Raises InvalidRequest naming the arm."""
    for arm, level in _object(name, value).items():
        if arm not in _ARMS:
            raise InvalidRequest(f"{name} must name arms of recall ({', '.join(_ARMS)}), got {_shown(arm)}")
        if level not in _BOOST_LEVELS:
            raise InvalidRequest(f"{name}.{arm} must be one of {', '.join(_BOOST_LEVELS)}, got {_shown(level)}")


def check_default_scopes(name: str, value: object) -> None:
    """Accepts a scope mode or a list of tag lists.  Raises InvalidRequest."""
    if isinstance(value, str):
        if value not in SCOPE_MODES:
            raise InvalidRequest(
                f"{name} must be one of {', '.join(sorted(SCOPE_MODES))} or a list of tag lists, got {value[:40]!r}"
            )
        return
    for at, scope in enumerate(_list(name, value)):
        _strings(f"{name}[{at}]", scope)


def check_strategies(name: str, value: object) -> None:
    """Accepts a list of consolidation strategies, drafts included.  Raises InvalidRequest naming the entry."""
    parse_new(value, name)


def check_scope_limits(name: str, value: object) -> None:
    """Accepts a list of {scope, limit}.  Raises InvalidRequest naming the entry."""
    for at, entry in enumerate(_list(name, value)):
        where = f"{name}[{at}]"
        rule = _object(where, entry)
        _known(where, rule, frozenset({"scope", "limit"}))
        _strings(f"{where}.scope", rule.get("scope", []))
        if rule.get("limit") is not None:
            _integer(f"{where}.limit", rule["limit"], -1)


def check_labels(name: str, value: object) -> None:
    """Accepts label groups, or objects that hold groups as `attributes`.  Raises InvalidRequest naming the group."""
    for at, entry in enumerate(_list(name, value)):
        where = f"{name}[{at}]"
        group = _object(where, entry)
        if "attributes" in group:
            check_labels(f"{where}.attributes", group["attributes"])
            continue
        key = group.get("key")
        if not isinstance(key, str) or not key.strip():
            raise InvalidRequest(f"{where}.key must be a string that is not blank, got {_shown(key)}")
        if group.get("type", "value") not in _LABEL_TYPES:
            raise InvalidRequest(f"{where}.type must be one of {', '.join(_LABEL_TYPES)}, got {_shown(group['type'])}")
        for flag in ("optional", "tag", "free_values", "multi_value"):
            _optional_flag(f"{where}.{flag}", group.get(flag))
        _check_label_values(where, group)
        _check_label_fields(where, group, 0)


def _check_label_values(where: str, holder: Mapping[str, object]) -> None:
    for at, label in enumerate(_list(f"{where}.values", holder.get("values") or [])):
        if not isinstance(label, str) and not isinstance(_object(f"{where}.values[{at}]", label).get("value"), str):
            raise InvalidRequest(f"{where}.values[{at}].value must be a string")


def _check_label_fields(where: str, holder: Mapping[str, object], depth: int) -> None:
    """The fields of a map, each of which may be a map again."""
    if depth > _DEEPEST_MAP:
        raise InvalidRequest(f"{where} must not hold maps more than {_DEEPEST_MAP} deep")
    for name, raw in _object(f"{where}.fields", holder.get("fields") or {}).items():
        inside = f"{where}.fields[{name[:60]!r}]"
        inner = _object(inside, raw)
        if inner.get("type", "text") not in _LABEL_TYPES:
            raise InvalidRequest(f"{inside}.type must be one of {', '.join(_LABEL_TYPES)}, got {_shown(inner['type'])}")
        _check_label_values(inside, inner)
        _check_label_fields(inside, inner, depth + 1)


def check_defense(name: str, value: object) -> None:
    """Accepts {enabled, rules: [{on, action}]}.  Raises InvalidRequest naming the rule."""
    parse_policy(value, name)


def check_default_options(name: str, value: object) -> None:
    """Accepts default options of reflect calls.  Raises InvalidRequest naming the option."""
    options = _object(name, value)
    _known(
        name,
        options,
        frozenset({"reflect_search_observations_max_tokens", "reflect_search_observations_include_entities"}),
    )
    if options.get("reflect_search_observations_max_tokens") is not None:
        _integer(f"{name}.reflect_search_observations_max_tokens", options["reflect_search_observations_max_tokens"], 1)
    _optional_flag(
        f"{name}.reflect_search_observations_include_entities",
        options.get("reflect_search_observations_include_entities"),
    )


def check_trigger(name: str, value: object) -> None:
    """Accepts part of a mental model's trigger.  Raises InvalidRequest naming the field."""
    trigger = _object(name, value)
    _known(name, trigger, _BOOLEAN_TRIGGERS | _INTEGER_TRIGGERS | _OTHER_TRIGGERS)
    for key in sorted(_BOOLEAN_TRIGGERS):
        _optional_flag(f"{name}.{key}", trigger.get(key))
    for key in sorted(_INTEGER_TRIGGERS):
        if trigger.get(key) is not None:
            _integer(f"{name}.{key}", trigger[key], 0)
    for key in ("refresh_cron", "full_refresh_cron"):
        _optional_text(f"{name}.{key}", trigger.get(key))
    _optional_word(f"{name}.mode", trigger.get("mode"), ("full", "delta"))
    _optional_word(f"{name}.budget", trigger.get("budget"), ("low", "mid", "high"))
    _optional_word(f"{name}.tags_match", trigger.get("tags_match"), _TAG_MODES)
    for key in ("fact_types", "exclude_mental_model_ids"):
        if trigger.get(key) is not None:
            _strings(f"{name}.{key}", trigger[key])
    for place, word in enumerate(_list(f"{name}.fact_types", trigger.get("fact_types") or [])):
        _optional_word(f"{name}.fact_types[{place}]", word, tuple(sorted(FACT_TYPES)))
    if trigger.get("response_schema") is not None:
        _object(f"{name}.response_schema", trigger["response_schema"])
    try:
        checked_trigger(patched(Trigger(), checked_changes(trigger)))
    except InvalidField as wrong:
        raise InvalidRequest(f"{name}: {wrong}") from None


def _list(where: str, value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise InvalidRequest(f"{where} must be a list, got {type(value).__name__}")
    return value


def _object(where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{where} must be an object, got {type(value).__name__}")
    return value


def _strings(where: str, value: object) -> None:
    for entry in _list(where, value):
        if not isinstance(entry, str):
            raise InvalidRequest(f"{where} must be a list of strings, got {type(entry).__name__} in it")


def _known(where: str, value: Mapping[str, object], known: frozenset[str]) -> None:
    unknown = sorted(set(value) - known)
    if unknown:
        raise InvalidRequest(f"{where} has unknown keys: {[key[:60] for key in unknown[:10]]}")


def _integer(where: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidRequest(f"{where} must be an integer, got {type(value).__name__}")
    if not least <= value < 2**31:
        raise InvalidRequest(
            f"{where} must be an integer of at least {least} and at most 32 bits, got {str(value)[:20]}"
        )


def _optional_flag(where: str, value: object) -> None:
    if value is not None and not isinstance(value, bool):
        raise InvalidRequest(f"{where} must be a boolean, got {type(value).__name__}")


def _optional_text(where: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise InvalidRequest(f"{where} must be a string, got {type(value).__name__}")


def _optional_word(where: str, value: object, words: tuple[str, ...]) -> None:
    if value is not None and value not in words:
        raise InvalidRequest(f"{where} must be one of {', '.join(words)}, got {_shown(value)}")


def _shown(value: object) -> str:
    return repr(value)[:60]
