"""Checks the file that `/verify WORD` gave: python3 check_attestation.py aldis-attestation.json WORD.

It needs nothing but Python 3. What it leaves to others, and what it proves, stands in operating.md.
"""

import hashlib
import json
import sys
from pathlib import Path

RUNTIME_REGISTER = 3
"""The register of a TDX quote into which dstack writes what it starts."""


def event_digest(event: dict) -> bytes:
    """Returns the SHA-384 of one event of the log, in the older or the newer form of dstack."""
    name, payload, kind = event["event"], event["event_payload"], event["event_type"]
    event_bytes = kind.to_bytes(4, "little") + b":" + name.encode() + b":" + bytes.fromhex(payload)
    if event.get("version") == 2:
        fields = {"name": name, "payload": payload, "type": kind}
        event_bytes = json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()
    return hashlib.sha384(event_bytes).digest()


def main() -> None:
    """Prints the digests of the source and of the compose file, or ends with what is wrong."""
    found, word = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), sys.argv[2]
    quote = bytes.fromhex(found["quote"])
    if quote[:2] != b"\x04\x00":
        sys.exit("no quote of version 4")
    statement = f"aldis-attestation-1\n{found['source']}\n{word}".encode()
    if quote[568:632] != hashlib.sha512(statement).digest():
        sys.exit("the quote was made for another word or source")
    register, compose = bytes(48), None
    for event in json.loads(found["event_log"]):
        if event["imr"] == RUNTIME_REGISTER:
            register = hashlib.sha384(register + event_digest(event)).digest()
            if event["event"] == "compose-hash" and compose is None:
                compose = event["event_payload"]
    if register != quote[520:568] or compose is None:
        sys.exit("the event log is not what was measured")
    print(f"source  {found['source']}\ncompose {compose}")


main()
