"""What goes on while the store cannot be written, and what becomes of it after (R15)."""
