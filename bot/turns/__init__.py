"""How a turn is worked: the lease, the model, the calls, the end (R10 to R16)."""
