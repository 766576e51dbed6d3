"""The lint of long sentences: what is a sentence in each kind of file, and what is none."""

import pytest
from long_sentences import long_sentences

MOST = " ".join(["word"] * 35)
MORE = f"{MOST} word"
ARGS = f'def f():\n    """Text.\n\n    Args:\n        a: {MOST[5:]}\n            {{}}\n        b: {MOST[5:]}\n    """\n'


@pytest.mark.parametrize(
    ("suffix", "text", "found"),
    [
        (".md", MOST, []),
        (".md", f"{MOST}\n\nword", []),
        (".md", f"{MOST}\nword", [(1, 36)]),
        (".md", f"Text. {MORE.capitalize()}\n\n## {MOST}\n\n{MORE}", [(1, 36), (5, 36)]),
        (".md", f"- {MOST}\n- {MOST}", []),
        (".md", f"- {MOST}\n  word", [(1, 36)]),
        (".md", f"| {MOST} | {MORE} |", [(1, 36)]),
        (".md", f"{MOST[5:]} $x = y + z$", []),
        (".md", f"```\n{MORE}\n```\n{MORE}", [(4, 36)]),
        (".md", f"$$x$$\n\n$$\n{MORE}\n$$\n{MORE}", [(6, 36)]),
        (".md", f"word {'1.5 ' * 40}", []),
        (".md", f"It is of Mathis et al. 1997, {MORE}", [(1, 43)]),
        (".rs", f"/// {MOST}\n/// word\nfn f() {{}}", [(1, 36)]),
        (".rs", f'//! {MOST}\n\n/// word\nlet x = "{MORE}";', []),
        (".rs", f"/// ```text\n/// {MORE}\n/// ```", []),
        (".sv", f"  // {MORE}", [(1, 36)]),
        (".ts", f"/**\n * {MOST}\n * word\n */", [(2, 36)]),
        (".toml", f"# {MORE}\nx = 1", [(1, 36)]),
        (".py", f'"""{MORE}"""\n# {MORE}\nx = "{MORE}"\n', [(1, 36), (2, 36)]),
        (".py", ARGS.format("word"), [(5, 36)]),
        (".py", ARGS.format(""), []),
    ],
)
def test_sentences_of_more_than_35_words(suffix: str, text: str, found: list[tuple[int, int]]) -> None:
    assert [(line, words) for line, words, _ in long_sentences(text, suffix)] == found
