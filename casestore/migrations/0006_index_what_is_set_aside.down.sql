DROP INDEX cards_by_address;
DROP INDEX outbox_set_aside;
