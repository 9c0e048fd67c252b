-- A message in a thread without a live case may be in one that a case has lost: what was bound there last is looked up.
CREATE INDEX bindings_by_address ON bindings (address);
