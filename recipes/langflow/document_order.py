"""A component for Langflow: what a search found, in document order, with places.

Paste this file into a new custom component, and connect the results of a vector store
or a knowledge base. Connect the files that were split, too, where the chunks do not say
where they stand: Langflow's Split Text writes no positions, and they are looked up.
"""

import warnings

from lfx.custom.custom_component.component import Component
from lfx.io import HandleInput, IntInput, Output
from lfx.schema.data import Data
from lfx.schema.dataframe import DataFrame
from lfx.schema.message import Message


class DocumentOrder(Component):
    display_name = "Document Order"
    description = "Puts what a search found in the order of its documents."
    icon = "list-ordered"
    name = "DocumentOrder"

    inputs = [  # noqa: RUF012 -- Langflow's own form
        HandleInput(
            name="results",
            display_name="Search Results",
            input_types=["Data", "JSON", "DataFrame", "Table"],
            is_list=True,
            required=True,
        ),
        HandleInput(
            name="files",
            display_name="Files",
            info="The files that were split, where chunks do not say where they stand.",
            input_types=["Data", "JSON", "DataFrame", "Table"],
            is_list=True,
        ),
        IntInput(
            name="token_budget",
            display_name="Token Budget",
            info="Tokens that the context may take.",
            value=4000,
        ),
    ]

    outputs = [  # noqa: RUF012 -- the same
        Output(display_name="Context", name="context", method="context"),
        Output(display_name="Results", name="ordered", method="ordered"),
    ]

    def context(self) -> Message:
        """The passages as text, each after its place."""
        found, passages = self._passages()
        if passages is None:
            return Message(text="\n\n".join(str(each.get_text()) for each in found))
        from oprag import render

        return Message(text=render(passages, citations=True))

    def ordered(self) -> list[Data]:
        """The passages as records."""
        found, passages = self._passages()
        if passages is None:
            return found
        places = [{"place": each.citation} for each in passages]
        return [
            Data(text=each.text, data={**each.chunks[0].metadata, **place})
            for each, place in zip(passages, places, strict=True)
        ]

    def _passages(self):
        """What was found, and its passages; None for them after an error."""
        found = _records(self.results)
        try:
            return found, self._in_order(found)
        except ImportError:
            self.log("Put in no order: pip install oprag where Langflow is installed.")
        except Exception as error:  # what was found counts for more than its order
            self.log(f"Put in no order: {error}")
        return found, None

    def _in_order(self, found):
        from oprag import order_context

        options = {}
        files = {_name(each): each.get_text() for each in _records(self.files)}
        if files:
            options = {"documents": files}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            passages = order_context(
                [each.get_text() for each in found],
                [_metadata(each) for each in found],
                token_budget=self.token_budget,
                merge=True,
                citations=True,
                on_problem="warn",  # the order as retrieved, rather than no answer
                **options,
            )
        for each in told:
            self.log(str(each.message))
        return passages


def _records(given):
    """Records of whatever is connected."""
    given = given if isinstance(given, list) else [given]
    return [
        record
        for each in given
        if each is not None
        for record in (each.to_data_list() if isinstance(each, DataFrame) else [each])
    ]


def _metadata(record):
    return {key: value for key, value in record.data.items() if key != record.text_key}


def _name(record):
    return record.data.get("file_path") or record.data.get("source") or ""
