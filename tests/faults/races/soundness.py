"""What holds in a store between any two transactions, whoever raced with whom; each fault is one line."""

from casestore import trail
from casestore.models import CaseId
from casestore.scope import System
from casestore.tx import Tx

FAULTS = {
    "a parked turn without an open gate (R7)": """
        SELECT id FROM turns t WHERE state = 'parked'
          AND NOT EXISTS (SELECT 1 FROM gates g WHERE g.turn_id = t.id AND g.state = 'open')""",
    "an open gate whose turn is not parked (R7)": """
        SELECT id FROM gates g WHERE state = 'open'
          AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = g.turn_id AND t.state = 'parked')""",
    "an open gate about a call that has its result (R14)": """
        SELECT g.id FROM gates g JOIN steps s ON s.id = g.step_id WHERE g.state = 'open' AND s.result IS NOT NULL""",
    "an open gate in a case that does not wait for it (R2)": """
        SELECT g.id FROM gates g JOIN cases c ON c.id = g.case_id
        WHERE g.state = 'open' AND (c.state <> 'in_progress' OR c.waiting_on NOT IN ('approval', 'requester'))""",
    "a case waits for an approval that nobody is asked for (R2)": """
        SELECT id FROM cases c WHERE waiting_on = 'approval'
          AND NOT EXISTS (SELECT 1 FROM gates g WHERE g.case_id = c.id AND g.state = 'open')""",
    "a held call was made without an approval (R9)": """
        SELECT s.id FROM steps s JOIN gates g ON g.step_id = s.id AND g.kind = 'approval'
        WHERE s.state NOT IN ('waiting', 'refused') AND s.gate_id IS NULL""",
    "an approval was spent that nobody gave (R9)": """
        SELECT s.id FROM steps s JOIN gates g ON g.id = s.gate_id WHERE g.state <> 'approved'""",
    "two runs of a case at once (R10)": """
        SELECT case_id FROM runs WHERE ended_at IS NULL GROUP BY case_id HAVING count(*) > 1""",
    "a run under a fence that is not the case's, or is still to come (R10)": """
        SELECT r.id FROM runs r JOIN leases l ON l.case_id = r.case_id WHERE r.fence > l.fence""",
    "a person has the case, which does not say so (R12)": """
        SELECT c.id FROM cases c JOIN leases l ON l.case_id = c.id
        WHERE (l.kind = 'human') <> (c.waiting_on = 'human')""",
    "a settled turn with a call that has no result and is not being made (R7)": """
        SELECT s.id FROM steps s JOIN turns t ON t.id = s.turn_id
        WHERE t.state IN ('settled', 'failed') AND s.kind = 'tool' AND s.result IS NULL AND s.state <> 'started'
          AND NOT EXISTS (SELECT 1 FROM steps n WHERE n.model_step = s.model_step AND n.position = s.position
                          AND n.id > s.id)""",
    "a message taken by a turn of another case (R21)": """
        SELECT m.id FROM messages m JOIN turns t ON t.id = m.turn_id WHERE t.case_id <> m.case_id""",
    "something to be said in a case that a person has, by the assistant (R12)": """
        SELECT o.id FROM outbox o JOIN leases l ON l.case_id = o.case_id
        WHERE l.kind = 'human' AND o.turn_id IS NOT NULL AND o.state = 'due'""",
}

AT_REST = {
    "a run that never ended (R16)": "SELECT id FROM runs WHERE ended_at IS NULL",
    "an approval that was not spent and still stands (R9)": """
        SELECT g.id FROM gates g WHERE g.state = 'approved' AND g.kind = 'approval'
          AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.gate_id = g.id)""",
    "a lease that nobody needs (R10)": "SELECT case_id FROM leases WHERE kind = 'run'",
    "a message that nobody took (R11)": """
        SELECT m.id FROM messages m JOIN cases c ON c.id = m.case_id JOIN leases l ON l.case_id = c.id
        WHERE m.direction = 'in' AND m.turn_id IS NULL AND c.state NOT IN ('closed', 'cancelled') AND l.kind IS NULL
          AND NOT EXISTS (SELECT 1 FROM gates g WHERE g.case_id = c.id AND g.state = 'open')""",
    "a turn that nobody goes on with (R11)": """
        SELECT t.id FROM turns t JOIN leases l ON l.case_id = t.case_id
        WHERE t.state IN ('queued', 'running') AND l.kind IS NULL""",
    "something that was not said (R27)": "SELECT id FROM outbox WHERE state IN ('due', 'sending')",
}
"""What holds as well once nothing is left to do."""


def faults(tx: Tx, *, at_rest: bool = False) -> list[str]:
    """Everything that is wrong, with the rows; empty where the store is sound."""
    found: list[str] = []
    for what, sql in {**FAULTS, **(AT_REST if at_rest else {})}.items():
        if rows := tx.column(sql):
            found.append(f"{what}: {rows}")
    found += [f"{row} refers to what is not there" for row in tx.tuples("PRAGMA foreign_key_check")]
    for case_id in tx.column("SELECT id FROM cases"):
        found += [str(problem) for problem in trail.verify(tx, System(), CaseId(int(str(case_id)))).problems]
    return found
