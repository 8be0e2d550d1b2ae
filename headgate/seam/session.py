"""Sessions: the program's own in the scenario's Spark."""

from collections.abc import Mapping

from pyspark.sql import SparkSession

from headgate.seam.world import World


def scenario_session(spark: SparkSession, warehouse: str) -> SparkSession:
    """A session that shares nothing with other scenarios' but Spark itself: databases, tables, views, caches."""
    jvm = spark.sparkContext._jvm
    options = jvm.java.util.HashMap()
    options.put("spark.sql.warehouse.dir", warehouse)
    made = SparkSession._get_j_spark_session_class(jvm)(spark.sparkContext._jsc.sc(), options)
    return SparkSession(spark.sparkContext, made)


def forget_session(session: SparkSession) -> None:
    """Let go of what Spark keeps of a scenario's session."""
    shared = session._jsparkSession.sharedState()
    listener = shared.statusStore().listener()
    if listener.isDefined():
        session.sparkContext._jsc.sc().listenerBus().removeListener(listener.get())


def program_session(world: World, settings: Mapping[str, object]) -> SparkSession:
    """A session for one program, with those of its settings that a running Spark takes."""
    session = world.spark.newSession()
    apply_settings(session, {**world.settings, **settings})
    return session


def apply_settings(session: SparkSession, settings: Mapping[str, object]) -> None:
    """Set what can be set while Spark runs; master, packages, memory and the like are left out."""
    module = SparkSession._get_j_spark_session_module(session._jvm)
    given = session._jvm.java.util.HashMap()
    for key, value in settings.items():
        given.put(key, str(value))
    module.applyModifiableSettings(session._jsparkSession, given)
