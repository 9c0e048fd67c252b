-- Casebound keeps everything in this one file.
--
-- Somebody needs something: a person asks in a thread, or an alert fires. That is a CASE. The case is the
-- matter itself; a thread on Slack or Discord is only a BINDING to it, and may be lost while the case lives on.
-- What people say is stored as MESSAGES, before anything else happens. Each stimulus becomes a TURN: the answer
-- we owe. An engine that holds the LEASE of a case works its turn in a RUN; every model call and every tool call
-- is a STEP, written down before it is made and again when it is done, so that a process killed at any moment
-- leaves behind what the next one needs. The conversation with the model is the TRANSCRIPT.
--
-- A tool call with consequences is not made. It stays `waiting`, the turn is parked, and a GATE asks a person.
-- At most one gate of a case is open. A person DECIDES it, in one guarded UPDATE, from any surface, days later;
-- or nobody does and it expires, which is a denial. An approval is then SPENT, at most once, by starting
-- exactly the step that was shown. What happened is appended to the TRAIL, a hash chain per case that no UPDATE
-- can touch. What must be said is put into the OUTBOX in the same transaction as the change that caused it.
--
-- Times are integer milliseconds UTC, handed in by the caller: the store has no clock. JSON is text. The SQL keeps
-- to what SQLite 3.40 and PostgreSQL 15 both understand, triggers aside.

-- A person known to us. Names are for people; rights hang on the id. Never deleted, only revoked, because the
-- trail refers to them.
CREATE TABLE principals (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL,
    name        TEXT NOT NULL UNIQUE,
    role        TEXT NOT NULL CHECK (role IN ('requester', 'operator', 'admin')),
    created_at  INTEGER NOT NULL,
    revoked_at  INTEGER,
    revoked_by  INTEGER REFERENCES principals (id)
) STRICT;

-- One platform account of a principal: an immutable id, never a display name (R20).
CREATE TABLE accounts (
    id            INTEGER PRIMARY KEY,
    principal_id  INTEGER NOT NULL REFERENCES principals (id),
    channel       TEXT NOT NULL,
    space         TEXT NOT NULL,
    account_id    TEXT NOT NULL,
    bound_at      INTEGER NOT NULL,
    bound_by      INTEGER REFERENCES principals (id),
    revoked_at    INTEGER
) STRICT;
-- One account speaks for one person at a time.
CREATE UNIQUE INDEX accounts_one_principal ON accounts (channel, space, account_id) WHERE revoked_at IS NULL;
CREATE INDEX accounts_by_principal ON accounts (principal_id);

-- A one-time code by which a person binds an account of theirs (R20): shown where somebody is signed in, sent from the
-- account. Only its digest is here. The row is the record of who let which account in, by which code, when, from where.
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
-- A new code for somebody ends the one before.
CREATE UNIQUE INDEX link_codes_one_open ON link_codes (principal_id) WHERE state = 'open';

-- The wrong codes that an account has sent lately: it may send only a few an hour.
CREATE TABLE link_failures (
    id          INTEGER PRIMARY KEY,
    channel     TEXT NOT NULL,
    space       TEXT NOT NULL,
    account_id  TEXT NOT NULL,
    at          INTEGER NOT NULL
) STRICT;
CREATE INDEX link_failures_by_account ON link_failures (channel, space, account_id, at);

-- The matter itself, from open to closed. `state` and `waiting_on` are the two axes of R2; nothing is counted
-- here that can be computed.
CREATE TABLE cases (
    id                INTEGER PRIMARY KEY,
    number            INTEGER NOT NULL UNIQUE,
    tenant            TEXT NOT NULL,
    title             TEXT NOT NULL,
    state             TEXT NOT NULL CHECK (state IN ('new', 'in_progress', 'resolved', 'closed', 'cancelled')),
    waiting_on        TEXT NOT NULL DEFAULT ''
                      CHECK (waiting_on IN ('', 'requester', 'approval', 'operator', 'human')),
    origin            TEXT NOT NULL
                      CHECK (origin IN ('slack', 'discord', 'web', 'console', 'cli', 'alert', 'memory')),
    priority          TEXT NOT NULL DEFAULT 'normal' CHECK (priority IN ('low', 'normal', 'high', 'critical')),
    requester         INTEGER REFERENCES principals (id),
    assignee          INTEGER REFERENCES principals (id),
    verified_as       TEXT,
    verified_how      TEXT,
    verified_at       INTEGER,
    subject           TEXT,
    dedup_key         TEXT,
    follows           INTEGER REFERENCES cases (id),
    task_state        TEXT NOT NULL DEFAULT '{}',
    paraphrase        TEXT NOT NULL DEFAULT '',
    opened_at         INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    resolved_at       INTEGER,
    closed_at         INTEGER,
    last_activity_at  INTEGER NOT NULL,
    CHECK (waiting_on = '' OR state = 'in_progress'),
    CHECK ((verified_as IS NULL) = (verified_how IS NULL) AND (verified_as IS NULL) = (verified_at IS NULL))
) STRICT;
CREATE INDEX cases_by_activity ON cases (tenant, last_activity_at);
CREATE INDEX cases_by_requester ON cases (tenant, requester, last_activity_at);
-- An alert that fires again finds its case; it opens no second live one.
CREATE INDEX cases_by_dedup_key ON cases (tenant, dedup_key);
CREATE UNIQUE INDEX cases_one_live_per_dedup_key ON cases (tenant, dedup_key)
    WHERE dedup_key IS NOT NULL AND state IN ('new', 'in_progress');
-- What the scheduler closes after a while.
CREATE INDEX cases_resolved ON cases (resolved_at) WHERE state = 'resolved';

-- A case ↔ one thread. The thread may go; the case stays (R3).
CREATE TABLE bindings (
    id        INTEGER PRIMARY KEY,
    case_id   INTEGER NOT NULL REFERENCES cases (id),
    address   TEXT NOT NULL,
    state     TEXT NOT NULL CHECK (state IN ('live', 'lost', 'ended')),
    private   INTEGER NOT NULL DEFAULT 0 CHECK (private IN (0, 1)),
    bound_at  INTEGER NOT NULL,
    ended_at  INTEGER,
    reason    TEXT
) STRICT;
-- At most one live case per address (R3): twenty simultaneous first messages make one case.
CREATE UNIQUE INDEX bindings_one_live_case ON bindings (address) WHERE state = 'live';
CREATE INDEX bindings_by_case ON bindings (case_id);
CREATE INDEX bindings_by_address ON bindings (address);

-- How far we have read on each address, for catching up after downtime; moves only over what is stored (R29). Under
-- the name of a channel: until when (ms) everything that was said there has been heard.
CREATE TABLE positions (
    address    TEXT PRIMARY KEY,
    last_seen  TEXT NOT NULL
) STRICT;

-- One thing said in a case, in or out. `turn_id` is NULL while an inbound message is unread.
CREATE TABLE messages (
    id                INTEGER PRIMARY KEY,
    case_id           INTEGER NOT NULL REFERENCES cases (id),
    seq               INTEGER NOT NULL,
    direction         TEXT NOT NULL CHECK (direction IN ('in', 'out')),
    provenance        TEXT NOT NULL
                      CHECK (provenance IN ('requester', 'operator', 'bystander', 'alert', 'assistant', 'system')),
    author            INTEGER REFERENCES principals (id),
    author_account    TEXT,
    body              TEXT NOT NULL,
    address           TEXT,
    platform_id       TEXT,
    turn_id           INTEGER REFERENCES turns (id),
    in_view           INTEGER,
    at                INTEGER NOT NULL,
    edited_at         INTEGER,
    deleted_at        INTEGER,
    UNIQUE (case_id, seq)
) STRICT;
-- The platform's own identity of a message: the second delivery of the same one changes nothing (R29).
CREATE UNIQUE INDEX messages_one_per_platform_id ON messages (address, platform_id) WHERE platform_id IS NOT NULL;
CREATE INDEX messages_unread ON messages (case_id, seq) WHERE direction = 'in' AND turn_id IS NULL;
-- What the model has not been shown yet: taken by a turn, or said by a person who has the case. `in_view` is the
-- transcript's place that carries it.
CREATE INDEX messages_not_in_view ON messages (case_id, seq)
    WHERE in_view IS NULL AND (direction = 'in' OR provenance = 'operator');
CREATE INDEX messages_by_turn ON messages (turn_id) WHERE turn_id IS NOT NULL;

-- A file that somebody attached to a message, by what they say it is called and is. A platform's link to it expires, so a
-- copy is `wanted` until it is `kept`, or will not be had (`refused`, `gone`; `reason` says why). `reference` is what its
-- channel finds it by, `digest` the SHA-256 of the bytes that were kept.
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

-- The bytes of a file that is kept, apart from what is read of it every day.
CREATE TABLE copies (
    file_id  INTEGER PRIMARY KEY REFERENCES files (id),
    content  BLOB NOT NULL
) STRICT;

-- One stimulus and the answer owed to it. It may be parked at a gate for days; what it is parked on is its steps
-- that wait and the gate that is open. `acts_for` is the principal whose permissions it has (R11); `not_before`
-- keeps it back while an outcome is still open or a model is away.
CREATE TABLE turns (
    id          INTEGER PRIMARY KEY,
    case_id     INTEGER NOT NULL REFERENCES cases (id),
    seq         INTEGER NOT NULL,
    cause       TEXT NOT NULL CHECK (cause IN ('message', 'alert', 'schedule')),
    beside      INTEGER REFERENCES turns (id),
    state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'parked', 'settled', 'failed')),
    acts_for    INTEGER REFERENCES principals (id),
    attempts    INTEGER NOT NULL DEFAULT 0,
    not_before  INTEGER NOT NULL DEFAULT 0,
    queued_at   INTEGER NOT NULL,
    settled_at  INTEGER,
    UNIQUE (case_id, seq)
) STRICT;
-- One unsettled turn per case, and at most one beside it: a second stimulus waits unread (R11).
CREATE UNIQUE INDEX turns_one_unsettled ON turns (case_id)
    WHERE state IN ('queued', 'running', 'parked') AND beside IS NULL;
CREATE UNIQUE INDEX turns_one_unsettled_beside ON turns (case_id)
    WHERE state IN ('queued', 'running', 'parked') AND beside IS NOT NULL;
CREATE INDEX turns_with_work ON turns (not_before) WHERE state IN ('queued', 'running');

-- One tenure of the lease, working one turn; its record is complete once `outcome` is set (R16).
CREATE TABLE runs (
    id                INTEGER PRIMARY KEY,
    case_id           INTEGER NOT NULL REFERENCES cases (id),
    turn_id           INTEGER NOT NULL REFERENCES turns (id),
    attempt           INTEGER NOT NULL,
    fence             INTEGER NOT NULL,
    resumes           INTEGER REFERENCES runs (id),
    agent             TEXT NOT NULL,
    model             TEXT NOT NULL,
    model_reported    TEXT,
    prompt_version    TEXT REFERENCES prompts (version),
    tenant            TEXT NOT NULL,
    task_state        TEXT,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER,
    outcome           TEXT CHECK (outcome IN ('answered', 'parked', 'handed_off', 'refused', 'limit', 'error',
                                              'lease_lost', 'crashed')),
    stop_reason       TEXT,
    escalated         INTEGER NOT NULL DEFAULT 0 CHECK (escalated IN (0, 1)),
    model_calls       INTEGER NOT NULL DEFAULT 0,
    tool_calls        INTEGER NOT NULL DEFAULT 0,
    input_tokens      INTEGER NOT NULL DEFAULT 0,
    output_tokens     INTEGER NOT NULL DEFAULT 0,
    cached_tokens     INTEGER NOT NULL DEFAULT 0,
    cost_usd          REAL NOT NULL DEFAULT 0,
    error             TEXT,
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT;
-- Two runs of one case never overlap (R10).
CREATE UNIQUE INDEX runs_one_open ON runs (case_id) WHERE ended_at IS NULL;
CREATE INDEX runs_by_turn ON runs (turn_id);

-- One journalled act: a model call, or one call of its response. A model step names what it sent (`request`:
-- prompt, compaction, transcript range, settings) so that it can be rebuilt byte for byte (R17). A tool step is born
-- `waiting` with the response that asked for it, and has its result when `result` is not NULL: exactly one.
CREATE TABLE steps (
    id                    INTEGER PRIMARY KEY,
    case_id               INTEGER NOT NULL REFERENCES cases (id),
    turn_id               INTEGER NOT NULL REFERENCES turns (id),
    run_id                INTEGER NOT NULL REFERENCES runs (id),
    seq                   INTEGER NOT NULL,
    kind                  TEXT NOT NULL CHECK (kind IN ('model', 'tool')),
    state                 TEXT NOT NULL
                          CHECK (state IN ('waiting', 'started', 'finished', 'failed', 'unknown', 'refused')),
    started_at            INTEGER,
    deadline              INTEGER,
    finished_at           INTEGER,
    error                 TEXT,
    -- a model step
    request               TEXT,
    request_digest        TEXT,
    response_seq          INTEGER,
    finish_reason         TEXT,
    model_reported        TEXT,
    provider_response_id  TEXT,
    input_tokens          INTEGER,
    output_tokens         INTEGER,
    cached_tokens         INTEGER,
    cost_usd              REAL,
    -- a tool step
    model_step            INTEGER REFERENCES steps (id),
    position              INTEGER,
    call_id               TEXT,
    tool                  TEXT,
    tool_version          TEXT,
    tier                  TEXT CHECK (tier IN ('read_only', 'routine', 'consequential')),
    tenant                TEXT NOT NULL,
    args                  TEXT,
    effect_key            TEXT,
    effect_nth            INTEGER NOT NULL DEFAULT 0,
    idempotency_key       TEXT,
    gate_id               INTEGER REFERENCES gates (id),
    result                TEXT,
    UNIQUE (turn_id, seq),
    CHECK ((kind = 'tool') = (model_step IS NOT NULL AND position IS NOT NULL AND tool IS NOT NULL)),
    CHECK (state NOT IN ('finished', 'failed', 'refused') OR kind = 'model' OR result IS NOT NULL),
    CHECK (state NOT IN ('waiting', 'started') OR result IS NULL),
    CHECK (state <> 'started' OR deadline IS NOT NULL)
) STRICT;
-- One call of a response is made once: a further attempt only beside one whose outcome is unknown (R14).
CREATE UNIQUE INDEX steps_one_per_call ON steps (model_step, position) WHERE state <> 'unknown';
-- An approval is spent once (R9).
CREATE UNIQUE INDEX steps_one_per_gate ON steps (gate_id) WHERE gate_id IS NOT NULL;
-- Two calls with one effect key are the same intent; the n-th needs a decision of its own (design, section 7).
CREATE UNIQUE INDEX steps_one_per_effect ON steps (tenant, effect_key, effect_nth)
    WHERE effect_key IS NOT NULL AND state NOT IN ('waiting', 'refused');
CREATE INDEX steps_by_run ON steps (run_id);
-- A process that starts finds those that an earlier one was asking, without reading all there ever were.
CREATE INDEX steps_of_models_under_way ON steps (deadline) WHERE kind = 'model' AND state = 'started';

-- The conversation with the model, each message once, exactly as sent or received. `tokens`: about how many it takes in
-- a window.
CREATE TABLE transcript (
    case_id  INTEGER NOT NULL REFERENCES cases (id),
    seq      INTEGER NOT NULL,
    turn_id  INTEGER NOT NULL REFERENCES turns (id),
    step_id  INTEGER REFERENCES steps (id),
    kind     TEXT NOT NULL CHECK (kind IN ('request', 'response')),
    message  TEXT NOT NULL,
    tokens   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (case_id, seq)
) STRICT;
-- Where a turn begins in it, so that finding a window does not read the whole conversation (R19).
CREATE INDEX transcript_by_turn ON transcript (turn_id, seq);

-- What stands for the transcript up to `upto` in later windows (R19): the text exactly as it is sent, made by the model
-- in the step `step_id`, or by the engine where it could not. It is never changed; a later one takes its place.
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

-- What the model wrote about a case for people, in the step `step_id`, over its trail up to `recorded` and its transcript
-- up to `said`. The newest stands in cases.paraphrase, followed by what has been recorded since.
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

-- Each assembled prompt with its tool schemas, once, under the hash of both.
CREATE TABLE prompts (
    version        TEXT PRIMARY KEY,
    label          TEXT NOT NULL,
    text           TEXT NOT NULL,
    tools          TEXT NOT NULL,
    first_used_at  INTEGER NOT NULL
) STRICT;

-- One held call that only a person may decide. The policy it was asked under is copied into it. `digest_shown` is
-- what the approver saw; `digest_run` what may run, where they changed arguments. `remind_at` is the
-- first of its `reminders` that has not come. `asked_for` is the principal the turn
-- acts for, or else the first person who spoke in it: with `four_eyes` neither they nor the requester may decide.
CREATE TABLE gates (
    id             INTEGER PRIMARY KEY,
    case_id        INTEGER NOT NULL REFERENCES cases (id),
    turn_id        INTEGER NOT NULL REFERENCES turns (id),
    step_id        INTEGER NOT NULL REFERENCES steps (id),
    kind           TEXT NOT NULL CHECK (kind IN ('approval', 'consent', 'outcome')),
    tenant         TEXT NOT NULL,
    asked_for      INTEGER REFERENCES principals (id),
    tool           TEXT NOT NULL,
    tool_version   TEXT NOT NULL,
    tier           TEXT NOT NULL CHECK (tier IN ('read_only', 'routine', 'consequential')),
    reversible     INTEGER NOT NULL CHECK (reversible IN (0, 1)),
    args           TEXT NOT NULL,
    changed_args   TEXT,
    statement      TEXT NOT NULL,
    because        TEXT NOT NULL DEFAULT '',
    earlier_step   INTEGER REFERENCES steps (id),
    effect_key     TEXT,
    effect_nth     INTEGER NOT NULL DEFAULT 0,
    digest_shown   TEXT NOT NULL,
    digest_run     TEXT,
    four_eyes      INTEGER NOT NULL CHECK (four_eyes IN (0, 1)),
    on_expiry      TEXT NOT NULL CHECK (on_expiry IN ('tell', 'handoff')),
    reminders      TEXT NOT NULL,
    state          TEXT NOT NULL
                   CHECK (state IN ('open', 'approved', 'denied', 'expired', 'withdrawn', 'void')),
    asked_at       INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    verb           TEXT CHECK (verb IN ('approve', 'deny', 'revise', 'happened', 'not_happened', 'rerun')),
    decided_by     INTEGER REFERENCES principals (id),
    decided_at     INTEGER,
    decided_via    TEXT,
    reason         TEXT,
    void_reason    TEXT,
    remind_at      INTEGER,
    -- never "no expiry" (R6)
    CHECK (expires_at > asked_at),
    CHECK ((state = 'open') = (decided_at IS NULL)),
    -- only a person approves, and only with a digest
    CHECK (state <> 'approved' OR (decided_by IS NOT NULL AND verb IS NOT NULL AND digest_run IS NOT NULL))
) STRICT;
-- At most one open gate per case, whoever inserts (R4).
CREATE UNIQUE INDEX gates_one_open ON gates (case_id) WHERE state = 'open';
CREATE INDEX gates_by_case ON gates (case_id, id);
CREATE INDEX gates_by_step ON gates (step_id);
CREATE INDEX gates_to_expire ON gates (expires_at) WHERE state = 'open';
CREATE INDEX gates_to_remind ON gates (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;

-- The roles that may decide a gate; none means nobody (R24).
CREATE TABLE gate_roles (
    gate_id  INTEGER NOT NULL REFERENCES gates (id),
    role     TEXT NOT NULL CHECK (role IN ('requester', 'operator', 'admin')),
    PRIMARY KEY (gate_id, role)
) STRICT;

-- Each copy of a gate's card on a platform, and which state it shows; they converge (R28).
CREATE TABLE cards (
    id           INTEGER PRIMARY KEY,
    gate_id      INTEGER NOT NULL REFERENCES gates (id),
    address      TEXT NOT NULL,
    platform_id  TEXT NOT NULL,
    shown        TEXT NOT NULL,
    UNIQUE (gate_id, address, platform_id)
) STRICT;
CREATE INDEX cards_by_address ON cards (address);

-- The timed right to work a case. The row stays for ever and its fence only rises, so an act of an earlier
-- holder is recognised whenever it arrives (R10). A person holds it without end (R12).
CREATE TABLE leases (
    case_id      INTEGER PRIMARY KEY REFERENCES cases (id),
    fence        INTEGER NOT NULL,
    kind         TEXT CHECK (kind IN ('run', 'human')),
    holder       TEXT,
    boot         TEXT,
    principal    INTEGER REFERENCES principals (id),
    taken_at     INTEGER,
    until        INTEGER,
    reminded_at  INTEGER,
    CHECK ((kind IS NULL) = (holder IS NULL)),
    CHECK ((kind = 'run') = (until IS NOT NULL) OR kind IS NULL),
    CHECK (kind <> 'human' OR principal IS NOT NULL)
) STRICT;
CREATE INDEX leases_running ON leases (boot) WHERE kind = 'run';
CREATE INDEX leases_of_people ON leases (taken_at) WHERE kind = 'human';

-- What happened to a case, append-only. The hash of an entry covers the one before it and a salted hash of its
-- content, so that content can be erased (nonce and all) while the chain still proves the order (R18).
CREATE TABLE trail (
    case_id       INTEGER NOT NULL REFERENCES cases (id),
    seq           INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    actor         TEXT NOT NULL,
    meta          TEXT NOT NULL,
    nonce         TEXT,
    content       TEXT,
    content_hash  TEXT NOT NULL,
    prev_hash     TEXT NOT NULL,
    hash          TEXT NOT NULL,
    PRIMARY KEY (case_id, seq)
) STRICT;
CREATE TRIGGER trail_is_append_only BEFORE UPDATE ON trail
WHEN NEW.content IS NOT NULL OR NEW.nonce IS NOT NULL OR OLD.content IS NULL
    OR NEW.case_id <> OLD.case_id OR NEW.seq <> OLD.seq OR NEW.at <> OLD.at OR NEW.kind <> OLD.kind
    OR NEW.actor <> OLD.actor OR NEW.meta <> OLD.meta OR NEW.content_hash <> OLD.content_hash
    OR NEW.prev_hash <> OLD.prev_hash OR NEW.hash <> OLD.hash
BEGIN
    SELECT RAISE(ABORT, 'the trail is append-only; only its content may be erased');
END;
CREATE TRIGGER trail_is_not_replaced BEFORE INSERT ON trail
WHEN EXISTS (SELECT 1 FROM trail t WHERE t.case_id = NEW.case_id AND t.seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'the trail is append-only; its entries are never replaced');
END;
CREATE TRIGGER trail_is_not_deleted BEFORE DELETE ON trail
BEGIN
    SELECT RAISE(ABORT, 'the trail is append-only; its entries are never deleted');
END;

-- What must be said on a channel, one row per platform message, and whether it was (R27). A card's text is not here:
-- it is rendered from its gate when it is sent (R28).
CREATE TABLE outbox (
    id                  INTEGER PRIMARY KEY,
    case_id             INTEGER NOT NULL REFERENCES cases (id),
    message_id          INTEGER REFERENCES messages (id),
    gate_id             INTEGER REFERENCES gates (id),
    turn_id             INTEGER REFERENCES turns (id),
    address             TEXT NOT NULL,
    channel             TEXT NOT NULL,
    kind                TEXT NOT NULL CHECK (kind IN ('message', 'card', 'edit', 'delete')),
    body                TEXT,
    target              TEXT,
    state               TEXT NOT NULL CHECK (state IN ('due', 'held', 'sending', 'sent', 'dead')),
    attempts            INTEGER NOT NULL DEFAULT 0,
    not_before          INTEGER NOT NULL DEFAULT 0,
    boot                TEXT,
    platform_id         TEXT,
    possible_duplicate  INTEGER NOT NULL DEFAULT 0 CHECK (possible_duplicate IN (0, 1)),
    error               TEXT,
    put_at              INTEGER NOT NULL,
    sent_at             INTEGER,
    CHECK (kind IN ('message', 'delete') OR gate_id IS NOT NULL),
    CHECK (kind <> 'message' OR body IS NOT NULL)
) STRICT;
-- In order per address: the first row that is not done stands before the others.
CREATE INDEX outbox_pending ON outbox (address, id) WHERE state IN ('due', 'sending');
CREATE INDEX outbox_due ON outbox (channel, not_before, id) WHERE state = 'due';
CREATE INDEX outbox_set_aside ON outbox (state, address) WHERE state IN ('held', 'dead');
CREATE INDEX outbox_by_case ON outbox (case_id);

-- Effects that finance keeps, whatever else is forgotten (R25).
CREATE TABLE ledger (
    id          INTEGER PRIMARY KEY,
    tenant      TEXT NOT NULL,
    effect_key  TEXT NOT NULL,
    kind        TEXT NOT NULL,
    subject     TEXT,
    amount      TEXT,
    currency    TEXT,
    case_id     INTEGER NOT NULL REFERENCES cases (id),
    step_id     INTEGER NOT NULL UNIQUE REFERENCES steps (id),
    gate_id     INTEGER REFERENCES gates (id),
    at          INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_by_effect ON ledger (tenant, effect_key);

-- One firing of one alert: its fingerprint names the alert, its start names the episode.
CREATE TABLE episodes (
    id             INTEGER PRIMARY KEY,
    case_id        INTEGER NOT NULL REFERENCES cases (id),
    fingerprint    TEXT NOT NULL,
    starts_at      INTEGER NOT NULL,
    state          TEXT NOT NULL CHECK (state IN ('firing', 'resolved')),
    ends_at        INTEGER,
    labels         TEXT NOT NULL,
    annotations    TEXT NOT NULL,
    first_seen_at  INTEGER NOT NULL,
    last_seen_at   INTEGER NOT NULL,
    UNIQUE (case_id, fingerprint, starts_at)
) STRICT;

-- While a hold stands, no approval is spent: on everything, or on one tool (R9, "nothing is frozen").
CREATE TABLE holds (
    id         INTEGER PRIMARY KEY,
    tool       TEXT,
    reason     TEXT NOT NULL,
    placed_by  INTEGER NOT NULL REFERENCES principals (id),
    placed_at  INTEGER NOT NULL,
    lifted_by  INTEGER REFERENCES principals (id),
    lifted_at  INTEGER
) STRICT;
