"""What the assistant may do: tools, each with its tier, its schema and the words an approver reads."""
