# The part of `google-genai` that is used here, which is not installed where types are checked.
