-- Delivery looked through everything that waits, each time: with this it reads what is due.
CREATE INDEX outbox_due ON outbox (channel, not_before, id) WHERE state = 'due';
