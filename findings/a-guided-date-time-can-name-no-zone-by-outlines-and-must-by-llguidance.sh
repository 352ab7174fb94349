#!/bin/sh
# outlines-core 0.2.14, llguidance 1.9.1, jsonschema 4.26.0, pydantic 2.14.4. Seen on 2026-11-29.
#
# Guess, written down before: what may stand in a field of format date-time is RFC 3339's, whichever of the two engines
# of a model's server guides the writing: with Z or with an offset, and bounds of numbers hold.
# Seen: outlines-core lets through Z or nothing, so 09:00+01:00 cannot be written; llguidance lets through both, and
# nothing without a zone. The first passes -5 for a number from 0 on and 99 for one up to 16, too; the second does not.
# Whom it hurts: reminders and bookings by structured output. A model in Berlin that is held to the first writes nine
# o'clock as 09:00Z or without a zone; the same schema behind the other engine says something else.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check \
    outlines-core==0.2.14 llguidance==1.9.1 pydantic==2.14.4 "jsonschema[format]==4.26.0"
cat > guided.py <<'PY'
import datetime
import json
import re
import sys
from importlib.metadata import version
from typing import Annotated

from jsonschema import Draft202012Validator
from llguidance import LLMatcher, LLTokenizer
from outlines_core.json_schema import build_regex_from_schema
from pydantic import Field, TypeAdapter

print({name: version(name) for name in ("outlines-core", "llguidance", "jsonschema", "pydantic")})
tokens = LLTokenizer("byte")


def by_standard(schema, text):
    checker = Draft202012Validator.FORMAT_CHECKER
    return Draft202012Validator(schema, format_checker=checker).is_valid(json.loads(text))


def by_outlines(schema, text):
    return re.fullmatch(build_regex_from_schema(json.dumps(schema)), text) is not None


def by_llguidance(schema, text):
    matcher = LLMatcher(tokens, LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    letters = tokens.tokenize_str(text)
    return matcher.try_consume_tokens(letters) == len(letters) and matcher.is_accepting()


when = TypeAdapter(datetime.datetime).json_schema()
room = TypeAdapter(Annotated[int, Field(ge=1, le=16)]).json_schema()
asked = [
    (when, '"2026-12-01T08:00:00Z"'),
    (when, '"2026-12-01T09:00:00+01:00"'),
    (when, '"2026-12-01T09:00:00"'),
    (room, "7"),
    (room, "99"),
]
found = []
for schema, text in asked:
    found.append((by_standard(schema, text), by_outlines(schema, text), by_llguidance(schema, text)))
    print(schema, text, dict(zip(("jsonschema", "outlines-core", "llguidance"), found[-1])))
seen = [(True, True, True), (True, False, True), (False, True, False), (True, True, True), (False, True, False)]
sys.exit(0 if found == seen else "this is no longer what was seen")
PY
venv/bin/python guided.py
