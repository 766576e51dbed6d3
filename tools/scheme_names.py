"""How the documentation names schemes: the headings of their pages, and the table of all of them."""

import re
from typing import Any


def heading(scheme: dict[str, Any]) -> str:
    """Return the name of a scheme as its paper spells it, and what it stands for."""
    name, title = scheme["name"], scheme["title"]
    parts = name.split("-")
    if name == "none" or title.lower().startswith(name) or (len(parts) > 1 and max(map(len, parts)) > 4):
        return str(title)
    spelled = re.search(rf"\b{re.escape(name)}\b", scheme["source"], re.IGNORECASE)
    return f"{spelled[0] if spelled else name.upper()}: {title}"


def hearing(scheme: dict[str, Any]) -> str:
    """Return the messages with which a scheme notifies a source."""
    signals = scheme["signals"]
    ways = {"backward": "from the congestion point", "by destination": "through the destination"}
    return f"{ways[signals['path']]}, in frames of {signals['octets']} octets" if signals else "none"
