"""What stands inside of blocks: texts, buttons, menus, inputs.

https://docs.slack.dev/reference/block-kit/composition-objects, https://docs.slack.dev/reference/block-kit/block-elements
"""

from tests.wire.slack.shapes import (
    Check,
    anything,
    boolean,
    by_type,
    listing,
    number,
    one_field,
    one_of,
    shape,
    string,
)

# "Maximum length for this field is 255 characters": every element's page, action_id; every block's page, block_id.
ACTION_ID = string(255)


def plain(most: int) -> Check:
    """A text object that must be plain. composition-objects/text-object: `emoji` is for plain_text alone."""
    return by_type({"plain_text": shape({"text": string(most)}, {"emoji": boolean})})


def any_text(most: int) -> Check:
    """A text object of either kind. composition-objects/text-object: 1 to 3,000 characters; `verbatim` is mrkdwn's."""
    return by_type({
        "plain_text": shape({"text": string(most)}, {"emoji": boolean}),
        "mrkdwn": shape({"text": string(most)}, {"verbatim": boolean}),
    })  # fmt: skip


# composition-objects/confirmation-dialog-object: title 100, text 300, confirm 30, deny 30.
CONFIRM = shape(
    {"title": plain(100), "text": any_text(300), "confirm": plain(30), "deny": plain(30)},
    {"style": one_of("primary", "danger")},
)

# composition-objects/option-object: text 75, value 150, description 75, url 3,000.
OPTION = shape(
    {"text": any_text(75), "value": string(150)}, {"description": any_text(75), "url": string(3000)}
)  # fmt: skip

# composition-objects/option-group-object: label 75, 100 options.
GROUP = shape({"label": plain(75), "options": listing(OPTION, 100)})

# block-elements/button-element: text 75, action_id 255, url 3,000, value 2,000, accessibility_label 75.
BUTTON = shape(
    {"text": plain(75)},
    {
        "action_id": ACTION_ID, "url": string(3000), "value": string(2000), "style": one_of("primary", "danger"),
        "confirm": CONFIRM, "accessibility_label": string(75),
    },
)  # fmt: skip

# block-elements/select-menu-element: placeholder 150, 100 options or 100 groups: "If option_groups is specified, this
# field should not be."
STATIC_SELECT = one_field(
    shape(
        {},
        {
            "action_id": ACTION_ID, "placeholder": plain(150), "options": listing(OPTION, 100),
            "option_groups": listing(GROUP, 100), "initial_option": OPTION, "confirm": CONFIRM,
            "focus_on_load": boolean,
        },
    ),
    "options", "option_groups",
)  # fmt: skip
USERS_SELECT = shape(
    {},
    {
        "action_id": ACTION_ID, "placeholder": plain(150), "initial_user": string(255), "confirm": CONFIRM,
        "focus_on_load": boolean,
    },
)  # fmt: skip

# block-elements/overflow-menu-element: at most 5 options.
OVERFLOW = shape({"options": listing(OPTION, 5)}, {"action_id": ACTION_ID, "confirm": CONFIRM})

# block-elements/radio-button-group-element, checkboxes-element: at most 10 options.
RADIO = shape(
    {"options": listing(OPTION, 10)},
    {"action_id": ACTION_ID, "initial_option": OPTION, "confirm": CONFIRM, "focus_on_load": boolean},
)
CHECKBOXES = shape(
    {"options": listing(OPTION, 10)},
    {"action_id": ACTION_ID, "initial_options": listing(OPTION, 10), "confirm": CONFIRM, "focus_on_load": boolean},
)

# block-elements/plain-text-input-element: min_length 0 to 3,000, max_length 1 to 3,000, placeholder 150.
PLAIN_TEXT_INPUT = shape(
    {},
    {
        "action_id": ACTION_ID, "initial_value": string(3000), "multiline": boolean, "min_length": number(0, 3000),
        "max_length": number(1, 3000), "dispatch_action_config": anything, "focus_on_load": boolean,
        "placeholder": plain(150),
    },
)  # fmt: skip

# block-elements/image-element: image_url 3,000, alt_text 2,000; "You must provide either an image_url or slack_file."
IMAGE = one_field(
    shape({"alt_text": string(2000)}, {"image_url": string(3000), "slack_file": anything}), "image_url", "slack_file"
)

PRESSABLE = {
    "button": BUTTON, "static_select": STATIC_SELECT, "users_select": USERS_SELECT, "overflow": OVERFLOW,
    "radio_buttons": RADIO, "checkboxes": CHECKBOXES,
}  # fmt: skip
FILLABLE = {
    "plain_text_input": PLAIN_TEXT_INPUT, "static_select": STATIC_SELECT, "users_select": USERS_SELECT,
    "radio_buttons": RADIO, "checkboxes": CHECKBOXES,
}  # fmt: skip
