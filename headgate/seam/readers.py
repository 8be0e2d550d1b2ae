"""Readers that lead to the scenario, batch and streaming."""

from typing import Any

from pyspark.sql import DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamReader

from headgate.seam.options import led_option
from headgate.seam.program import Program

# An idle broker answers after this long: half a second otherwise.
QUICK_POLL = "kafka.fetch.max.wait.ms"
BY_PATH = ("json", "csv", "text", "orc", "xml")


class _Led:
    """What both readers have in common."""

    _program: Program
    _source: str
    _polls_quickly: bool

    def __init__(self, spark: SparkSession, program: Program) -> None:
        super().__init__(spark)  # type: ignore[call-arg]
        self._program, self._source, self._polls_quickly = program, "", False

    def format(self, source: str) -> Any:
        self._source = source.lower()
        return super().format(source)  # type: ignore[misc]

    def option(self, key: str, value: Any) -> Any:
        led = led_option(self._program.world, key, value)
        if key.lower() == "path":
            led = self._program.world.place_to_read(str(value))
        self._polls_quickly |= key.lower() == QUICK_POLL
        return self if led is None else super().option(key, led)  # type: ignore[misc]

    def options(self, **options: Any) -> Any:
        for key, value in options.items():
            self.option(key, value)
        return self

    def load(self, path: Any = None, format: str | None = None, schema: Any = None, **options: Any) -> DataFrame:
        if format is not None:
            self.format(format)
        self.options(**options)
        if self._source == "kafka" and not self._polls_quickly:
            self.option(QUICK_POLL, "10")
        frame = super().load(self._to_read(path), None, schema)  # type: ignore[misc]
        return self._with_plain_topics(frame) if self._source == "kafka" else frame

    def _to_read(self, path: Any) -> Any:
        if isinstance(path, list):
            return [self._to_read(each) for each in path]
        return self._program.world.place_to_read(path) if isinstance(path, str) else path

    def _with_plain_topics(self, frame: DataFrame) -> DataFrame:
        plain = F.regexp_replace("topic", f"-{self._program.world.suffix}$", "")
        return frame.withColumn("topic", plain)

    def parquet(self, *paths: str, **options: Any) -> DataFrame:
        named = [options.pop("path")] if "path" in options else []
        return super().parquet(*[self._to_read(each) for each in (*paths, *named)], **options)  # type: ignore[misc]

    def table(self, tableName: str) -> DataFrame:
        """A table by its name, or by its format and path."""
        return super().table(self._program.world.sql(tableName))  # type: ignore[misc]


def _by_path(name: str) -> Any:
    def read(self: Any, path: Any, *arguments: Any, **options: Any) -> DataFrame:
        frame: DataFrame = getattr(super(_Led, self), name)(self._to_read(path), *arguments, **options)
        return frame

    read.__name__ = name
    return read


for _name in BY_PATH:
    setattr(_Led, _name, _by_path(_name))


class LedReader(_Led, DataFrameReader):  # type: ignore[misc]
    """`spark.read` in a program."""


class LedStreamReader(_Led, DataStreamReader):  # type: ignore[misc]
    """`spark.readStream` in a program."""
