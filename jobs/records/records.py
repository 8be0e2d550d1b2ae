"""Tells good Kafka records from bad ones: every record is either read or has a reason why not."""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

CORRUPT = "_corrupt"
TIME_SHAPE = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}"


@dataclass(frozen=True)
class RecordFormat:
    """What a topic's JSON values look like, and which fields a job cannot do without."""

    fields: StructType
    time_field: str
    required: tuple[str, ...]


def with_rejection(raw: DataFrame, form: RecordFormat, max_bytes: int) -> DataFrame:
    """Add `record`, the parsed value, and `rejection`, the reason why it cannot be used, or null."""
    text = F.col("value").cast("string")
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    read = raw.withColumn("_read", F.from_json(text, _lenient(form), options))
    time_text = F.col(f"_read.{form.time_field}")
    # A cast alone would take '07:00' for a time of today.
    time = F.when(time_text.rlike(TIME_SHAPE), time_text.try_cast("timestamp"))
    record = F.struct(
        *[
            time.alias(name) if name == form.time_field else F.col(f"_read.{name}").alias(name)
            for name in form.fields.names
        ]
    )
    return (
        read.withColumn("record", record)
        .withColumn("rejection", _rejection(form, text, time_text, max_bytes))
        .drop("_read")
    )


def refuse_bad_records(judged: DataFrame) -> DataFrame:
    """The same, but the first bad record fails the query with its place and reason."""
    complaint = F.format_string(
        "bad record in topic %s, partition %s, offset %s: %s",
        *[F.col(name) for name in ("topic", "partition", "offset", "rejection")],
    )
    is_good = F.when(F.col("rejection").isNull(), F.lit(True)).otherwise(F.raise_error(complaint).cast("boolean"))
    return judged.filter(is_good)


def _lenient(form: RecordFormat) -> StructType:
    """The time as text, to tell a missing one from an unparsable one."""
    fields = [
        StructField(field.name, StringType()) if field.name == form.time_field else field
        for field in form.fields.fields
    ]
    return StructType([*fields, StructField(CORRUPT, StringType())])


def _rejection(form: RecordFormat, text: Column, time_text: Column, max_bytes: int) -> Column:
    size = F.octet_length("value")
    time = F.col(f"record.{form.time_field}")
    return (
        F.when(F.col("value").isNull(), F.lit("the value is null"))
        .when(size > max_bytes, F.format_string(f"the value has %d bytes, more than {max_bytes}", size))
        .when(~F.is_valid_utf8(text), F.lit("the value is not valid UTF-8"))
        .when(F.col("_read").isNull() | F.col(f"_read.{CORRUPT}").isNotNull(), _malformed(form, text))
        .when(_missing(form) != "", F.concat(_missing(form), F.lit(" is missing")))
        .when(time.isNull(), F.concat(F.lit(f"{form.time_field} is not a time: "), time_text))
    )


def _malformed(form: RecordFormat, text: Column) -> Column:
    return (
        F.when(F.try_parse_json(text).isNull(), F.lit("the value is not JSON"))
        .when(~F.ltrim(text).startswith("{"), F.lit("the value is JSON but not an object"))
        .otherwise(F.concat(F.lit("wrong type: "), _wrong_fields(form, text)))
    )


def _missing(form: RecordFormat) -> Column:
    return F.concat_ws(", ", *[F.when(F.col(f"_read.{name}").isNull(), F.lit(name)) for name in form.required])


def _wrong_fields(form: RecordFormat, text: Column) -> Column:
    """The names of the fields whose values are of another type than declared."""
    return F.concat_ws(", ", *[_if_wrong(field, text) for field in _lenient(form).fields if field.name != CORRUPT])


def _if_wrong(field: StructField, text: Column) -> Column:
    alone = StructType([field, StructField(CORRUPT, StringType())])
    read = F.from_json(text, alone, {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})
    return F.when(read.getField(CORRUPT).isNotNull(), F.lit(f"{field.name} is not {field.dataType.simpleString()}"))
