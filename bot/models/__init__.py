"""Models: from the settings to what answers, a chain of providers with playbooks in front where that is wanted."""
