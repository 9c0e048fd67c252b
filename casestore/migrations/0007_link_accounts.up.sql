-- A person binds an account of theirs by a code that was shown where somebody is signed in. Only its digest is kept, and
-- the row says for good who was let in by whom, from where; wrong codes are counted, so that nobody tries them all.
CREATE TABLE link_codes (
    id            INTEGER PRIMARY KEY,
    principal_id  INTEGER NOT NULL REFERENCES principals (id),
    digest        TEXT NOT NULL UNIQUE,
    state         TEXT NOT NULL CHECK (state IN ('open', 'used', 'void')),
    made_by       INTEGER NOT NULL REFERENCES principals (id),
    made_via      TEXT NOT NULL,
    made_at       INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    ended_at      INTEGER,
    account       TEXT,
    used_from     TEXT,
    CHECK (expires_at > made_at),
    CHECK ((state = 'open') = (ended_at IS NULL)),
    CHECK (state = 'used' OR (account IS NULL AND used_from IS NULL))
) STRICT;
CREATE UNIQUE INDEX link_codes_one_open ON link_codes (principal_id) WHERE state = 'open';
CREATE TABLE link_failures (
    id          INTEGER PRIMARY KEY,
    channel     TEXT NOT NULL,
    space       TEXT NOT NULL,
    account_id  TEXT NOT NULL,
    at          INTEGER NOT NULL
) STRICT;
CREATE INDEX link_failures_by_account ON link_failures (channel, space, account_id, at);
