"""What the service answers over HTTP: health, metrics, alerts, and the JSON API. Imported by `casebound up` alone."""
