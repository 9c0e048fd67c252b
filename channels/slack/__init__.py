"""Slack: cases in threads, approvals by button.

`channel.SlackChannel` is the adapter; nothing else here is for others. What Slack says is turned into our words in
`events` and `presses`, what we say into its blocks in `blocks` and `cards`, its errors into ours in `failures`.
"""
