"""Text of strangers on a terminal: its control characters are shown, not obeyed."""

import re

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""All control characters but the tab and the line feed, and those that turn the direction of text."""
LONGEST = 4000


def shown(text: str) -> str:
    r"""Return the text with escapes such as \u001b in place of control characters; JSON means the same with them."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def short(text: str, most: int = 40) -> str:
    """Return the text, its end cut off if it is long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def shortened(text: str) -> str:
    """Return the text without its middle if it is too long to be read, as an error about a huge file may be."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
