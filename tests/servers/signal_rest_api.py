"""A double of signal-cli-rest-api (mode json-rpc): receives by websocket, sends by plain HTTP.

It loses what the real one loses: frames that arrive while no one is connected. Every
failure of signal-cli is a 400 with some text, or a 500 for the list of identities. Like the real one, it accepts
requests with unknown fields.

Source: signal-cli-rest-api 0.101, swagger; `src/api/api.go`, `src/client/client.go`, `src/client/jsonrpc2.go`,
`src/client/attachment.go` and `src/utils/textstyleparser.go`, commit a08db23; the same built and run, in front of a
scripted signal-cli (2026-11-22) and of signal-cli 0.13.14 (2026-11-24, 2026-11-26).
"""

import base64
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.servers.base import Seen
from tests.servers.envelopes import Frame, timestamp
from tests.servers.signal_server import (
    FIRST_LONG,
    NO_LONG,
    RECIPIENT,
    End,
    Parcel,
    Plan,
    Reaction,
    Refused,
    Removed,
    Sent,
    SignalServer,
    file_of,
    utf16_units,
)

_SEND_FIELDS = {
    "number": str,
    "recipients": list,
    "message": str,
    "text_mode": str,
    "notify_self": bool,
    "quote_timestamp": int,
    "quote_author": str,
    "quote_message": str,
    "edit_timestamp": int,
    "base64_attachments": list,
    "mentions": list,
}

_NO_ACCOUNT = "Specified account does not exist"
_UNTRUSTED = "Unable to complete request due to untrusted recipient keys"
"""What the bridge says in the place of signal-cli's own sentence."""


@dataclass
class _Socket:
    """One open websocket; `silent` neither writes nor answers pings any more."""

    request: web.Request
    websocket: web.WebSocketResponse
    account: str
    silent: bool = False


@dataclass
class SignalRestApi(SignalServer):
    """A signal-cli-rest-api with one account; see `SignalServer` for what a test does with it."""

    mode: str = "json-rpc"
    version: str = "0.999"
    """Newer than any whose age is known, so that the calendar makes no test fail; `unset` where somebody has built it
    without saying.
    """
    _sockets: list[_Socket] = field(default_factory=list[_Socket])

    async def deliver_data(self, text: str) -> None:
        if not self._sockets:
            self.lost.append(text)
        for socket in self._sockets:
            if not socket.silent and is_for(text, socket.account):
                with suppress(ConnectionError):
                    await socket.websocket.send_frame(text.encode("utf-8", "surrogatepass"), WSMsgType.TEXT)

    async def end_streams(self, how: End) -> None:
        for socket in tuple(self._sockets):
            socket.silent = True
            if how == "drop" and socket.request.transport is not None:
                socket.request.transport.abort()
            if how == "close":
                await socket.websocket.close()

    def app(self) -> web.Application:
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_get("/v1/receive/{number}", self._receive)
        app.router.add_route("*", "/{path:.*}", self.handle)
        return app

    async def stop(self) -> None:
        await self.end_streams("drop")
        await super().stop()

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        """Any number is taken; one that is not an account just gets nothing."""
        websocket = web.WebSocketResponse(autoping=False)
        await websocket.prepare(request)
        socket = _Socket(request=request, websocket=websocket, account=request.match_info["number"])
        self._sockets.append(socket)
        await self.opened(1)
        try:
            async for message in websocket:
                if message.type is WSMsgType.PING and not socket.silent:
                    await websocket.pong(message.data)
        finally:
            self._sockets.remove(socket)
            await self.opened(-1)
        return websocket

    async def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        try:
            return await self._answer(seen, request)
        except Refused as error:
            return web.json_response({"error": _UNTRUSTED if error.code == -4 else str(error)}, status=400)

    async def _answer(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        match seen.method, *seen.path.strip("/").split("/"):
            case "GET", "v1", "about":
                return web.json_response(self._about())
            case "GET", "v1", "accounts":
                # Its list knows numbers alone: whoever has none stands there without a name.
                return web.json_response([name if name.startswith("+") else "" for name in self.accounts])
            case "GET", "v1", "qrcodelink", "raw":
                if not seen.query.get("device_name"):
                    raise Refused(-1, "Please provide a name for the device")
                return web.json_response({"device_link_uri": await self.begin_link()})
            case "POST", "v2", "send":
                sent = self._sent(self._checked(seen, _SEND_FIELDS, {"number", "recipients", "message", "text_mode"}))
                return await self._send(sent, seen, request)
            case ("GET" | "DELETE") as method, "v1", "attachments", id_:
                return self._attachment(id_, deleted=method == "DELETE")
            case method, "v1", area, number, *more:
                # The identities are the one list whose refusal by signal-cli is reported as the server's own failure.
                if not self.has_account(number) and (method, area, *more) == ("GET", "identities"):
                    return web.json_response({"error": _NO_ACCOUNT}, status=500)
                self._check_account(number)
                return await self._answer_for_account(seen, request, (method, area, *more))
            case _:
                return web.Response(status=404, text="404 page not found")

    async def _answer_for_account(
        self, seen: Seen, request: web.Request, wanted: tuple[str, ...]
    ) -> web.StreamResponse:
        match wanted:
            case "GET", "contacts":
                return web.json_response(self._contacts(everybody=seen.query.get("all_recipients") == "true"))
            case "GET", "groups":
                return web.json_response(self._groups(expanded=seen.query.get("expand") == "true"))
            case "POST", "groups", group, "join":
                return self._join(group)
            case "GET", "identities":
                return web.json_response(self._identities())
            case "PUT", "identities", "trust", recipient:
                return await self._trust(seen, recipient)
            case "POST", "accounts", "rate-limit-challenge":
                body = self._checked(seen, {"challenge_token": str, "captcha": str})
                self.solve(body["challenge_token"], body["captcha"])
            case "DELETE", "remote-delete":
                return await self._send(self._removal(seen), seen, request)
            case ("PUT" | "DELETE") as method, "typing-indicator":
                chat = self._chat(self._checked(seen, {"recipient": str})["recipient"])
                await self.show_typing(chat, started=method == "PUT")
            case ("POST" | "DELETE") as method, "reactions":
                await self._reaction(seen, removed=method == "DELETE")
            case "POST", "receipts":
                body = self._checked(seen, {"receipt_type": str, "recipient": str, "timestamp": int})
                await self.confirm_read(body["receipt_type"], body["recipient"], [body["timestamp"]])
            case _:
                return web.Response(status=404, text="404 page not found")
        return web.Response(status=204)

    def _about(self) -> Frame:
        capabilities = {"v2/send": ["quotes", "mentions"]}
        return {
            "versions": ["v1", "v2"],
            "build": 2,
            "mode": self.mode,
            "version": self.version,
            "capabilities": capabilities,
        }

    def _check_account(self, number: str) -> None:
        if not self.has_account(number):
            raise Refused(-1, _NO_ACCOUNT)

    def _contacts(self, *, everybody: bool) -> list[Frame]:
        known = [*self.people, *([self.own] if self.own and everybody else [])]
        return [
            {
                "number": person.number or "",
                "uuid": person.uuid,
                "username": "",
                "name": "",
                "profile_name": "",  # of a field that signal-cli does not have
                "blocked": False,
                "message_expiration": "",
                "note": "",
                "given_name": "",
                "profile": {"given_name": person.name or "", "lastname": "", "about": "", "has_avatar": False},
                "nickname": {"name": "", "given_name": "", "family_name": ""},
            }
            for person in known
        ]

    def _groups(self, *, expanded: bool) -> list[Frame]:
        def people(listed: list[Frame]) -> Sequence[object]:
            return listed if expanded else [one["number"] or one["uuid"] for one in listed]

        return [
            {
                "id": f"group.{base64.b64encode(group.id.encode()).decode()}",
                "internal_id": group.id,
                "name": group.name,
                "description": "",
                "members": people(group.members),
                "member": group.is_member,
                "blocked": False,
                "invite_link": "",
                "permissions": dict.fromkeys(("add_members", "edit_group", "send_messages"), "every-member"),
                "pending_invites": people(group.invited),
                **{name: [] for name in ("pending_requests", "admins")},
            }
            for group in self.listed_groups()
        ]

    def _join(self, path: str) -> web.StreamResponse:
        """Accept an invitation (`Api.JoinGroup` at commit a08db23, read); it asks signal-cli for an `updateGroup`."""
        try:
            group = base64.b64decode(path.removeprefix("group."), validate=True).decode()
        except ValueError as error:
            raise Refused(-1, "Invalid group id") from error
        self.accept(group)
        return web.Response(status=204)

    def _identities(self) -> list[Frame]:
        return [
            {
                "number": key.person.number or "",
                "uuid": key.person.uuid,
                "fingerprint": key.fingerprint,
                "safety_number": key.safety_number,
                "status": key.level,
                "added": str(key.added_at),
            }
            for key in self.keys
        ]

    async def _trust(self, seen: Seen, recipient: str) -> web.StreamResponse:
        if not self._checked(seen, {"trust_all_known_keys": bool})["trust_all_known_keys"]:
            raise _bad_request("please either provide a safety number or trust all known keys")
        self.trust(recipient)
        return web.Response(status=204)

    def _chat(self, recipient: str) -> str:
        group = self._group(recipient)
        if group is None and not RECIPIENT.fullmatch(recipient):
            raise Refused(-1, "Invalid recipient")
        return self.chat_of(recipient, group)

    def _group(self, recipient: str) -> str | None:
        """The group's id of the envelopes: the API has it once more in base64, behind `group.`."""
        if not recipient.startswith("group."):
            return None
        group = base64.b64decode(recipient.removeprefix("group."), validate=True).decode()
        self.check_group(group)
        return group

    async def _reaction(self, seen: Seen, *, removed: bool) -> None:
        body = self._checked(seen, {"recipient": str, "target_author": str, "timestamp": int, "reaction": str})
        reaction = Reaction(
            chat=self._chat(body["recipient"]),
            author=body["target_author"],
            target=body["timestamp"],
            emoji=body["reaction"],
            removed=removed,
        )
        await self.react(reaction)

    def _attachment(self, id_: str, *, deleted: bool) -> web.StreamResponse:
        if id_ not in self.files:
            return web.json_response({"error": "No attachment with that name found"}, status=404)
        if not deleted:
            return web.Response(body=self.files[id_], content_type="application/octet-stream")
        del self.files[id_]
        return web.Response(status=204)

    async def _send(self, sent: Parcel, seen: Seen, request: web.Request) -> web.StreamResponse:
        plan = self.planned(sent)
        if (instead := await self.send_by(plan, sent, seen, request.transport)) is not None:
            return instead
        if not plan.succeeds and plan.code == -5 and isinstance(sent, Sent):
            words = (
                "Failed to send message due to rate limiting. Use the attached challenge tokens to lift the rate limit"
            )
            body = {"error": words, "challenge_tokens": ["", plan.challenge or ""], "account": self.accounts[0]}
            return web.json_response(body, status=429)
        if not plan.succeeds:
            raise Refused(plan.code, plan.sentence(in_group=sent.group is not None))
        is_removal = isinstance(sent, Removed)
        answer = {"timestamp": str(sent.timestamp)} if is_removal else [self._success(sent, plan)]
        return web.json_response(answer, status=201)

    def _success(self, sent: Parcel, plan: Plan) -> Frame:
        """Also when only some got it: `errors` has the others, without the fields that are empty."""
        failed = [
            {"uuid": person.uuid, **({"number": person.number} if person.number else {}), "reason": kind}
            for person, kind in self.outcomes(sent, plan)
            if kind != "SUCCESS"
        ]
        return {"timestamp": str(sent.timestamp), **({"errors": {"recipients": failed}} if failed else {})}

    def _sent(self, body: Frame) -> Sent:
        self._check_account(body["number"])
        if len(body["recipients"]) != 1:
            raise _bad_request("please provide one recipient")
        [recipient] = body["recipients"]
        self._chat(recipient)
        mode = body["text_mode"]
        text, styles = parsed(body["message"]) if mode == "styled" else (body["message"], [])
        group = self._group(recipient)
        return self.checked(
            Sent(
                text=text,
                recipient=recipient if group is None else None,
                group=group,
                styles=tuple(styles),
                quote_timestamp=body.get("quote_timestamp"),
                quote_author=body.get("quote_author"),
                quote_text=body.get("quote_message"),
                edits=body.get("edit_timestamp"),
                timestamp=timestamp(),
                mentions=tuple(map(_mention, body.get("mentions", []))),
                files=tuple(map(file_of, body.get("base64_attachments", []))),
                notifies_self=body.get("notify_self", True),
            )
        )

    def _checked(self, seen: Seen, fields: dict[str, type], needed: set[str] | None = None) -> Frame:
        """The body with no field of a wrong type, and none of the needed missing; what is unknown is noted."""
        try:
            body = seen.json()
        except ValueError:
            body = None
        if not isinstance(body, dict) or not (fields.keys() if needed is None else needed) <= body.keys():
            raise _bad_request("invalid request")
        for name, value in body.items():
            kind = fields.get(name, object)
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                raise _bad_request("invalid request")
            if name.endswith("timestamp") and value < FIRST_LONG:
                raise Refused(-1, NO_LONG)  # of signal-cli, to which it is handed on
        return body

    def _removal(self, seen: Seen) -> Removed:
        body = self._checked(seen, {"recipient": str, "timestamp": int})
        self.check_target(self._chat(body["recipient"]), body["timestamp"], may_be_elsewhere=True)
        group = self._group(body["recipient"])
        recipient = body["recipient"] if group is None else None
        return Removed(recipient=recipient, group=group, target=body["timestamp"], timestamp=timestamp())


def is_for(text: str, account: str) -> bool:
    """Whether the websocket of this account gets a frame: it must name it (`handleSignalReceive` of a08db23)."""
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(frame, dict) and frame.get("account") == account


def _mention(mention: Frame) -> str:
    """Its place in the text, in UTF-16 units."""
    return f"{mention['start']}:{mention['length']}:{mention['author']}"


def _bad_request(what: str) -> Refused:
    return Refused(-1, f"Couldn't process request - {what}")


_STYLES = {"**": "BOLD", "*": "ITALIC", "||": "SPOILER", "~": "STRIKETHROUGH", "`": "MONOSPACE"}


def parsed(message: str) -> tuple[str, list[str]]:
    """What the bridge makes of a `styled` message: the text that people see and `start:length:STYLE` in UTF-16 units.

    `**` and `||` are taken before `*`, and a single bar is text. A marker closes the style that was opened last if it
    is its own, else it opens one; a marker without a partner is gone.
    """
    assert "\\" not in message  # which escapes markers
    text, styles = "", []
    stack: list[tuple[str, int]] = []
    for part in re.split(r"(\*\*|\|\||[*~`])", message):
        units = utf16_units(text)
        if part not in _STYLES:
            text += part
        elif stack and stack[-1][0] == part:
            start = stack.pop()[1]
            styles.append(f"{start}:{units - start}:{_STYLES[part]}")
        else:
            stack.append((part, units))
    return text, styles
