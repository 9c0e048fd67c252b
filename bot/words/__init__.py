"""Numbers, times and rows as people and scripts read them."""
