-- Of a run's tokens in, those that the provider read from its cache.
ALTER TABLE runs ADD COLUMN tokens_cached INTEGER NOT NULL DEFAULT 0;
