"""The connection to a Ray cluster: made for a run, and ended with it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from oprag.errors import ClusterError, InvalidOptionError, invalid_option
from oprag.optional import require

_PATIENCE = 2.0
"""Seconds in which something has to answer at the address; Ray itself tries for
minutes."""
_FOUND_BY_RAY = ("auto", "local")
"""Words that Ray takes for an address."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect this process to a Ray cluster.

    A connection that the application has is used as it is, whatever the address says,
    and stays when this ends.

    Args:
        address: `"HOST:PORT"` of the head node; `"auto"` for the cluster that this
            machine is a part of; `"local"` for one of this machine alone, which ends
            with the connection. No `ray://`.

    Yields:
        The module `ray`.

    Raises:
        MissingDependencyError: Ray is not installed.
        InvalidOptionError: The address is none, or that of Ray's server for clients;
            or the connection of the application is to one.
        ClusterError: Nothing answers there, or it is no cluster of this version of
            Ray and Python.
    """
    ray = require("ray", extra="ray", purpose="A run on a cluster")
    if ray.is_initialized():
        if ray.util.client.ray.is_connected():
            raise by_client(address)
        yield ray
        return
    _check(address)
    _connect(ray, address)
    try:
        yield ray
    finally:
        ray.shutdown()


def by_client(address: str) -> InvalidOptionError:
    """Return the error for a connection from outside the cluster.

    Over it neither Ray Data runs nor can a worker ask this process.
    """
    takes = (
        "A run over Ray's client (ray://) is not possible: run it on a machine of the "
        "cluster, with the address 'HOST:PORT' or 'auto', or as a job "
        "(`ray job submit`)."
    )
    return invalid_option("address", address, takes)


def _check(address: str) -> None:
    """Refuse an address at which nothing answers."""
    if address in _FOUND_BY_RAY:
        return
    if str(address).startswith("ray://"):
        raise by_client(address)
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:  # the port is no number
        host = port = None
    if not (host and port):
        takes = "It takes 'HOST:PORT', 'auto' or 'local'."
        raise invalid_option("address", address, takes)
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError as error:
        message = (
            f"Nothing answers at {address} ({error}). Give the address that "
            "`ray start --head` prints on the head node, and see whether this machine "
            "reaches it."
        )
        raise ClusterError(message, address=address) from error


def _connect(ray: Any, address: str) -> None:
    # A cluster of one's own needs no page of its own; others have theirs already.
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(
            address=address, log_to_driver=False, logging_level=logging.ERROR, **own
        )
    except (ConnectionError, RuntimeError) as error:
        message = (
            f"There is no Ray cluster at {address} that this process can join: "
            f"{error}. It needs the versions of Ray and Python that the cluster has."
        )
        raise ClusterError(message, address=address) from error
