#!/bin/sh
# A stream of Claude's that falls silent raises an exception that is neither the SDK's own nor one of httpx.
#
# Packages: anthropic 2.14.0 and openai 3.57.0 (PyPI), with httpx 0.28.1 beside them, 2026-11-28, Python 3.11; a server
# on loopback that begins an answer and then pauses for longer than the timeout.
# Guess, written down before the run: both raise their APITimeoutError, as for an answer that never begins; if not, both
# let through a timeout of httpx.
# Seen: where no answer begins, both raise APITimeoutError. Amid a stream openai raises it, too, but anthropic lets
# httpx2.ReadTimeout through: no anthropic.APIError, and, because the SDK stands on the package httpx2 now, no
# httpx.TransportError either.
# Whom it hurts: programs that stream with `except (anthropic.APIError, httpx.TransportError)`: a model that hangs amid
# its answer ends them with an exception of a package that they have never imported.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet anthropic==2.14.0 openai==3.57.0 httpx==0.28.1
"$folder/venv/bin/python" - <<'PYTHON'
import http.server
import json
import threading
from importlib.metadata import version

import anthropic
import httpx
import openai

STARTS = {
    "/v1/messages": {
        "type": "message_start",
        "message": {
            "id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "stop_reason": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    },
    "/chat/completions": {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "x",
        "choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}],
    },
}
ended = threading.Event()


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if asked["model"] == "begins":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            start = STARTS[self.path]
            kind = f"event: {start['type']}\n" if "type" in start else ""
            event = f"{kind}data: {json.dumps(start)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
            self.wfile.flush()
        ended.wait(60)

    def log_message(self, *_):
        pass


def failure(ask):
    try:
        ask()
    except Exception as error:
        return error
    raise AssertionError("this has changed: nothing is raised")


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
options = {"api_key": "key", "base_url": url, "max_retries": 0, "timeout": 2}
claude, gpt = anthropic.Anthropic(**options), openai.OpenAI(**options)
question = [{"role": "user", "content": "Hello"}]
print(*(f"{name} {version(name)}" for name in ("anthropic", "openai", "httpx", "httpx2")))
for sdk, ask in (
    (anthropic, lambda model: list(claude.messages.create(model=model, max_tokens=9, messages=question, stream=True))),
    (openai, lambda model: list(gpt.chat.completions.create(model=model, messages=question, stream=True))),
):
    mute, amid = failure(lambda: ask("mute")), failure(lambda: ask("begins"))
    print(f"{sdk.__name__}: no answer: {type(mute).__name__}; amid a stream: {type(amid).__module__}.{type(amid).__name__}")
    assert isinstance(mute, sdk.APITimeoutError), "this has changed: an answer that never begins"
    if sdk is openai:
        assert isinstance(amid, openai.APITimeoutError), "this has changed: amid a stream of openai's"
    else:
        assert f"{type(amid).__module__}.{type(amid).__name__}" == "httpx2.ReadTimeout", "this has changed: anthropic"
        assert not isinstance(amid, (sdk.APIError, httpx.HTTPError)), "this has changed: it is caught by name"
ended.set()
PYTHON
