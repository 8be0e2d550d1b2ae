"""State functions with one value or operator changed, and handles that are wrong at one line."""

from headgate.seam.changed_code import CodeChange
from headgate.seam.changed_state import Changed, StateChange, state_changes


class Timers:
    """Stands for a handle, or for a group's state."""

    def __init__(self) -> None:
        self.timers: list[int] = []

    def setTimeoutTimestamp(self, time: int) -> None:  # noqa: N802
        self.timers.append(time)


def expire(state: Timers, times: list[int]) -> bool:
    state.setTimeoutTimestamp(max(times) + 5)
    return len(times) > 2


def play(state: object) -> bool:
    return expire(state, [1, 2])  # type: ignore[arg-type]


def test_each_value_and_operator_is_changed_once() -> None:
    changes = [each for each in state_changes(expire) if isinstance(each, CodeChange)]
    assert sorted(each.shown for each in changes) == ["2 -> 3", "5 -> 6", "Add -> Sub", "Gt -> GtE", "max -> min"]
    assert {each.line for each in changes} == {expire.__code__.co_firstlineno + line for line in (1, 2)}


def test_a_changed_function_does_something_else() -> None:
    (change,) = [each for each in state_changes(expire) if isinstance(each, CodeChange) and each.shown == "Gt -> GtE"]
    before = expire.__code__
    try:
        change.apply()
        assert play(Timers())
    finally:
        expire.__code__ = before
    assert not play(Timers())


def test_a_handle_is_wrong_at_one_line() -> None:
    expected = {"left out": [], "a minute later": [60_007], "a minute earlier": [-59_993]}
    changes = {each.how: each for each in state_changes(expire) if isinstance(each, StateChange)}
    assert changes.keys() == expected.keys()
    for how, timers in expected.items():
        state = Timers()
        play(Changed(state, changes[how]))
        Changed(state, changes[how]).setTimeoutTimestamp(99)
        assert state.timers == [*timers, 99]
