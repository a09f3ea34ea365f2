//! The other live sessions of a workspace, as far as a change of files concerns them: the files that each has open.

use std::path::PathBuf;

use async_trait::async_trait;

/// The state of a file in another session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Open, as it is on disk.
    Open,
    /// Open, with text that is not on disk.
    Unsaved,
    /// The session did not answer: its editor may wait for a key.
    Unknown,
}

/// A file that another session has, or may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldElsewhere {
    pub path: PathBuf,
    pub session: String,
    pub pid: u32,
    pub how: Holding,
}

/// Asks the other sessions. Paths are absolute and without links, since workspaces may lie in each other.
#[async_trait]
pub trait Neighbours: Send + Sync {
    /// The sessions that have one of these files.
    async fn holding(&self, files: &[PathBuf]) -> Vec<HeldElsewhere>;

    /// Informs them that these files were written.
    async fn written(&self, files: &[PathBuf]);
}
