"""Replies of models to the prompt of Self-Route, written before the rule was.

What the rule does with each is measured (`test_decline.py`); no reply was changed to
suit it.
"""

import json
from pathlib import Path

REFUSALS, ANSWERS = json.loads(
    Path(__file__).with_name("replies.json").read_text("utf-8")
).values()
