"""The scenario as the seam sees it: its broker, its topics, its places, its Spark."""

import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):/+")
SQL_PLACES = (
    re.compile(r"(?P<before>\bLOCATION\s+)(?P<quote>['\"])(?P<path>[^'\"]+)(?P=quote)", re.IGNORECASE),
    re.compile(r"(?P<before>\b(?:delta|parquet|json|csv|text|orc)\s*\.\s*)(?P<quote>`)(?P<path>[^`]+)`", re.IGNORECASE),
    re.compile(r"(?P<before>\bpath['\"]?\s*=?\s*)(?P<quote>['\"])(?P<path>[^'\"]+)(?P=quote)", re.IGNORECASE),
)


@dataclass
class World:
    """What a program is led to instead of what it names."""

    spark: SparkSession
    kafka: str
    folder: Path
    suffix: str
    project: Path
    make_topic: Callable[[str], None]
    settings: dict[str, str] = field(default_factory=dict)
    led: dict[str, str] = field(default_factory=dict)
    """Everything that was led so far, from what the program said to where it went."""

    # Topics.

    def topic(self, name: str) -> str:
        """This scenario's own topic for the name that the program uses."""
        name = name.strip()
        if name.endswith(f"-{self.suffix}"):
            return name
        return self._note(f"topic {name}", f"{name}-{self.suffix}")

    def topics(self, names: str) -> str:
        """The same for names with commas between them."""
        return ",".join(map(self.topic, names.split(",")))

    def topic_pattern(self, pattern: str) -> str:
        """A pattern that matches this scenario's topics alone."""
        return self._note(f"topics {pattern}", f"(?:{pattern})-{self.suffix}")

    def offsets(self, text: str) -> str:
        """Offsets as JSON, under this scenario's topics; words such as earliest stay."""
        try:
            named = json.loads(text)
        except ValueError:
            return text
        return json.dumps({self.topic(name): value for name, value in named.items()}) if named else text

    def plain_topic(self, name: str) -> str:
        """The name that the program and the feature use."""
        return name.removesuffix(f"-{self.suffix}")

    # Places.

    def place(self, path: str) -> str:
        """Where in this scenario's folder the path leads; the same path, however spelled, to the same place."""
        path = str(path)
        if self.is_inside(path):
            return path
        found = SCHEME.match(path)
        scheme = found[1].lower() if found else "file"
        if scheme == "file":
            where = self._local_place("/" + path[found.end() :] if found else path)
        else:
            assert found is not None
            where = self.folder / "places" / scheme / path[found.end() :].strip("/")
        return self._note(path, str(where))

    def place_to_read(self, path: str) -> str:
        """The same for a path that is only read: files of the project itself are found there, as copies."""
        where = self.place(path)
        found = SCHEME.match(path)
        if not found or found[1].lower() == "file":
            for own in self._own_files("/" + path[found.end() :] if found else path):
                self._copy(own)
        return where

    def _own_files(self, path: str) -> list[Path]:
        """Files and folders of the project that the path means, which may have wildcards."""
        pattern = Path(os.path.normpath(self.project / path))
        if not pattern.is_relative_to(self.project) or pattern == self.project or self.is_inside(str(pattern)):
            return []
        found = self.project.glob(str(pattern.relative_to(self.project)))
        return [own for own in found if not (own / "_delta_log").exists()]

    def _copy(self, own: Path) -> None:
        where = Path(self.place(str(own)))
        if where.exists():
            return
        where.parent.mkdir(parents=True, exist_ok=True)
        if own.is_dir():
            shutil.copytree(own, where)
        else:
            shutil.copy(own, where)

    def sql(self, text: str) -> str:
        """A statement with its places led."""
        for pattern in SQL_PLACES:
            text = pattern.sub(
                lambda found: f"{found['before']}{found['quote']}{self.place(found['path'])}{found['quote']}", text
            )
        return text

    def is_inside(self, path: str) -> bool:
        """Whether the path is in this scenario's folder already."""
        local = path.removeprefix("file://").removeprefix("file:")
        return local == str(self.folder) or local.startswith(f"{self.folder}/")

    def _local_place(self, path: str) -> Path:
        """Relative paths are meant from the project's folder, where its programs are started."""
        absolute = Path(os.path.normpath(self.project / path))
        if absolute.is_relative_to(self.project):
            return self.folder / "places" / "here" / absolute.relative_to(self.project)
        return self.folder / "places" / "root" / absolute.relative_to("/")

    # What people read.

    def shown(self, where: str) -> str:
        """Where something led, with the scenario's folder as SCENARIO."""
        return where.replace(str(self.folder), "SCENARIO")

    def spoken(self, text: str) -> str:
        """The text with topics and places as the program and the feature name them."""
        text = text.replace(f"-{self.suffix}", "")
        places = [(where, path) for path, where in self.led.items() if self.is_inside(where)]
        for where, path in sorted(places, key=lambda each: -len(each[0])):
            text = text.replace(where, path)
        return text.replace(f"{self.folder}/", "")

    def _note(self, named: str, where: str) -> str:
        self.led[named] = where
        return where
