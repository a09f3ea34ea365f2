//! Reads a diff that a user has edited, and finds the changes of the files that it asks for.
//!
//! The lines that begin with a space or `+` are the text of the file. An edited hunk puts its lines in the place of
//! those that were shown. A hunk that is gone asks for nothing. The lines with `-` stay as they are, or become text.

use std::ops::Range;

use crate::edits::TextEdit;
use crate::edits::line_edits::LineDiff;
use crate::edits::line_ends;
use sextant_base::document_fault::DocumentFault;

/// The word behind the fence of a diff.
const FENCE: &str = "diff";

/// The beginning of a line that stands beside the diff and is no part of it.
pub const NOTE: &str = "! ";

/// A hunk whose lines the user has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedHunk {
    /// The line of the first change in the edited diff, counted from 1; that of its `@@` if the change is at its end.
    pub line: usize,
    /// The line of the file where it was shown, counted from 0.
    at: usize,
    shown: Vec<String>,
    wanted: Vec<String>,
}

/// The edited hunks of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedFile {
    pub path: String,
    pub hunks: Vec<EditedHunk>,
}

#[derive(Debug)]
struct HunkInDiff {
    line: usize,
    head: String,
    lines: Vec<String>,
    /// The lines of the diff with `lines`, counted from 1.
    places: Vec<usize>,
    /// The lines with `-`, each with its line in the diff.
    removed: Vec<(usize, String)>,
}

#[derive(Debug)]
struct FileInDiff {
    line: usize,
    /// `None` for a file that is gone.
    path: Option<String>,
    head: String,
    hunks: Vec<HunkInDiff>,
}

/// The changes between the diff that was shown and the user's text of it.
///
/// # Errors
/// The faults of the text, each with its line.
pub fn edited(shown: &str, now: &str) -> Result<Vec<EditedFile>, Vec<DocumentFault>> {
    let (old, _) = read(shown);
    let (new, mut faults) = read(now);
    let mut files: Vec<EditedFile> = Vec::new();
    for file in new {
        let Some(known) = old.iter().find(|known| known.head == file.head) else {
            let message = "not in the diff that was shown: `u` undoes it".to_owned();
            faults.push(DocumentFault { line: file.line, message });
            continue;
        };
        let found = match changed(known, &file) {
            Ok(found) => found,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        match (&known.path, found.first()) {
            (_, None) => {}
            (Some(path), Some(_)) => files.push(EditedFile { path: path.clone(), hunks: found }),
            (None, Some(first)) => {
                let message = "a deleted file: agent.undo brings it back".to_owned();
                faults.push(DocumentFault { line: first.line, message });
            }
        }
    }
    if faults.is_empty() { Ok(files) } else { Err(faults) }
}

/// The hunks of a file whose lines differ from those that were shown.
fn changed(known: &FileInDiff, now: &FileInDiff) -> Result<Vec<EditedHunk>, DocumentFault> {
    let mut found = Vec::new();
    let mut taken: Vec<&str> = Vec::new();
    for hunk in &now.hunks {
        let fault = |message: &str| DocumentFault { line: hunk.line, message: message.to_owned() };
        if taken.contains(&hunk.head.as_str()) {
            return Err(fault("this change stands twice: remove one of them"));
        }
        taken.push(&hunk.head);
        // A hunk that was edited before has moved those behind it.
        let mut moved = 0_isize;
        let mut place = None;
        for old in &known.hunks {
            let Some(range) = range_of(&old.head) else { continue };
            if old.head == hunk.head {
                place = Some((range.start.saturating_add_signed(moved), old));
                break;
            }
            moved += signed(old.lines.len()) - signed(range.len());
        }
        let unknown = "the numbers were changed: `u` restores them";
        let Some((at, old)) = place else { return Err(fault(unknown)) };
        if let Some(fault) = swallowed(known, now, hunk, old).or_else(|| old_text_changed(hunk, old)) {
            return Err(fault);
        }
        if old.lines != hunk.lines {
            let (shown, wanted) = (old.lines.clone(), hunk.lines.clone());
            let line = hunk.places.get(same(&shown, &wanted)).copied().unwrap_or(hunk.line);
            found.push(EditedHunk { line, at, shown, wanted });
        }
    }
    Ok(found)
}

/// The number of equal lines at the beginning of both.
fn same(shown: &[String], wanted: &[String]) -> usize {
    shown.iter().zip(wanted).take_while(|(one, other)| one == other).count()
}

/// The fault of a hunk that ends with the lines of the next one, whose own line is gone.
fn swallowed(known: &FileInDiff, now: &FileInDiff, hunk: &HunkInDiff, old: &HunkInDiff) -> Option<DocumentFault> {
    let next = known.hunks.iter().skip_while(|other| other.head != old.head).nth(1)?;
    let is_gone = !now.hunks.iter().any(|other| other.head == next.head);
    let ends = hunk.lines.last() != old.lines.last() || hunk.lines != old.lines && hunk.lines.ends_with(&next.lines);
    let message = "the next `@@` line is gone: `u` restores it".to_owned();
    (is_gone && ends).then_some(DocumentFault { line: hunk.line, message })
}

/// The fault of a line with `-` that the user has typed on or removed: what it asks for would be lost. One that became
/// text, and a line of the text that became one with `-`, ask for that text.
fn old_text_changed(hunk: &HunkInDiff, old: &HunkInDiff) -> Option<DocumentFault> {
    let text = |lines: &[String], text: &str| lines.iter().filter(|line| **line == *text).count();
    let removed = |hunk: &HunkInDiff, text: &str| hunk.removed.iter().filter(|(_, line)| *line == *text).count();
    let typed = |(_, line): &&(usize, String)| {
        let dropped = text(&old.lines, line).saturating_sub(text(&hunk.lines, line));
        removed(hunk, line) > removed(old, line) + dropped
    };
    let gone = |(_, line): &&(usize, String)| {
        let made_text = text(&hunk.lines, line).saturating_sub(text(&old.lines, line));
        removed(old, line) > removed(hunk, line) + made_text
    };
    if let Some((line, _)) = hunk.removed.iter().find(typed) {
        let message = "`-` is the old text: type on a line with `+`".to_owned();
        return Some(DocumentFault { line: *line, message });
    }
    let message = || "a line with `-` is gone: `u` restores it".to_owned();
    old.removed.iter().any(|line| gone(&line)).then(|| DocumentFault { line: hunk.line, message: message() })
}

fn signed(count: usize) -> isize {
    isize::try_from(count).unwrap_or(isize::MAX)
}

/// The files of a diff, with the lines that are the text after it.
fn read(text: &str) -> (Vec<FileInDiff>, Vec<DocumentFault>) {
    let mut files: Vec<FileInDiff> = Vec::new();
    let mut faults = Vec::new();
    let lines: Vec<&str> = text.lines().map(|line| line.trim_end_matches('\r')).collect();
    let begin = lines.iter().position(|line| fence(line).is_some_and(|(_, word)| word == FENCE));
    let Some(begin) = begin else {
        let message = "the line with ```diff is gone: `u` restores it".to_owned();
        return (files, vec![DocumentFault { line: 1, message }]);
    };
    let marks = fence(lines[begin]).map_or("", |(marks, _)| marks);
    let mut at = begin + 1;
    while let Some(line) = lines.get(at) {
        if *line == marks {
            break;
        }
        let mut fault = |message: &str| faults.push(DocumentFault { line: at + 1, message: message.to_owned() });
        let next = lines.get(at + 1).and_then(|next| line.strip_prefix("--- ").zip(next.strip_prefix("+++ ")));
        let is_side = |side: &str, mark: &str| side.starts_with(mark) || side == "/dev/null";
        if let Some((before, after)) = next.filter(|(before, after)| is_side(before, "a/") && is_side(after, "b/")) {
            let path = after.strip_prefix("b/").map(str::to_owned);
            files.push(FileInDiff { line: at + 1, path, head: format!("{before}\n{after}"), hunks: Vec::new() });
            at += 2;
            continue;
        }
        let head_alone =
            |mark: &str| line.starts_with(mark) && lines.get(at + 1).is_some_and(|next| next.starts_with("@@ "));
        if head_alone("+++ ") || head_alone("--- ") {
            fault("a file begins with `---` and `+++`: use `u`");
            at += 1;
            continue;
        }
        match (files.last_mut(), line.chars().next()) {
            (None, _) => fault("a file begins with `---` and `+++`: use `u`"),
            (Some(file), Some('@')) => {
                let (line, head) = (at + 1, (*line).to_owned());
                file.hunks.push(HunkInDiff { line, head, lines: Vec::new(), places: Vec::new(), removed: Vec::new() });
            }
            (_, Some('!')) => {}
            (Some(file), Some('-')) => {
                let known = file.hunks.last_mut();
                known.into_iter().for_each(|hunk| hunk.removed.push((at + 1, line[1..].to_owned())));
            }
            (Some(FileInDiff { hunks, .. }), first @ (None | Some(' ' | '+'))) => match hunks.last_mut() {
                Some(hunk) => {
                    hunk.lines.push(line[first.map_or(0, char::len_utf8)..].to_owned());
                    hunk.places.push(at + 1);
                }
                None => fault("a change begins with `@@`: `u` undoes it"),
            },
            (Some(_), Some(_)) => fault("each line begins with a space, `+` or `-`"),
        }
        at += 1;
    }
    if at >= lines.len() {
        let message = "the end of the diff is gone: `u` restores it".to_owned();
        faults.push(DocumentFault { line: lines.len(), message });
    }
    (files, faults)
}

fn fence(line: &str) -> Option<(&str, &str)> {
    let marks = line.len() - line.trim_start_matches('`').len();
    (marks >= 3).then(|| line.split_at(marks))
}

/// The lines of the file behind `+` of `@@ -1,2 +3,4 @@`, counted from 0.
fn range_of(head: &str) -> Option<Range<usize>> {
    let numbers = head.split_whitespace().find_map(|word| word.strip_prefix('+'))?;
    let (first, count) = numbers.split_once(',')?;
    let first = first.parse::<usize>().ok()?.checked_sub(1)?;
    Some(first..first + count.parse::<usize>().ok()?)
}

impl EditedFile {
    /// The edits of the text as it is now.
    ///
    /// # Errors
    /// The text of a hunk is not there any more, or stands there several times.
    pub fn edits(&self, text: &str) -> Result<Vec<TextEdit>, Vec<DocumentFault>> {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let bare: Vec<&str> = lines.iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect();
        let ends: Vec<&str> = lines.iter().zip(&bare).map(|(line, bare)| &line[bare.len()..]).collect();
        let mut starts = vec![0];
        starts.extend(lines.iter().scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }));
        let usual = format!("{}\n", "\r".repeat(line_ends::returns(text).unwrap_or(0)));
        let (mut edits, mut faults): (Vec<TextEdit>, Vec<DocumentFault>) = (Vec::new(), Vec::new());
        for hunk in &self.hunks {
            let at = match hunk.place(&bare) {
                Ok(at) => at,
                Err(places) => {
                    let place = format!("{}:{}", self.path, hunk.at + same(&hunk.shown, &hunk.wanted) + 1);
                    let message = match places {
                        0 => format!("{place} has changed since; change it in {}", self.path),
                        _ => format!("the text of {place} stands several times; change it in {}", self.path),
                    };
                    faults.push(DocumentFault { line: hunk.line, message });
                    continue;
                }
            };
            let range = starts[at]..starts[at + hunk.shown.len()];
            let mut new = hunk.with_ends(&ends[at..at + hunk.shown.len()], &usual);
            // A text without a last line end stays without one.
            if range.end == text.len() && !text.is_empty() && !text.ends_with('\n') {
                new.truncate(new.trim_end_matches(['\n', '\r']).len());
            }
            edits.push(TextEdit::new(range, new));
        }
        edits.sort_by_key(|edit| edit.range.start);
        let overlap = edits.windows(2).any(|pair| pair[0].range.end > pair[1].range.start);
        if overlap {
            let line = self.hunks.first().map_or(1, |hunk| hunk.line);
            let message = format!("two changes meet now; change one of them in {}", self.path);
            faults.push(DocumentFault { line, message });
        }
        if faults.is_empty() { Ok(edits) } else { Err(faults) }
    }
}

impl EditedHunk {
    /// The wanted lines. A line that was shown keeps its end, and a changed one takes that of the line in its place,
    /// else of the one before it.
    fn with_ends(&self, ends: &[&str], usual: &str) -> String {
        let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let diff = LineDiff::of(&text(&self.shown), &text(&self.wanted));
        let mut out = String::new();
        let mut put = |line: usize, shown: usize| {
            out.push_str(&self.wanted[line]);
            out.push_str(ends.get(shown).filter(|end| !end.is_empty()).unwrap_or(&usual));
        };
        let (mut shown, mut wanted) = (0, 0);
        for (old, new) in diff.changed {
            (wanted..new.start).zip(shown..).for_each(|(line, at)| put(line, at));
            let last = old.end.saturating_sub(1);
            new.clone().zip(old.start..).for_each(|(line, at)| put(line, at.min(last)));
            (shown, wanted) = (old.end, new.end);
        }
        (wanted..self.wanted.len()).zip(shown..).for_each(|(line, at)| put(line, at));
        out
    }

    /// The line where the shown text stands now: where it was, else the only place; or how many places there are.
    fn place(&self, lines: &[&str]) -> Result<usize, usize> {
        let stands = |at: usize| lines.get(at..at + self.shown.len()).is_some_and(|here| here == self.shown);
        if stands(self.at) {
            return Ok(self.at);
        }
        if self.shown.is_empty() {
            return if lines.is_empty() { Ok(0) } else { Err(0) };
        }
        let places: Vec<usize> = (0..lines.len()).filter(|at| stands(*at)).collect();
        if let [only] = places.as_slice() { Ok(*only) } else { Err(places.len()) }
    }
}

#[cfg(test)]
mod tests;
