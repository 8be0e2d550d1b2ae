"""What each customer has spent in a visit, so far and when it is over."""

import sys

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, from_json
from pyspark.sql.streaming.state import GroupStateTimeout
from totals_state import OUTPUT, STATE, add_up


def main(argv: list[str]) -> int:
    brokers = argv[1] if len(argv) > 1 else "localhost:9092"
    spark = SparkSession.builder.appName("session-totals").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")

    orders = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", brokers)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .load()
        .select(
            from_json(col("value").cast("string"), "customer STRING, amount DOUBLE, order_time TIMESTAMP").alias("o")
        )
        .select("o.*")
    )

    totals = (
        orders.withWatermark("order_time", "10 minutes")
        .groupBy("customer")
        .applyInPandasWithState(add_up, OUTPUT, STATE, "update", GroupStateTimeout.EventTimeTimeout)
    )

    query = (
        totals.writeStream.outputMode("update")
        .format("console")
        .option("numRows", 100)
        .option("checkpointLocation", "checkpoints/session-totals")
        .start()
    )
    query.awaitTermination()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
