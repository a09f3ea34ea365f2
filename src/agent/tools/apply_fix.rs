//! `apply_fix`: a language server's own fix, verified by what it does to the diagnostics.

use serde::Deserialize;

use crate::agent::change::{self, Changed, Wanted, When};
use crate::agent::offers::{self, Refusal};
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::agent::tools::answer::{EditAnswer, headline};
use crate::agent::tools::{ToolAnswer, target, tool_failure};
use crate::agent::verdict::{Status, Verdict};
use crate::base::deadline::Deadline;
use crate::base::failure::Failure;
use crate::base::plural::counted;
use crate::base::text::{Encoding, LineIndex};
use crate::diagnostics::model::Severity;
use crate::edits::TextEdit;

/// The least time, in milliseconds, that the verification of a fix may take: an unverified fix is worth little.
const VERIFY_MS: u64 = 10_000;

/// How the refusal of a fix begins that was applied and did no good.
pub(crate) const TAKEN_BACK: &str = "the fix was taken back";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    fix: String,
}

pub(super) async fn run(session: &Session, task: &mut Task, given: Parameters) -> Result<ToolAnswer, Failure> {
    let deadline = Deadline::after_ms(session.config.diagnostics.timeout_ms.max(VERIFY_MS));
    let name = task.offered.iter().find(|offer| offer.id == given.fix).map(|offer| offer.key.clone());
    let about = task.offered.iter().find(|offer| offer.id == given.fix).map(|offer| offer.about.clone());
    let wanted = wanted(session, &given.fix, deadline).await;
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => {
            task.tried.extend(name);
            return Err(failure);
        }
    };
    task.tried.extend(name);
    let changed = change::change(session, task, wanted, When::Now, deadline).await?;
    if changed.verdict.status == Status::Complete
        && changed.verdict.fixed.is_empty()
        && let Some(about) = about
    {
        *task.survived.entry(about).or_default() += 1;
    }
    if let Some(reason) = worse(&changed.verdict) {
        change::take_back(session, task, &changed).await?;
        return Err(tool_failure(format!("{TAKEN_BACK}: {reason}"), "take another way"));
    }
    let late = std::mem::take(&mut task.late);
    let answer = EditAnswer::of(&changed, &session.config.diagnostics, &late, unverified(&changed));
    Ok(ToolAnswer { text: answer.text(), edit: Some(answer) })
}

fn unverified(changed: &Changed) -> Vec<String> {
    match changed.verdict.status {
        Status::Complete | Status::Off => Vec::new(),
        status => vec![format!("the fix could not be verified in full: diagnostics {}", status.name())],
    }
}

/// Why a fix did no good; `None` when it did, or when nothing is known.
fn worse(verdict: &Verdict) -> Option<String> {
    let first = |severity| verdict.new.iter().find(|found| found.diagnostic.severity == severity);
    if let Some(found) = first(Severity::Error) {
        return Some(format!("it introduced an error: {}", headline(&found.diagnostic.message)));
    }
    if verdict.masked > 0 {
        return Some("it left a file that does not parse".to_owned());
    }
    let worth = |severity: Severity| severity <= Severity::Warning;
    let introduced = verdict.new.iter().filter(|found| worth(found.diagnostic.severity)).count();
    let gone = verdict.fixed.len();
    if introduced > 0 && introduced >= gone {
        return Some(format!("it introduced {} and repaired {gone}", counted(introduced, "warning")));
    }
    if verdict.status == Status::Complete && gone == 0 {
        return Some("the diagnostic is still there".to_owned());
    }
    None
}

/// The edits of an offered fix; nothing is changed. Errors where it is gone, hides a diagnostic or does more than edit.
pub(crate) async fn wanted(session: &Session, id: &str, deadline: Deadline) -> Result<Vec<Wanted>, Failure> {
    let change = session.editor.fix_change(id, deadline).await?;
    if let Some(operation) = change.operations.first() {
        return Err(tool_failure(format!("the fix wants more than edits: {operation}"), "do it in the editor by hand"));
    }
    let mut wanted = Vec::new();
    for (path, edits) in change.files {
        let document = target::document(session, &path).await?;
        let index = LineIndex::new(&document.text);
        let mut hunks: Vec<TextEdit> = edits
            .into_iter()
            .map(|(range, text)| {
                let text = text.replace("\r\n", "\n");
                TextEdit { range: index.byte_range(&document.text, range, Encoding::Utf16), text }
            })
            .map(|edit| crate::edits::hunks::trim(&document.text, &edit))
            .collect();
        hunks.retain(|edit| document.text.get(edit.range.clone()) != Some(edit.text.as_str()));
        hunks.sort_by_key(|edit| (edit.range.start, edit.range.end));
        if let Some(refusal) = offers::refusal(&document.text, &hunks) {
            return Err(match refusal {
                Refusal::Suppression => tool_failure("the fix only hides the diagnostic", "repair what it is about"),
                Refusal::DeletesCheck => tool_failure("the fix deletes a check", "repair what it is about"),
            });
        }
        if !hunks.is_empty() {
            wanted.push(Wanted::Change { document, hunks });
        }
    }
    if wanted.is_empty() {
        return Err(tool_failure("the fix changes nothing", "take another one"));
    }
    Ok(wanted)
}
