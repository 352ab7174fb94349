#!/bin/sh
# The stream helper of Anthropic's SDK fills a call that was cut off with the half of its last number.
#
# Package: anthropic 2.14.0 (PyPI; its parser of unfinished JSON is jiter 0.19.0), 2026-11-29, Python 3.11.
# Guess, written down before the run: where an answer ends at max_tokens amid a call, the helper's final message leaves
# out the value that was cut, whatever its kind.
# Seen: a text that was cut is left out, a number is not. Of an amount of 1250 that ends after 12 the call says 12, and
# nothing in it tells that more was to come; only the stop reason of the whole message does. jiter does the same.
# Whom it hurts: programs that stream and run the calls of a final message, or show its snapshots: 12 are paid, or three
# days are planned in place of thirty. A program that reads the stop reason first is safe, and so is one that streams nothing.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet anthropic==2.14.0 jiter==0.19.0
"$folder/venv/bin/python" - <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version

import anthropic
import jiter


class Service(BaseHTTPRequestHandler):
    """Streams one call, in the events of the Messages API."""

    written = ""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        begun = {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": [], "stop_reason": None}
        begun |= {"stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        block = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {}}
        ended = {"stop_reason": "max_tokens", "stop_sequence": None}
        events = [
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": self.written},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ]
        body = "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


print({name: version(name) for name in ("anthropic", "jiter")})
server = HTTPServer(("127.0.0.1", 0), Service)
threading.Thread(target=server.serve_forever, daemon=True).start()
client = anthropic.Anthropic(api_key="k", base_url=f"http://127.0.0.1:{server.server_port}", max_retries=0)
seen = {
    '{"to": "Ann", "amount": 12': {"to": "Ann", "amount": 12},
    '{"amount": 1250.75, "to": "An': {"amount": 1250.75},
    '{"days": [1, 2, 1': {"days": [1, 2, 1]},
}
for written, expected in seen.items():
    Service.written = written
    asked = {"model": "c", "max_tokens": 20, "messages": [{"role": "user", "content": "Pay Ann 1250."}]}
    with client.messages.stream(**asked) as stream:
        message = stream.get_final_message()
    print(f"{written} -> {message.content[0].input}, {message.stop_reason}")
    assert message.content[0].input == expected == jiter.from_json(written.encode(), partial_mode=True)
server.shutdown()
PYTHON
