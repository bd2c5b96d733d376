"""Named days of the year, by name and by reckoning; each only with its year.  Called by dates.py; calls spans."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Final

from hindsight_aws.recall.when import spans
from hindsight_aws.recall.when.spans import Span

_NAMES: Final[Mapping[str, str]] = {
    "christmas": "christmas christmas_day noël navidad weihnachten natale natal kerst kerstmis 크리스마스",
    "12-24": "christmas_eve nochebuena veille_de_noël heiligabend heiliger_abend vigilia_di_natale véspera_de_natal",
    "12-26": "boxing_day",
    "12-31": "new_year's_eve new_years_eve silvester nochevieja réveillon saint-sylvestre san_silvestro",
    "1-1": "new_year's_day new_years_day new_year año_nuevo neujahr nouvel_an jour_de_l'_an capodanno ano_novo",
    "1-6": "epiphany día_de_reyes épiphanie dreikönigstag epifania",
    "2-14": "valentine's_day valentines_day valentinstag san_valentín saint-valentin san_valentino",
    "3-17": "st_patrick's_day",
    "7-4": "independence_day",
    "8-15": "ferragosto",
    "10-31": "halloween",
    "11-1": "all_saints'_day all_saints_day toussaint allerheiligen ognissanti",
    "easter+0": "easter easter_sunday ostern ostersonntag pâques pascua domingo_de_pascua pascuas pasqua páscoa pasen",
    "easter-2": "good_friday viernes_santo vendredi_saint karfreitag venerdì_santo sexta-feira_santa",
    "easter+1": "easter_monday lunes_de_pascua lundi_de_pâques ostermontag pasquetta lunedì_dell'_angelo",
    "easter-7": "palm_sunday domingo_de_ramos palmsonntag",
    "easter-46": "ash_wednesday miércoles_de_ceniza aschermittwoch",
    "easter-47": "carnaval carnevale mardi_gras",
    "easter+39": "ascension_day ascension himmelfahrt christi_himmelfahrt",
    "easter+49": "pentecost whit_sunday pentecostés pentecôte pfingsten pfingstsonntag pentecoste pentecostes",
    "easter+50": "whit_monday pfingstmontag lundi_de_pentecôte",
    "11:3:4+0": "thanksgiving thanksgiving_day",
    "11:3:4+1": "black_friday",
    "11:3:4+4": "cyber_monday",
    "9:0:1+0": "labor_day",
    "5:0:-1+0": "memorial_day",
    "5:6:2+0": "mother's_day mothers_day muttertag",
    "6:6:3+0": "father's_day fathers_day",
    "unknown": "chinese_new_year lunar_new_year chinesisches_neujahr año_nuevo_chino nouvel_an_chinois",
}
"""How to reckon a day, with its names: month-day, Easter and days, month:weekday:which and days."""

NAMED_DAYS: Final = tuple(
    (name.replace("_", " "), ("holiday", reckoning)) for reckoning, names in _NAMES.items() for name in names.split()
)
"""The names as phrases of the lexicon."""


def named_day(reckoning: str, year: int) -> Span | None:
    """The day of a year; Christmas with its eve and the day after it; None for a day that no rule here reckons."""
    if reckoning == "unknown":
        return None
    if reckoning == "christmas":
        return date(year, 12, 24), date(year, 12, 26)
    if reckoning.startswith("easter"):
        return spans.day(_easter(year), int(reckoning.removeprefix("easter")))
    if ":" in reckoning:
        place, _, shift = reckoning.partition("+")
        month, weekday, which = map(int, place.split(":"))
        return spans.day(spans.nth_weekday(spans.month(year, month), weekday, which), int(shift))
    number, _, day = reckoning.partition("-")
    return spans.day(date(year, int(number), int(day)), 0)


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the anonymous algorithm (Meeus, Astronomical Algorithms, ch. 8)."""
    golden, (century, rest) = year % 19, divmod(year, 100)
    leap, skipped = divmod(century, 4)
    moon = (19 * golden + century - leap - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    week = (32 + 2 * skipped + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (golden + 11 * moon + 22 * week) // 451
    month, day = divmod(moon + week - 7 * shift + 114, 31)
    return date(year, month, day + 1)
