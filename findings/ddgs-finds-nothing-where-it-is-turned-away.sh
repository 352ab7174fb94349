#!/bin/sh
# ddgs 9.16.1 with primp 2.0.1, against a server on this machine in DuckDuckGo's place. Seen on 2026-11-30.
#
# Guess, written down before: where the engine is turned away (403, 429, or the 202 with which DuckDuckGo shows its page
# about anomalies), `text()` raises `RatelimitException`, or at least says that; "No results found." is for a page
# without results.
# Seen: "No results found." for all of them. `BaseSearchEngine.request` makes None of every status but 200, and nothing
# in the package raises `RatelimitException` any more, although it can still be imported and caught.
# Whom it hurts: programs that let a model search. It hears that there is nothing about a thing, and says so, where it
# should hear that it could not look; and those who wait only after `RatelimitException` go on asking.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check ddgs==9.16.1 primp==2.0.1
cat > turned_away.py <<'PY'
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

from ddgs import DDGS
from ddgs.engines.duckduckgo import Duckduckgo

EMPTY = b"<html><body>No results.</body></html>"


class Answers(BaseHTTPRequestHandler):
    status = 200

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(Answers.status)
        self.send_header("Content-Length", str(len(EMPTY)))
        self.end_headers()
        self.wfile.write(EMPTY)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Answers)
threading.Thread(target=server.serve_forever, daemon=True).start()
Duckduckgo.search_url = f"http://127.0.0.1:{server.server_port}/html/"
print("ddgs", version("ddgs"))
heard = set()
for Answers.status in (200, 202, 403, 429):
    try:
        said = DDGS(timeout=5).text("lamps", backend="duckduckgo")
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    heard.add(said)
    print(Answers.status, said)
sys.exit(0 if heard == {"DDGSException: No results found."} else "this is no longer what was seen")
PY
venv/bin/python turned_away.py
