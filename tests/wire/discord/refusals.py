"""The refusals by name. Codes: https://docs.discord.com/developers/topics/opcodes-and-status-codes#json

The table there says what a code means. The status is not in it: it is what clients have been seen to get.
"""

from tests.wire.discord.payload import ApiError


def not_found() -> ApiError:
    """No such address. #http: "The resource at the location specified doesn't exist"."""
    return ApiError(404, 0, "404: Not Found")


def wrong_method() -> ApiError:
    """#http: "The HTTP method used is not valid for the location specified"."""
    return ApiError(405, 0, "405: Method Not Allowed")


def unauthorized() -> ApiError:
    """#http: "The Authorization header was missing or invalid"."""
    return ApiError(401, 0, "401: Unauthorized")


def unknown_channel() -> ApiError:
    """10003"""
    return ApiError(404, 10003, "Unknown Channel")


def unknown_guild() -> ApiError:
    """10004"""
    return ApiError(404, 10004, "Unknown Guild")


def unknown_member() -> ApiError:
    """10007"""
    return ApiError(404, 10007, "Unknown Member")


def unknown_message() -> ApiError:
    """10008"""
    return ApiError(404, 10008, "Unknown Message")


def unknown_user() -> ApiError:
    """10013"""
    return ApiError(404, 10013, "Unknown User")


def unknown_webhook() -> ApiError:
    """10015: what an interaction's token is before the interaction was answered."""
    return ApiError(404, 10015, "Unknown Webhook")


def unknown_interaction() -> ApiError:
    """10062"""
    return ApiError(404, 10062, "Unknown interaction")


def already_acknowledged() -> ApiError:
    """40060"""
    return ApiError(400, 40060, "Interaction has already been acknowledged.")


def missing_access() -> ApiError:
    """50001: not there, or not to be seen."""
    return ApiError(403, 50001, "Missing Access")


def not_the_author() -> ApiError:
    """50005"""
    return ApiError(403, 50005, "Cannot edit a message authored by another user")


def empty_message() -> ApiError:
    """50006"""
    return ApiError(400, 50006, "Cannot send an empty message")


def no_messages_to_this_user() -> ApiError:
    """50007"""
    return ApiError(403, 50007, "Cannot send messages to this user")


def wrong_channel_type() -> ApiError:
    """50024"""
    return ApiError(400, 50024, "Cannot execute action on this channel type")


def missing_permissions() -> ApiError:
    """50013: to be seen, but not to be done."""
    return ApiError(403, 50013, "Missing Permissions")


def invalid_webhook_token() -> ApiError:
    """50027: what an interaction's token is after fifteen minutes."""
    return ApiError(401, 50027, "Invalid Webhook Token")


def thread_is_archived() -> ApiError:
    """50083: "Tried to perform an operation on an archived thread, such as editing a message or adding a user".

    Status 400: https://github.com/victornpb/undiscord/issues/399
    """
    return ApiError(400, 50083, "Thread is archived")


def thread_is_locked() -> ApiError:
    """160005"""
    return ApiError(403, 160005, "Thread is locked")


def no_history_no_reply() -> ApiError:
    """160002"""
    return ApiError(403, 160002, "Cannot reply without permission to read message history")


def thread_exists() -> ApiError:
    """160004"""
    return ApiError(400, 160004, "A thread has already been created for this message")


def invalid_json() -> ApiError:
    """50109"""
    return ApiError(400, 50109, "The request body contains invalid JSON.")
