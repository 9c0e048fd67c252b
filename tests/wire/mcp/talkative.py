"""A server without the SDK that prints to its standard output while it works: `python -m … .talkative [MUTE]`.

The output belongs to the protocol alone (modelcontextprotocol.io, 2025-11-25, transports, stdio: "The server MUST NOT
write anything to its stdout that is not a valid MCP message"), and tools print there all the same. With an argument it
says nothing that belongs there.
"""

import json
import sys
from typing import Any

TOOL: dict[str, Any] = {
    "name": "work", "description": "Work, and say so.", "inputSchema": {"type": "object", "properties": {}},
    "annotations": {"readOnlyHint": True},
}  # fmt: skip


def answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """What is answered to a message; nothing to a notification."""
    match message.get("method"):
        case "initialize":
            version = message["params"]["protocolVersion"]
            about = {"name": "talkative", "version": "1"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            print("Traceback (most recent call last):")
            print('{"jsonrpc": "2.0", "id": 999, "result": {}}')
            print('{"not": "ours"}', "\x1b[31mred\x1b[0m", "é" * 1_000)
            sys.stdout.buffer.write(b"\xff\xfe half\n")
            sys.stdout.flush()
            return {"content": [{"type": "text", "text": "worked"}]}
        case _:
            return None


if __name__ == "__main__":
    print("Starting up ...", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        said = None if len(sys.argv) > 1 else answer(asked)
        if said is not None:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}), flush=True)
