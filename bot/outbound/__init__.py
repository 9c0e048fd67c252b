"""What is said: written with the change that caused it, delivered in order (R27)."""
