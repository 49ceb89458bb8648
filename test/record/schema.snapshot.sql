index event_session
CREATE INDEX event_session ON event (session, seq)

index feedback_of
CREATE INDEX feedback_of ON feedback (request, seq)

index feedback_once
CREATE UNIQUE INDEX feedback_once ON feedback (request, same_key) WHERE same_key IS NOT NULL

index lock_of_run
CREATE INDEX lock_of_run ON lock (run) WHERE run IS NOT NULL

index request_ended
CREATE INDEX request_ended ON request (ended_at) WHERE ended_at IS NOT NULL

index request_event_claim
CREATE INDEX request_event_claim ON request_event (seq) WHERE kind = 'claimed'

index request_event_of
CREATE INDEX request_event_of ON request_event (request, seq)

index request_open
CREATE INDEX request_open ON request (created_at) WHERE state IN ('queued', 'claimed', 'running', 'waiting')

index request_run
CREATE INDEX request_run ON request (run) WHERE run IS NOT NULL

index request_source
CREATE UNIQUE INDEX request_source ON request (source_key) WHERE source_key IS NOT NULL

index run_ended
CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL

index run_live
CREATE INDEX run_live ON run (started_at) WHERE state IN ('starting', 'running', 'stopping')

index run_parent
CREATE INDEX run_parent ON run (parent) WHERE parent IS NOT NULL

index run_task
CREATE INDEX run_task ON run (started_at) WHERE task IS NOT NULL

index session_native
CREATE UNIQUE INDEX session_native ON session (harness, native) WHERE native IS NOT NULL

table alias
CREATE TABLE alias ( alias TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES session (id) , former INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID

table delivery
CREATE TABLE delivery ( message INTEGER NOT NULL REFERENCES message (seq), reader TEXT NOT NULL, run TEXT, PRIMARY KEY (reader, message) ) STRICT, WITHOUT ROWID

table event
CREATE TABLE event ( seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT NOT NULL, run TEXT NOT NULL, epoch INTEGER NOT NULL, detail TEXT NOT NULL ) STRICT

table feedback
CREATE TABLE feedback ( seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, request TEXT NOT NULL REFERENCES request (id), state TEXT NOT NULL, text TEXT NOT NULL, said_by TEXT NOT NULL, same_key TEXT, receipt TEXT, at INTEGER NOT NULL, updated_at INTEGER NOT NULL ) STRICT

table lock
CREATE TABLE lock ( seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, dir_key TEXT NOT NULL, dir_inner TEXT NOT NULL, dir TEXT NOT NULL, above TEXT NOT NULL, below TEXT NOT NULL, repository TEXT, holder TEXT NOT NULL, place TEXT NOT NULL, session TEXT, run TEXT, since INTEGER NOT NULL, reason TEXT NOT NULL, shared TEXT NOT NULL, host TEXT NOT NULL, user TEXT NOT NULL ) STRICT

table message
CREATE TABLE message ( seq INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, expires_at INTEGER NOT NULL, sender TEXT NOT NULL, addressed TEXT NOT NULL, text TEXT NOT NULL ) STRICT

table outbox
CREATE TABLE outbox ( target TEXT NOT NULL, request TEXT NOT NULL, heard INTEGER NOT NULL, tries INTEGER NOT NULL, due_at INTEGER, trouble TEXT, PRIMARY KEY (target, request) ) STRICT, WITHOUT ROWID

table request
CREATE TABLE request ( id TEXT PRIMARY KEY, state TEXT NOT NULL, cause TEXT, reason TEXT, summary TEXT, work TEXT NOT NULL, priority INTEGER, source_key TEXT, token INTEGER NOT NULL, attempt INTEGER NOT NULL, rework INTEGER NOT NULL, claimant TEXT, session TEXT NOT NULL, seen_epoch INTEGER NOT NULL, run TEXT, dir TEXT, branch TEXT, base TEXT, result TEXT, closing TEXT, trouble TEXT, due_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, ended_at INTEGER ) STRICT, WITHOUT ROWID

table request_event
CREATE TABLE request_event ( seq INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL ) STRICT

table run
CREATE TABLE run ( id TEXT PRIMARY KEY, session TEXT NOT NULL REFERENCES session (id), epoch INTEGER NOT NULL, state TEXT NOT NULL, place TEXT NOT NULL, launcher TEXT NOT NULL, keeper TEXT, harness TEXT, marker INTEGER, cookie TEXT NOT NULL, argv TEXT NOT NULL, dir TEXT NOT NULL, detached INTEGER NOT NULL, until TEXT NOT NULL, deadline_at INTEGER, parent TEXT, independent INTEGER NOT NULL, host TEXT NOT NULL, user TEXT NOT NULL, tty TEXT, started_at INTEGER NOT NULL, ended_at INTEGER, intent TEXT, exit TEXT, survivors TEXT, reason TEXT, evidence TEXT, ended_by TEXT, containment TEXT, task TEXT, usage TEXT, adopted INTEGER NOT NULL DEFAULT 0, budget INTEGER, tmux TEXT, budget_cost REAL, UNIQUE (session, epoch) ) STRICT, WITHOUT ROWID

table said
CREATE TABLE said ( run TEXT NOT NULL REFERENCES run (id), kind TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (run, kind) ) STRICT, WITHOUT ROWID

table session
CREATE TABLE session ( id TEXT PRIMARY KEY, name TEXT, epoch INTEGER NOT NULL, dir TEXT NOT NULL, argv TEXT NOT NULL, created_at INTEGER NOT NULL , harness TEXT, native TEXT, went_to TEXT) STRICT, WITHOUT ROWID

table sqlite_sequence
CREATE TABLE sqlite_sequence(name,seq)

trigger epoch_only_grows
CREATE TRIGGER epoch_only_grows BEFORE UPDATE OF epoch ON session WHEN NEW.epoch <= OLD.epoch BEGIN SELECT RAISE (ABORT, 'an epoch only grows'); END

trigger event_is_append_only
CREATE TRIGGER event_is_append_only BEFORE UPDATE OF seq, at, kind, run, epoch, detail ON event BEGIN SELECT RAISE (ABORT, 'events are append-only'); END

trigger feedback_end_is_final
CREATE TRIGGER feedback_end_is_final BEFORE UPDATE OF state ON feedback WHEN OLD.state IN ('delivered', 'ignored') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END

trigger request_end_is_final
CREATE TRIGGER request_end_is_final BEFORE UPDATE OF state ON request WHEN OLD.state NOT IN ('queued', 'claimed', 'running', 'waiting') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END

trigger request_order_never_changes
CREATE TRIGGER request_order_never_changes BEFORE UPDATE OF work ON request BEGIN SELECT RAISE (ABORT, 'an order never changes'); END

trigger request_token_only_grows
CREATE TRIGGER request_token_only_grows BEFORE UPDATE OF token ON request WHEN NEW.token < OLD.token BEGIN SELECT RAISE (ABORT, 'a token only grows'); END

trigger run_end_is_final
CREATE TRIGGER run_end_is_final BEFORE UPDATE OF state ON run WHEN OLD.state NOT IN ('starting', 'running', 'stopping') BEGIN SELECT RAISE (ABORT, 'a terminal state is final'); END
