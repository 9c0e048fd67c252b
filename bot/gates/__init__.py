"""Gates: what is asked, how it is shown, and who may answer (R4 to R6, R28)."""
