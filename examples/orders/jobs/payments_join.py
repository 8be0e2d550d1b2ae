"""Orders with their payments, or without one if none came within half an hour."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

BROKERS = "kafka-1:9092,kafka-2:9092"

spark = SparkSession.builder.appName("payments-join").getOrCreate()


def read(topic: str, schema: str) -> DataFrame:
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", BROKERS)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("kafka.security.protocol", "SASL_SSL")
        .option("kafka.sasl.mechanism", "PLAIN")
        .load()
        .select(F.from_json(F.col("value").cast("string"), schema).alias("r"))
        .select("r.*")
    )


orders = read("orders", "order_id STRING, amount DOUBLE, order_time TIMESTAMP").withWatermark(
    "order_time", "10 minutes"
)
payments = read("payments", "order_id STRING, method STRING, paid_at TIMESTAMP").withWatermark("paid_at", "20 minutes")

joined = orders.alias("o").join(
    payments.alias("p"),
    F.expr("""
        o.order_id = p.order_id
        AND p.paid_at >= o.order_time
        AND p.paid_at <= o.order_time + INTERVAL 30 MINUTES
    """),
    "leftOuter",
)

result = joined.select(
    F.col("o.order_id").alias("key"),
    F.to_json(F.struct("o.order_id", "o.amount", "p.method", F.col("p.paid_at").isNotNull().alias("paid"))).alias(
        "value"
    ),
)

query = (
    result.writeStream.format("kafka")
    .option("kafka.bootstrap.servers", BROKERS)
    .option("topic", "paid-orders")
    .option("checkpointLocation", "hdfs:///checkpoints/payments-join")
    .outputMode("append")
    .start()
)

query.awaitTermination()
