#!/bin/sh
# A model that runs at home has no price but for one: Ollama's deepseek-r1:7b costs what DeepSeek takes for its own.
#
# Package: genai-prices 0.2.3 (PyPI), 2026-11-28, Python 3.11.
# Guess, written down before the run: names of models as Ollama writes them (family:size) are in no vendor's list, so a
# LookupError is raised for each of them, and a program can say that the price is unknown.
# Seen: LookupError for qwen3:8b, llama3.2:3b, gpt-oss:20b and mistral:7b, but deepseek-r1:7b, deepseek-r1:8b and
# deepseek-r1:70b are all priced as the model deepseek-reasoner of the vendor.
# Whom it hurts: programs with a budget in dollars: a free model of the house uses it up, and only this one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet genai-prices==0.2.3
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

import genai_prices

print("genai-prices", version("genai-prices"))
usage = genai_prices.Usage(input_tokens=1_000_000, output_tokens=1_000_000)
seen = {
    "qwen3:8b": None,
    "llama3.2:3b": None,
    "gpt-oss:20b": None,
    "mistral:7b": None,
    "deepseek-r1:7b": ("deepseek", "deepseek-reasoner"),
    "deepseek-r1:8b": ("deepseek", "deepseek-reasoner"),
    "deepseek-r1:70b": ("deepseek", "deepseek-reasoner"),
}
for name, expected in seen.items():
    try:
        price = genai_prices.calc_price(usage, model_ref=name)
    except LookupError:
        found = None
        print(f"{name}: no price")
    else:
        found = (price.provider.id, price.model.id)
        print(f"{name}: {found[0]} {found[1]}, {price.total_price} USD for a million tokens in and out")
        assert price.total_price > 0
    assert found == expected, f"this has changed: {name} was {expected}"
PYTHON
