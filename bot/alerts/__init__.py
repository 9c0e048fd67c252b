"""Alerts: what a monitoring system sends becomes a case per group, its members known by fingerprint and start."""
