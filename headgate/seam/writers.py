"""Writers that lead to the scenario: batch writers here, streaming ones with their sinks."""

from typing import Any

from pyspark.sql import Column, DataFrame, DataFrameWriter
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from headgate.seam.options import led_option, led_trigger
from headgate.seam.program import Program
from headgate.seam.sinks import LedQuery, console_text

BY_PATH = ("json", "parquet", "csv", "text", "orc")


def own_topics(program: Program, frame: DataFrame) -> DataFrame:
    """The rows with this scenario's topics in the column that says where they go."""
    if "topic" not in frame.columns:
        return frame
    program.topics_by_column = True
    suffix = f"-{program.world.suffix}"
    topic: Column = F.col("topic").cast("string")
    return frame.withColumn("topic", F.when(topic.endswith(suffix), topic).otherwise(F.concat(topic, F.lit(suffix))))


class LedWriter(DataFrameWriter):  # type: ignore[misc]
    """`frame.write` in a program."""

    def __init__(self, frame: DataFrame, program: Program) -> None:
        super().__init__(frame)
        self._program = program
        self._source = ""
        self._given: dict[str, Any] = {}

    def format(self, source: str) -> "LedWriter":
        self._source = source.lower()
        super().format(source)
        return self

    def option(self, key: str, value: Any) -> "LedWriter":
        led = led_option(self._program.world, key, value)
        if led is not None:
            self._given[key.lower()] = led
            super().option(key, led)
        return self

    def options(self, **options: Any) -> "LedWriter":
        for key, value in options.items():
            self.option(key, value)
        return self

    def save(
        self,
        path: str | None = None,
        format: str | None = None,
        mode: str | None = None,
        partitionBy: Any = None,
        **options: Any,
    ) -> None:
        if format is not None:
            self.format(format)
        self.options(**options)
        place = None if path is None else self._program.world.place(path)
        if self._source == "kafka":
            self._save_to_kafka(mode)
            return
        self._note_files(self._source, place or self._given.get("path"))
        super().save(place, None, mode, partitionBy)

    def _note_files(self, form: str, place: str | None) -> None:
        self._program.note_write(form, place, self._given.get("header", False))

    def _save_to_kafka(self, mode: str | None) -> None:
        frame = self._df
        if "topic" in self._given:
            self._program.note_topic(self._given["topic"])
        else:
            frame = own_topics(self._program, frame)
            self._program.note_write()
        plain = DataFrameWriter(frame).format("kafka").options(**self._given)
        (plain.mode(mode) if mode else plain).save()

    def saveAsTable(self, name: str, *arguments: Any, **options: Any) -> None:
        self._program.note_write()
        super().saveAsTable(name, *arguments, **options)

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        self._program.note_write()
        super().insertInto(tableName, overwrite)


def _save_by_path(name: str) -> Any:
    def save(self: LedWriter, path: str, *arguments: Any, **options: Any) -> None:
        place = self._program.world.place(path)
        getattr(DataFrameWriter, name)(self, place, *arguments, **options)
        self._note_files(name, place)

    save.__name__ = name
    return save


for _name in BY_PATH:
    setattr(LedWriter, _name, _save_by_path(_name))


class LedStreamWriter(DataStreamWriter):  # type: ignore[misc]
    """`frame.writeStream` in a program: what is said of the query is kept until it starts."""

    def __init__(self, frame: DataFrame, program: Program) -> None:
        super().__init__(frame)
        self._program = program
        self._source = ""
        self._mode = "append"
        self._name: str | None = None
        self._given: dict[str, tuple[str, Any]] = {}
        """Options as they were typed, under their names in small letters."""
        self._function: Any = None
        self._calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def format(self, source: str) -> "LedStreamWriter":
        self._source = source.lower()
        return self

    def option(self, key: str, value: Any) -> "LedStreamWriter":
        led = led_option(self._program.world, key, value)
        if led is not None:
            self._given[key.lower()] = key, led
        return self

    def options(self, **options: Any) -> "LedStreamWriter":
        for key, value in options.items():
            self.option(key, value)
        return self

    def outputMode(self, outputMode: str) -> "LedStreamWriter":
        self._mode = outputMode.lower()
        return self._later("outputMode", outputMode)

    def queryName(self, queryName: str) -> "LedStreamWriter":
        self._name = queryName
        return self._later("queryName", queryName)

    def partitionBy(self, *columns: Any) -> "LedStreamWriter":
        return self._later("partitionBy", *columns)

    def clusterBy(self, *columns: Any) -> "LedStreamWriter":
        return self._later("clusterBy", *columns)

    def trigger(self, **how: Any) -> "LedStreamWriter":
        return self._later("trigger", **led_trigger(self._program.world, how))

    def foreach(self, f: Any) -> "LedStreamWriter":
        self._source = "foreach"
        self._function = DataStreamWriter._construct_foreach_function(f)
        return self

    def foreachBatch(self, func: Any) -> "LedStreamWriter":
        self._source = "foreachbatch"
        self._function = func
        return self

    def start(
        self,
        path: str | None = None,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> StreamingQuery:
        if format is not None:
            self.format(format)
        self._say_more(outputMode, partitionBy, queryName, options)
        if path is not None:
            self.option("path", path)
        return self._start(lambda writer: writer.start())

    def toTable(
        self,
        tableName: str,
        format: str | None = None,
        outputMode: str | None = None,
        partitionBy: Any = None,
        queryName: str | None = None,
        **options: Any,
    ) -> StreamingQuery:
        if format is not None:
            self.format(format)
        self._say_more(outputMode, partitionBy, queryName, options)
        self._source = self._source or "table"
        return self._start(lambda writer: writer.toTable(self._program.world.sql(tableName)))

    def _say_more(self, mode: str | None, columns: Any, name: str | None, options: dict[str, Any]) -> None:
        if mode is not None:
            self.outputMode(mode)
        if columns is not None:
            self.partitionBy(*([columns] if isinstance(columns, str) else columns))
        if name is not None:
            self.queryName(name)
        self.options(**options)

    def _later(self, method: str, *arguments: Any, **named: Any) -> "LedStreamWriter":
        self._calls.append((method, arguments, named))
        return self

    def _start(self, begin: Any) -> StreamingQuery:
        self._program.refuse_if_closing()
        led = self._program.new_query(self._name, self._source, self._checkpoint())
        writer = DataStreamWriter(self._frame(led))
        for method, arguments, named in self._calls:
            writer = getattr(writer, method)(*arguments, **named)
        if led.is_recorded:
            writer = writer.foreachBatch(led.recorder(self._sink(led)))
        else:
            self._program.note_write(self._source, self._option("path"), self._option("header", False))
            writer = writer if self._source in ("", "table") else writer.format(self._source)
            for key, value in self._given.values():
                writer = writer.option(key, value)
        led.query = begin(writer.option("checkpointLocation", led.checkpoint))
        self._program.queries.append(led)
        return led.query

    def _frame(self, led: LedQuery) -> DataFrame:
        """What the query writes, led to this scenario's topics, and made to fail where a sentence has said so."""
        frame = self._df
        if self._source == "kafka" and "topic" in self._given:
            self._program.note_topic(self._option("topic"))
        elif self._source == "kafka":
            frame = own_topics(self._program, frame)
        return frame if led.is_recorded else led.led_frame(frame)

    def _sink(self, led: LedQuery) -> Any:
        if self._source == "foreachbatch":
            return self._function
        if self._source == "foreach":
            return lambda frame, number: frame.rdd.mapPartitionsWithIndex(self._function).count()
        if self._source == "memory" and self._name:
            return led.memory_view(self._name, self._mode, self._df)
        if self._source == "console":
            rows = int(self._option("numrows", 20))
            truncate = str(self._option("truncate", "true")).lower()
            width = 20 if truncate == "true" else 0 if truncate == "false" else int(truncate)
            return lambda frame, number: print(console_text(frame, number, rows, width))
        return lambda frame, number: None

    def _option(self, name: str, default: Any = None) -> Any:
        return self._given.get(name, (name, default))[1]

    def _checkpoint(self) -> str:
        if "checkpointlocation" in self._given:
            return str(self._option("checkpointlocation"))
        shared = self._df.sparkSession.conf.get("spark.sql.streaming.checkpointLocation", None)
        name = self._name or f"query-{len(self._program.queries) + 1}"
        if shared:
            return f"{self._program.world.place(shared)}/{name}"
        return str(self._program.world.folder / "checkpoints" / self._program.name.replace(" ", "-") / name)
