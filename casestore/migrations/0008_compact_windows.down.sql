DROP INDEX steps_of_models_under_way;
DROP TABLE paraphrases;
DROP TRIGGER compactions_are_not_changed;
DROP TABLE compactions;
CREATE TABLE compactions (
    id          INTEGER PRIMARY KEY,
    case_id     INTEGER NOT NULL REFERENCES cases (id),
    upto        INTEGER NOT NULL,
    text        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    UNIQUE (case_id, upto)
) STRICT;
