DROP INDEX bindings_by_address;
