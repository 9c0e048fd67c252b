DROP INDEX outbox_due;
