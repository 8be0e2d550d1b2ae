"""Clock readings in UTC, whatever the session's zone is."""

from pyspark.sql import Column
from pyspark.sql import functions as F


def utc_clock(time: Column) -> Column:
    """What a clock in UTC shows at that time, as a timestamp without zone."""
    epoch = F.to_timestamp_ntz(F.lit("1970-01-01 00:00:00"))
    return epoch + F.make_dt_interval(secs=F.unix_timestamp(time).cast("decimal(18,6)"))
