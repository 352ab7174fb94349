#!/bin/sh
# A message for the group "Trip.2026" goes to the person with the user name Trip.2026.
#
# Package: signalbot 2.2.1 (PyPI), 2026-11-29, Python 3.11, against a server that lists groups and takes messages as
# signal-cli-rest-api does (GET /v1/groups/NUMBER, POST /v2/send; its source, src/api/api.go).
# Guess, written down before the run: signalbot knows the group by its name (it documents names as recipients), so it
# sends to the group's id, as it does for the group "Trip".
# Seen: a name of letters, a point and two to nine digits counts as a user name before the list of groups is looked at,
# and goes to the bridge as the recipient. No warning is logged.
# Whom it hurts: operators who name groups in a bot's settings: what was meant for the group goes to a stranger with that user
# name, or fails. Name groups by their ids.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet signalbot==2.2.1
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio
import http.server
import json
import threading
from importlib.metadata import version

from signalbot import SignalBot
from signalbot.messages import SendMessage

GROUPS = {"Trip": "group." + "a" * 59 + "=", "Trip.2026": "group." + "b" * 59 + "="}
sent = []


def group(name, id_):
    people = {"admins": [], "members": [], "pending_invites": [], "pending_requests": [], "blocked": False, "member": True}
    rights = {"add_members": "every-member", "edit_group": "every-member", "send_messages": "every-member"}
    return {"id": id_, "internal_id": id_[6:], "name": name, "description": "", "invite_link": "", "permissions": rights, **people}


class Bridge(http.server.BaseHTTPRequestHandler):
    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer([group(name, id_) for name, id_ in GROUPS.items()])

    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["recipients"])
        self.answer([{"timestamp": "1790000000000"}], 201)

    def log_message(self, *_):
        pass


async def main(port):
    bot = SignalBot(
        {"signal_service": f"127.0.0.1:{port}", "phone_number": "+493023125000", "connection_mode": "http_only", "storage": {"type": "in-memory"}}
    )
    await bot.groups.refresh()
    for name in GROUPS:
        await bot.messages.send(SendMessage(text="We leave at nine."), name)
    await bot.close()


print("signalbot", version("signalbot"))
bridge = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
threading.Thread(target=bridge.serve_forever, daemon=True).start()
asyncio.run(main(bridge.server_port))
for name, recipients in zip(GROUPS, sent, strict=True):
    print(f"for the group {name}: {recipients}")
assert sent[0] == [GROUPS["Trip"]], "this has changed: a group is not known by its name"
assert sent[1] == ["Trip.2026"], "this has changed: the group is known by its name"
PYTHON
