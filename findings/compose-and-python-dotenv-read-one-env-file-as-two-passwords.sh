#!/bin/sh
# One line of a file of variables is one password under `docker compose` and another where python-dotenv reads it.
#
# Packages: github.com/compose-spec/compose-go/v2 v2.16.2 (what `docker compose` reads files with; Go 1.24 or newer) and
# python-dotenv 1.2.4 (PyPI), 2026-11-28, Python 3.11.
# Guess, written down before the run: both keep what stands between single quotation marks, and both take a dollar sign
# for the begin of a variable or for itself.
# Seen: two dollar signs are one for compose and two for python-dotenv, without quotation marks and within double ones;
# "\$" is a dollar sign for compose and a backslash and a dollar sign for python-dotenv; "$NAME" is the variable's value
# for compose and these five characters for python-dotenv (only ${NAME} is both); two backslashes between single
# quotation marks stay two for compose and become one for python-dotenv. Neither says anything.
# Whom it hurts: operators who move a program between a container and their shell with one .env: keys with $ or \ are
# refused in one of both.
set -eu
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet python-dotenv==1.2.4
cat >go.mod <<'GO'
module reading

go 1.24

require github.com/compose-spec/compose-go/v2 v2.16.2
GO
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"os"

	"github.com/compose-spec/compose-go/v2/dotenv"
)

func main() {
	values, err := dotenv.ParseWithLookup(os.Stdin, nil)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(values)
	}
	if err != nil {
		panic(err)
	}
}
GO
cat >env <<'ENV'
PLAIN=pa$$word
DOUBLE="pa$$word"
SINGLE='pa$$word'
ESCAPED="pa\$word"
NAMED="$PLAIN"
BACKSLASHES='a\\b'
ENV
go mod tidy 2>go.log || { cat go.log; exit 1; }
go run . <env >compose.json
venv/bin/python - <<'PYTHON'
import json
from importlib.metadata import version

from dotenv import dotenv_values

print("compose-go v2.16.2, python-dotenv", version("python-dotenv"))
with open("compose.json", encoding="utf-8") as file:
    compose = json.load(file)
ours = dotenv_values("env")
seen = {
    "PLAIN": ("pa$word", "pa$$word"),
    "DOUBLE": ("pa$word", "pa$$word"),
    "SINGLE": ("pa$$word", "pa$$word"),
    "ESCAPED": ("pa$word", r"pa\$word"),
    "NAMED": ("pa$word", "$PLAIN"),
    "BACKSLASHES": (r"a\\b", r"a\b"),
}
for name, expected in seen.items():
    found = (compose[name], ours[name])
    print(f"{name}: compose {found[0]}, python-dotenv {found[1]}")
    assert found == expected, f"this has changed: {name} was {expected}"
PYTHON
