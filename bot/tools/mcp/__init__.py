"""Tools of other programs, through the Model Context Protocol: `[mcp.NAME]` is a server, its tools are `NAME.tool`.

The SDK is imported only where a server is configured. What a server says of itself and of its tools is data (R23): it
can make a tool be asked about, never let one run.
"""
