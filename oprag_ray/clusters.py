"""The connection to a Ray cluster: made for a run, and ended with it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from oprag.errors import ClusterError, invalid_option
from oprag.optional import require

_PATIENCE = 2.0
"""Seconds in which something has to answer at the address; Ray itself tries for
minutes."""


@contextmanager
def connect(address: str) -> Iterator[Any]:
    """Connect this process to a Ray cluster.

    If the application has a connection, it is used unchanged, whatever the address,
    and it stays when this ends.

    Args:
        address: See `index_on_ray`.

    Yields:
        The module `ray`.

    Raises:
        MissingDependencyError: Ray is not installed.
        ClusterError: Nothing answers there, or it is no cluster of this version of
            Ray and Python.
    """
    ray = require("ray", extra="ray", purpose="A run on a cluster")
    if ray.is_initialized():
        yield ray
        return
    # A local cluster needs no dashboard; other clusters have theirs already.
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        if address not in {"auto", "local"}:
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), _PATIENCE).close()
        ray.init(
            address=address, log_to_driver=False, logging_level=logging.ERROR, **own
        )
    except (OSError, RuntimeError) as error:
        message = (
            f"There is no Ray cluster at {address} that this process can join: "
            f"{error}. Give the address that `ray start --head` prints, and have the "
            "versions of Ray and Python that the cluster has."
        )
        raise ClusterError(message, address=address) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def check_address(address: str) -> None:
    """Refuse a text that is no address, and Ray's client, on which Ray Data fails."""
    host, _, port = str(address).rpartition(":")
    is_place = host and port.isdecimal() and "://" not in host
    if address not in {"auto", "local"} and not is_place:
        takes = "It takes 'HOST:PORT' of the head node, 'auto' or 'local'; no ray://."
        raise invalid_option("address", address, takes)
