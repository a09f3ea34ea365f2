//! The effect of an undo or a redo on the diagnostics, by a look before it and after it, in its reach too. The text does
//! not wait for a server that does not start: the look before ends in time.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use crate::diagnostics::{collect_diagnostics, reached};
use crate::edit::change::{judge, remember};
use crate::edit::look_ahead::{LookedAhead, look_ahead};
use crate::editor::Document;
use crate::plan::work_mode::Mode;
use crate::state::agent_config::Checks;
use crate::state::answer_status::Status;
use crate::state::comparison::Verdict;
use crate::state::delta_wording;
use crate::state::diagnostics_hub::OWN_CANCEL;
use crate::state::edit_baseline::Baseline;
use crate::state::edit_request::EditRequest;
use crate::state::edit_service::EditService;
use crate::state::journal::FileChange;
use crate::state::render::Line;
use crate::state::task::{Task, TaskWork};
use crate::state::task_scope::Scope;
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_text::edits::hunks::hunks;
use tokio_util::sync::CancellationToken;

/// The longest time for the start of servers, before any text goes back. basedpyright took 3 s for a small project, and
/// 8 s on a busy machine.
const START_MS: u64 = 10_000;

/// The state before an undo.
pub(crate) struct LookedUndo {
    /// Nobody's task: the comparison is no part of the one that is undone.
    work: TaskWork,
    burst: Baseline,
    ahead: LookedAhead,
}

/// Looks at the files that an undo changes and at those in its reach; `None` where edits are not checked.
pub(crate) async fn before(edits: &EditService, files: &[FileChange]) -> Option<LookedUndo> {
    if !edits.workspace.config.diagnostics.on_edit || files.is_empty() {
        return None;
    }
    let Task { mut work, .. } = Task::new("", Mode::Simple, None, Scope::Workspace);
    let mut burst = Baseline::default();
    let (gone, stays) = requests(edits, files).await;
    let wanted = [gone, stays.clone()].concat();
    let (timeout, cancel) = (edits.workspace.config.diagnostics.timeout_ms, CancellationToken::new());
    let ahead = {
        let looked = look_ahead(edits, &mut work.reports, &wanted, &mut burst, false, Deadline::after_ms(timeout));
        let mut looked = pin!(OWN_CANCEL.scope(cancel.clone(), looked));
        tokio::select! {
            ahead = &mut looked => ahead,
            () = tokio::time::sleep(Duration::from_millis(timeout.max(START_MS))) => {
                cancel.cancel();
                looked.await
            }
        }
    };
    let known = collect_diagnostics::known(&edits.hub).await;
    remember(&mut work, &stays, &mut burst, false, &known);
    Some(LookedUndo { work, burst, ahead })
}

impl LookedUndo {
    /// Compares the state after an undo with the one before it.
    pub(crate) async fn after(mut self, edits: &EditService, files: &[FileChange]) -> Verdict {
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let now: Vec<Document> = reached::documents(edits.workspace.editor.as_ref(), &paths).await;
        now.iter().for_each(|document| lock(&edits.hub.looked.typed).edited(document));
        let LookedAhead { bystanders, deadline, .. } = &self.ahead;
        let looked = async {
            let reports = collect_diagnostics::look(&edits.hub, &now, bystanders, deadline.restarted()).await;
            judge(&edits.hub, &mut self.work, &self.burst, &reports).await
        };
        OWN_CANCEL.scope(CancellationToken::new(), looked).await
    }
}

/// The edits that an undo amounts to: of the files that go, and of the others. A file that goes reaches the same files as
/// one that comes.
async fn requests(edits: &EditService, files: &[FileChange]) -> (Vec<EditRequest>, Vec<EditRequest>) {
    let (mut gone, mut stays) = (Vec::new(), Vec::new());
    for file in files {
        let create = |text: &Arc<str>| EditRequest::Create { path: file.path.clone(), text: Arc::clone(text) };
        match (&file.after, edits.workspace.editor.read(&file.path).await) {
            (Some(after), Ok(document)) => {
                let hunks = hunks(&document.text, after);
                stays.push(EditRequest::change(document, hunks, false));
            }
            (Some(after), Err(_)) => stays.push(create(after)),
            (None, _) => gone.extend(file.before.as_ref().map(create)),
        }
    }
    (gone, stays)
}

/// The new diagnostics in a line each, and the words for them in one sentence. The words are empty where nothing is new
/// and all is known, and where nothing checks the files.
pub(crate) fn words(verdict: &Verdict, checks: &Checks) -> (Vec<String>, String) {
    let floor = checks.severity_floor;
    let new: Vec<String> = verdict.new_from(floor).map(|found| Line::of(found).text("")).collect();
    let is_silent = match verdict.status {
        Status::Complete => new.is_empty(),
        Status::Skipped | Status::Off => true,
        Status::Partial | Status::Timeout | Status::Unavailable => false,
    };
    if is_silent {
        return (new, String::new());
    }
    let mut words =
        delta_wording::of_task(verdict, new.len(), verdict.fixed_from(floor), verdict.unchanged_from(floor));
    let shown = new.iter().take(checks.max).map(String::as_str).collect::<Vec<_>>();
    if !shown.is_empty() {
        words.push_str(&format!(": {}", shown.join("; ")));
    }
    let more = new.len() - shown.len();
    if more > 0 {
        words.push_str(&format!("; and {more} more"));
    }
    (new, words)
}
