-- What was said and learned: one row an entry, by session and mode.
PRAGMA application_id = 1398297649;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entries (
  -- Ids are never given out twice, so that a checkpoint's mark stays true after a forgetting.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions (id),
  mode TEXT NOT NULL CHECK (mode IN ('simple', 'planner', 'supervised')),
  kind TEXT NOT NULL CHECK (kind IN ('chat', 'project', 'preference', 'learning', 'short_term', 'error', 'solution',
    'success', 'pattern', 'plan', 'tool_result', 'user_feedback')),
  role TEXT CHECK (role IN ('user', 'assistant', 'tool')),
  content TEXT NOT NULL,
  tools TEXT NOT NULL DEFAULT '[]',
  files TEXT NOT NULL DEFAULT '[]',
  relevance REAL NOT NULL DEFAULT 1.0,
  related TEXT NOT NULL DEFAULT '[]',
  timestamp INTEGER NOT NULL,
  -- What a search filters by, as words of the index: an index of its own would not help a full-text query.
  tags TEXT GENERATED ALWAYS AS ('s' || session || ' m' || mode || ' k' || replace(kind, '_', '')) VIRTUAL
) STRICT;

CREATE INDEX entries_newest ON entries (session, mode, timestamp);
CREATE INDEX entries_kind ON entries (kind, relevance);
-- What the simple and the planner mode recall, in their order: without these a long session is read whole.
CREATE INDEX entries_simple ON entries (session, mode, timestamp) WHERE kind IN ('error', 'solution');
CREATE INDEX entries_planner ON entries (session, mode, relevance, timestamp) WHERE kind IN ('success', 'pattern');

-- Without column sizes: no ranking of the index is used.
CREATE VIRTUAL TABLE entries_text USING fts5 (
  content, tags, content = 'entries', content_rowid = 'id', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
);
-- Deleted words leave the index at once instead of being crossed out.
INSERT INTO entries_text (entries_text, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER entries_inserted AFTER INSERT ON entries BEGIN
  INSERT INTO entries_text (rowid, content, tags) VALUES (new.id, new.content, new.tags);
END;
CREATE TRIGGER entries_deleted AFTER DELETE ON entries BEGIN
  INSERT INTO entries_text (entries_text, rowid, content, tags) VALUES ('delete', old.id, old.content, old.tags);
END;
CREATE TRIGGER entries_changed AFTER UPDATE OF content, session, mode, kind ON entries BEGIN
  INSERT INTO entries_text (entries_text, rowid, content, tags) VALUES ('delete', old.id, old.content, old.tags);
  INSERT INTO entries_text (rowid, content, tags) VALUES (new.id, new.content, new.tags);
END;
