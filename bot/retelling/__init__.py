"""Retelling: a case in fewer words, by the model or the engine: for later runs (R19), and for people."""
