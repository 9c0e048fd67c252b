-- The schedule looks every few seconds for reminders and for cases that people have. It read every open gate and every
-- lease for that; with these it reads what is due.
ALTER TABLE gates ADD COLUMN remind_at INTEGER;
UPDATE gates SET remind_at = json_extract(reminders, '$[' || reminded || ']');
ALTER TABLE gates DROP COLUMN reminded;
CREATE INDEX gates_to_remind ON gates (remind_at) WHERE state = 'open' AND remind_at IS NOT NULL;
CREATE INDEX leases_of_people ON leases (taken_at) WHERE kind = 'human';
