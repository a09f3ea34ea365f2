-- What led to what in each task, whole, for as long as the task is among the last ones.
CREATE TABLE traced_tasks (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id),
  task TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL
) STRICT;

CREATE TABLE traced_entries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  traced INTEGER NOT NULL REFERENCES traced_tasks (id) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  call INTEGER, -- NULL: it is of the step as a whole
  effect TEXT NOT NULL,
  about TEXT NOT NULL,
  rule TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX traced_entries_task ON traced_entries (traced, id);
