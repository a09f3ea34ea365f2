"""The answer names who decides, what comes out, and the exception."""

import os

answer = os.environ["ANSWER"].lower()
assert "safe_url" in answer, "it does not name safe_url"
assert "#harmful-link" in answer, "it does not say what the link becomes"
assert "allow_harmful_protocols" in answer, "it does not name the option"
