"""The sales report: orders with the products' prices, in a Delta table."""

import argparse
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast, col, from_json
from pyspark.sql.functions import round as rounded

ORDER = "order_id STRING, sku STRING, pieces INT"


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="sales-report", description=__doc__)
    parser.add_argument("--brokers", required=True)
    parser.add_argument("--input", required=True, help="the topic of the orders")
    parser.add_argument("--products", required=True, help="path of the Delta table of products")
    parser.add_argument("--report", required=True, help="path of the Delta table to append to")
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--export", help="also write the whole report as CSV to this folder, in the end")
    parser.add_argument("--once", action="store_true", help="end when all that is there is done")
    options = parser.parse_args(words)
    if options.export and not options.once:
        parser.error("--export needs --once")
    return options


def priced(orders: DataFrame, products: DataFrame) -> DataFrame:
    lines = orders.join(broadcast(products), "sku", "left")
    return lines.select("order_id", "sku", "pieces", rounded(col("pieces") * col("price"), 2).alias("total"))


def main() -> int:
    options = parse()
    spark = SparkSession.builder.appName("sales-report").getOrCreate()
    products = spark.read.format("delta").load(options.products)
    orders = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", options.brokers)
        .option("subscribe", options.input)
        .option("startingOffsets", "earliest")
        .load()
        .select(from_json(col("value").cast("string"), ORDER).alias("order"))
        .select("order.*")
    )
    writer = priced(orders, products).writeStream.format("delta").option("checkpointLocation", options.checkpoint)
    if options.once:
        writer = writer.trigger(availableNow=True)
    writer.start(options.report).awaitTermination()
    report = spark.read.format("delta").load(options.report)
    if options.export:
        report.coalesce(1).write.mode("overwrite").option("header", True).csv(options.export)
    print(f"{report.count()} lines in the report")
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
