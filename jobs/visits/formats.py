"""What a visit looks like in the topic."""

from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

from jobs.records.records import RecordFormat

NUMBERED_VISITS = RecordFormat(
    fields=StructType(
        [
            StructField("event_id", StringType()),
            StructField("visit_id", LongType()),
            StructField("event_time", TimestampType()),
            StructField("page", StringType()),
        ]
    ),
    time_field="event_time",
    required=("visit_id", "event_time"),
)
"""The visits that the documents type into the console producer."""

GENERATED_VISITS = RecordFormat(
    fields=StructType(
        [
            StructField("visit_id", StringType()),
            StructField("event_time", TimestampType()),
            StructField("page", StringType()),
        ]
    ),
    time_field="event_time",
    required=("visit_id", "event_time", "page"),
)
"""The visits of the generator."""

DATED_RECORDS = RecordFormat(
    fields=StructType([StructField("event_time", TimestampType())]),
    time_field="event_time",
    required=("event_time",),
)
"""Whatever has an event time: all that the raw table asks for."""
