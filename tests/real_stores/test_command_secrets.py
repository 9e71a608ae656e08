"""Every command, and every place in which a server may repeat what it was sent."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli import test_secrets as secrets
from tests.cli.conftest import tiny_model
from tests.kit.openai_server import ScriptedServer

__all__ = ["files", "tiny_model"]

files = secrets.files
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("command", "script"), secrets.CASES)
@pytest.mark.parametrize("user", ["", f"anna:{secrets.PASSWORD}@"])
def test_no_command_shows_or_keeps_a_secret(files, command, script, user, monkeypatch):
    secrets.check_command(files, command, script, monkeypatch, user)


@pytest.mark.once
def test_nor_does_a_process_write_one_beside_its_messages(files):
    with ScriptedServer(secrets.in_the_error) as server:
        done = subprocess.run(
            [sys.executable, "-m", "oprag_cli", *secrets.filled("sweep", files)],
            cwd=ROOT,
            env={
                **os.environ,
                "OPENAI_BASE_URL": server.base_url,
                "OPENAI_LOG": "debug",
            },
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 3
    assert "***" in done.stderr
    assert "Traceback" not in done.stderr
    secrets.assert_hidden(files, done.stdout, done.stderr)
