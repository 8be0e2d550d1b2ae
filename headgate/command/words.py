"""Reads the words of a command: refusals in one sentence, secrets that stay out of the command line."""

import argparse
import os
from pathlib import Path
from typing import NoReturn

from headgate.errors import Refusal


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that refuses in one sentence instead of printing its usage and ending the program."""

    def error(self, message: str) -> NoReturn:
        """Refuse."""
        raise Refusal(f"{message[0].upper()}{message[1:]}. See: {self.prog} --help")


def read_secrets(options: argparse.Namespace) -> None:
    """Put in what --kafka-option names as env:NAME or file:PATH, and remember it as secret."""
    options.kept_secret = []
    given: list[tuple[str, str] | str] = getattr(options, "kafka_option", [])
    options.kafka_option = [_with_secret(setting, options.kept_secret) for setting in given]


def _with_secret(setting: tuple[str, str] | str, kept: list[str]) -> tuple[str, str] | str:
    if isinstance(setting, tuple):
        return setting[0], _value(setting[1], kept)
    key, equals, value = setting.partition("=")  # rewind-checkpoint takes settings as they are typed
    return f"{key}{equals}{_value(value, kept)}"


def _value(text: str, kept: list[str]) -> str:
    """A value may be kept out of the command line, which other users of the machine can read."""
    kind, _, place = text.partition(":")
    if kind == "env":
        if place not in os.environ:
            raise Refusal(f"The environment has no variable {place}, which --kafka-option asks for.")
        kept.append(os.environ[place])
    elif kind == "file":
        try:
            kept.append(Path(place).read_text().strip())
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text"
            raise Refusal(f"The file {place}, which --kafka-option asks for, cannot be read: {reason}.") from None
    else:
        return text
    return kept[-1]


def positive(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)
