//! How far a look over the workspace came.

/// How far a look over the workspace went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Files that a provider has spoken about.
    pub(crate) looked_at: usize,
    /// Files that there are to look at.
    pub(crate) of: usize,
}

impl Reach {
    /// In the words of a summary.
    pub(crate) fn words(self) -> String {
        match (self.looked_at, self.of) {
            (1, 1) => "looked at the one file of the workspace".to_owned(),
            (looked_at, of) if looked_at == of => format!("looked at all {of} files of the workspace"),
            (looked_at, of) => {
                format!("looked at {looked_at} of the {of} files of the workspace, those changed last first")
            }
        }
    }
}

/// What the ending of a name says of a file: its language, where somebody may speak about it.
pub(crate) fn ending(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, ending)| ending)
}
