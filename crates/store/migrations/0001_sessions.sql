-- One text for SQLite and Postgres: only TEXT, BIGINT, DOUBLE PRECISION and BYTEA. Times are milliseconds since 1970.

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    title TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    updated_ms BIGINT NOT NULL
);

CREATE INDEX sessions_by_workspace ON sessions (workspace, updated_ms);

CREATE TABLE entries (
    session TEXT NOT NULL REFERENCES sessions (id),
    seq BIGINT NOT NULL,
    at_ms BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
);

-- The epoch rises with each new owner, so that a writer that was paused and replaced can tell.
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    process TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    epoch BIGINT NOT NULL
);

CREATE TABLE plugin_state (
    plugin TEXT NOT NULL,
    key TEXT NOT NULL,
    value BYTEA NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (plugin, key)
);
