-- When a session was last used is told by its last entry: a step is stored by one statement, and nothing can differ.

DROP INDEX sessions_by_workspace;

ALTER TABLE sessions DROP COLUMN updated_ms;

CREATE INDEX sessions_by_workspace ON sessions (workspace);
