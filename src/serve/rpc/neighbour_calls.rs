//! Asks the other live sessions around a workspace, over their sockets, for the files that they have open.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;

use crate::discovery::{SessionEntry, find_sessions, is_editor};
use crate::rpc::rpc_client::JoinedSession;
use sextant_engine::api::{HeldElsewhere, HeldFile, Holding, Neighbours};

/// The time limit for a session to report its open files. It answers in a few milliseconds, unless its editor waits for
/// a key or the machine is busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// The files that one session has open, out of those in the question; `None` if it did not answer.
type HeldFiles = Option<Vec<HeldFile>>;

/// The sessions of other processes around a workspace.
#[derive(Debug)]
pub struct OtherSessions {
    folders: Vec<PathBuf>,
    root: PathBuf,
}

impl OtherSessions {
    pub fn of(folders: Vec<PathBuf>, root: &Path) -> Self {
        Self { folders, root: root.to_owned() }
    }

    async fn others(&self) -> Vec<SessionEntry> {
        let (folders, root) = (self.folders.clone(), self.root.clone());
        let found =
            tokio::task::spawn_blocking(move || find_sessions::related(&folders, &root)).await.unwrap_or_default();
        let own = std::process::id();
        found.entries.into_iter().filter(|entry| entry.pid != own).collect()
    }
}

#[async_trait]
impl Neighbours for OtherSessions {
    async fn holding(&self, files: &[PathBuf]) -> Vec<HeldElsewhere> {
        let others = self.others().await;
        let mut held = Vec::new();
        for (entry, answer) in all_asked(&others, files).await {
            let known = answer.is_some();
            if !known && !self.others().await.contains(entry) {
                // The session ended just now.
                continue;
            }
            let unknown = || files.iter().map(|path| (path.clone(), Holding::Unknown)).collect::<Vec<_>>();
            let of = |file: HeldFile| (file.path, if file.unsaved { Holding::Unsaved } else { Holding::Open });
            let files = answer.map_or_else(unknown, |held| held.into_iter().map(of).collect());
            // A session that is not an editor reports at once what it has open; without an answer it has nothing open.
            let counts = known || is_editor(entry);
            held.extend(files.into_iter().filter(|_| counts).map(|(path, how)| HeldElsewhere {
                path,
                session: entry.name.clone(),
                pid: entry.editor_pid.unwrap_or(entry.pid),
                how,
            }));
        }
        held
    }

    async fn written(&self, files: &[PathBuf]) {
        join_all(self.others().await.into_iter().map(|entry| notify(entry, files))).await;
    }
}

/// The session that has a file open, one with unsaved changes before others; `None` if no session has it.
pub async fn holder(entries: &[SessionEntry], file: &Path) -> Option<SessionEntry> {
    let files = [file.to_owned()];
    let answers = all_asked(entries, &files).await;
    let has = |unsaved: bool| {
        let held =
            |answer: &HeldFiles| answer.iter().flatten().any(|held| held.path == file && held.unsaved >= unsaved);
        answers.iter().find(|(_, answer)| held(answer)).map(|(entry, _)| (*entry).clone())
    };
    has(true).or_else(|| has(false))
}

async fn all_asked<'e>(entries: &'e [SessionEntry], files: &[PathBuf]) -> Vec<(&'e SessionEntry, HeldFiles)> {
    join_all(entries.iter().map(|entry| async move { (entry, ask(entry, files).await) })).await
}

async fn ask(entry: &SessionEntry, files: &[PathBuf]) -> HeldFiles {
    let asked = async { JoinedSession::to(entry.clone()).await?.owns(files).await };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Ok(held)) => Some(held),
        Ok(Err(failure)) => {
            tracing::info!(session = entry.name, "{}", failure.one_line());
            None
        }
        Err(_) => None,
    }
}

async fn notify(entry: SessionEntry, files: &[PathBuf]) {
    let sent = async { JoinedSession::to(entry).await?.written(files).await };
    if let Ok(Err(failure)) = tokio::time::timeout(PATIENCE, sent).await {
        tracing::info!("{}", failure.one_line());
    }
}
