-- States to go back to. Contents are kept once, under their SHA-256.
CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  packed INTEGER NOT NULL CHECK (packed IN (0, 1)),
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id),
  task TEXT NOT NULL,
  step INTEGER NOT NULL,
  reason TEXT NOT NULL,
  state TEXT NOT NULL,
  mark INTEGER NOT NULL,
  created INTEGER NOT NULL,
  last_used INTEGER NOT NULL
) STRICT;
CREATE INDEX checkpoints_task ON checkpoints (session, task, id);
CREATE INDEX checkpoints_used ON checkpoints (last_used, id);

CREATE TABLE checkpoint_files (
  checkpoint INTEGER NOT NULL REFERENCES checkpoints (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  before_blob INTEGER REFERENCES blobs (id), -- NULL: there was no such file
  after_known INTEGER NOT NULL DEFAULT 0 CHECK (after_known IN (0, 1)),
  after_blob INTEGER REFERENCES blobs (id),
  PRIMARY KEY (checkpoint, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX checkpoint_before ON checkpoint_files (before_blob);
CREATE INDEX checkpoint_after ON checkpoint_files (after_blob);
