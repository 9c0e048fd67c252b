"""The metadata that an app hangs on its messages.

https://docs.slack.dev/messaging/message-metadata
"""

from tests.wire.slack.payload import Json, Refused
from tests.wire.slack.shapes import Misshapen, an_object, string


def check_metadata(value: object) -> Json:
    """`event_type` and `event_payload`, both needed, and nothing else; or `invalid_metadata_format` and `_schema`.

    https://docs.slack.dev/reference/methods/chat.postMessage#errors
    """
    try:
        fields = an_object(value, "/metadata")
    except Misshapen as wrong:
        raise Refused("invalid_metadata_format", str(wrong)) from wrong
    try:
        string(255)(fields.get("event_type"), "/metadata/event_type")
        an_object(fields.get("event_payload"), "/metadata/event_payload")
    except Misshapen as wrong:
        raise Refused("invalid_metadata_schema", str(wrong)) from wrong
    if more := fields.keys() - {"event_type", "event_payload"}:
        raise Refused("invalid_metadata_schema", f"unknown fields: {sorted(more)}")
    return dict(fields)
