"""What a person does about a case, and sees of theirs, from whatever surface."""
