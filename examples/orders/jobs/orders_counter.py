"""Orders and turnover of each shop in ten minutes, printed when the ten minutes are over."""

from pyspark.sql import SparkSession
from pyspark.sql.functions import col, count, from_json, sum, window
from pyspark.sql.types import DoubleType, StringType, StructField, StructType, TimestampType

spark = (
    SparkSession.builder.appName("orders-counter")
    .master("local[*]")
    .config("spark.jars.packages", "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0")
    .config("spark.sql.shuffle.partitions", "4")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("WARN")

schema = StructType(
    [
        StructField("order_id", StringType()),
        StructField("shop", StringType()),
        StructField("amount", DoubleType()),
        StructField("order_time", TimestampType()),
    ]
)

raw = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", "orders")
    .option("startingOffsets", "earliest")
    .load()
)

orders = raw.select(from_json(col("value").cast("string"), schema).alias("order")).select("order.*")

counts = (
    orders.withWatermark("order_time", "10 minutes")
    .groupBy(window("order_time", "10 minutes"), "shop")
    .agg(count("*").alias("orders"), sum("amount").alias("turnover"))
)

query = (
    counts.writeStream.outputMode("append")
    .format("console")
    .option("truncate", "false")
    .option("checkpointLocation", "/tmp/checkpoints/orders-counter")
    .start()
)

query.awaitTermination()
