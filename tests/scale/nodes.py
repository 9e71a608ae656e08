"""Ray clusters of several nodes, all of them on this machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_STORE = 100 * 2**20
"""Bytes of each node's object store."""

os.environ.update(
    RAY_USAGE_STATS_ENABLED="0",
    RAY_enable_metrics_collection="0",
    RAY_raylet_start_wait_time_s="120",  # what else runs here may take all of the time
    RAY_worker_niceness="0",  # the same
)


@contextmanager
def cluster_of(nodes: int, cpus: int = 2) -> Iterator[Any]:
    """A cluster of so many nodes; each says that it has so many cores.

    Yields:
        The `ray.cluster_utils.Cluster`: `.address`, `.add_node(…)`, `.remove_node(…)`.
    """
    from ray.cluster_utils import Cluster

    size = {"num_cpus": cpus, "object_store_memory": _STORE}
    cluster = Cluster(
        initialize_head=True, head_node_args={**size, "include_dashboard": False}
    )
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**size)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        cluster.shutdown()
