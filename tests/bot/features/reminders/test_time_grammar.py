"""Times after `/remind`: the plain forms are read whole; anything else about time leaves nothing planned."""

from datetime import UTC, datetime

from bot.features.reminders.time_grammar import read
from tools import Repeat, Wish

FRIDAY = datetime(2026, 11, 27, 19, 30, tzinfo=UTC)
"""20:30 in Berlin."""
EXACT, NO_HALF, NO_DAY, ONLY_HOUR = (True, True), (False, True), (True, False), (False, False)

ONCE = (
    ("14:30 tea", "2026-11-27T14:30", "tea", NO_DAY),
    ("at 8 tea", "2026-11-27T08:00", "tea", ONLY_HOUR),
    ("at 1 tea", "2026-11-27T01:00", "tea", ONLY_HOUR),
    ("at 8pm tea", "2026-11-27T20:00", "tea", NO_DAY),
    ("at 12 am tea", "2026-11-27T00:00", "tea", NO_DAY),
    ("today 18:05 tea", "2026-11-27T18:05", "tea", EXACT),
    ("tomorrow 9:00 two  words\nand more", None, "", EXACT),
    ("Tomorrow 9:00 some  words\nand more", "2026-11-28T09:00", "some  words\nand more", NO_HALF),
    ("tomorrow at 5:30 tea", "2026-11-28T05:30", "tea", NO_HALF),
    ("tomorrow at 05:30 tea", "2026-11-28T05:30", "tea", EXACT),
    ("tomorrow noon call", "2026-11-28T12:00", "call", EXACT),
    ("on monday at 9 tea", "2026-11-30T09:00", "tea", NO_HALF),
    ("2026-12-24 18:00 tea", "2026-12-24T18:00", "tea", EXACT),
    ("3 December at 9 tea", "2026-12-03T09:00", "tea", NO_HALF),
    ("on the 3rd of december at 9 a.m. tea", "2026-12-03T09:00", "tea", EXACT),
    ("7 November at 21:00 tea", "2027-11-07T21:00", "tea", EXACT),
    ("today at midday tea", "2026-11-27T12:00", "tea", EXACT),  # mojombo/chronic issue 369
    ("today at 3:15 tea", "2026-11-27T03:15", "tea", NO_HALF),  # scottleedavis/mattermost-remind issue 73
    ("demain 09h12 du thé", "2026-11-28T09:12", "du thé", EXACT),  # bear/parsedatetime issue 31
    ("tomorrow at 8: tea", "2026-11-28T08:00", "tea", NO_HALF),
    ("tomorrow at 8 - tea", "2026-11-28T08:00", "tea", NO_HALF),
    ("morgen 5:30 Tee", "2026-11-28T05:30", "Tee", EXACT),
    ("morgen um 9 Uhr den Müll", "2026-11-28T09:00", "den Müll", NO_HALF),
    ("am Montag um 9 Zahnarzt", "2026-11-30T09:00", "Zahnarzt", NO_HALF),
    ("übermorgen um 9 Uhr an den Tee", "2026-11-29T09:00", "den Tee", NO_HALF),
    ("um 18:00 Uhr Tee", "2026-11-27T18:00", "Tee", NO_DAY),
    ("20.30 Uhr Tee", "2026-11-27T20:30", "Tee", NO_DAY),
    ("demain à 9h30 d'appeler Paul", "2026-11-28T09:30", "appeler Paul", EXACT),
    ("demain à 8 heures du pain", "2026-11-28T08:00", "du pain", NO_HALF),
    ("le 3 décembre à 9 heures du thé", "2026-12-03T09:00", "du thé", NO_HALF),
    ("mañana a las 9 comprar leche", "2026-11-28T09:00", "comprar leche", NO_HALF),
    ("mañana a las 01:00 llamar", "2026-11-28T01:00", "llamar", EXACT),
    ("call Mum tomorrow at 9", None, "", EXACT),
)
DELAYS = (
    ("in 10 min tea", 600, "tea"),
    ("IN 2 weeks tea", 1_209_600, "tea"),
    ("in 1h buy 3 eggs", 3600, "buy 3 eggs"),
    ("in half an hour tea", 1800, "tea"),
    ("mich in 10 Minuten an den Tee", 600, "den Tee"),
    ("in einer halben Stunde Wäsche", 1800, "Wäsche"),
    ("dans une demi-heure le thé", 1800, "le thé"),
    ("dentro de 10 minutos el té", 600, "el té"),
)
AGAIN = (
    ("every day at 8 tea", "2026-11-27T08:00", Repeat(every="day")),
    ("every weekday 18:00 tea", "2026-11-27T18:00", Repeat(every="week", weekdays=("mo", "tu", "we", "th", "fr"))),
    ("every thursday, monday at 6:30pm tea", "2026-11-27T18:30", Repeat(every="week", weekdays=("mo", "th"))),
    ("jeden Tag um 8 Uhr tea", "2026-11-27T08:00", Repeat(every="day")),
    ("every month on the 15th at 9 tea", "2026-11-15T09:00", Repeat(every="month")),
    ("jeden Monat am 1. um 9 tea", "2026-11-01T09:00", Repeat(every="month")),
    ("tous les mois le 1er à 9h tea", "2026-11-01T09:00", Repeat(every="month")),
    ("cada mes el 5 a las 9 tea", "2026-11-05T09:00", Repeat(every="month")),
    ("tous les lundis à 9h tea", "2026-11-27T09:00", Repeat(every="week", weekdays=("mo",))),
    ("tous les jours à 8h tea", "2026-11-27T08:00", Repeat(every="day")),
)
UNREAD = """
    tea; 8 tea; 25:00 tea; at 24 tea; at 12:60 tea; at 13pm tea; 14:30; in 10 min; in 10 months x; in 2 h at 9 tea
    every 5/5 at 7 tea; 1 week ago at 12 am tea; quarter past five tea; hour past christmas tea
    9:00 tea; friday tea; tomorrow tea; tonight call the plumber; friday at 9 tea; 31 february at 9 tea
    2026-02-30 9:00 tea; in 10 minutes tea again; tomorrow at 9 call mum asap; at 17:00 sunset x; at 6pm half five x
    tomorrow at midnight feed the cat; tomorrow at 6p eat dinner; tomorrow by 5pm pay the bill
    2 hours before the meeting on monday at 15:00 prepare; every day except sunday at 8 swim; at 17:00 after lunch tea
    monday next week at 15:00 call; monday december 8 at 3pm dentist; 3/12 at 9 tea; friday 13 at 9 tea
    on the 3rd at 9 tea; pay rent on the 15th at 9; monday and tuesday at 9 tea; monday to friday at 9 tea
    monday at 9 and tuesday at 10 tea; weekends at 9 tea; next friday at 9 tea; last friday at 9 tea; yesterday at 9 tea
    first thing tomorrow tea; every other day at 8 tea; every 2 days at 8 tea; every month at 9 tea
    every month on the 31st at 9 tea; every day at 8 on monday swim; every day at 8 swim but not on holidays
    every day at 8 swim except sundays; every day at 8 pills for 3 weeks; every day at 8 starting monday swim
    in 1.5 hours tea; in 2 days at 9 tea; in about 10 minutes tea; in 2 or 3 hours tea; in 2-3 hours tea
    in 5 working days tea; in 2 weeks' time tea; in a fortnight tea; in 3 moons tea; in an hour or two tea
    at 1½ tea; at 9ish tea; at 9-10 tea; at 9 – 10 tea; at 9 or 10 tea; at 5 to 6 tea; at 9 until ten swim
    at 9 swim until ten; at 9 thirty tea; at 9 sharp tea; at 9 PST call; at 9 at the latest tea; at 9 after work call
    at 9 if it rains tea; at 9 when I get home tea; at 9 monday blues; tomorrow at half past 8 tea; quarter to 9 tea
    not tomorrow at 9 tea; call mum not at 9; call mum approx 5pm; call mum around 5 pm; call mum 5 to 6pm
    call mum between 5 and 6pm; call mum by 5pm; call mum twice tomorrow at 9; call mum half past 5pm
    tomorrow to call Mum at 9; buy cake for the party at 8; call mum before the meeting at 9; the meeting of 9:00
    tomorrow evening at 12 tea; tomorrow morning at 20:30 tea; tomorrow at 9 evening classes; 5 min tea
    at 9 call Anna about the meeting at 10; tomorrow at 9 call about friday; 2 hours of yoga today at 7pm
    morgen gegen 9 Tee; morgen ab 9 Tee; morgen bis 9 Tee; morgen vor 9 Tee; um halb neun Tee; a la una y media té
    um 9 dreißig Tee; morgen um Mitternacht Katze; jeden Tag außer Sonntag um 8 schwimmen; morgen in 2 Stunden Tee
    jeden zweiten Tag um 8 schwimmen; montags bis freitags um 9 Tee; Miete zahlen am 7. um 9; am 7. um 9 Uhr Miete
    in 2 Stunden 3 Eier kaufen; nächsten Freitag um 9 Tee; spätestens morgen um 9 Tee; morgen um 9 spätestens Tee
    2 Stunden vor dem Treffen am Montag um 15 Uhr vorbereiten; morgen Vormittag um 3 Kaffee; in 10 Minuten Tee gleich
    demain vers 9h thé; demain avant 9h thé; à 9h et demie thé; demain à minuit chat; dans 10 minutes environ thé
    tous les jours sauf le dimanche à 8h nager; du lundi au vendredi à 9h thé; dans 2 heures et demie thé
    2 heures avant la réunion lundi à 15h préparer; vendredi prochain à 9h thé; au plus tard demain à 9h thé
    mañana antes de las 9 té; mañana sobre las 9 té; a las 9 y media té; mañana a medianoche gato; en 2 horas y media té
    todos los días excepto el domingo a las 8 nadar; de lunes a viernes a las 9 té; el próximo viernes a las 9 té
    tomorrow at 9 (not 10) tea; call mum (not) at 9; tell Anna dinner is at 8; the shop closes at 6
    das Spiel beginnt um 20:30; le film commence à 21h; la fiesta empieza a las 9; hier à 7h thé; thé hier à 7h
    at 9 feed the cat half past; at 9 feed the cat quarter to ten; at 9 Dec 3 feed the cat; tomorrow at 9 call Bob CEST
    18:30 AEDT feed cats; friday at 9 call Bob p.m.; um 15 Uhr Mo Katze; à 15h le chat et demie; a las 15 lun gato
    January 5, 2027 at noon tea; sunday march 7 at noon lunch; tonight at 9 tea; at 8 in the evening tea
    am 3.12. um 9 Tee; 31.12.26 8:00 Tee; heute Abend um 10 Tee; am Montag, den 7. Dezember um 15 Uhr Zahnarzt
    in 2h30m tea; in 1 hour 5 minutes tea; in five minutes tea; en cinco minutos té; mondays at 8 tea; at 9 tomorrow tea
    every month on the 31st at 9 tea; every month on 0 at 9 tea; every month at 9 tea; heute um 19 Uhr 30 den Müll
    29 February at 9 tea; mañana a la una llamar
    dormir 8 horas; 18:00 appeler mon père; mañana a las 9 y a las 10 té; morgen at 9 tea
"""
"""What other programs planned at a wrong time, by public reports: keybase-reminder-bot issues 6, 22, 48 and 53;
UWCS/apollo issue 30; dueapp/Due-macOS issue 5; Mayerch1/RemindmeBot issue 5; scottleedavis/mattermost-plugin-remind
issue 25 ("every 5/5 at 7"); scrapinghub/dateparser issue 107 ("1 week ago at 12 am"); aridevelopment-de/datetimeparser
issue 78 ("quarter past five"); compufox/RemindMeBot issue 2 ("18:30 AEDT feed cats"); aetheryx/remindme issue 31
("CEST"); wanasit/chrono issue 401 ("half past"). 2026-11-27.
"""


def test_the_plain_forms_are_read() -> None:
    """Day, hour and text; whether the half of the day was said, and the day. The text comes last."""
    for words, local, text, (names_half, names_day) in ONCE:
        wish = Wish(text=text, local=local, names_half=names_half, names_day=names_day)
        assert read(words, now=FRIDAY, zone="Europe/Berlin") == (wish if local else None), words
    for words, seconds, text in DELAYS:
        assert read(words, now=FRIDAY, zone="UTC") == Wish(text=text, delay_seconds=seconds), words
    for words, local, repeat in AGAIN:
        wish = read(words, now=FRIDAY, zone="UTC")
        assert wish is not None, words
        assert (wish.text, wish.local, wish.repeat) == ("tea", local, repeat), words


def test_nothing_is_planned_where_a_word_about_time_is_left() -> None:
    """Neither at a usual hour, nor with half of a time as its text."""
    for words in filter(None, (line.strip() for line in UNREAD.replace("\n", ";").split(";"))):
        assert read(words, now=FRIDAY, zone="UTC") is None, words


def test_what_is_to_be_asked_then_may_speak_of_time() -> None:
    """`ask:` makes a question of the text, and says where it begins."""
    asked = read("every day at 8 Ask: weather in Oslo today?", now=FRIDAY, zone="UTC")
    assert asked is not None
    assert (asked.text, asked.prompt) == ("weather in Oslo today?", "weather in Oslo today?")
