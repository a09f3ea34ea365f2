"""--regex-pattern counts on the command line, and nothing else has changed there."""

import subprocess
import sys


def slug(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "slugify", *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


assert slug("--regex-pattern", "[^-a-z0-9_]+", "___This is a test___") == "___this-is-a-test___", "the pattern counts for nothing"
assert slug("This is a test") == "this-is-a-test", "without a pattern"
assert slug("--stopwords", "the", "--", "the sea") == "sea", "stopwords"
