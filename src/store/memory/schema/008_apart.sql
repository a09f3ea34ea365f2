-- What was said in a task that can be gone on with. It is no part of the state: an undo needs none of it.
CREATE TABLE conversations (
  task TEXT PRIMARY KEY REFERENCES tasks (task) ON DELETE CASCADE,
  said TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- States of before held it. A task that is over is not gone on with, and a state of megabytes is read by nobody.
UPDATE tasks SET state = json_remove(state, '$.transcript', '$.results')
WHERE (phase = 'completed' OR octet_length(state) > 1048576) AND json_valid(state);

-- The name of the call that a checkpoint carries out, which no other call has.
ALTER TABLE checkpoints ADD COLUMN once TEXT;
CREATE INDEX checkpoints_once ON checkpoints (once) WHERE once IS NOT NULL;
