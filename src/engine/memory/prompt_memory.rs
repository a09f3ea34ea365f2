//! The memory part of a prompt: preferences, learnings, then earlier work, under the one limit of the mode.

use std::sync::Arc;
use std::time::Instant;

use crate::editor::event::Event;
use crate::events::fact::{RecallFact, TaskFact};
use crate::events::stream::EventStream;
use crate::memory::{self, chosen_preferences, learn, mode_of};
use crate::state::memory_handle::Remember;
use crate::state::notes::short;
use crate::state::task::{Conversation, TaskWork};
use crate::state::task_kind;
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_base::plural::counted;
use sextant_base::token_estimate::estimate;
use sextant_store::memory::entries::RECALLED;
use sextant_store::memory::entry::{Entry, EntryId, Mode, Role};
use sextant_store::memory::memory_error::Result;
use sextant_store::memory::recall_limits;
use sextant_store::memory::store::Memory;

/// Tokens for the words and fences around the part.
const FRAME: usize = 8;
/// A line is cut only where at least so many tokens of it stay.
const CUT: usize = 12;
/// Learnings of one kind of task.
const LEARNINGS: usize = 2;
/// Preferences without room that a message names.
const NAMED: usize = 3;
/// Codes of diagnostics whose learnings are looked up.
const CODES: usize = 4;
/// Entries of a chat that a follow-up request may need: two exchanges, and the request itself.
const TURNS: usize = 6;

/// Words of a request that refers to earlier messages (English, Spanish, German).
const FOLLOWING: &str = "same again also too likewise previous before mismo misma eso también igual anterior \
    dasselbe nochmal auch ebenso vorher";
const FOLLOWING_OPENINGS: &[&str] = &["and ", "y ", "und ", "now ", "ahora ", "do it ", "do that ", "hazlo "];

/// The memory part of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecallPart {
    pub(crate) lines: Vec<String>,
    /// The most tokens that it may take.
    pub(crate) limit: usize,
}

/// The cost of a line in a prompt, in tokens.
fn cost(line: &str) -> usize {
    estimate(line) + 1
}

/// Lines under a limit, in the order of their weight.
#[derive(Default)]
struct Room {
    left: usize,
    lines: Vec<String>,
    /// Tokens of the offered lines, including those that were cut or left out.
    found: usize,
    /// Entries that found room.
    recalled: Vec<EntryId>,
    /// Preferences that found no room.
    unsaid: Vec<String>,
}

impl Room {
    /// Takes lines while they fit into their share of the rest; the first that does not is cut at a word.
    fn take(&mut self, lines: impl IntoIterator<Item = String>, share: usize) -> usize {
        let mut share = share.min(self.left);
        let mut taken = 0;
        for line in lines {
            self.found += estimate(&line);
            let Some(line) = fitted(&line, share) else { continue };
            let cost = cost(&line);
            share -= cost;
            self.left -= cost;
            self.lines.push(line);
            taken += 1;
        }
        taken
    }

    /// Takes preferences while they fit whole, in their order; a note shows how many did not.
    fn prefer(&mut self, preferences: &[String], share: usize) {
        let lines: Vec<String> = preferences.iter().map(|one| format!("prefers {one}")).collect();
        let all: usize = lines.iter().map(|line| cost(line)).sum();
        if all <= share {
            self.take(lines, share);
            return;
        }
        let note = |left: usize| format!("(no room for {})", counted(left, "more preference"));
        let mut room = share.saturating_sub(cost(&note(preferences.len())));
        for (line, preference) in lines.iter().zip(preferences) {
            // Only the first may be cut: half a sentence misleads.
            let before = self.left;
            let fits = cost(line) <= room || self.lines.is_empty();
            if fits && self.take([line.clone()], room) > 0 {
                room -= before - self.left;
            } else {
                self.unsaid.push(preference.clone());
            }
        }
        if !self.unsaid.is_empty() {
            let line = note(self.unsaid.len());
            self.take([line], share);
        }
    }
}

/// A line, or as much of it as fits; `None` where too little would stay.
fn fitted(line: &str, room: usize) -> Option<String> {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() || cost(&line) <= room {
        return (!line.is_empty()).then_some(line);
    }
    let words: Vec<&str> = line.split(' ').collect();
    let cut = |kept: usize| format!("{} …", words[..kept].join(" "));
    let kept = (1..words.len()).rev().find(|kept| cost(&cut(*kept)) <= room)?;
    let line = cut(kept);
    (cost(&line) >= CUT).then_some(line)
}

pub(crate) fn follows(request: &str) -> bool {
    let lower = request.trim_start().to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    FOLLOWING_OPENINGS.iter().any(|opening| lower.starts_with(opening))
        || words.any(|word| FOLLOWING.split_whitespace().any(|known| known == word))
}

/// A question to memory.
struct MemoryQuery {
    mode: Mode,
    limit: usize,
    request: String,
    /// True if the request refers to earlier ones that the prompt does not have.
    follows: bool,
    kinds: Vec<String>,
    /// Milliseconds since 1970: later entries belong to this task.
    before: i64,
    preferences: Vec<(String, String)>,
}

fn answer(memory: &Memory, remember: &Remember, question: &MemoryQuery) -> Result<(Room, bool)> {
    let mut room = Room { left: question.limit, ..Room::default() };
    let given = memory.preferences(Some(remember.project))?;
    let mut hits = given.len();
    room.prefer(&chosen_preferences::for_request(&question.preferences, &given, &question.request), question.limit / 2);

    let mut learned = Vec::new();
    for kind in &question.kinds {
        learned.extend(memory.learnings(kind, Some(remember.project), LEARNINGS)?);
    }
    hits += learned.len();
    let share = room.left / 3;
    room.take(learned.iter().map(learn::line), share);

    if question.follows {
        let turns = memory.recent_chat(&remember.session, TURNS)?;
        let mut lines: Vec<String> = Vec::new();
        // The result of work that was undone is left out; its request stays.
        let stands = |turn: &&Entry| turn.entry.timestamp < question.before && turn.entry.relevance >= RECALLED;
        for turn in turns.iter().filter(stands) {
            let text = short(&turn.entry.content, 160);
            match (turn.entry.role, lines.last_mut()) {
                (Some(Role::Assistant), Some(last)) => last.push_str(&format!(" → {text}")),
                (_, _) => lines.push(format!("earlier asked: {text}")),
            }
        }
        hits += lines.len();
        let share = room.left * 2 / 3;
        room.take(lines.into_iter().rev().take(2), share);
        if let Some(summary) = memory.summary(&remember.session)? {
            let share = room.left / 2;
            room.take(summary.text.lines().rev().skip(2).take(3).map(str::to_owned), share);
        }
    }

    let count = |text: &str| text.lines().map(cost).sum();
    let recalled =
        memory.recall_counted(question.mode, &remember.session, now_ms(), room.left.saturating_sub(1), &count)?;
    hits += recalled.entries.len();
    let left = room.left;
    room.recalled = recalled.entries.iter().map(|recalled| recalled.entry.id).collect();
    room.take(recalled.entries.into_iter().map(|recalled| recalled.line), left);
    room.found += recalled.tokens_found.saturating_sub(recalled.tokens);
    Ok((room, hits > 0))
}

/// Shows the user, once a task, which preferences the model does not get.
fn say_unsaid(events: &EventStream, conversation: &mut Conversation, unsaid: &[String]) {
    if unsaid.is_empty() || std::mem::replace(&mut conversation.unsaid_shown, true) {
        return;
    }
    let named: Vec<String> = unsaid.iter().take(NAMED).map(|one| format!("“{}”", short(one, 40))).collect();
    let more = if unsaid.len() > NAMED { ", …" } else { "" };
    let text = format!(
        "{} of your preferences had no room in this prompt: {}{more} (“what do you remember about …” finds them; “forget …” makes room)",
        unsaid.len(),
        named.join(", ")
    );
    events.show(Event::Progress { text });
}

/// The memory part of the next question's prompt. The codes are those of the diagnostics in view, worst first.
pub(crate) async fn memory_part(
    store: &TaskStore,
    work: &TaskWork,
    conversation: &mut Conversation,
    codes: Vec<String>,
    planning: bool,
) -> RecallPart {
    let mode = mode_of(work.mode);
    let limit = recall_limits::limit(mode);
    let mut kinds: Vec<String> = codes.iter().take(CODES).map(|code| format!("fix {code}")).collect();
    let own = if planning { task_kind::plan_kind(&work.request) } else { task_kind::kind(&work.request, &codes) };
    if !kinds.contains(&own) {
        kinds.push(own);
    }
    let question = MemoryQuery {
        mode,
        limit: limit.saturating_sub(FRAME),
        request: work.request.clone(),
        follows: conversation.dialogue.exchanges.is_empty() && follows(&work.request),
        kinds,
        before: work.notes.started(),
        preferences: chosen_preferences::configured_preferences(&store.config),
    };
    let only = |question: &MemoryQuery| {
        let mut room = Room { left: question.limit, ..Room::default() };
        room.prefer(
            &chosen_preferences::for_request(&question.preferences, &[], &question.request),
            question.limit / 2,
        );
        RecallPart { lines: room.lines, limit }
    };
    let Some(remember) = memory::remember(store).await else { return only(&question) };
    let fallback = only(&question);
    // The notes of the step before reach this one.
    remember.written().await;
    let start = Instant::now();
    let known = Arc::clone(&remember);
    let answered = remember.run(move |memory| answer(memory, &known, &question)).await;
    memory::tell_notices(&store.events, &remember);
    match answered {
        Ok((room, hit)) => {
            let recall = RecallFact {
                entries: room.recalled,
                hit,
                took_us: u32::try_from(start.elapsed().as_micros()).unwrap_or(u32::MAX),
                found: room.found as u64,
                given: room.lines.iter().map(|line| estimate(line) as u64).sum(),
            };
            work.events.did(TaskFact::Recalled { recall });
            say_unsaid(&store.events, conversation, &room.unsaid);
            RecallPart { lines: room.lines, limit }
        }
        Err(error) => {
            tracing::warn!(%error, "memory could not be asked");
            fallback
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::memory::record_in;
    use sextant_store::memory::entry::{Kind, NewEntry};
    use sextant_store::memory::preferences::Preference;

    fn full(request: &str, mode: Mode) -> (Room, bool) {
        let dir = tempfile::tempdir().unwrap();
        let remember = Remember::open(&record_in(dir.path()), "main").unwrap();
        let memory = &remember.memory;
        let long = |n: usize| format!("entry {n} {}", "and so on with many words ".repeat(30));
        let now = now_ms();
        for mode in Mode::ALL {
            for (n, kind) in Kind::ALL.iter().enumerate() {
                let entry = NewEntry::new("main", *mode, *kind, long(n), now - 5000);
                let role = (*kind == Kind::Chat).then_some(Role::User);
                memory.append(NewEntry { role, ..entry }).unwrap();
            }
        }
        for n in 0..5 {
            let (key, value) = (format!("k{n}"), json!(long(n)));
            let one = Preference { key, value, project: Some(".".into()), inferred: false, updated: 1 };
            memory.set_preference(one).unwrap();
        }
        let preferences = vec![("answers".to_owned(), "short".to_owned())];
        let (kinds, request) = (vec!["fix X".to_owned()], request.to_owned());
        let limit = recall_limits::limit(mode) - FRAME;
        answer(
            memory,
            &remember,
            &MemoryQuery { mode, limit, follows: follows(&request), request, kinds, before: now, preferences },
        )
        .unwrap()
    }

    #[test]
    fn a_full_memory_stays_under_the_limit_of_each_mode_and_preferences_come_first() {
        for mode in Mode::ALL {
            for request in ["fix it", "do the same in b.py"] {
                let (room, hit) = full(request, *mode);
                let all: usize = room.lines.iter().map(|line| cost(line)).sum();
                assert!(hit && all <= recall_limits::limit(*mode) - FRAME, "{mode:?}: {all}");
                assert!(all > recall_limits::limit(*mode) / 2, "{mode:?}: the room is used: {all}");
                assert!(room.lines[0].starts_with("prefers answers: short"), "{:?}", room.lines);
                assert!(room.lines.iter().any(|line| line.starts_with('[')), "entries too: {:?}", room.lines);
                assert_eq!(room.lines.iter().any(|line| line.starts_with("earlier asked")), request.contains("same"));
            }
        }
    }

    #[test]
    fn a_follow_up_is_known_by_its_words() {
        for request in ["do the same in b.py", "y eso en b.py", "Now in b.py", "lo mismo con Cart", "and b.py?"] {
            assert!(follows(request), "{request}");
        }
        for request in ["fix this", "yield from the list", "rename sameness", "arregla b.py"] {
            assert!(!follows(request), "{request}");
        }
    }

    proptest! {
        #[test]
        fn a_fitted_line_fits(text in "\\PC{0,200}", room in 0..60usize) {
            if let Some(line) = fitted(&text, room) {
                prop_assert!(cost(&line) <= room && !line.contains('\n'));
            }
        }
    }
}
