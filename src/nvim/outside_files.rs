//! Finds the files that other programs have written, for the clients of a Neovim, which watches none on most systems.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::editor::{NvimEditor, QUICK};
use crate::lua_channel::Channel;
use sextant_base::lock::lock;
use sextant_diagnostics::policy::silencing_edits::is_settings;
use sextant_engine::api::SETTINGS;
use sextant_store::workspace::root::Root;

/// Most changes of other programs that the editor's clients are notified of at one look. Neovim's main loop waits for
/// the look-up of each file's type.
const MOST_CHANGES: usize = 500;

impl NvimEditor {
    /// The source files and settings that came, changed or went since the last look; at the first one, those that were written since
    /// the first client may have read them. Neovim watches no files on most systems.
    pub(super) async fn changed_outside(&self) -> Vec<Value> {
        let is_first = lock(&self.outside).is_new();
        let started = if is_first { clients_started(&self.channel).await } else { None };
        let (outside, folder) = (Arc::clone(&self.outside), self.root.clone());
        let take = move || {
            let Ok(root) = Root::new(&folder) else { return Vec::new() };
            let mut outside = lock(&outside);
            let absolute = |path: &str| folder.join(path).to_string_lossy().into_owned();
            let since = outside.take(&root, &SETTINGS, |_| true).into_iter();
            let since =
                since.map(|(path, kind)| json!({"path": absolute(&path), "type": kind, "of_all": is_settings(&path)}));
            let mut changes: Vec<Value> = since.take(MOST_CHANGES).collect();
            let written = started.map(|time| outside.written_after(&root, time)).unwrap_or_default().into_iter();
            let written = written.map(|(path, kind, at)| {
                let at = at.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
                json!({"path": absolute(&path), "type": kind, "at": at, "of_all": is_settings(&path)})
            });
            changes.extend(written.take(MOST_CHANGES));
            changes
        };
        tokio::task::spawn_blocking(take).await.unwrap_or_default()
    }
}

/// When the first client of this Neovim can have read a file; `None` where that is not known.
async fn clients_started(channel: &Channel) -> Option<SystemTime> {
    let seconds: f64 = channel.call("started", &json!({}), "clients", QUICK).await.ok()?;
    let since = Duration::try_from_secs_f64(seconds).ok().filter(|since| !since.is_zero())?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}
