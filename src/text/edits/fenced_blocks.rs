//! Reads the blocks of code between the fences of a Markdown text.

use std::ops::RangeInclusive;

/// A block of code, without its fences and their indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FencedBlock {
    pub text: String,
    /// The word behind the fence; may be empty.
    pub language: String,
    /// Its lines with the fences, counted from 0.
    pub lines: RangeInclusive<usize>,
    /// The last `FILE::SYMBOL` in the words above it, below the block and the heading before; may be empty.
    pub mentioned: String,
}

impl FencedBlock {
    /// True if it shows a change, as a question about an edit does.
    pub fn is_diff(&self) -> bool {
        self.language == "diff"
    }
}

struct OpenFence<'a> {
    fence: &'a str,
    indent: usize,
    language: &'a str,
    first: usize,
    lines: Vec<&'a str>,
    mentioned: &'a str,
}

/// All blocks, in the order of the text. One that is not closed goes to the end.
pub fn fenced_blocks(text: &str) -> Vec<FencedBlock> {
    let mut found = Vec::new();
    let mut open: Option<OpenFence> = None;
    let (mut last, mut mentioned) = (0, "");
    for (number, line) in text.lines().enumerate() {
        last = number;
        let fence = fence_of(line);
        match (&mut open, fence) {
            (Some(block), Some((_, fence, ""))) if fence.starts_with(block.fence) => {
                found.extend(open.take().map(|block| block.closed(number)));
            }
            (Some(block), _) => {
                let blank = line.len() - line.trim_start_matches(' ').len();
                block.lines.push(&line[blank.min(block.indent)..]);
            }
            (None, Some((indent, fence, language))) => {
                open = Some(OpenFence { fence, indent, language, first: number, lines: Vec::new(), mentioned });
                mentioned = "";
            }
            (None, None) if line.starts_with('#') => mentioned = "",
            (None, None) => mentioned = symbol_in(line).unwrap_or(mentioned),
        }
    }
    found.extend(open.map(|block| block.closed(last)));
    found
}

/// The last `FILE::SYMBOL` of a line.
fn symbol_in(line: &str) -> Option<&str> {
    let words = line.split(|c: char| !c.is_alphanumeric() && !"_./-:".contains(c));
    words.map(|word| word.trim_end_matches([':', '.'])).rfind(|word| word.contains("::"))
}

impl OpenFence<'_> {
    fn closed(self, last: usize) -> FencedBlock {
        let (text, language) = (self.lines.join("\n"), self.language.to_owned());
        FencedBlock { text, language, lines: self.first..=last, mentioned: self.mentioned.to_owned() }
    }
}

/// The indentation, the marks and the word of a fence.
fn fence_of(line: &str) -> Option<(usize, &str, &str)> {
    let rest = line.trim_start();
    let mark = rest.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let marks = rest.len() - rest.trim_start_matches(mark).len();
    let (fence, info) = rest.split_at(marks);
    if marks < 3 || mark == '`' && info.contains('`') {
        return None;
    }
    Some((line.len() - rest.len(), fence, info.split_whitespace().next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_of_any_form_is_read_with_its_lines() {
        let text = "a\n\n   ```python x\n   def f():\n       pass\n     ```\n~~~~\n```\n~~~\n~~~~\n```diff\n- x\n```\n";
        let blocks = fenced_blocks(text);
        let of = |text: &str, language: &str, lines| FencedBlock {
            text: text.into(),
            language: language.into(),
            lines,
            mentioned: String::new(),
        };
        assert_eq!(
            blocks,
            [of("def f():\n    pass", "python", 2..=5), of("```\n~~~", "", 6..=9), of("- x", "diff", 10..=12)]
        );
        assert_eq!(fenced_blocks("`` ` ``\n```a``` b\n"), []);
        assert_eq!(fenced_blocks("x\n```\nopen\n"), [of("open", "", 1..=2)]);
    }

    #[test]
    fn a_block_knows_the_symbol_that_the_words_above_it_name_last() {
        let text =
            "# a.py::of_the_turn_before\nIn `src/a.py::Cart::total`, as b.py::f::.\n\n```\nx\n```\nthen\n```\ny\n```\n";
        let mentioned: Vec<String> = fenced_blocks(text).into_iter().map(|block| block.mentioned).collect();
        assert_eq!(mentioned, ["b.py::f", ""]);
        let of = |text: &str| fenced_blocks(text).remove(0).mentioned;
        assert_eq!(of("see `src/a.py::Cart::total`: it is wrong\n```\nx\n```\n"), "src/a.py::Cart::total");
        assert_eq!(of("a.py::f\n## next turn\n```\nx\n```\n"), "");
    }
}
