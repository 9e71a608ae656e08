"""Indexes a folder with a cluster, in a process of its own: one that can be killed.

A script: `python -m tests.scale.killed_driver FRAMEWORK DATABASE TABLE SECONDS FOLDER
ADDRESS`.
"""

import sys

from oprag_ray import index_on_ray
from tests.scale.stores import Table

if __name__ == "__main__":
    framework, database, name, seconds, folder, address = sys.argv[1:]
    table = Table(framework, database, name, seconds=float(seconds))
    index_on_ray(folder, table, address=address, batch_size=32, show_progress=False)
