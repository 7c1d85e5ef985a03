"""The tests, importable as `tests.…` so that helpers are shared without copies.

Only this file and those of helper packages are needed: a folder of test files has no
`__init__.py`, and two test files in different folders may have the same name.
"""
