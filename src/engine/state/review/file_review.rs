//! The review of one file: the accepted text, the agent's text over it, and what the user typed since. Pure functions.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use sextant_text::edits::TextEdit;
use sextant_text::edits::apply_text::apply;
use sextant_text::edits::line_edits::line_edits;
use sextant_text::symbols::language;
use sextant_text::symbols::outline::Outline;

/// The texts of a file under review.
///
/// Three texts are compared. The hunks that wait lead from `baseline` to `agent`. The user's typing leads from `agent`
/// to the buffer. As soon as every hunk has a place in the buffer, typing enters both texts, and `agent` is the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileReview {
    /// Relative to the root.
    pub(crate) path: String,
    /// The text before the agent's edits, with what was accepted and typed since.
    pub(crate) baseline: Arc<str>,
    /// The same with the hunks that wait.
    pub(crate) agent: Arc<str>,
    /// True if the agent made the file, and nothing of it is accepted yet.
    pub(crate) made: bool,
    /// True if typing is kept apart: `agent` is not the buffer.
    #[serde(default)]
    pub(crate) is_apart: bool,
}

/// A hunk that waits, in bytes of whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitingHunk {
    /// Its lines in the baseline.
    pub(crate) old: Range<usize>,
    /// Its lines in the agent's text.
    pub(crate) new: Range<usize>,
    /// Its lines in the buffer; `None` where they were changed since.
    pub(crate) place: Option<Range<usize>>,
}

/// A hunk, or the lines of it that the user has chosen, counted from its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HunkPick {
    pub(crate) hunk: usize,
    pub(crate) lines: Option<Range<usize>>,
}

/// The place of one range beside another one of the same text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Before,
    After,
    Touching,
}

impl FileReview {
    pub(crate) fn new(path: &str, before: Option<&Arc<str>>) -> Self {
        let text = before.cloned().unwrap_or_default();
        Self {
            path: path.to_owned(),
            baseline: Arc::clone(&text),
            agent: text,
            made: before.is_none(),
            is_apart: false,
        }
    }

    /// True if no hunk waits.
    pub(crate) fn is_done(&self) -> bool {
        self.baseline == self.agent
    }

    /// The hunks that wait, in the order of the text, with their places in the buffer.
    pub(crate) fn pending(&self, now: &str) -> Vec<WaitingHunk> {
        let typed = line_edits(&self.agent, now);
        let mut found = self.unplaced();
        let mut outlines = None;
        for hunk in &mut found {
            // Rejecting would put the same lines there twice.
            if self.is_partly_back(hunk, &typed) {
                continue;
            }
            hunk.place = shifted(&hunk.new, &typed).or_else(|| {
                let (then, now_outline) =
                    outlines.get_or_insert_with(|| (self.outline(&self.agent), self.outline(now)));
                moved_with_symbol(&self.agent, then.as_ref()?, now, now_outline.as_ref()?, &hunk.new)
            });
        }
        let mut end = 0;
        for hunk in &mut found {
            // A place that another hunk has is no place.
            hunk.place = hunk.place.take().filter(|place| place.start >= end);
            end = hunk.place.as_ref().map_or(end, |place| place.end);
        }
        found
    }

    /// True if the user has typed some of its removed lines again, right beside it.
    fn is_partly_back(&self, hunk: &WaitingHunk, typed: &[TextEdit]) -> bool {
        let old: Vec<&str> =
            self.baseline[hunk.old.clone()].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let beside = typed.iter().filter(|edit| is_beside(&edit.range, &hunk.new));
        beside.flat_map(|edit| edit.text.lines()).any(|line| old.contains(&line.trim()))
    }

    fn outline(&self, text: &str) -> Option<Outline> {
        language::of_path(&self.path).map(|language| Outline::parse(language, text))
    }

    fn unplaced(&self) -> Vec<WaitingHunk> {
        let mut grown: isize = 0;
        let hunk = |edit: TextEdit| {
            let start = edit.range.start.saturating_add_signed(grown);
            grown += edit.text.len() as isize - edit.range.len() as isize;
            WaitingHunk { new: start..start + edit.text.len(), old: edit.range, place: None }
        };
        line_edits(&self.baseline, &self.agent).into_iter().map(hunk).collect()
    }

    /// Takes in the text of the buffer: what the user typed. A hunk that was undone by hand waits no more.
    pub(crate) fn typed(&mut self, now: &str) {
        if *self.agent == *now {
            self.is_apart = false;
            return;
        }
        self.drop_undone_by_hand(now);
        let pending = self.pending(now);
        let back: Option<Vec<TextEdit>> = pending
            .iter()
            .map(|hunk| Some(TextEdit::new(hunk.place.clone()?, &self.baseline[hunk.old.clone()])))
            .collect();
        // One hunk without a place keeps all typing apart: nothing of it may pass for the agent's.
        if let Some(baseline) = back.and_then(|back| apply(now, &back).ok()) {
            (self.baseline, self.agent) = (baseline.into(), now.into());
        }
        self.is_apart = *self.agent != *now;
    }

    fn drop_undone_by_hand(&mut self, now: &str) {
        let typed = line_edits(&self.agent, now);
        let apart = line_edits(&self.baseline, now);
        let touches = |edits: &[TextEdit], range: &Range<usize>| edits.iter().any(|edit| is_beside(&edit.range, range));
        let inside = |edits: &[TextEdit], range: &Range<usize>| {
            let overlaps = |edit: &TextEdit| edit.range.start < range.end && edit.range.end > range.start;
            edits.iter().any(|edit| overlaps(edit) || range.is_empty() && touches(std::slice::from_ref(edit), range))
        };
        // Lines of the hunk that still stand beside its old ones were not undone: they wait.
        let is_partly_there = |hunk: &WaitingHunk| {
            let new: Vec<&str> = self.agent[hunk.new.clone()].lines().filter(|line| !line.trim().is_empty()).collect();
            let mut beside = apart.iter().filter(|edit| touches(std::slice::from_ref(edit), &hunk.old));
            beside.any(|edit| edit.text.lines().any(|line| new.contains(&line)))
        };
        let is_undone =
            |hunk: &WaitingHunk| touches(&typed, &hunk.new) && !inside(&apart, &hunk.old) && !is_partly_there(hunk);
        let gone: Vec<WaitingHunk> = self.unplaced().into_iter().filter(is_undone).collect();
        let back: Vec<TextEdit> =
            gone.iter().map(|hunk| TextEdit::new(hunk.new.clone(), &self.baseline[hunk.old.clone()])).collect();
        if let Ok(agent) = apply(&self.agent, &back) {
            self.agent = agent.into();
        }
    }

    /// Takes in an edit of the agent, from the buffer before it to the buffer after it.
    pub(crate) fn edited(&mut self, before: &str, after: &Arc<str>) {
        self.typed(before);
        if *self.agent == *before {
            self.agent = Arc::clone(after);
            return;
        }
        // Where it touches typing that is kept apart, it counts as typed: it is not lost, and it is not reviewed.
        let apart = line_edits(before, &self.agent);
        let edits: Vec<TextEdit> = line_edits(before, after)
            .into_iter()
            .filter_map(|edit| Some(TextEdit { range: shifted(&edit.range, &apart)?, text: edit.text }))
            .collect();
        if let Ok(agent) = apply(&self.agent, &edits) {
            self.agent = agent.into();
        }
        // The edit may have taken away the hunk that kept the typing apart.
        self.typed(after);
    }

    /// Accepts hunks: they belong to the baseline from now on. Returns the picks that stay: parts of hunks that were
    /// changed since. Their lines are no longer those that the user sees.
    pub(crate) fn accept(&mut self, picks: &[HunkPick], now: &str) -> Vec<usize> {
        let pending = self.pending(now);
        let (mut edits, mut left) = (Vec::new(), Vec::new());
        for pick in picks {
            let Some(hunk) = pending.get(pick.hunk) else { continue };
            if hunk.place.is_none() && pick.lines.is_some() {
                left.push(pick.hunk);
                continue;
            }
            let (old, new) = (&self.baseline[hunk.old.clone()], &self.agent[hunk.new.clone()]);
            edits.push(TextEdit::new(hunk.old.clone(), accepted(old, new, pick.lines.as_ref())));
        }
        if let Ok(baseline) = apply(&self.baseline, &edits) {
            self.made &= edits.is_empty();
            self.baseline = baseline.into();
        }
        self.typed(now);
        left
    }

    /// Rejects hunks. Returns the text that the buffer gets, and the picks that were changed since and stay.
    pub(crate) fn reject(&mut self, picks: &[HunkPick], now: &str) -> (String, Vec<usize>) {
        let pending = self.pending(now);
        let (mut of_agent, mut of_buffer, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for pick in picks {
            let Some(hunk) = pending.get(pick.hunk) else { continue };
            let Some(place) = hunk.place.clone() else {
                left.push(pick.hunk);
                continue;
            };
            let (old, new) = (&self.baseline[hunk.old.clone()], &self.agent[hunk.new.clone()]);
            let text = rejected(old, new, pick.lines.as_ref());
            of_agent.push(TextEdit::new(hunk.new.clone(), &text));
            of_buffer.push(TextEdit::new(place, text));
        }
        let (Ok(agent), Ok(buffer)) = (apply(&self.agent, &of_agent), apply(now, &of_buffer)) else {
            return (now.to_owned(), picks.iter().map(|pick| pick.hunk).collect());
        };
        self.agent = agent.into();
        self.typed(&buffer);
        (buffer, left)
    }

    /// Brings rejected text back, as hunks that wait. `None` where the place was changed since, or where lines of it
    /// stand already: an undo in the editor, with other typing, brought them.
    pub(crate) fn bring_back(&mut self, with: &str, without: &str, now: &str) -> Option<String> {
        if stands_already(with, without, now) {
            return None;
        }
        let buffer = apply(now, &carried(without, with, now)?).ok()?;
        self.agent = self.carried_on([without, with], [now, &buffer])?.into();
        self.typed(&buffer);
        Some(buffer)
    }

    /// The agent's text after a step between two texts, which leads from one buffer to another one.
    pub(crate) fn carried_on(&self, [from, to]: [&str; 2], [before, after]: [&str; 2]) -> Option<String> {
        if *self.agent == *before {
            return Some(after.to_owned());
        }
        self.carried_beside(from, to)
    }

    /// The agent's text after a step between two texts. `None` where lines that the step adds could stand before or after
    /// other lines of the agent's text.
    pub(crate) fn carried_beside(&self, from: &str, to: &str) -> Option<String> {
        let since = line_edits(from, &self.agent);
        let added = line_edits(from, to).into_iter().filter(|edit| edit.range.is_empty());
        let mut points = added.map(|edit| edit.range);
        if points.any(|point| since.iter().any(|edit| edit.range == point)) {
            return None;
        }
        apply(&self.agent, &carried(from, to, &self.agent)?).ok()
    }
}

/// True if lines that lead back to a text were put at their places since.
fn stands_already(with: &str, without: &str, now: &str) -> bool {
    let since = line_edits(without, now);
    let is_there = |back: &TextEdit, put: &TextEdit| {
        let touches = is_beside(&put.range, &back.range);
        let mut lines = back.text.lines().filter(|line| !line.trim().is_empty());
        touches && lines.any(|line| put.text.lines().any(|other| other == line))
    };
    line_edits(without, with).iter().any(|back| since.iter().any(|put| is_there(back, put)))
}

/// The edits from one text to another one, at their places in a third text that came from the first.
pub(crate) fn carried(from: &str, to: &str, third: &str) -> Option<Vec<TextEdit>> {
    let since = line_edits(from, third);
    let edits = line_edits(from, to).into_iter();
    edits.map(|edit| Some(TextEdit { range: shifted(&edit.range, &since)?, text: edit.text })).collect()
}

/// The lines of both sides of a hunk, where some of the new ones are chosen.
type HunkSides<'a> = (Vec<&'a str>, Vec<&'a str>);

fn sides<'a>(old: &'a str, new: &'a str) -> HunkSides<'a> {
    (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect())
}

/// What the baseline has in the place of a hunk once its chosen lines are accepted.
///
/// Sides of as many lines are paired line by line. Otherwise the first new line decides about all old ones.
fn accepted(old: &str, new: &str, lines: Option<&Range<usize>>) -> String {
    let Some(lines) = lines.filter(|_| !new.is_empty()) else { return new.to_owned() };
    let (olds, news) = sides(old, new);
    if olds.len() == news.len() {
        return paired(&news, &olds, lines);
    }
    let kept = if lines.contains(&0) { "" } else { old };
    let chosen = news.iter().enumerate().filter(|(index, _)| lines.contains(index)).map(|(_, line)| *line);
    std::iter::once(kept).chain(chosen).collect()
}

/// What the agent's text has in the place of a hunk once its chosen lines are rejected.
fn rejected(old: &str, new: &str, lines: Option<&Range<usize>>) -> String {
    let Some(lines) = lines.filter(|_| !new.is_empty()) else { return old.to_owned() };
    let (olds, news) = sides(old, new);
    if olds.len() == news.len() {
        return paired(&olds, &news, lines);
    }
    let back = if lines.contains(&0) { old } else { "" };
    let rest = news.iter().enumerate().filter(|(index, _)| !lines.contains(index)).map(|(_, line)| *line);
    std::iter::once(back).chain(rest).collect()
}

fn paired(chosen: &[&str], others: &[&str], lines: &Range<usize>) -> String {
    let pick = |(index, (chosen, other)): (usize, (&&str, &&str))| {
        if lines.contains(&index) { (*chosen).to_owned() } else { (*other).to_owned() }
    };
    chosen.iter().zip(others).enumerate().map(pick).collect()
}

/// True if two ranges of a text overlap, or one begins where the other one ends.
pub(crate) fn is_beside(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start <= other.end && other.start <= one.end
}

fn beside(edit: &Range<usize>, range: &Range<usize>) -> Beside {
    let one_point = edit.is_empty() && range.is_empty() && edit.start == range.start;
    if edit.end <= range.start && !one_point {
        Beside::Before
    } else if edit.start >= range.end {
        Beside::After
    } else {
        Beside::Touching
    }
}

/// The place of a range after edits of its text; `None` where they touch it.
pub(crate) fn shifted(range: &Range<usize>, edits: &[TextEdit]) -> Option<Range<usize>> {
    let mut start = range.start;
    for edit in edits {
        match beside(&edit.range, range) {
            Beside::Before => start = start + edit.text.len() - edit.range.len(),
            Beside::After => break,
            Beside::Touching => return None,
        }
    }
    Some(start..start + range.len())
}

/// The place of a range in a text where its symbol stands elsewhere.
fn moved_with_symbol(
    then: &str,
    then_outline: &Outline,
    now: &str,
    now_outline: &Outline,
    range: &Range<usize>,
) -> Option<Range<usize>> {
    let names = then_outline.path_of(then_outline.at(range.start)?);
    let extent = |outline: &Outline, text: &str| {
        let index = outline.find(&names).ok()?;
        let extent = outline.symbols[index].extent.clone();
        let start = text[..extent.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[extent.end..].find('\n').map_or(text.len(), |at| extent.end + at + 1);
        Some(start..end)
    };
    let (old, new) = (extent(then_outline, then)?, extent(now_outline, now)?);
    if range.start < old.start || range.end > old.end {
        return None;
    }
    let inside = range.start - old.start..range.end - old.start;
    let place = shifted(&inside, &line_edits(&then[old], &now[new.clone()]))?;
    Some(place.start + new.start..place.end + new.start)
}

#[cfg(test)]
mod tests;
