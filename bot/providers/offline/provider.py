"""The provider that answers without any model, so that Aldis runs without a key; it is also the models' test double.

It uses the same tool loop as a model: the first completion calls the tools that the newest question needs, the next one
describes their answers. It is deterministic: the same request gives the same completion.
Left to others: what a sentence asks for (`intents`, `arithmetic`), how a tool's answer reads (`answers`).
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal

from bot.i18n.catalogues import say
from bot.messages import (
    AssistantMessage,
    AssistantPart,
    CallId,
    Message,
    Text,
    ToolAnswer,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from bot.providers.base import Completion, OnText, Request, Stop, Usage
from bot.providers.offline import phrases
from bot.providers.offline.answers import describe_answer
from bot.providers.offline.intents import OfflineIntent, asked_at, clauses, intents, not_understood, people_words

NAME = "offline"

_MAX_SHOWN = 80

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|hallo|hola|salut|bonjour|bonsoir|moin|servus|guten (?:tag|morgen|abend)"
    r"|good (?:morning|afternoon|evening|day|night)|gute nacht|bonne nuit|buenos días|buenas (?:tardes|noches)"
    r"|how are you|how's it going|wie geht(?:'s| es dir)|(?:comment )?ça va|c[oó]mo est[aá]s|qué tal)\b",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\W*(?:thanks?|thank you|thx|danke|vielen dank|merci|gracias)"
    r"(?:\W+(?:a lot|very much|so much|sehr|schön|dir|beaucoup|bien|muchas|por todo))?\W*",
    re.IGNORECASE,
)
_NOD = re.compile(
    r"(?:ok(?:ay)?|k|alles klar|gut|super|cool|prima|great|nice|perfect|got it|d'accord|parfait|génial|vale"
    r"|perfecto|genial)\W*|[^\w\s?!.,;:/()'\"-]+\s*",
    re.IGNORECASE,
)
"""What only needs a sign that it was seen: "ok", a thumb."""
_ABILITIES = re.compile(
    r"\W*(?:(?:so )?what (?:all )?can you do|what do you do|what are you(?: able to do| capable of)?|who are you"
    r"|what(?:'s| is) your name|are you (?:an? )?(?:human|person|bot|robot|ai|machine|real)"
    r"|how do you work|what can i (?:ask|do|say)|what (?:works|is possible)|help(?: me)?"
    r"|was (?:alles )?kannst du(?: alles)?|was machst du|was kann ich (?:dich )?(?:fragen|tun|machen)|was geht"
    r"|bist du (?:ein |eine )?(?:mensch|bot|roboter|ki|maschine)|(?:es-tu|tu es) (?:un )?(?:humain|bot|robot)"
    r"|eres (?:un )?(?:humano|bot|robot)|(?:wer|was) bist du|wie heißt du|wie funktionierst du|hilfe?|hilf mir"
    r"|(?:que|qu'est-ce que tu) (?:sais|peux)(?:[- ]tu)?(?: faire)?|tu (?:sais|peux) faire quoi|qui es[- ]tu"
    r"|comment (?:tu t'appelles|t'appelles[- ]tu)|c[oó]mo te llamas"
    r"|(?:que|qu'est-ce que je) puis[- ]je faire|aide(?:[- ]moi)?|à l'aide"
    r"|qu[eé] (?:puedes|sabes)(?: hacer)?|qui[eé]n eres|c[oó]mo funcionas|ayuda|ayúdame)"
    r"(?: for me| here| hier| so| ici| aquí)?\W*",
    re.IGNORECASE,
)
_PRIVACY = re.compile(
    r"\b(?:delete|erase|remove|forget|destroy|wipe)\b.{0,40}\b(?:data|messages?|everything|history|chat|about me)\b"
    r"|\bprivacy\b|\bwhat do you (?:store|keep|save|know about me)"
    r"|\b(?:lösch|vergiss|vergess|vernicht)\w*\b.{0,40}\b(?:daten|nachrichten|alles|verlauf|chat)\b"
    r"|\bdaten\b.{0,40}\blösch|\bdatenschutz\b|\bwas (?:speicherst|weißt) du"
    r"|\b(?:effac|supprim|oubli)\w*.{0,40}\b(?:données|messages?|tout|historique)\b"
    r"|\bvie privée\b|\bque gardes[- ]tu"
    r"|\b(?:borr|elimin|olvid)\w*.{0,40}\b(?:datos|mensajes|todo|historial)\b|\bprivacidad\b|\bqué guardas",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"what (?:do you|can you) (?:remember|know about me)|forget (?:that|this)\b|was (?:weißt du (?:über|von) mich?\b"
    r"|merkst du dir|hast du dir gemerkt)|vergiss (?:das|dass)\b|que (?:sais|retiens)[- ]tu (?:de|sur) moi\b"
    r"|oublie (?:que\b|qu'|ça|cela)|qué (?:recuerdas|sabes) de mí\b|olvida (?:que|eso|esto)\b",
    re.IGNORECASE,
)
_AND = re.compile(r",? (?:and|und|et|y) ")
_OWN_ID = re.compile(rf"{NAME}_(\d+)_\d+")


class Offline:
    """Answers calculations, conversions, look-ups, weather and time through the tools, and says plainly to everything
    else that no model is set up.
    """

    name = NAME

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """Tool calls if the newest question needs offered tools, else the answer in words. Never fails.

        `on_text` is called once with all words.
        """
        question, since = _newest(request.messages)
        words = people_words(question.text)
        asked = intents(words, asked_at(question.text))
        whole = None if asked else _whole_reminder(request.messages, question)
        if whole is not None:
            words, asked = whole
        answers = [answer for message in since if isinstance(message, ToolMessage) for answer in message.answers]
        offered = {tool.name for tool in request.tools}
        usable = offered if request.may_call_tools else set[str]()
        wanted = [intent for intent in asked if intent.tool in usable and _is_complete(intent)]
        if wanted and not answers:
            return _completion(_calls(wanted, request.messages), Stop.TOOLS)
        paragraphs = [*_results(answers, since), *_regrets(asked, offered, has_answers=bool(answers))]
        about = _about(words, usable)
        left = [clause for clause in not_understood(words) if not _is_about(clause)]
        unread = [say(phrases.OFFLINE_NOT_UNDERSTOOD, words=clause[:_MAX_SHOWN]) for clause in left]
        shown = dict.fromkeys([*paragraphs, *about, *(unread if asked or about else ())])
        text = "\n\n".join(shown) if paragraphs or about else self._alone(words, usable, unread)
        if question.media:
            text = f"{say(phrases.OFFLINE_BLIND)}\n\n{text}" if words.strip() else say(phrases.OFFLINE_BLIND)
        if on_text is not None:
            on_text(text)
        return _completion([Text(text=text)], Stop.END)

    def _alone(self, words: str, usable: AbstractSet[str], unread: Sequence[str]) -> str:
        """The answer to a message of which nothing was understood: one line, with a way out."""
        if unread and not _GREETING.match(words):
            return f"{unread[0]} {say(phrases.OFFLINE_WAY_OUT)}"
        return phrases.offline_introduction(usable, says_hello=_GREETING.match(words) is not None)

    async def aclose(self) -> None:
        """Does nothing: there is no connection."""


def _newest(messages: Sequence[Message]) -> tuple[UserMessage, Sequence[Message]]:
    """The newest question and the messages after it."""
    for at in reversed(range(len(messages))):
        message = messages[at]
        if isinstance(message, UserMessage):
            return message, messages[at + 1 :]
    raise ValueError("a request holds at least one user message")


def _whole_reminder(messages: Sequence[Message], answer: UserMessage) -> tuple[str, Sequence[OfflineIntent]] | None:
    """The words of a reminder that lacked its time or its text, together with this answer, and what they ask for; None
    if nothing was lacking before, or still is.
    """
    said = [message for message in messages if isinstance(message, UserMessage)]
    at = next(place for place in reversed(range(len(said))) if said[place] is answer)
    before = people_words(said[at - 1].text) if at else ""
    if not before or intents(before, asked_at(said[at - 1].text)) != (_UNFINISHED,):
        return None
    words, now = _PLEASE.sub("", people_words(answer.text)), asked_at(answer.text)
    tries = (f"remind me {words}", f"{before.rstrip(' .!?')} {words}")
    found = ((whole, intents(whole, now)) for whole in tries)
    return next((one for one in found if len(one[1]) == 1 and _is_planned(one[1][0])), None)


_PLEASE = re.compile(r"[\s,]*\b(?:please|bitte|s['’]il (?:te|vous) pla[iî]t|por favor)\W*$", re.IGNORECASE)
_UNFINISHED = OfflineIntent(tool="remind", arguments={})


def _is_planned(intent: OfflineIntent) -> bool:
    return intent.tool == "remind" and intent.arguments.get("action") == "set"


def _is_complete(intent: OfflineIntent) -> bool:
    """Whether the tool can be called: all except the clock need arguments."""
    return intent.tool == "current_time" or bool(intent.arguments)


def _calls(wanted: Sequence[OfflineIntent], messages: Sequence[Message]) -> Sequence[ToolCall]:
    """The calls under unused ids: one higher than the highest round so far."""
    asked = (call.id for message in messages if isinstance(message, AssistantMessage) for call in message.calls)
    rounds = [int(own[1]) for own in map(_OWN_ID.fullmatch, asked) if own]
    count = max(rounds, default=0) + 1
    return [
        ToolCall(id=CallId(f"{NAME}_{count}_{number}"), name=intent.tool, arguments=intent.arguments)
        for number, intent in enumerate(wanted, start=1)
    ]


def _results(answers: Sequence[ToolAnswer], since: Sequence[Message]) -> Iterator[str]:
    """The tools' answers since the question, each in words, in the order asked."""
    calls = [call for message in since if isinstance(message, AssistantMessage) for call in message.calls]
    arguments = {call.id: call.arguments for call in calls}
    return (describe_answer(answer, arguments.get(answer.call_id, {})) for answer in answers)


def _regrets(asked: Sequence[OfflineIntent], offered: AbstractSet[str], *, has_answers: bool) -> Iterator[str]:
    """Explains why parts of the request have no answer."""
    for intent in asked:
        if intent.tool not in offered:
            topic = say(phrases.OFFLINE_TOPICS[intent.tool])
            yield say(phrases.OFFLINE_TOOL_OFF, topic=topic)
        elif not _is_complete(intent):
            yield say(phrases.OFFLINE_WHICH_TIME if intent.tool == "remind" else phrases.OFFLINE_WHICH_PLACE)
        elif not has_answers:
            yield say(phrases.OFFLINE_NO_MORE_TOOLS)


def _about(words: str, usable: AbstractSet[str]) -> Sequence[str]:
    """The reply to thanks, and to questions about Aldis or what it stores; empty for anything else."""
    if _THANKS.fullmatch(words):
        return [say(phrases.OFFLINE_WELCOME)]
    if _NOD.fullmatch(words):
        return ["👍"]
    plain = words.replace("’", "'")
    about: list[str] = []
    if any(_ABILITIES.fullmatch(part) for clause in clauses(words) for part in _AND.split(clause)):
        about.append(phrases.offline_introduction(usable, says_hello=False))
    if _PRIVACY.search(plain):
        about.append(say(phrases.OFFLINE_PRIVACY))
    if _MEMORY.search(plain):
        about.append(say(phrases.OFFLINE_MEMORY))
    return about


def _is_about(clause: str) -> bool:
    is_whole = any(pattern.fullmatch(clause) for pattern in (_ABILITIES, _THANKS, _NOD))
    return is_whole or any(pattern.search(clause) for pattern in (_PRIVACY, _MEMORY))


def _completion(parts: Sequence[AssistantPart], stop: Stop) -> Completion:
    return Completion(
        message=AssistantMessage(parts=tuple(parts)),
        stop=stop,
        usage=Usage(),
        provider=NAME,
        model=NAME,
        latency_seconds=0.0,
        cost_usd=Decimal(0),
    )
