//! Finds the result of a call's edit whose answer was lost, by the call's name, which the record stores with it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::durable::{change_record, open_store};
use crate::edit::{lost_edits, recover};
use crate::state::edit_service::EditService;
use crate::state::journal::{Checkpoint, Journal};
use crate::state::workspace::Workspace;
use sextant_base::clock::now_ms;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_store::memory::memory_error::MemoryError;

/// The time that a running edit of another process, or of one that died over it, is waited for; and the interval of the
/// checks.
const PATIENCE: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(50);

/// Characters of the longest name of a call.
const NAME: usize = 100;

/// The result of an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditMade {
    pub made: bool,
    /// Empty where the edit was not made.
    pub checkpoint: String,
    /// The files that it changed.
    pub files: Vec<String>,
    /// The changed files that no longer hold the edit: it was in a buffer that is gone, or was taken back.
    pub lost: Vec<String>,
}

/// Refuses a name that is not valid for a call.
///
/// # Errors
/// It is empty or long.
pub(crate) fn check(name: &str) -> Result<(), Failure> {
    if (1..=NAME).contains(&name.chars().count()) {
        return Ok(());
    }
    Err(Failure::user(format!("`once` has 1 to {NAME} characters"), "give each edit a random name, a UUID for one"))
}

/// The result of a call's edit, in this process or in one that is gone.
///
/// # Errors
/// Nothing is remembered here, so that nobody knows; or the process that makes the edit does not finish.
pub(crate) async fn made(edits: &EditService, name: &str) -> Result<EditMade, Failure> {
    check(name)?;
    if let Some(known) = here(edits, name).await {
        return result(&edits.workspace, known).await;
    }
    // A stored edit of another process may be one that it never came to make.
    recover::recover_quietly(edits).await;
    let Some(durable) = open_store::durable(&edits.store).await else {
        let message = "whether the edit was made is not known: nothing is remembered in this workspace";
        return Err(Failure::new(FailureKind::Editor, message, "read the file before you make it again"));
    };
    let end = Deadline::after(PATIENCE);
    loop {
        let wanted = name.to_owned();
        let found = durable.run(move |memory| memory.checkpoint_once(&wanted)).await;
        match found {
            Ok(None) => return Ok(EditMade::default()),
            Ok(Some((id, None))) => {
                let kept = durable.run(move |memory| memory.checkpoint(id, now_ms())).await;
                let (checkpoint, _) = change_record::read(kept.map_err(|error| unread(&error))?);
                return result_of_another(&edits.workspace, checkpoint).await;
            }
            Ok(Some((id, Some(owner)))) if !durable.owner().is_alive(&owner) => {
                recover::take_over(edits, &durable, id, owner).await;
            }
            Ok(Some(_)) | Err(MemoryError::Busy) => {}
            Err(error) => return Err(unread(&error)),
        }
        if end.passed() {
            let message = "whether the edit was made is not known yet: the editor is still busy with it";
            return Err(Failure::new(FailureKind::Editor, message, "read the file before you make it again"));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn unread(why: &MemoryError) -> Failure {
    let message = format!("whether the edit was made is not known: {why}");
    Failure::new(FailureKind::Internal, message, "read the file before you make it again")
}

/// The edit where this process has made it.
async fn here(edits: &EditService, name: &str) -> Option<Checkpoint> {
    let history = edits.history.lock().await;
    let mut all = history.iter().flat_map(|journal| &journal.checkpoints);
    all.find(|row| row.once.as_deref() == Some(name)).cloned()
}

async fn result(workspace: &Workspace, checkpoint: Checkpoint) -> Result<EditMade, Failure> {
    Ok(shown(workspace, checkpoint).await?.0)
}

/// The result of an edit that another process has made. A file that reads neither as before the edit nor as after it is
/// no evidence: it may be the disk under a buffer of an engine that died.
async fn result_of_another(workspace: &Workspace, checkpoint: Checkpoint) -> Result<EditMade, Failure> {
    let (made, unclear) = shown(workspace, checkpoint).await?;
    if unclear.is_empty() {
        return Ok(made);
    }
    let names = Vec::from_iter(unclear).join(", ");
    let message = format!("{names} reads neither as before the edit nor as after it");
    Err(Failure::new(FailureKind::Editor, message, "read the file before you make it again"))
}

/// The edit as the files show it, and those of them that show neither it nor the text before it.
async fn shown(workspace: &Workspace, checkpoint: Checkpoint) -> Result<(EditMade, BTreeSet<String>), Failure> {
    let files = checkpoint.files.iter().map(|file| file.path.clone()).collect();
    let name = checkpoint.id.clone();
    let journal = Journal { checkpoints: vec![checkpoint], ..Journal::default() };
    let in_files = lost_edits::in_files(workspace, &journal).await?;
    let lost: BTreeSet<String> = in_files.lost.into_values().flatten().collect();
    Ok((EditMade { made: true, checkpoint: name, files, lost: lost.into_iter().collect() }, in_files.unclear))
}
