//! Decides whether a read was answered before in the same task, of the same state of the workspace.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::time::SystemTime;

use crate::events::fact::TaskFact;
use crate::state::edit_service::EditService;
use crate::state::task::{Conversation, TaskWork};
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::tool::ToolCall;
use crate::tools::tool_answer::ToolAnswer;
use sextant_base::failure::Failure;
use sextant_model::step::Model;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files::{self, MOST_FILES};

/// Runs a reading tool that was let through, or repeats its last answer when nothing can have changed since.
pub(crate) async fn run_once(
    edits: &EditService,
    model: &dyn Model,
    work: &mut TaskWork,
    conversation: &mut Conversation,
    call: &ToolCall,
) -> Result<ToolAnswer, Failure> {
    let (key, file) = (call.key(), call.only_file());
    if let Some((state, step, text)) = conversation.answered.known.get(&key).cloned()
        && state_of(&edits.workspace, file.as_deref()).await == Some(state)
    {
        work.events.did(TaskFact::CallSaved);
        return Ok(ToolAnswer::text(format!("(as in step {step}; nothing has changed since)\n{text}")));
    }
    let before = state_of(&edits.workspace, file.as_deref()).await;
    let answer = call.run(edits, model, work).await?;
    if let Some(state) = before {
        conversation.answered.known.insert(key, (state, work.step, answer.text.clone()));
    }
    Ok(answer)
}

/// A number that differs whenever the answer may; `None` where the state is unknown. The answer about one file depends
/// on its text alone, any other on every file.
async fn state_of(workspace: &Workspace, file: Option<&str>) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    if let Some(file) = file {
        target::document(workspace, file).await.ok()?.text.hash(&mut hasher);
        return Some(hasher.finish());
    }
    // Unsaved buffers count as well: `list_symbols` reads a file through the editor.
    for path in workspace.editor.loaded().await {
        let document = workspace.editor.read(&path).await.ok()?;
        (path, document.version).hash(&mut hasher);
    }
    let root = workspace.root.clone();
    let on_disk = tokio::task::spawn_blocking(move || disk_state(&root)).await.ok()??;
    on_disk.hash(&mut hasher);
    Some(hasher.finish())
}

/// Paths, lengths and times of all files that are searched.
fn disk_state(root: &Root) -> Option<u64> {
    let list = workspace_files::list(root, "", MOST_FILES);
    if list.more {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    for path in list.files {
        let what = root.join(&path).metadata().ok();
        let facts = what.map(|what| (what.len(), what.modified().ok().and_then(since_1970)));
        (path, facts).hash(&mut hasher);
    }
    Some(hasher.finish())
}

fn since_1970(time: SystemTime) -> Option<u128> {
    time.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_nanos())
}
