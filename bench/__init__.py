"""Speed and size of Casebound, beside a floor of raw `sqlite3`; `docs/benchmarks.md` says how to read it."""
