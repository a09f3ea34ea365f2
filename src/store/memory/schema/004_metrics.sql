-- What led to which decision, and how the runs went.
CREATE TABLE trace (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id),
  task TEXT NOT NULL,
  step INTEGER NOT NULL,
  event TEXT NOT NULL CHECK (event IN ('decision', 'evidence', 'discard', 'recall', 'approval', 'escalation', 'note')),
  subject TEXT NOT NULL,
  reason TEXT NOT NULL,
  detail TEXT NOT NULL,
  timestamp INTEGER NOT NULL
) STRICT;
CREATE INDEX trace_task ON trace (session, task, id);

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id),
  task TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('simple', 'planner', 'supervised')),
  model TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'cancelled')),
  started INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  replans INTEGER NOT NULL,
  escalations INTEGER NOT NULL,
  lookups INTEGER NOT NULL,
  hits INTEGER NOT NULL,
  retrieval_us INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  calls_saved INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_mode ON runs (mode, started);
