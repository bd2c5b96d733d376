"""The words of time in languages written with spaces: what each means to the grammar.

Read by tokens.py.  English, Spanish, French, German, Italian, Portuguese; the commonest of Dutch, Russian and Korean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

Meaning = tuple[str, int | str]
"""What a lexeme means: a kind of the grammar, and its value."""


def _months(*languages: str) -> Iterator[tuple[str, Meaning]]:
    for language in languages:
        for number, names in enumerate(language.split(), start=1):
            for name in names.split("|"):
                yield name, ("month", number)


def _weekdays(*languages: str) -> Iterator[tuple[str, Meaning]]:
    for language in languages:
        for number, names in enumerate(language.split(), start=0):
            for name in names.split("|"):
                yield name.replace("_", " "), ("weekday", number)


def _all(kind: str, value: int | str, phrases: str) -> Iterator[tuple[str, Meaning]]:
    return ((phrase.strip().replace("_", " "), (kind, value)) for phrase in phrases.split())


def _numbers(*languages: str) -> Iterator[tuple[str, Meaning]]:
    for language in languages:
        for number, names in enumerate(language.split(), start=1):
            for name in names.split("|"):
                yield name, ("number", number)


_MONTHS: Final = _months(
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
    "janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre décembre|decembre",
    "januar|jänner februar märz|maerz april mai juni juli august september oktober november dezember",
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março|marco abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "января|январе|январь феврале|февраля|февраль марте|марта|март апреле|апреля|апрель мае|мая июне|июня|июнь "
    "июле|июля|июль августе|августа|август сентябре|сентября|сентябрь октябре|октября|октябрь "
    "ноябре|ноября|ноябрь декабре|декабря|декабрь",
)
_SHORT_MONTHS: Final = tuple(
    (name, ("short_month", number))
    for number, names in enumerate(
        ("jan", "feb", "mar", "apr", "", "jun", "jul", "aug", "sep|sept", "oct|okt", "nov", "dec|dez"), start=1
    )
    for name in names.split("|")
    if name
)
_WEEKDAYS: Final = _weekdays(
    "monday tuesday wednesday thursday friday saturday sunday",
    "lunes martes miércoles|miercoles jueves viernes sábado|sabado domingo",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
    "montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag",
    "lunedì|lunedi martedì|martedi mercoledì|mercoledi giovedì|giovedi venerdì|venerdi sabato domenica",
    "segunda-feira|segunda_feira terça-feira|terca-feira|terça_feira quarta-feira|quarta_feira "
    "quinta-feira|quinta_feira sexta-feira|sexta_feira sábado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "понедельник вторник среду|среда четверг пятницу|пятница субботу|суббота воскресенье",
    "월요일|월요일에 화요일|화요일에 수요일|수요일에 목요일|목요일에 금요일|금요일에 토요일|토요일에 일요일|일요일에",
)
_NUMBERS: Final = _numbers(
    "one two three four five six seven eight nine ten eleven twelve",
    "uno|una|un dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "un|une deux trois quatre cinq six sept huit neuf dix onze douze",
    "ein|eine|einem|einer|einen zwei drei vier fünf|fuenf sechs sieben acht neun zehn elf zwölf|zwoelf",
    "un|uno|una due tre quattro cinque sei sette otto nove dieci undici dodici",
    "um|uma dois|duas três|tres quatro cinco seis sete oito nove dez onze doze",
    "een|één twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "один|одну|одна два|две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать",
)
_DAYS: Final = (
    *_all("day", -2, "day_before_yesterday the_day_before_yesterday anteayer antier avant-hier avant_hier vorgestern"),
    *_all("day", -2, "l'altro_ieri altro_ieri avantieri anteontem eergisteren позавчера 그저께 그제"),
    *_all("day", -1, "yesterday ayer hier gestern ieri ontem gisteren вчера 어제"),
    *_all("day", 0, "today hoy aujourd'hui heute oggi hoje vandaag сегодня 오늘"),
    *_all("day", 1, "tomorrow mañana demain morgen domani amanhã amanha завтра 내일"),
    *_all("day", 2, "day_after_tomorrow the_day_after_tomorrow pasado_mañana après-demain übermorgen dopodomani"),
    *_all("day", 2, "depois_de_amanhã overmorgen послезавтра 모레"),
    *_all("day", 0, "tonight this_morning this_afternoon this_evening esta_noche esta_mañana esta_tarde ce_matin"),
    *_all("day", 0, "cet_après-midi ce_soir cette_nuit heute_morgen heute_abend stamattina stasera stanotte"),
    *_all("day", 0, "esta_manhã esta_noite hoje_à_noite vanavond vanochtend"),
    *_all(
        "night", -1, "last_night anoche hier_soir la_nuit_dernière gestern_abend letzte_nacht ieri_sera ontem_à_noite"
    ),
    *_all("night", -1, "noite_passada gisteravond вчера_вечером прошлой_ночью"),
)
_UNITS: Final = (
    *_all("unit", "hour", "hour hours hora horas heure heures stunde stunden ora ore uur uren час часа часов 시간"),
    *_all(
        "unit", "day", "day days día días dia dias jour jours tag tage tagen giorno giorni dag dagen день дня дней 일"
    ),
    *_all("unit", "week", "week weeks semana semanas semaine semaines woche wochen settimana settimane weken"),
    *_all("unit", "week", "неделя неделе неделю недели недель 주 주일"),
    *_all(
        "unit", "weekend", "weekend weekends week-end fin_de_semana wochenende fine_settimana fim_de_semana выходные"
    ),
    *_all("unit", "month", "month months mes meses mois monat monats monate monaten mese mesi mês maand maanden"),
    *_all("unit", "month", "месяц месяце месяца месяцев 달 개월"),
    *_all("unit", "quarter", "quarter trimestre trimester quartal kwartaal квартал квартале"),
    *_all(
        "unit", "year", "year years año años an ans année années jahr jahres jahre jahren anno anni ano anos jaar jaren"
    ),
    *_all("unit", "year", "год году года лет 년 해"),
    *_all("unit", "decade", "decade decades década décadas décennie jahrzehnt decennio decennium десятилетие"),
)
_RELATIVES: Final = (
    *_all(
        "relative", -1, "last previous pasado pasada último última últimos últimas dernier dernière derniers dernières"
    ),
    *_all("relative", -1, "passé passée letzte letzten letzter letztes letztem vorige vorigen voriger voriges vorigem"),
    *_all("relative", -1, "vergangene vergangenen vergangener vergangenes scorso scorsa scorsi scorse passato passata"),
    *_all("relative", -1, "ultimo ultima ultimi ultime passado passada afgelopen laatste 지난"),
    *_all("relative", -1, "прошлый прошлая прошлое прошлом прошлой прошлую прошлого прошлые последние последних"),
    *_all("relative", 0, "this current este esta esto ce cet cette diese dieser diesen dieses diesem questo questa"),
    *_all("relative", 0, "neste nesta deste desta deze dit этот эта эти этом этой эту этого 이번"),
    *_all(
        "relative", 1, "next coming upcoming próximo próxima siguiente que_viene prochain prochaine nächste nächsten"
    ),
    *_all("relative", 1, "nächster nächstes kommende kommenden kommendes prossimo prossima próximo próxima que_vem"),
    *_all("relative", 1, "volgende komende следующий следующая следующей следующем следующую 다음"),
    *_all("rolling", 0, "past recent dernières_24"),
)
_WHOLE: Final = (
    # Korean and one-word forms that are a whole expression.
    *_all("whole", "week:-1", "지난주 지난주에"),
    *_all("whole", "week:0", "이번주"),
    *_all("whole", "week:1", "다음주"),
    *_all("whole", "month:-1", "지난달 지난달에"),
    *_all("whole", "month:0", "이번달"),
    *_all("whole", "month:1", "다음달"),
    *_all("whole", "year:-1", "작년 작년에 지난해 antan"),
    *_all("whole", "year:0", "올해 heuer"),
    *_all("whole", "year:1", "내년"),
)
_AGO: Final = (
    *_all("ago_after", 0, "ago fa atrás atras geleden назад 전 전에"),
    *_all("ago_before", 0, "hace il_y_a vor há faz"),
    *_all("few", "couple", "a_couple_of couple_of a_couple couple un_par_de ein_paar un_paio_di um_par_de"),
    *_all("few", "few", "a_few few several unos unas quelques einige einigen alcuni alcune alguns algumas enkele"),
    *_all("few", "few", "несколько"),
    *_all("half", 0, "half_a half medio media une_demi-année demi ein_halbes einem_halben mezzo mezza meio meia"),
)
_BOUNDS: Final = (
    *_all("since", 0, "since desde_el desde_la desde depuis seit ab dal dalla dallo da sinds vanaf"),
    *_all("before", 0, "before prior_to antes_del antes_de avant bevor prima_del prima_di antes_do antes_da voor vor"),
    *_all(
        "after",
        0,
        "after después_de después_del despues_de après apres nach dopo_il dopo depois_de depois_do após na после",
    ),
    *_all("until", 0, "until till up_to hasta jusqu'en jusqu'à jusqu'au fino_a fino_al até tot"),
    *_all("between", 0, "between entre zwischen tra fra tussen между"),
    *_all("from", 0, "from del de von dal vom"),
    *_all("to", 0, "to through thru bis al au"),
    *_all("and", 0, "and y et und e и en"),
)
_PLACES: Final = (
    *_all(
        "in", 0, "in during throughout within over on en durante dans pendant durant im während nel nell' nello em no"
    ),
    *_all("in", 0, "am au le el il в во"),
    *_all("in_year", 0, "in during throughout en durante dans pendant durant im während nel nell' em el il в во"),
    *_all("year_word", 0, "year año année jahr jahre anno ano jaar году год"),
    *_all(
        "of", 0, "of the de la el los las del du des d' l' le les der die das den dem di della dello do da dos das the"
    ),
    *_all("of", 0, "van 의"),
)
_PARTS: Final = (
    *_all(
        "part", "early", "early beginning_of the_beginning_of start_of the_start_of principios_de début anfang inizio"
    ),
    *_all("part", "early", "início_de começo_de begin в_начале"),
    *_all("part", "mid", "mid middle_of the_middle_of mediados_de milieu mitte metà meados_de mitten medio_de"),
    *_all("part", "late", "late end_of the_end_of finales_de fines_de fin fin_de ende fine fim_de eind в_конце"),
    *_all("season", "spring", "spring primavera printemps frühling frühjahr весной"),
    *_all("season", "summer", "summer verano été sommer estate verão zomer летом"),
    *_all("season", "autumn", "autumn fall otoño automne herbst autunno outono herfst осенью"),
    *_all("season", "winter", "winter invierno hiver inverno зимой"),
    *_all("ordinal", 1, "first primer primero primera premier première erste ersten erstes primo prima primeiro"),
    *_all("ordinal", 2, "second segundo segunda deuxième zweite zweiten zweites secondo seconda"),
    *_all("ordinal", 3, "third tercer tercero tercera troisième dritte dritten drittes terzo terza terceiro"),
    *_all("ordinal", 4, "fourth cuarto quatrième vierte vierten viertes quarto"),
    *_all("decade", 1920, "twenties"),
    *_all("decade", 1930, "thirties"),
    *_all("decade", 1940, "forties"),
    *_all("decade", 1950, "fifties"),
    *_all("decade", 1960, "sixties"),
    *_all("decade", 1970, "seventies"),
    *_all("decade", 1980, "eighties"),
    *_all("decade", 1990, "nineties"),
    *_all("holiday", "christmas", "christmas christmas_day noël navidad weihnachten natale natal"),
    *_all("holiday", "new_year", "new_year's_day new_years_day"),
    *_all("holiday", "new_years_eve", "new_year's_eve new_years_eve silvester"),
    *_all("holiday", "thanksgiving", "thanksgiving thanksgiving_day"),
    *_all("holiday", "halloween", "halloween"),
    *_all("holiday", "valentine", "valentine's_day valentines_day"),
    *_all("holiday", "easter", "easter easter_sunday ostern pâques pascua pasqua páscoa"),
)


def _meanings(*lists: Iterable[tuple[str, Meaning]]) -> dict[tuple[str, ...], tuple[Meaning, ...]]:
    table: dict[tuple[str, ...], tuple[Meaning, ...]] = {}
    for entries in lists:
        for phrase, meaning in entries:
            words = tuple(phrase.split())
            if meaning not in table.get(words, ()):
                table[words] = (*table.get(words, ()), meaning)
    return table


LEXICON: Final = _meanings(
    _MONTHS, _SHORT_MONTHS, _WEEKDAYS, _NUMBERS, _DAYS, _UNITS, _RELATIVES, _WHOLE, _AGO, _BOUNDS, _PLACES, _PARTS
)  # fmt: skip
"""Phrases, as case-folded words, with all that each may mean."""

LONGEST: Final = max(len(words) for words in LEXICON)
"""Words of the longest phrase."""

NAMES: Final = frozenset({"april", "may", "june", "august", "mai", "juni", "julia"})
"""Months that are people's names as well: before another capitalised word they are no month."""
