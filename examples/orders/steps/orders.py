"""The team's own sentences."""

import json

from headgate.stage.stage import Stage
from headgate.stage.topic import Event
from pytest_bdd import given, parsers, when

from shop.limits import BIG_ORDER


@given(parsers.parse("an order is big from {amount:d} on"))
def an_order_is_big(amount: int) -> None:
    """The limit that the shops have agreed on, repeated where it matters."""
    assert amount == BIG_ORDER, f"shop/limits.py says {BIG_ORDER:g}"


@when(parsers.parse("the {shop} shop sells for {amounts}"))
def the_shop_sells(headgate_stage: Stage, shop: str, amounts: str) -> None:
    """An order for each amount, numbered as the till does it: north-1, north-2, …"""
    orders = [
        {"order_id": f"{shop}-{number}", "shop": shop, "amount": float(amount)}
        for number, amount in enumerate(amounts.split(" and "), start=1)
    ]
    headgate_stage.send("orders", [Event(json.dumps(order).encode()) for order in orders])
