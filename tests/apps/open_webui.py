"""A running Open WebUI, asked over HTTP as its own pages ask it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx

from tests.kit.openai_server import ScriptedServer
from tests.kit.serving import HOST

__all__ = ["PACKAGES", "PYTHONS", "OpenWebUI", "settings"]

PACKAGES = ("open-webui==0.12.4",)
PYTHONS = ("3.11", "3.12")
FUNCTION = "document_order"
"""The id that the function is pasted under."""


def settings(server: ScriptedServer, folder: Path) -> dict[str, str]:
    """Its variables: this server for chat and embeddings, and nothing beyond it."""
    model = {"API_BASE_URL": server.base_url, "API_KEY": "none"}
    return {
        **{f"OPENAI_{name}": value for name, value in model.items()},
        **{f"RAG_OPENAI_{name}": value for name, value in model.items()},
        "RAG_EMBEDDING_ENGINE": "openai",
        "RAG_EMBEDDING_MODEL": "scripted",
        "RAG_EMBEDDING_BATCH_SIZE": "100",
        "RAG_TOP_K": "10",
        "RAG_SOURCE_METADATA_KEYS": "page_label",
        "CHUNK_SIZE": "600",
        "CHUNK_OVERLAP": "100",
        "ENABLE_RETRIEVAL_QUERY_GENERATION": "false",
        "ENABLE_OLLAMA_API": "false",
        "ENABLE_VERSION_UPDATE_CHECK": "false",
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "false",
        "WEBUI_SECRET_KEY": "a key of the tests, at least 32 bytes",
        "DATA_DIR": str(folder / "data"),
        "HOME": str(folder),
    }


class OpenWebUI:
    """Its administrator.

    Args:
        port: Where it runs.
    """

    def __init__(self, port: int) -> None:
        self._client = httpx.Client(base_url=f"http://{HOST}:{port}/api", timeout=120)
        who = {"name": "Ann", "email": "ann@example.com", "password": "swordfish"}
        token = self._post("/v1/auths/signup", who)["token"]
        self._client.headers["Authorization"] = f"Bearer {token}"

    def close(self) -> None:
        """End its connections."""
        self._client.close()

    def _post(self, path: str, body: Any = None, **given: Any) -> Any:
        answer = self._client.post(path, json=body, **given)
        assert answer.is_success, answer.text
        return answer.json()

    def upload(self, path: Path) -> dict[str, str]:
        """Upload a file, and give it as it is attached to a question."""
        answer = self._client.post(
            "/v1/files/?process_in_background=false",
            files={"file": (path.name, path.read_bytes())},
        )
        assert answer.is_success, answer.text
        return {"type": "file", "id": answer.json()["id"]}

    def knowledge(self, files: list[dict[str, str]]) -> dict[str, str]:
        """Make a knowledge base of uploaded files."""
        about = {"name": "Leases", "description": "Of the tests"}
        made = self._post("/v1/knowledge/create", about)["id"]
        for file in files:
            self._post(f"/v1/knowledge/{made}/file/add", {"file_id": file["id"]})
        return {"type": "collection", "id": made}

    def paste(self, content: str) -> None:
        """Make a function of a file's content, for all models."""
        function = {
            "id": FUNCTION,
            "name": "Document order",
            "content": content,
            "meta": {"description": "Of the tests"},
        }
        self._post("/v1/functions/create", function)
        self._post(f"/v1/functions/id/{FUNCTION}/toggle")
        self._post(f"/v1/functions/id/{FUNCTION}/toggle/global")

    def set_valves(self, **valves: Any) -> None:
        """Set what the function is set to."""
        self._post(f"/v1/functions/id/{FUNCTION}/valves/update", valves)

    def ask(self, question: Any, files: list[dict[str, str]]) -> str:
        """Ask about files, and give the answer."""
        body = {**_asked(question), "files": files, "stream": False}
        answer = self._post("/chat/completions", body)
        return answer["choices"][0]["message"]["content"]

    def search_itself(self, question: str) -> None:
        """Ask as its page does, where the model may use the app's own tools."""
        page = {"session_id": "page", "chat_id": "local:page", "id": "answer"}
        self._post("/chat/completions", {**_asked(question), **page, "stream": True})


def _asked(question: Any) -> dict[str, Any]:
    return {
        "model": "scripted",
        "messages": [{"id": "question", "role": "user", "content": question}],
    }
