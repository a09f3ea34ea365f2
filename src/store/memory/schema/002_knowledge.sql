-- What outlives a session: preferences, learnings, what a project holds, summaries of long chats.
CREATE TABLE preferences (
  project TEXT NOT NULL, -- '' for every project
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  inferred INTEGER NOT NULL CHECK (inferred IN (0, 1)),
  updated INTEGER NOT NULL,
  PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE learnings (
  project TEXT NOT NULL, -- '' for every project
  task TEXT NOT NULL,
  approach TEXT NOT NULL,
  successes INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  note TEXT NOT NULL DEFAULT '',
  last_used INTEGER NOT NULL,
  PRIMARY KEY (project, task, approach)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_files (
  project TEXT NOT NULL,
  path TEXT NOT NULL,
  language TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  symbols INTEGER NOT NULL,
  modified INTEGER NOT NULL,
  scanned INTEGER NOT NULL,
  PRIMARY KEY (project, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE project_commands (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  command TEXT NOT NULL,
  found_in TEXT NOT NULL,
  scanned INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (id),
  first_entry INTEGER NOT NULL,
  last_entry INTEGER NOT NULL,
  text TEXT NOT NULL,
  tokens_before INTEGER NOT NULL,
  tokens_after INTEGER NOT NULL,
  created INTEGER NOT NULL
) STRICT;
CREATE INDEX summaries_session ON summaries (session, last_entry);
