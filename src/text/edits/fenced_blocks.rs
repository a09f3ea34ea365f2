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
}

/// All blocks, in the order of the text. One that is not closed goes to the end.
pub fn fenced_blocks(text: &str) -> Vec<FencedBlock> {
    let mut found = Vec::new();
    let mut open: Option<OpenFence> = None;
    let mut last = 0;
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
                open = Some(OpenFence { fence, indent, language, first: number, lines: Vec::new() });
            }
            (None, None) => {}
        }
    }
    found.extend(open.map(|block| block.closed(last)));
    found
}

impl OpenFence<'_> {
    fn closed(self, last: usize) -> FencedBlock {
        FencedBlock { text: self.lines.join("\n"), language: self.language.to_owned(), lines: self.first..=last }
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
        let of =
            |text: &str, language: &str, lines| FencedBlock { text: text.into(), language: language.into(), lines };
        assert_eq!(
            blocks,
            [of("def f():\n    pass", "python", 2..=5), of("```\n~~~", "", 6..=9), of("- x", "diff", 10..=12)]
        );
        assert_eq!(fenced_blocks("`` ` ``\n```a``` b\n"), []);
        assert_eq!(fenced_blocks("x\n```\nopen\n"), [of("open", "", 1..=2)]);
    }
}
