"""The connection to a cluster: made, kept, ended, and the error without one."""

import sys
import time

import pytest
import ray

from oprag.errors import ClusterError, InvalidOptionError, MissingDependencyError
from oprag_ray.clusters import check_address, connect


def test_a_run_connects_and_disconnects(address):
    with connect(address) as module:
        assert module is ray
        assert ray.cluster_resources()["CPU"] == 2

    assert not ray.is_initialized()


def test_a_cluster_is_also_found_by_loopback_and_by_ray_itself(address):
    for name in (f"127.0.0.1:{address.rpartition(':')[2]}", "auto"):
        with connect(name):
            assert ray.cluster_resources()["CPU"] == 2


def test_a_connection_of_the_application_is_used_and_stays(address):
    ray.init(address=address, log_to_driver=False)
    try:
        with connect("127.0.0.1:1"):  # where nothing answers
            assert ray.is_initialized()
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_where_nothing_answers_that_is_told_at_once():
    address = "127.0.0.1:1"
    began = time.monotonic()
    with pytest.raises(ClusterError, match="There is no Ray cluster at") as caught:
        connect(address).__enter__()

    assert caught.value.address == address
    assert isinstance(caught.value, ConnectionError)
    assert time.monotonic() - began < 15  # two seconds, on a machine with nothing to do


@pytest.mark.parametrize(
    "address", ["", "head", "head:port", "http://head:80", "ray://head:10001", None]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InvalidOptionError, match="HOST:PORT") as caught:
        check_address(address)

    assert caught.value.option == "address"


def test_without_ray_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "oprag\[ray\]"'):
        connect("auto").__enter__()
