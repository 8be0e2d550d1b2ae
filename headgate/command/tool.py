"""A tool of the command `headgate`: its name, its options, what it does."""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent

from headgate.command.words import Parser, read_secrets


def accept(options: argparse.Namespace) -> None:
    """Find nothing wrong."""


@dataclass(frozen=True)
class Tool:
    """One word after `headgate`."""

    name: str
    summary: str
    example: str
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    check: Callable[[argparse.Namespace], None] = accept

    def __call__(self, words: Sequence[str]) -> int:
        """Read the words and do it."""
        options = self.parser().parse_args(words)
        read_secrets(options)
        self.check(options)
        return self.run(options)

    def parser(self) -> Parser:
        """The parser of its options."""
        parser = Parser(
            prog=f"headgate {self.name}",
            description=self.summary,
            epilog="example:\n" + indent(self.example, "  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.add_options(parser)
        return parser
