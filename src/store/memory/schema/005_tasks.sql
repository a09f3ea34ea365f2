-- Work under way: what a new process needs to go on with it, or to take it back.
CREATE TABLE tasks (
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions (id),
  owner TEXT, -- the process that works on it; NULL: none does
  phase TEXT NOT NULL,
  state TEXT NOT NULL,
  revision INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_updated ON tasks (session, updated, id);

-- The process that is in the middle of the change; NULL: it is whole.
ALTER TABLE checkpoints ADD COLUMN owner TEXT;
CREATE INDEX checkpoints_open ON checkpoints (owner) WHERE owner IS NOT NULL;
