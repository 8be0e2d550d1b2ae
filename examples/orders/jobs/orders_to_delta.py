"""Keeps the latest state of every order in the table shop.orders, and every change in shop.order_changes."""

from delta import configure_spark_with_delta_pip
from delta.tables import DeltaTable
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql.functions import col, from_json, row_number

KAFKA = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"

builder = (
    SparkSession.builder.appName("orders-to-delta")
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.warehouse.dir", "/srv/warehouse")
)
spark = configure_spark_with_delta_pip(builder, extra_packages=[KAFKA]).getOrCreate()

spark.sql("CREATE DATABASE IF NOT EXISTS shop")
spark.sql("""
    CREATE TABLE IF NOT EXISTS shop.orders (order_id STRING, status STRING, amount DOUBLE, changed_at TIMESTAMP)
    USING DELTA
""")

changes = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", "order-changes")
    .option("startingOffsets", "earliest")
    .load()
    .select(
        from_json(
            col("value").cast("string"), "order_id STRING, status STRING, amount DOUBLE, changed_at TIMESTAMP"
        ).alias("change")
    )
    .select("change.*")
)


def keep_latest(batch: DataFrame, batch_id: int) -> None:
    newest_first = Window.partitionBy("order_id").orderBy(col("changed_at").desc())
    latest = batch.withColumn("n", row_number().over(newest_first)).where("n = 1").drop("n")
    (
        DeltaTable.forName(spark, "shop.orders")
        .alias("kept")
        .merge(latest.alias("new"), "kept.order_id = new.order_id")
        .whenMatchedUpdateAll("new.changed_at > kept.changed_at")
        .whenNotMatchedInsertAll()
        .execute()
    )
    batch.groupBy("status").count().write.format("delta").mode("append").saveAsTable("shop.status_counts")


changes.writeStream.format("delta").option("checkpointLocation", "/srv/checkpoints/order-changes").toTable(
    "shop.order_changes"
)

changes.writeStream.queryName("latest").foreachBatch(keep_latest).option(
    "checkpointLocation", "/srv/checkpoints/orders"
).start()

spark.streams.awaitAnyTermination()
