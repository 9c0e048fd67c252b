-- A compaction says who made it, the model step that did, and about how many tokens it takes; it is never changed.
-- And every row of the transcript knows about how many it takes, so that a window is chosen without reading more of it.
DROP TABLE compactions;
CREATE TABLE compactions (
    id       INTEGER PRIMARY KEY,
    case_id  INTEGER NOT NULL REFERENCES cases (id),
    upto     INTEGER NOT NULL,
    text     TEXT NOT NULL,
    tokens   INTEGER NOT NULL,
    made_by  TEXT NOT NULL CHECK (made_by IN ('model', 'engine')),
    step_id  INTEGER REFERENCES steps (id),
    at       INTEGER NOT NULL,
    UNIQUE (case_id, upto),
    CHECK ((made_by = 'model') = (step_id IS NOT NULL))
) STRICT;
CREATE TRIGGER compactions_are_not_changed BEFORE UPDATE ON compactions
BEGIN
    SELECT RAISE(ABORT, 'a compaction is never changed');
END;
UPDATE transcript SET tokens = length(message) / 4 WHERE tokens = 0;
-- What the model wrote about a case, over its trail and its transcript as far as they reached then.
CREATE TABLE paraphrases (
    id       INTEGER PRIMARY KEY,
    case_id  INTEGER NOT NULL REFERENCES cases (id),
    recorded INTEGER NOT NULL,
    said     INTEGER NOT NULL,
    text     TEXT NOT NULL,
    step_id  INTEGER NOT NULL REFERENCES steps (id),
    at       INTEGER NOT NULL,
    UNIQUE (case_id, recorded)
) STRICT;
-- A process that starts finds those that an earlier one was asking, without reading all there ever were.
CREATE INDEX steps_of_models_under_way ON steps (deadline) WHERE kind = 'model' AND state = 'started';
