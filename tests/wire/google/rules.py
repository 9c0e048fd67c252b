"""What Google refuses about a request for content, with the words it uses where they are known.

Each check names its source: `[generate]` is the reference "Generating content" (ai.google.dev/api/generate-content),
`[caching]` its page of `Content` and `Part` (ai.google.dev/api/caching), `[functions]` the guide "Function calling"
(ai.google.dev/gemini-api/docs/function-calling), `[signatures]` the guide "Thought signatures"
(ai.google.dev/gemini-api/docs/thought-signatures), `[reported]` what people were answered
(github.com/google-gemini/gemini-cli, issue 4504; github.com/pydantic/pydantic-ai, issue 4210).
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from tests.wire.scripted import Body, Refusal

# [generate] what our client has a use for; any other is refused, so that a new one is seen
_KNOWN = frozenset({"contents", "systemInstruction", "tools", "toolConfig", "generationConfig"})
# [caching] Part: `data` is one of these, beside what says something about it
_DATA = frozenset({"text", "functionCall", "functionResponse"})
_ABOUT = frozenset({"thought", "thoughtSignature"})
# [caching] FunctionDeclaration.name: letters, digits, underscores, colons, dots and dashes, at most 128 characters
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
STAND_IN = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""[signatures] What stands for the signature of a call that another model made: `skip_thought_signature_validator`."""


def check(body: Body, signed: Collection[str]) -> None:
    """Raises `Refusal` for the first thing that Google would refuse; `signed` has every signature it has given."""
    for key in body:
        if key not in _KNOWN:
            raise Refusal(f'Invalid JSON payload received. Unknown name "{key}": Cannot find field.')
    _tools(cast("Sequence[Body]", body.get("tools") or []), "toolConfig" in body)
    contents = cast("Sequence[Body]", body.get("contents") or [])
    if not contents:
        raise Refusal("* GenerateContentRequest.contents: contents is not specified")
    if "systemInstruction" in body:
        _parts(cast("Body", body["systemInstruction"]), "system_instruction")
    _turns(contents)
    _signatures(contents, signed)


def _tools(tools: Sequence[Body], configured: bool) -> None:
    declared = [one for tool in tools for one in cast("Sequence[Body]", tool.get("functionDeclarations") or [])]
    if configured and not declared:
        raise Refusal("Function calling config is set without function_declarations.")
    names = [_name(one.get("name"), "tools.function_declarations") for one in declared]
    if len(set(names)) < len(names):
        raise Refusal("Duplicate function declaration found.")
    for one in declared:
        if not isinstance(one.get("description"), str):  # [caching] FunctionDeclaration.description: required
            raise Refusal("function_declarations.description: is not specified")


def _turns(contents: Sequence[Body]) -> None:
    owed: list[Mapping[str, object]] = []
    for position, content in enumerate(contents):
        where = f"contents[{position}]"
        if content.get("role") not in ("user", "model"):  # [caching] Content.role: "Must be either 'user' or 'model'"
            raise Refusal("Please use a valid role: user, model.")
        parts = _parts(content, where)
        called = [cast("Body", part["functionCall"]) for part in parts if "functionCall" in part]
        results = [cast("Body", part["functionResponse"]) for part in parts if "functionResponse" in part]
        if len(results) != len(owed):  # [reported]
            raise Refusal(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
        _results(results, owed, parts)
        if called and (content["role"] != "model" or position == 0 or contents[position - 1]["role"] != "user"):
            raise Refusal(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        for call in called:
            _name(call.get("name"), f"{where}.parts.function_call")
            if not isinstance(call.get("args", {}), dict):  # [caching] FunctionCall.args: a Struct
                raise Refusal(f"Invalid value at '{where}.parts.function_call.args' (type.googleapis.com/Struct)")
        owed = called
    if owed:  # a conversation ends with the user or with results
        raise Refusal("Please ensure that function response turn comes immediately after a function call turn.")


def _results(results: Sequence[Body], owed: Sequence[Mapping[str, object]], parts: Sequence[Body]) -> None:
    if results and len(parts) > len(results):  # [reported] such a content is read as the model's own
        raise Refusal("function responses stand in a content of their own")
    left = [(call.get("id"), call.get("name")) for call in owed]
    for result in results:
        one = (result.get("id"), _name(result.get("name"), "function_response"))
        if one not in left:  # [functions] "map the result back to the original function call" by its id, and its name
            raise Refusal(f"function_response {one} answers no function call of the turn before")
        left.remove(one)
        if not isinstance(result.get("response"), dict):  # [caching] FunctionResponse.response: required, a Struct
            raise Refusal("Invalid value at 'function_response.response' (type.googleapis.com/Struct)")


def _parts(content: Body, where: str) -> Sequence[Body]:
    parts = cast("Sequence[Body]", content.get("parts") or [])
    if not parts:
        raise Refusal(f"* GenerateContentRequest.{where}.parts: contents.parts must not be empty.")
    for part in parts:
        if strange := set(part) - _DATA - _ABOUT:
            raise Refusal(f'Unknown name "{min(strange)}" at "{where}.parts": Cannot find field.')
        if len(_DATA & set(part)) != 1:
            raise Refusal(f"{where}.parts: required oneof field 'data' must have one initialized field")
        if "text" in part and not str(part["text"]).strip():
            raise Refusal("Unable to submit request because it must have a text parameter.")
    return parts


def _signatures(contents: Sequence[Body], signed: Collection[str]) -> None:
    """[signatures] The first call of each step since the user spoke last carries the signature it came with."""
    for position, content in enumerate(contents):
        calls = [part for part in cast("Sequence[Body]", content["parts"]) if "functionCall" in part]
        if calls and "thoughtSignature" not in calls[0] and position > _spoken(contents):
            name = cast("Body", calls[0]["functionCall"])["name"]
            raise Refusal(
                f"Function call is missing a thought_signature in functionCall parts. Additional data, function call "
                f"`default_api:{name}`, position {position}."
            )
        for part in cast("Sequence[Body]", content["parts"]):
            if part.get("thoughtSignature", STAND_IN) not in {STAND_IN, *signed}:
                raise Refusal("Corrupted thought signature.")


def _spoken(contents: Sequence[Body]) -> int:
    """Where the user's last words stand; results are none."""
    said = [
        position
        for position, content in enumerate(contents)
        if content["role"] == "user" and "text" in cast("Sequence[Body]", content["parts"])[0]
    ]
    return said[-1] if said else -1


def _name(name: object, where: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Refusal(f"{where}: Invalid function name. Must start with a letter or an underscore.")
    return name
