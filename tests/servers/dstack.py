"""A double of dstack's guest agent as seen from a container: JSON over HTTP on a unix socket, with unsigned quotes.

Answers and refuses as the real one (Dstack-TEE/dstack at 312dc60, 2026-08-07: `agent_rpc.proto`, `rpc_service.rs`,
`ra-rpc/src/rocket_helper.rs`, `cc-eventlog`): bytes are hexadecimal; report data of more than 64 bytes and unknown
methods are refused with 400 and `{"error": ...}`; JSON is only parsed if the request declares it. Its quotes have the
layout of those recorded from hardware there (`dstack/verifier/fixtures`): version 4, the application's register over
the event log, then the report data. The bytes in the place of a signature are none.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.servers.base import Seen, Server

_TYPE = 134_217_729
_REGISTER = slice(520, 568)
_REPORT_DATA = slice(568, 632)
_UNSIGNED = b"\xcc\x10\x00\x00" + bytes(4300)


@dataclass
class GuestAgent(Server):
    """`compose` is the measured file; `later`: events that the application adds itself; `version`: of events."""

    socket: Path = field(default_factory=lambda: Path("dstack.sock"))
    compose: str = (
        '{"manifest_version":2,"name":"aldis","runner":"docker-compose","docker_compose_file":"services: {}"}'
    )
    later: tuple[tuple[str, str], ...] = ()
    version: int = 1

    async def start(self) -> None:
        self._runner = web.AppRunner(self.app(), shutdown_timeout=0.2, handle_signals=False, access_log=None)
        await self._runner.setup()
        await web.UnixSite(self._runner, str(self.socket)).start()

    def respond(self, seen: Seen, request: web.Request) -> web.StreamResponse:
        if not request.content_type.endswith("json"):
            return web.Response(status=400, body=b"\n\x0binvalid tag", content_type="application/octet-stream")
        if seen.path != "/GetQuote":
            return _refused(400, f"Service not found: {seen.path[1:]}")
        try:
            report_data = bytes.fromhex(str(seen.json().get("report_data", "")))
        except ValueError:
            return _refused(400, "Failed to decode the request: Invalid character")
        if len(report_data) > 64:
            return _refused(400, "Report data is too long")
        padded = report_data.ljust(64, b"\0")
        quote = bytearray(b"\x04\x00\x02\x00\x81\x00\x00\x00".ljust(632, b"\0") + _UNSIGNED)
        events = self._events()
        register = bytes(48)
        for event in events:
            if event["imr"] == 3:
                register = hashlib.sha384(register + hashlib.sha384(_preimage(event)).digest()).digest()
        quote[_REGISTER] = register
        quote[_REPORT_DATA] = padded
        answer = {
            "quote": quote.hex(),
            "event_log": json.dumps(events),
            "report_data": padded.hex(),
            "vm_config": '{"spec_version":1,"os_image_hash":"e6f5"}',
        }
        return web.json_response(answer)

    @property
    def compose_digest(self) -> str:
        return hashlib.sha256(self.compose.encode()).hexdigest()

    def _events(self) -> list[dict[str, Any]]:
        boot = {"imr": 0, "event_type": 4, "digest": "39" * 48, "event": "", "event_payload": ""}
        names = [
            ("system-preparing", ""),
            ("app-id", self.compose_digest[:40]),
            ("compose-hash", self.compose_digest),
            ("boot-mr-done", ""),
            ("system-ready", ""),
            *self.later,
        ]
        return [boot, *(self._event(name, payload) for name, payload in names)]

    def _event(self, name: str, payload: str) -> dict[str, Any]:
        """Version 1 comes without its digest, as the agent strips it."""
        event: dict[str, Any] = {"imr": 3, "event_type": _TYPE, "digest": "", "event": name, "event_payload": payload}
        if self.version == 1:
            return event
        preimage = _preimage({**event, "version": 2})
        return {**event, "version": 2, "digest": hashlib.sha384(preimage).hexdigest(), "preimage": preimage.hex()}


def _preimage(event: dict[str, Any]) -> bytes:
    name, payload = event["event"], event["event_payload"]
    if event.get("version") == 2:
        value = {"name": name, "payload": payload, "type": _TYPE}
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    return b":".join((_TYPE.to_bytes(4, "little"), name.encode(), bytes.fromhex(payload)))


def _refused(status: int, message: str) -> web.StreamResponse:
    return web.json_response({"error": message}, status=status)
