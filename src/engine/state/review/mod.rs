//! The review of a workspace: the agent's changes that the user has not accepted or rejected yet.

pub(crate) mod file_review;
mod redone_edits;
mod retrace;
pub(crate) mod review_hunk;
pub(crate) mod review_store;
pub(crate) mod workspace_review;

#[cfg(test)]
mod tests;
