//! The other live sessions around a workspace, asked over their sockets: who has which file open.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;

use crate::discovery::{SessionEntry, find_sessions, is_editor};
use crate::rpc::rpc_client::JoinedSession;
use sextant_engine::api::{HeldElsewhere, HeldFile, Holding, Neighbours};

/// How long a session may take to say what it has open. It answers in a few milliseconds, unless its editor waits for a
/// key or the machine is busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// What one session has of the files that it was asked about; `None` where it did not say.
type Said = Option<Vec<HeldFile>>;

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
        for (entry, said) in all_asked(&others, files).await {
            let known = said.is_some();
            if !known && !self.others().await.contains(entry) {
                // It ended just now.
                continue;
            }
            let unknown = || files.iter().map(|path| (path.clone(), Holding::Unknown)).collect::<Vec<_>>();
            let of = |file: HeldFile| (file.path, if file.unsaved { Holding::Unsaved } else { Holding::Open });
            let files = said.map_or_else(unknown, |said| said.into_iter().map(of).collect());
            // What is no editor has nothing open that it does not tell of at once.
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
        join_all(self.others().await.into_iter().map(|entry| tell(entry, files))).await;
    }
}

/// The session that has a file open, one with unsaved changes before others; `None` where none has.
pub async fn holder(entries: &[SessionEntry], file: &Path) -> Option<SessionEntry> {
    let files = [file.to_owned()];
    let said = all_asked(entries, &files).await;
    let has = |unsaved: bool| {
        let held = |said: &Said| said.iter().flatten().any(|held| held.path == file && held.unsaved >= unsaved);
        said.iter().find(|(_, said)| held(said)).map(|(entry, _)| (*entry).clone())
    };
    has(true).or_else(|| has(false))
}

async fn all_asked<'e>(entries: &'e [SessionEntry], files: &[PathBuf]) -> Vec<(&'e SessionEntry, Said)> {
    join_all(entries.iter().map(|entry| async move { (entry, ask(entry, files).await) })).await
}

async fn ask(entry: &SessionEntry, files: &[PathBuf]) -> Said {
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

async fn tell(entry: SessionEntry, files: &[PathBuf]) {
    let told = async { JoinedSession::to(entry).await?.written(files).await };
    if let Ok(Err(failure)) = tokio::time::timeout(PATIENCE, told).await {
        tracing::info!("{}", failure.one_line());
    }
}
