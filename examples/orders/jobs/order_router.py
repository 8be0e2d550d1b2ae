"""Sends good orders to one topic, and the big ones among them to the people who look at them."""

import logging
import os

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from shop.limits import BIG_ORDER

BROKERS = os.environ["KAFKA_BROKERS"]
SCHEMA = "order_id STRING, shop STRING, amount DOUBLE"

log = logging.getLogger("order-router")


def write_to(topic: str, orders: DataFrame) -> None:
    (
        orders.select(F.col("order_id").alias("key"), F.to_json(F.struct("order_id", "shop", "amount")).alias("value"))
        .write.format("kafka")
        .option("kafka.bootstrap.servers", BROKERS)
        .option("topic", topic)
        .save()
    )


def route(batch: DataFrame, batch_id: int) -> None:
    batch.persist()
    good = batch.where("order_id IS NOT NULL AND amount > 0")
    write_to("good-orders", good)
    write_to("big-orders", good.where(F.col("amount") >= BIG_ORDER))
    bad = batch.count() - good.count()
    print(f"batch {batch_id}: {bad} orders thrown away")
    batch.unpersist()


def main() -> None:
    spark = SparkSession.builder.appName("order-router").getOrCreate()
    orders = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKERS)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .option("failOnDataLoss", "false")
        .load()
        .select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("o"))
        .select("o.*")
    )
    query = (
        orders.writeStream.foreachBatch(route)
        .queryName("order-router")
        .option("checkpointLocation", "s3a://shop-streams/checkpoints/order-router")
        .trigger(processingTime="1 second")
        .start()
    )
    try:
        query.awaitTermination()
    finally:
        log.info("order router ends")
        spark.stop()


if __name__ == "__main__":
    main()
