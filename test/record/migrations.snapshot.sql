-- 1
CREATE TABLE session (
    id TEXT PRIMARY KEY, name TEXT, epoch INTEGER NOT NULL, dir TEXT NOT NULL, argv TEXT NOT NULL, created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE alias (
    alias TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES session (id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE run (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session (id),
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    place TEXT NOT NULL, launcher TEXT NOT NULL, keeper TEXT, harness TEXT,
    marker INTEGER, cookie TEXT NOT NULL,
    argv TEXT NOT NULL, dir TEXT NOT NULL, detached INTEGER NOT NULL, until TEXT NOT NULL, deadline_at INTEGER,
    parent TEXT, independent INTEGER NOT NULL,
    host TEXT NOT NULL, user TEXT NOT NULL, tty TEXT,
    started_at INTEGER NOT NULL, ended_at INTEGER,
    intent TEXT, exit TEXT, survivors TEXT, reason TEXT, evidence TEXT, ended_by TEXT,
    UNIQUE (session, epoch)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX run_live ON run (started_at) WHERE state IN ('starting', 'running', 'stopping');
  CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL;
  CREATE TABLE lock (
    device TEXT NOT NULL, inode TEXT NOT NULL, run TEXT NOT NULL REFERENCES run (id),
    dir TEXT NOT NULL, session TEXT NOT NULL, since INTEGER NOT NULL, reason TEXT NOT NULL, shared INTEGER NOT NULL,
    PRIMARY KEY (device, inode, run)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX lock_run ON lock (run);
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, epoch INTEGER NOT NULL, detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX event_session ON event (session, seq);
  CREATE TRIGGER event_is_append_only BEFORE UPDATE ON event BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
  CREATE TRIGGER run_end_is_final BEFORE UPDATE OF state ON run
    WHEN OLD.state NOT IN ('starting', 'running', 'stopping') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END;
  CREATE TRIGGER epoch_only_grows BEFORE UPDATE OF epoch ON session
    WHEN NEW.epoch <= OLD.epoch BEGIN SELECT RAISE (ABORT, 'an epoch only grows'); END;
-- 2
ALTER TABLE run ADD COLUMN containment TEXT;
  ALTER TABLE run ADD COLUMN task TEXT;
  ALTER TABLE run ADD COLUMN usage TEXT;
  CREATE INDEX run_task ON run (started_at) WHERE task IS NOT NULL;
-- 3
ALTER TABLE run ADD COLUMN adopted INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE lock RENAME TO lock_before;
  CREATE TABLE lock (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL, dir_key TEXT NOT NULL, dir_inner TEXT NOT NULL, dir TEXT NOT NULL,
    above TEXT NOT NULL, below TEXT NOT NULL, repository TEXT,
    holder TEXT NOT NULL, place TEXT NOT NULL, session TEXT, run TEXT,
    since INTEGER NOT NULL, reason TEXT NOT NULL, shared TEXT NOT NULL, host TEXT NOT NULL, user TEXT NOT NULL
  ) STRICT;
  INSERT INTO lock (kind, dir_key, dir_inner, dir, above, below, holder, place, session, run, since, reason, shared, host, user)
    SELECT 'run', l.device || ':' || l.inode, l.device || '@' || l.dir, l.dir, '[]', '[]',
      json_object('kind', 'run', 'launcher', json(r.launcher), 'keeper', json(r.keeper), 'marker', r.marker, 'cookie', r.cookie,
        'containment', json(coalesce(r.containment, '{"level":"none","why":"it was started by an older Holdfast"}')), 'adopted', json('false')),
      r.place, l.session, l.run, l.since, l.reason, '[]', r.host, r.user
    FROM lock_before l JOIN run r ON r.id = l.run;
  DROP TABLE lock_before;
  CREATE INDEX lock_of_run ON lock (run) WHERE run IS NOT NULL;
-- 4
ALTER TABLE session ADD COLUMN harness TEXT;
  ALTER TABLE session ADD COLUMN native TEXT;
  ALTER TABLE session ADD COLUMN went_to TEXT;
  ALTER TABLE run ADD COLUMN budget INTEGER;
  CREATE UNIQUE INDEX session_native ON session (harness, native) WHERE native IS NOT NULL;
-- 5
DROP TRIGGER event_is_append_only;
  CREATE TRIGGER event_is_append_only BEFORE UPDATE OF seq, at, kind, run, epoch, detail ON event
    BEGIN SELECT RAISE (ABORT, 'events are append-only'); END;
  ALTER TABLE alias ADD COLUMN former INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE said (
    run TEXT NOT NULL REFERENCES run (id), kind TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (run, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sender TEXT NOT NULL, addressed TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  CREATE TABLE delivery (
    message INTEGER NOT NULL REFERENCES message (seq), reader TEXT NOT NULL, PRIMARY KEY (reader, message)
  ) STRICT, WITHOUT ROWID;
-- 6
ALTER TABLE run ADD COLUMN tmux TEXT;
-- 7
ALTER TABLE delivery ADD COLUMN run TEXT;
-- 8
CREATE TABLE request (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL, cause TEXT, reason TEXT, summary TEXT,
    work TEXT NOT NULL, priority INTEGER, source_key TEXT,
    token INTEGER NOT NULL, attempt INTEGER NOT NULL, rework INTEGER NOT NULL,
    claimant TEXT, session TEXT NOT NULL, seen_epoch INTEGER NOT NULL, run TEXT,
    dir TEXT, branch TEXT, base TEXT,
    result TEXT, closing TEXT, trouble TEXT, due_at INTEGER,
    created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX request_open ON request (created_at) WHERE state IN ('queued', 'claimed', 'running', 'waiting');
  CREATE INDEX request_ended ON request (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX request_run ON request (run) WHERE run IS NOT NULL;
  CREATE UNIQUE INDEX request_source ON request (source_key) WHERE source_key IS NOT NULL;
  CREATE TABLE request_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX request_event_of ON request_event (request, seq);
  CREATE INDEX request_event_claim ON request_event (seq) WHERE kind = 'claimed';
  CREATE TABLE feedback (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL REFERENCES request (id),
    state TEXT NOT NULL, text TEXT NOT NULL, said_by TEXT NOT NULL, same_key TEXT, receipt TEXT, at INTEGER NOT NULL, updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX feedback_of ON feedback (request, seq);
  CREATE UNIQUE INDEX feedback_once ON feedback (request, same_key) WHERE same_key IS NOT NULL;
  CREATE TRIGGER request_end_is_final BEFORE UPDATE OF state ON request
    WHEN OLD.state NOT IN ('queued', 'claimed', 'running', 'waiting') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END;
  CREATE TRIGGER request_token_only_grows BEFORE UPDATE OF token ON request
    WHEN NEW.token < OLD.token BEGIN SELECT RAISE (ABORT, 'a token only grows'); END;
  CREATE TRIGGER request_order_never_changes BEFORE UPDATE OF work ON request BEGIN SELECT RAISE (ABORT, 'an order never changes'); END;
  CREATE TRIGGER feedback_end_is_final BEFORE UPDATE OF state ON feedback
    WHEN OLD.state IN ('delivered', 'ignored') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END;
-- 9
CREATE TABLE outbox (
    target TEXT NOT NULL, request TEXT NOT NULL, heard INTEGER NOT NULL, tries INTEGER NOT NULL, due_at INTEGER, trouble TEXT,
    PRIMARY KEY (target, request)
  ) STRICT, WITHOUT ROWID;
-- 10
ALTER TABLE run ADD COLUMN budget_cost REAL;
