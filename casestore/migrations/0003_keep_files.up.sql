-- What people attach to a message is known by name, type and size, and a copy of it is kept: a platform's link expires.
CREATE TABLE files (
    id          INTEGER PRIMARY KEY,
    case_id     INTEGER NOT NULL REFERENCES cases (id),
    message_id  INTEGER NOT NULL REFERENCES messages (id),
    channel     TEXT NOT NULL,
    reference   TEXT NOT NULL,
    name        TEXT NOT NULL,
    media_type  TEXT NOT NULL,
    size        INTEGER,
    state       TEXT NOT NULL CHECK (state IN ('wanted', 'kept', 'refused', 'gone')),
    reason      TEXT,
    digest      TEXT,
    attempts    INTEGER NOT NULL DEFAULT 0,
    not_before  INTEGER NOT NULL DEFAULT 0,
    kept_at     INTEGER,
    CHECK ((state = 'kept') = (digest IS NOT NULL) AND (state = 'kept') = (kept_at IS NOT NULL)),
    CHECK (state NOT IN ('refused', 'gone') OR reason IS NOT NULL)
) STRICT;
CREATE INDEX files_by_message ON files (message_id);
CREATE INDEX files_by_case ON files (case_id);
CREATE INDEX files_wanted ON files (not_before) WHERE state = 'wanted';
CREATE TABLE copies (
    file_id  INTEGER PRIMARY KEY REFERENCES files (id),
    content  BLOB NOT NULL
) STRICT;
