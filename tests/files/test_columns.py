"""Several tables in one sheet or CSV: each row under the names of its columns."""

import pytest

from oprag.files.columns import head_rows

_FIRST = ["Year,Coal", "1900,12"]
_NAMES = [None, "Year | Coal"]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        # The row after a blank one names new columns: words above or below numbers.
        (["Tenant,Rent", "Garza,500"], ["", "Tenant | Rent"]),
        (["Tenant,Owner", "Garza,Miller"], ["", "Tenant | Owner"]),
        (["Tenant,Owner,Rent", "Garza,,"], ["", "Tenant | Owner | Rent"]),
        # It goes on with the table above.
        (["1901,13", "1902,"], ["Year | Coal"] * 2),
        (["1901,n/a", "1902,14"], ["Year | Coal"] * 2),
        (["Sum,25"], ["Year | Coal"]),
        (["Tenants", "Garza,500"], ["Year | Coal"] * 2),
        # It may be a table of its own, whose columns have no names that are known.
        (["Item,2023", "Iron,5"], ["", ""]),
        (["Iron,2023,2024", "Ore,5,6", "", "Tenant,Rent", "Garza,500"],
         ["", "", "", "", "Tenant | Rent"]),
    ],
)  # fmt: skip
def test_a_blank_row_may_end_what_columns_are_named(rows, names):
    given = [row.split(",") for row in [*_FIRST, "", *rows]]

    assert [*head_rows(given)] == [*_NAMES, "Year | Coal", *names]


def test_a_title_of_two_values_names_no_columns_below_a_blank_row():
    rows = [["Prices", "as of 2024"], [], ["Year", "Coal"], ["1900", "12"]]

    assert [*head_rows(rows)] == [None, "Prices | as of 2024", "", "Year | Coal"]
