//! The other live sessions of a workspace, as far as a change of files concerns them: who else has which file open.

use std::path::PathBuf;

use async_trait::async_trait;

/// How another session has a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// Open, as it is on disk.
    Open,
    /// Open, with text that is on no disk.
    Unsaved,
    /// It did not say: its editor may wait for a key.
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
    /// Who else has one of these files.
    async fn holding(&self, files: &[PathBuf]) -> Vec<HeldElsewhere>;

    /// Tells them that these files were written.
    async fn written(&self, files: &[PathBuf]);
}
