#!/bin/sh
# anthropic 2.14.0, openai 3.57.0. Seen on 2026-11-29.
#
# Guess, written down before: both SDKs pass over a `Retry-After` of more than a minute and try again within a second, as
# they did for years; and `timeout` bounds the call.
# Seen: anthropic waits as long as the header says, without a bound (an hour here), and `timeout=5` does not end the
# wait; openai obeys up to two minutes, and hands an error on at once where the header wants more.
# Whom it hurts: programs that leave retries to the SDK: behind a proxy or a gateway that answers a spent quota with the
# time until it is renewed, a question hangs for hours without a word in the log above INFO.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check anthropic==2.14.0 openai==3.57.0
cat > ask.py <<'PY'
import asyncio
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import anthropic
import openai

HOUR = 3600
BODY = json.dumps({"type": "error", "error": {"type": "rate_limit_error", "message": "The quota is used up."}}).encode()


class Gateway(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(429)
        for name, value in (("Retry-After", HOUR), ("Content-Type", "application/json"), ("Content-Length", len(BODY))):
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_):
        pass


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.waits = []

    def emit(self, record):
        if "Retrying" in record.getMessage():
            self.waits.append(record.getMessage())


async def outcome(library, call):
    lines, log = Lines(), logging.getLogger(library)
    log.addHandler(lines)
    log.setLevel(logging.INFO)
    asking = asyncio.create_task(call)
    while not (lines.waits or asking.done()):
        await asyncio.sleep(0.05)
    asking.cancel()
    ended = (await asyncio.gather(asking, return_exceptions=True))[0]
    found = lines.waits[0] if lines.waits else type(ended).__name__
    print(f"{library} {version(library)}: {found}")
    return found


async def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url, said = f"http://127.0.0.1:{server.server_port}", [{"role": "user", "content": "Good morning"}]
    claude = anthropic.AsyncAnthropic(api_key="none", base_url=url, timeout=5)
    gpt = openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1", timeout=5)
    wait = await outcome("anthropic", claude.messages.create(model="claude-haiku-5-5", max_tokens=9, messages=said))
    error = await outcome("openai", gpt.chat.completions.create(model="gpt-5.4", messages=said))
    server.shutdown()
    assert wait.endswith(f"in {HOUR:f} seconds"), wait
    assert error == "RateLimitError", error


asyncio.run(main())
PY
timeout 60 venv/bin/python ask.py
