"""Questions about SQLAlchemy, each with the page and the section that answers it.

Written from headings of the tutorial and the FAQ, in other words than theirs, before any model was
asked.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and where the answer stands."""

    text: str
    page: str
    anchor: str


_TOLD = """
Can the database hand back the generated key of a row I just added? | data_insert insert-returning
Copy rows from one table into another with a single statement | data_insert insert-from-select
Keep rows of the left table even if nothing on the right side matches | data_select outer-and-full-join
Count addresses for each user and keep only those with more than one | data_select aggregate-functions-with-group-by-having
Use the same table twice in one query under different names | data_select using-aliases
WITH clause that names a query for later use | data_select common-table-expressions-ctes
Stack the results of two selects on top of each other | data_select union-union-all-and-other-set-operations
Check whether at least one related row is there | data_select exists-subqueries
Row numbers and running totals with OVER and PARTITION BY | data_select using-window-functions
Treat a value as another type only on the Python side, without SQL for it | data_select type-coerce-a-python-only-cast
Control in which order the SET assignments are written | data_update parameter-ordered-updates
How many records did my statement touch? | data_update getting-affected-row-count-from-update-delete
Run one statement with a whole list of values | dbapi_transactions sending-multiple-parameters
What is begin once style, and what is commit as you go? | dbapi_transactions committing-changes
Load the definition of a table that is already in the database | metadata table-reflection
Which base class do my mapped classes inherit from? | metadata establishing-a-declarative-base
When are pending objects written to the database? | orm_data_manipulation flushing
What happens to my objects after the session has been shut? | orm_data_manipulation closing-a-session
Forbid lazy loading so that it raises an error instead | orm_related_objects raiseload
Fetch the collections of many parents with one more query | orm_related_objects selectin-load
The connection was dropped by MySQL after it was idle for hours | faq/connections mysql-server-has-gone-away
Is it safe to share an engine among forked worker processes? | faq/connections how-do-i-use-engines-connections-sessions-with-python-multiprocessing-or-os-fork
Print the DDL of a table without running it | faq/metadata_schema how-can-i-get-the-create-table-drop-table-output-as-a-string
Dropping all tables never returns, it just waits | faq/metadata_schema my-program-is-hanging-when-i-say-table-drop-metadata-drop-all
Map a class to a table without any unique identifier | faq/ormconfiguration how-do-i-map-a-table-that-has-no-primary-key
The attribute name clashes with a keyword of the language, such as class or from | faq/ormconfiguration how-do-i-configure-a-column-that-is-a-python-reserved-word-or-similar
Adding hundreds of thousands of objects takes far too long | faq/performance i-m-inserting-400-000-rows-with-the-orm-and-it-s-really-slow
The constructor of my class does not run for rows that come from a query | faq/sessions why-isn-t-my-init-called-when-i-load-objects
See the final SQL text with its values filled in | faq/sqlexpressions rendering-bound-parameters-inline
Numbers from NumPy are rejected by the driver | faq/thirdparty i-m-getting-errors-related-to-numpy-int64-numpy-bool-etc
"""  # noqa: E501  (one question a line)


def _read() -> tuple[Question, ...]:
    found = []
    for line in _TOLD.strip().splitlines():
        text, _, place = line.rpartition(" | ")
        page, anchor = place.split()
        folder = "" if "/" in page else "tutorial/"
        found.append(Question(text, f"{folder}{page}.html", anchor))
    return tuple(found)


QUESTIONS = _read()
