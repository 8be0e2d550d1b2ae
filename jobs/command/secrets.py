"""Keeps secrets out of everything that is shown."""

import argparse
import re

SECRET_KEY = re.compile(r"password|secret|jaas|token|credential|\.key$", re.IGNORECASE)
QUOTED = re.compile(r"\"([^\"]+)\"|'([^']+)'")
SHORTEST = 4
SHOWN = "*****"


class Mask:
    """Hides the values of the Kafka client's secret settings, and those given as env:NAME or file:PATH."""

    def __init__(self, options: argparse.Namespace) -> None:
        hidden = set(getattr(options, "kept_secret", ()))
        hidden |= {value for key, value in getattr(options, "kafka_option", ()) if SECRET_KEY.search(key)}
        parts = {part for value in hidden for part in _parts(value) if len(part) >= SHORTEST}
        # The longest first: a secret may hold another.
        self._secrets = sorted(parts, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, SHOWN)
        return text


def _parts(value: str) -> set[str]:
    """The value, its lines, and what it quotes: a JAAS setting holds the user's name and password so."""
    quoted = {part for pair in QUOTED.findall(value) for part in pair}
    return {value, *value.splitlines(), *quoted}
