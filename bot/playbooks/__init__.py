"""The bundled playbooks: TOML files, read with `bot.playbook.load_playbooks`."""
