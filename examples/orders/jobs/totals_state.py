"""What a customer's visit to the shop adds up to."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql.streaming.state import GroupState

VISIT_MINUTES = 30
OUTPUT = "customer STRING, orders INT, total DOUBLE, is_over BOOLEAN"
STATE = "orders INT, total DOUBLE"


def row(customer: str, orders: int, total: float, is_over: bool) -> pd.DataFrame:
    return pd.DataFrame({"customer": [customer], "orders": [orders], "total": [total], "is_over": [is_over]})


def add_up(key: tuple[Any, ...], frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
    (customer,) = key
    orders, total = state.get if state.exists else (0, 0.0)
    if state.hasTimedOut:
        state.remove()
        yield row(customer, orders, total, True)
        return
    latest = 0
    for frame in frames:
        orders += len(frame)
        total += float(frame["amount"].sum())
        latest = max(latest, int(frame["order_time"].max().timestamp() * 1000))
    state.update((orders, total))
    state.setTimeoutTimestamp(max(latest, state.getCurrentWatermarkMs()) + VISIT_MINUTES * 60 * 1000)
    yield row(customer, orders, total, False)
