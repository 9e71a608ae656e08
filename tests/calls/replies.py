"""Replies to the prompt of Self-Route: what each rule does with them is measured.

See `test_decline.py`. The first set was written before any rule.
"""

import json
from pathlib import Path

REFUSALS, ANSWERS = json.loads(
    Path(__file__).with_name("replies.json").read_text("utf-8")
).values()
FURTHER_REFUSALS, FURTHER_ANSWERS = json.loads(
    Path(__file__).with_name("further_replies.json").read_text("utf-8")
).values()
"""A second set, with the same groups."""
