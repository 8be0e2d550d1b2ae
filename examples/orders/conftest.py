"""The team's own sentences; Headgate's are there by themselves."""

pytest_plugins = ["steps.orders"]
