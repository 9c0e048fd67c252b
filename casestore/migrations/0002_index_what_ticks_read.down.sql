DROP INDEX leases_of_people;
DROP INDEX gates_to_remind;
ALTER TABLE gates ADD COLUMN reminded INTEGER NOT NULL DEFAULT 0;
UPDATE gates SET reminded = (
    SELECT count(*) FROM json_each(gates.reminders) r WHERE gates.remind_at IS NULL OR r.value < gates.remind_at
);
ALTER TABLE gates DROP COLUMN remind_at;
