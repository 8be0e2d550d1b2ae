"""The page of all sentences is the one that the code prints."""

from pathlib import Path

from headgate.tell.vocabulary import page


def test_page_is_fresh() -> None:
    written = (Path(__file__).parent.parent / "docs" / "vocabulary.md").read_text(encoding="utf-8")
    assert written == page(), "run: make vocabulary"
