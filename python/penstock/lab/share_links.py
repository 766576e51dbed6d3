"""Links that hold a scenario: the part of an address behind ``#``, as the page itself makes it (lab/src/share.ts)."""

import base64
import json
import zlib

from penstock.scenario import Scenario


def fragment(scenario: Scenario) -> str:
    """Return the part behind ``#`` of a link that opens ``scenario`` in the page, at its start."""
    state = {"text": scenario.to_toml(), "compare": None, "now_s": 0, "speed": 0, "view": None}
    # Deflate alone, without the header of zlib.
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    octets = packer.compress(json.dumps(state).encode()) + packer.flush()
    return f"s={base64.urlsafe_b64encode(octets).decode().rstrip('=')}"
