"""The truth: one SQLite file. Every change is a plain function over a transaction, run by `Store.write`.

Read `schema.sql` first. This package knows no platform, no model and no clock: `now` is always handed in.
"""
