"""Evaluation: the papers' systems, data and measures, on their data or on your own.

The outer ring: it builds on the adapters and on third-party packages (the extra
`eval`), and nothing of the core or the adapters imports it. `data` reads the
papers' file formats and a user's own questions into one form, `files` any text, HTML
or PDF file; `systems` answer, `official` as the authors' code does; `running` asks;
`metrics` measure, `reports` show. Heavy packages are imported by the call that needs
them.
"""
