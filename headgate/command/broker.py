"""Broker: a Kafka on this machine, for those without Docker."""

import argparse
import signal
import sys

from headgate.command.tool import Tool
from headgate.command.words import positive
from headgate.errors import Refusal

DEFAULT_PORT = 9092


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of this command."""
    parser.add_argument("--port", type=positive, default=DEFAULT_PORT, help="where it listens (%(default)s)")
    parser.add_argument(
        "--topic",
        metavar="NAME",
        action="append",
        default=[],
        help="a topic to make, with 2 partitions; may be repeated",
    )


def check(options: argparse.Namespace) -> None:
    """Refuse a port that does not exist or is taken."""
    import socket

    if options.port > 65535:
        raise Refusal(f"{options.port} is not a port: ports go up to 65535.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", options.port))
        except OSError as error:
            raise Refusal(
                f"Port {options.port} cannot be had ({error.strerror}): choose another with --port."
            ) from None


def run(options: argparse.Namespace) -> int:
    """Hold the broker until Ctrl-C or SIGTERM; its data goes with it."""
    from confluent_kafka.admin import AdminClient, NewTopic

    from headgate.kafka.embedded import EmbeddedKafka

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    kafka = EmbeddedKafka(port=options.port)
    try:
        admin = AdminClient({"bootstrap.servers": kafka.address, "log_level": 0})
        new = [NewTopic(name, 2, 1) for name in options.topic]
        for made in admin.create_topics(new).values() if new else ():
            made.result(timeout=30)
        topics = f" with {', '.join(options.topic)}" if options.topic else ""
        print(f"Kafka listens at {kafka.address}{topics}; Ctrl-C ends it.", file=sys.stderr, flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        kafka.stop()
    return 0


TOOL = Tool(
    name="broker",
    summary="Runs a Kafka on this machine until it is stopped, for those without Docker.",
    example="headgate broker --topic visits",
    add_options=add_options,
    run=run,
    check=check,
)
