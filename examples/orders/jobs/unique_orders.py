"""Tills send an order again when nobody answers: every order goes on once, and we count what came in."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

KAFKA = {"kafka.bootstrap.servers": "localhost:9092"}

spark = (
    SparkSession.builder.appName("unique-orders")
    .config("spark.sql.streaming.checkpointLocation", "/tmp/checkpoints/unique-orders")
    .getOrCreate()
)

schema = (
    StructType().add("order_id", "string").add("shop", "string").add("amount", "double").add("sent_at", "timestamp")
)

arrived = (
    spark.readStream.format("kafka")
    .options(**KAFKA, subscribe="orders", startingOffsets="earliest")
    .load()
    .withColumn("order", F.from_json(F.col("value").cast("string"), schema))
    .select("order.*")
)

unique = arrived.withWatermark("sent_at", "30 minutes").dropDuplicatesWithinWatermark(["order_id"])

(
    unique.select(
        F.col("shop").alias("key"),
        F.to_json(F.struct("order_id", "amount")).alias("value"),
        F.array(F.struct(F.lit("source").alias("key"), F.lit("unique-orders").cast("binary").alias("value"))).alias(
            "headers"
        ),
    )
    .writeStream.format("kafka")
    .options(**KAFKA, topic="unique-orders", includeHeaders="true")
    .queryName("unique")
    .start()
)

(
    arrived.groupBy("shop")
    .agg(F.count("*").alias("arrived"), F.approx_count_distinct("order_id").alias("different"))
    .writeStream.format("console")
    .outputMode("complete")
    .queryName("arrived")
    .start()
)

spark.streams.awaitAnyTermination()
