#!/bin/sh
# llama-cpp-python 0.3.36. Seen on 2026-11-30.
#
# Guess, written down before: an object with additionalProperties: true, as tools have it that take any arguments, may
# hold texts and numbers, as in JSON Schema and in llama.cpp itself (common/json-schema-to-grammar.cpp: `value`).
# Seen: the grammar made of it lets each value be an object and nothing else, so a model can only write
# {"place": {"name": "Oslo"}} where {"place": "Oslo"} is meant. The empty schema {} becomes the same. An object that says
# nothing of its properties takes any value.
# Whom it hurts: people who have a model of theirs call tools with free arguments through this package, whose server
# holds calls to such grammars (chatml-function-calling): each call fails, and reads as a fault of the model.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
# The source alone: the grammar is made by plain Python, for which nothing has to be compiled.
venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: llama-cpp-python==0.3.36
tar -xzf llama_cpp_python-0.3.36.tar.gz --wildcards --strip-components=2 '*/llama_cpp/llama_grammar.py'
cat > values.py <<'PYTHON'
import json
import re

from llama_grammar import json_schema_to_gbnf

ANY = "object | array | string | number | boolean | null"
SEEN = {
    "open": ({"type": "object", "properties": {}, "additionalProperties": True}, "object"),
    "open without properties": ({"type": "object", "additionalProperties": {}}, "object"),
    "unsaid": ({"type": "object"}, ANY),
}
for name, (schema, expected) in SEEN.items():
    rules = dict(re.findall(r"(\S+) ::= (.*)", json_schema_to_gbnf(json.dumps(schema))))
    values = rules.get("additional-value", rules.get("value"))
    print(f"{name}: a value is {values}")
    assert values == expected, f"this has changed: it was {expected}"
PYTHON
venv/bin/python values.py
