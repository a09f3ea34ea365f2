"""Words for people."""


def money(amount: float) -> str:
    return f"{amount:.2f} EUR"


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def title(text: str) -> str:
    """The first letter large, blanks at the ends gone."""
    stripped = text.strip()
    return stripped[:1].upper() + stripped[1:]
