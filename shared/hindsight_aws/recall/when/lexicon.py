"""The words of time in languages written with spaces: what each means to the grammar.

Read by tokens.py.  English, Spanish, French, German, Italian, Portuguese; the commonest of Dutch, Russian and Korean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hindsight_aws.recall.when.named_days import NAMED_DAYS
from hindsight_aws.recall.when.numerals import NUMERALS

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
        (
            "jan|janv|ene",
            "feb|févr|fev",
            "mar",
            "apr|avr",
            "",
            "jun|giu",
            "jul|juil|lug",
            "aug",
            "sep|sept",
            "oct|okt|ott",
            "nov",
            "dec|dez|déc|dic",
        ),
        start=1,
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
    "segunda-feira|segunda_feira terça-feira|terca-feira|terça_feira|terça quarta-feira|quarta_feira "
    "quinta-feira|quinta_feira sexta-feira|sexta_feira sábado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "понедельник вторник среду|среда четверг пятницу|пятница субботу|суббота воскресенье",
    "월요일|월요일에 화요일|화요일에 수요일|수요일에 목요일|목요일에 금요일|금요일에 토요일|토요일에 일요일|일요일에",
)
_GERMAN_DAY_PARTS: Final = tuple(
    (day + part, ("weekday", number))
    for number, day in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())
    for part in ("morgen", "vormittag", "mittag", "nachmittag", "abend", "nacht")
)
_DAYS: Final = (
    *_all("day", -3, "trasanteayer vorvorgestern avant-avant-hier trasanteontem"),
    *_all("day", -2, "the_day_before_last antes_de_ayer"),
    *_all("day", -2, "day_before_yesterday the_day_before_yesterday anteayer antier avant-hier avant_hier vorgestern"),
    *_all("day", -2, "l'altro_ieri altro_ieri avantieri anteontem antes_de_ontem eergisteren позавчера 그저께 그제"),
    *_all("day", -1, "yesterday ayer hier gestern ieri ontem gisteren вчера 어제"),
    *_all("day", 0, "today hoy aujourd'hui heute oggi hoje vandaag сегодня 오늘"),
    *_all("day", 1, "tomorrow mañana demain morgen domani amanhã amanha завтра 내일"),
    *_all("day", 2, "day_after_tomorrow the_day_after_tomorrow pasado_mañana après-demain übermorgen dopodomani"),
    *_all("day", 2, "depois_de_amanhã overmorgen послезавтра 모레"),
    *_all("day", 0, "tonight this_morning this_afternoon this_evening esta_noche esta_mañana esta_tarde ce_matin"),
    *_all("day", 0, "cet_après-midi ce_soir cette_nuit heute_morgen heute_abend stamattina stasera stanotte"),
    *_all("day", 0, "esta_manhã esta_noite hoje_à_noite vanavond vanochtend"),
    *_all("night", -1, "last_night anoche hier_soir la_nuit_dernière gestern_abend letzte_nacht ieri_sera"),
    *_all("night", -1, "ontem_à_noite"),
    *_all("night", -2, "the_night_before_last night_before_last anteanoche vorletzte_nacht"),
    *_all("night", -1, "noite_passada gisteravond вчера_вечером прошлой_ночью"),
)
_UNITS: Final = (
    *_all("unit", "minute", "minute minutes min mins minuto minutos minuten minuti минут минуты 분"),
    *_all("unit", "hour", "hour hours hora horas heure heures stunde stunden ora ore uur uren час часа часов 시간"),
    *_all("unit", "day", "day days día días dia dias jour jours tag tage tagen giorno giorni dag dagen день дня дней"),
    *_all("unit", "day", "일"),
    *_all("unit", "week", "week weeks semana semanas semaine semaines woche wochen settimana settimane weken"),
    *_all("unit", "week", "calendar_week kalenderwoche"),
    *_all("unit", "week", "неделя неделе неделю недели недель 주 주일"),
    *_all("unit", "weekend", "weekend weekends week-end fin_de_semana wochenende fine_settimana fim_de_semana"),
    *_all("unit", "weekend", "выходные"),
    *_all("unit", "month", "month months mes meses mois monat monats monate monaten mese mesi mês maand maanden"),
    *_all("unit", "month", "месяц месяце месяца месяцев 달 개월"),
    *_all("unit", "fortnight", "fortnight fortnights quinzaine quincena"),
    *_all("unit", "half", "semestre semestres halbjahr halbjahres semestri"),
    *_all("unit", "century", "century centuries siglo siècle jahrhundert secolo século"),
    *_all("unit", "quarter", "quarter trimestre trimester quartal kwartaal квартал квартале"),
    *_all("unit", "year", "year years año años an ans année années jahr jahres jahre jahren anno anni ano anos jaar"),
    *_all("unit", "year", "jaren"),
    *_all("unit", "year", "год году года лет 년 해"),
    *_all("unit", "decade", "decade decades década décadas décennie jahrzehnt decennio decennium десятилетие"),
)
_RELATIVES: Final = (
    *_all("relative", -2, "vorletzte vorletzten vorletztes vorletzter antepasada antepasado retrasada"),
    *_all("relative", -2, "avant-dernier avant-dernière voorlaatste позапрошлой позапрошлом позапрошлую"),
    *_all("relative", 2, "übernächste übernächsten übernächstes übernächster"),
    *_all("relative", -1, "this_past"),
    *_all("relative", 0, "quest'"),
    *_all("coming", 0, "coming upcoming this_coming que_viene que_vem kommende kommenden kommendes kommender"),
    *_all("relative", 1, "this_coming próximos próximas siguientes prochains prochaines prossimi prossime volgende"),
    *_all("relative", 1, "nächste nächster nächstem vindouro vindoura"),
    *_all("relative", -1, "last previous pasado pasada último última últimos últimas dernier dernière derniers"),
    *_all("relative", -1, "dernières"),
    *_all("relative", -1, "passé passée letzte letzten letzter letztes letztem vorige vorigen voriger voriges vorigem"),
    *_all("relative", -1, "vergangene vergangenen vergangener vergangenes scorso scorsa scorsi scorse passato passata"),
    *_all("relative", -1, "ultimo ultima ultimi ultime passado passada afgelopen laatste 지난"),
    *_all("relative", -1, "прошлый прошлая прошлое прошлом прошлой прошлую прошлого прошлые последние последних"),
    *_all("relative", 0, "this current este esta esto ce cet cette diese dieser diesen dieses diesem questo questa"),
    *_all("relative", 0, "neste nesta deste desta deze dit этот эта эти этом этой эту этого 이번"),
    *_all("relative", 1, "next coming upcoming próximo próxima siguiente que_viene prochain prochaine nächste"),
    *_all("relative", 1, "nächsten"),
    *_all("relative", 1, "nächster nächstes kommende kommenden kommendes prossimo prossima próximo próxima que_vem"),
    *_all("relative", 1, "volgende komende следующий следующая следующей следующем следующую 다음"),
    *_all("rolling", 0, "past recent dernières_24"),
)
_WHOLE: Final = (
    # Korean and one-word forms that are a whole expression.
    *_all("whole", "week:-1", "지난주 지난주에"),
    *_all("whole", "weekend:-1", "over_the_weekend at_the_weekend on_the_weekend am_wochenende"),
    *_all("whole", "weekend:-1", "durante_el_fin_de_semana"),
    *_all("whole", "weekend:-1", "durante_o_fim_de_semana no_fim_de_semana nel_fine_settimana 지난_주말"),
    *_all("whole", "week:-2", "지지난주"),
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
    *_all("few", "few", "несколько qualche"),
    *_all("half", 0, "half_an half_a half medio media une_demi-année demi ein_halbes einem_halben mezzo mezza meio"),
    *_all("half", 0, "meia"),
)
_AHEAD: Final = (
    *_all("ahead_before", 0, "in dentro_de dans tra fra em daqui_a через"),
    *_all("ahead_after", 0, "from_now from_today hence a_partir_de_hoy ab_heute später 후 뒤"),
    *_all("and_half", 0, "and_a_half y_medio y_media et_demi et_demie e_mezzo e_mezza e_meio e_meia"),
    *_all("half_more", 0, "half hälfte mitad moitié metà metade"),
)
_BOUNDS: Final = (
    *_all("since", 0, "since desde_el desde_la desde à_partir_de à_partir_du a_partir_de a_partir_del a_partir_do"),
    *_all("since", 0, "depuis seit ab dal dalla dallo dall' da"),
    *_all("since", 0, "sinds vanaf"),
    *_all("before", 0, "before prior_to earlier_than ahead_of anterior_a antes_del antes_de avant bevor prima_del"),
    *_all("before", 0, "prima_di antes_do antes_da voor vor"),
    *_all("after", 0, "after later_than following después_de después_del despues_de après apres nach dopo_il dopo"),
    *_all("after", 0, "depois_de depois_do após после"),
    *_all(
        "until", 0, "until till up_to by entro no_later_than hasta bis bis_zum jusqu'en jusqu'à jusqu'au d'ici fino_a"
    ),
    *_all("until", 0, "fino_alla até_o até_a"),
    *_all("until", 0, "fino_al até tot"),
    *_all("between", 0, "between entre zwischen tra fra tussen между"),
    *_all("from", 0, "from del de von dal vom du da desde dalla starting"),
    *_all("to", 0, "to through thru until till up_to bis bis_zum al a à au aux ao às hasta jusqu'à jusqu'au jusqu'en"),
    *_all("to", 0, "até fino_a fino_al tot"),
    *_all("and", 0, "and y et und e и en & 와 과"),
    *_all("or", 0, "or o ou oder или"),
)
_PLACES: Final = (
    *_all(
        "to_now",
        0,
        "to_date to_now until_now to_the_present up_to_now hasta_ahora jusqu'à_maintenant bis_jetzt até_agora",
    ),
    *_all("in", 0, "in during throughout within over on en durante dans pendant durant im während nel nell' nello em"),
    *_all("in", 0, "no"),
    *_all("in", 0, "am au le el il na negli nei nelle dem в во"),
    *_all("in_year", 0, "in during throughout en durante dans pendant durant im während nel nell' em el il в во"),
    *_all("year_word", 0, "year año année jahr jahre anno ano jaar году год"),
    *_all("of", 0, "of the de la el los las del du des d' l' le les der die das den dem di della dello do da dos das"),
    *_all("of", 0, "the"),
    *_all("of", 0, "van 의 dell' il o des dia giorno día dem jour"),
    *_all("every", 0, "every_other every each cada todos_los todas_las todos_os todas_as chaque tous_les toutes_les"),
    *_all("every", 0, "jeden jede"),
    *_all("every", 0, "jedes"),
    *_all("every", 0, "jedem ogni tutti_i tutte_le elke iedere каждый каждую каждое"),
)
_PARTS: Final = (
    *_all("part", "early", "principios_del início_do começo_do inicios_de comienzos_de inizio_del début_du"),
    *_all("part", "mid", "mi mediados_del meados_do"),
    *_all("part", "late", "finales_del fines_del final_do final_de fim_do fin_du fine_del"),
    *_all("part", "early", "early beginning_of the_beginning_of start_of the_start_of principios_de début anfang"),
    *_all("part", "early", "inizio"),
    *_all("part", "early", "início_de começo_de begin в_начале"),
    *_all("part", "mid", "mid middle_of the_middle_of mediados_de milieu mitte metà meados_de mitten medio_de"),
    *_all("part", "late", "late end_of the_end_of finales_de fines_de fin fin_de ende fine fim_de eind в_конце"),
    *_all("season", "spring", "spring primavera printemps frühling frühjahr весной"),
    *_all("season", "summer", "summer verano été sommer estate verão zomer летом"),
    *_all("season", "autumn", "autumn fall otoño automne herbst autunno outono herfst осенью"),
    *_all("season", "winter", "winter invierno hiver inverno зимой"),
)


_ELSE: Final = (
    # Words that only look like time, and words that tell that a number counts something.
    *_all("noise", 0, "guten_morgen am_morgen der_morgen den_morgen einen_morgen eines_morgens diesen_morgen"),
    *_all("noise", 0, "la_mañana"),
    *_all("noise", 0, "por_la_mañana de_la_mañana en_la_mañana una_mañana cada_mañana in_march_order in_march_step"),
    *_all("noise", 0, "in_march_time in_march_formation on_march_orders in_august_company the_day_of_the_week"),
    *_all("possessor", 0, "my your his her our their its one's mi su sus mis meine ihre seine sa ses suoi sua seus"),
    *_all("counted", 0, "rows words users people records items lines pages files requests times bytes tokens points"),
    *_all("counted", 0, "characters messages steps ms seconds dollars euros customers employees km kilometers miles"),
    *_all("counted", 0, "metres meters entries tests commits samples copies kg units calls queries documents images"),
    *_all("counted", 0, "filas palabras usuarios personas líneas páginas registros clientes archivos veces pesos"),
    *_all("counted", 0, "lignes mots utilisateurs personnes fichiers clients enregistrements fois mètres"),
    *_all("counted", 0, "zeilen wörter wörtern nutzer nutzern benutzer benutzern personen seiten dateien kunden euro"),
    *_all("counted", 0, "righe parole utenti persone pagine clienti volte metri"),
    *_all("counted", 0, "linhas palavras usuários utilizadores pessoas arquivos vezes reais metros"),
    *_all("thing", 0, "timeout timeouts delay limit interval floor street avenue attempt anniversary birthday edition"),
    *_all("thing", 0, "place row page line column time step"),
    *_all("thing", 0, "meeting version release iteration century person item chapter grade district amendment"),
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
    _MONTHS, _SHORT_MONTHS, _WEEKDAYS, _GERMAN_DAY_PARTS, NUMERALS, NAMED_DAYS, _DAYS, _UNITS, _RELATIVES, _WHOLE, _AGO,
    _AHEAD, _BOUNDS, _PLACES, _PARTS, _ELSE,
)  # fmt: skip
"""Phrases, as case-folded words, with all that each may mean."""

LONGEST: Final = max(len(words) for words in LEXICON)
"""Words of the longest phrase."""

NAMES: Final = frozenset({"april", "may", "june", "august", "mai", "juni", "julia"})
"""Months that are people's names as well: before another capitalised word they are no month."""
