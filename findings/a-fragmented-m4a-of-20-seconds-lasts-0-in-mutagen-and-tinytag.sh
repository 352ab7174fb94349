#!/bin/sh
# mutagen 1.48.1, tinytag 2.3.2; the files are made and decoded by av 18.1.0 (FFmpeg). Seen on 2026-11-27.
#
# Guess, written down before: both say 20 s of an m4a, whether its sound is in one piece or in fragments ("moof"), as
# streams and browsers record it; where a length cannot be told, it is missing (None).
# Seen: of the same sound in fragments both say 0.0 s, a length like any other. ISO/IEC 14496-12 has the movie's own
# duration as 0 there, and the fragments count (8.8). Of the same sound as raw AAC (ADTS), which phones record, tinytag
# says 0.2 s: it takes the frames for another kind.
# Whom it hurts: programs that bill, limit or cut by length. A recording of hours passes as one of no time.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/python -m pip install --quiet --disable-pip-version-check av==18.1.0 mutagen==1.48.1 tinytag==2.3.2
cat > lengths.py <<'PY'
import array
import math
import sys
from importlib.metadata import version

import av
import mutagen
import tinytag

RATE, SECONDS = 16_000, 20


def write(path, form, **options):
    with av.open(path, "w", format=form, options=options) as file:
        stream = file.add_stream("aac", rate=RATE, layout="mono")
        stream.bit_rate = 32_000
        for start in range(0, RATE * SECONDS, 1024):
            wave = array.array("h", (int(9000 * math.sin(n / 9)) for n in range(start, start + 1024)))
            frame = av.AudioFrame(format="s16", layout="mono", samples=1024)
            frame.planes[0].update(wave.tobytes())
            frame.rate, frame.pts = RATE, start
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def said(path):
    with av.open(path) as file:
        decoded = sum(frame.samples for frame in file.decode(audio=0)) / RATE
    by_mutagen, by_tinytag = mutagen.File(path).info.length, tinytag.TinyTag.get(path).duration
    return {"decoded": decoded, "mutagen": by_mutagen, "tinytag": by_tinytag}


print({name: version(name) for name in ("mutagen", "tinytag", "av")})
write("whole.m4a", "ipod")
write("fragments.m4a", "ipod", movflags="frag_keyframe+empty_moov")
write("raw.aac", "adts")
found = {path: said(path) for path in ("whole.m4a", "fragments.m4a", "raw.aac")}
for path, lengths in found.items():
    print(path, lengths)
whole, fragments, raw = found.values()
same = (
    all(19 < each["decoded"] < 21 for each in found.values())
    and 19 < whole["mutagen"] < 21
    and 19 < whole["tinytag"] < 21
    and fragments["mutagen"] == fragments["tinytag"] == 0
    and raw["tinytag"] < 1
)
sys.exit(0 if same else "this is no longer what was seen")
PY
venv/bin/python lengths.py
