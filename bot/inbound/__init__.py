"""What arrives: stored before it is acknowledged, whatever channel it came by (R29)."""
