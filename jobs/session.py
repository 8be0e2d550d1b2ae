"""Makes the Spark session of a job."""

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from sandbox.jars import fetched_jars
from sandbox.java import find_java

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


def is_submitted() -> bool:
    """Whether spark-submit started this program: master, jars and files are its affair then."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def spark_session(name: str, master: str, conf: Mapping[str, str]) -> SparkSession:
    """A session with Kafka and Delta Lake on board; `conf` wins over what is set here."""
    settings = {"spark.app.name": name, **DELTA, **QUIET}
    if not is_submitted():
        find_java()
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.master": master, **_jar_settings(master)}
    builder = SparkSession.Builder()
    for key, value in {**settings, **conf}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _jar_settings(master: str) -> dict[str, str]:
    jars = [str(jar) for jar in fetched_jars().spark]
    if master.startswith("local"):
        # On the class path they are read where they lie; as spark.jars they would be copied at every start.
        return {"spark.driver.extraClassPath": ":".join(jars)}
    return {"spark.jars": ",".join(jars)}
