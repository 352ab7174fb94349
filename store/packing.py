"""Reading of values that an earlier Aldis compressed before it sealed them, with a preset dictionary (`_KNOWN`)."""

import zlib

_MAX_BYTES = 64_000
_WINDOW_BITS = -12  # raw deflate, 4 KB
_KNOWN = (
    b'{"step":"completed","completion":{"message":null,"stop":"end","usage":{"input_tokens":0,"cached_'
    b'input_tokens":0,"cache_write_tokens":0,"output_tokens":0},"provider":"anthropic","model":"","lat'
    b'ency_seconds":0.0,"cost_usd":null,"attempts":[]},"arguments":{"query":"","url":"https://www."},"'
    b'outcome":"ok","latency_seconds":0.00,"cost_usd":"0","tool":"calculate","files":[],"step":"ran"}{'
    b'"question":{"text":"","settings":null,"step":"asked"}. The and the of to in is a for that you it'
    b" with on as are be this was have from or by not at but can I we will if what your has more one a"
    b"ll about they there which when would their so an out up no do my Die der und den das von zu mit "
    b'ist im nicht ein auf sich es dem les des est que une pour dans el la los de para 1:[{"answers":['
    b'{"call_id":"call_1_0_0","name":"web_search","content":"{\\"ok\\":false,\\"error\\":\\"{\\"ok\\":true,\\"'
    b'untrusted_data\\":{\\"query\\":\\"\\",\\"source\\":\\"\\",\\"results\\":[{\\"number\\":101,\\"title\\":\\"\\",\\"u'
    b'rl\\":\\"https://\\",\\"site\\":\\"\\",\\"age\\":\\"\\",\\"snippet\\":\\"\\"}]}}","ok":true,"labels":null}],"ro'
    b'le":"tool"}]1:[{"parts":[{"text":"","kind":"text"},{"id":"call_1_0_0","name":"calculate","argume'
    b'nts":{"expression":""},"malformed":null,"kind":"tool_call"}],"role":"assistant","labels":{"peopl'
    b'e":[{"id":"","name":""}],"sources":[{"kind":"search","name":"","is_trusted":false,"is_private":f'
    b'alse}],"is_scheduled":false},"pages":[{"number":101,"url":"https://"}],"pages":[]}],"pages":null'
    b'}]1:[{"text":"[Mon 2026-11-21 22:40 Europe/Berlin] What is ","role":"user","sent_at":[1795000000'
    b'000],"media":[],"labels":{"people":[{"id":"","name":""}],"sources":[],"is_scheduled":false}}]'
)


def unpack(small: bytes) -> bytes:
    """Returns the value that was compressed.

    Raises:
        ValueError: it was not compressed by an Aldis.
    """
    reader = zlib.decompressobj(_WINDOW_BITS, _KNOWN)
    try:
        value = reader.decompress(small, _MAX_BYTES + 1)
    except zlib.error as error:
        raise ValueError("this was not packed here") from error
    if not reader.eof or len(value) > _MAX_BYTES:
        raise ValueError("this was not packed here")
    return value
