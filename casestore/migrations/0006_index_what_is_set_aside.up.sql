-- What is held back or given up is counted, and moved with its thread; and a place that is lost loses its cards.
CREATE INDEX outbox_set_aside ON outbox (state, address) WHERE state IN ('held', 'dead');
CREATE INDEX cards_by_address ON cards (address);
