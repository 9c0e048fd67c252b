"""Policy: what is done with a call, and for whom it is narrowed (R24; design, section 7)."""
