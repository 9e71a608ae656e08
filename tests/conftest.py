"""What holds for every test: no model hub, no telemetry, no time limit per case."""

import os

from hypothesis import settings

# Read by libraries when they are imported, which is after this file.
os.environ.update(
    ANONYMIZED_TELEMETRY="False",
    HF_HUB_OFFLINE="1",
    LANGSMITH_TRACING="false",
    TOKENIZERS_PARALLELISM="false",
    TRANSFORMERS_OFFLINE="1",
)

# How long one generated case takes says more about the machine than about the code.
settings.register_profile("oprag", deadline=None, print_blob=True)
settings.load_profile("oprag")
