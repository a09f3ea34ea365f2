//! What stands before a definition and belongs to it: comments, attributes, decorators.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeadingMark {
    Comment,
    /// A sibling above that belongs to the definition below.
    Prefix,
    /// A part of a definition in front of its header.
    Decorator,
}

/// The starts of a definition, the outermost first.
pub(super) struct Starts {
    pub(super) extent: usize,
    pub(super) declaration: usize,
    pub(super) header: usize,
}

#[derive(Default)]
pub(super) struct Leading {
    /// In source order, none inside of another.
    marks: Vec<(Range<usize>, LeadingMark)>,
}

impl Leading {
    pub(super) fn take(&mut self, capture: &str, text: &str, range: Range<usize>) {
        let mark = match capture {
            "comment" => LeadingMark::Comment,
            "prefix" => LeadingMark::Prefix,
            "decorator" => LeadingMark::Decorator,
            _ => return,
        };
        // Some grammars count the line end as a part of a comment.
        let end = range.start + text[range.clone()].trim_end().len();
        self.marks.push((range.start..end, mark));
    }

    pub(super) fn sort(&mut self) {
        self.marks.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut end = 0;
        self.marks.retain(|(range, _)| {
            let is_outer = range.end > end;
            end = end.max(range.end);
            is_outer
        });
    }

    /// The starts of a definition whose node starts at a byte and ends at another.
    pub(super) fn starts(&self, text: &str, node: Range<usize>) -> Starts {
        let (mut extent, mut declaration) = (node.start, node.start);
        while let Some((range, mark)) = self.before(text, extent) {
            let gap = text[range.end..extent].matches('\n').count();
            match mark {
                LeadingMark::Prefix => declaration = range.start,
                LeadingMark::Comment if gap <= 1 && stands_alike(text, range.start, extent, gap) => {}
                _ => break,
            }
            extent = range.start;
        }
        Starts { extent, declaration, header: self.header(text, declaration..node.end) }
    }

    /// The last mark before a byte, if nothing but white space stands between.
    fn before(&self, text: &str, at: usize) -> Option<(&Range<usize>, LeadingMark)> {
        let next = self.marks.partition_point(|(range, _)| range.start < at);
        let (range, mark) = self.marks.get(next.checked_sub(1)?)?;
        let gap = text.get(range.end..at)?;
        gap.chars().all(char::is_whitespace).then_some((range, *mark))
    }

    /// The first byte that belongs to no decorator and no comment.
    fn header(&self, text: &str, range: Range<usize>) -> usize {
        let mut at = range.start;
        let first = self.marks.partition_point(|(range, _)| range.start < at);
        for (mark, _) in &self.marks[first..] {
            if mark.start != at || mark.end >= range.end {
                break;
            }
            let rest = &text[mark.end..range.end];
            at = range.end - rest.trim_start().len();
        }
        at
    }
}

/// True if a comment starts its line, indented like the code below it.
fn stands_alike(text: &str, comment: usize, below: usize, gap: usize) -> bool {
    let before = |at: usize| &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..at];
    let indent = before(comment);
    indent.trim_start_matches([' ', '\t']).is_empty() && (gap == 0 || indent == before(below))
}
