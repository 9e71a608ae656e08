"""Never run: what type checkers accept of the public components, and what they refuse.

`make check` reads it. A line that has to be refused says with which error; where it is
accepted after all, the comment is unused, which is an error by itself.
"""
