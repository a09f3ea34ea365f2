//! Lists the symbols of a file, or names of the workspace, for a front end, beside any task.

use crate::api::engine::Engine;
use crate::commands::file_outline::{OutlinedSymbol, file_outline};
use crate::commands::names_starting::{StartingNames, names_starting};
use sextant_base::failure::Failure;

impl Engine {
    /// The symbols of a file in source order; none where its language has none.
    ///
    /// # Errors
    /// The file is not in the workspace or cannot be read.
    pub async fn file_symbols(&self, file: &str) -> Result<Vec<OutlinedSymbol>, Failure> {
        file_outline(&self.session().workspace, file).await
    }

    /// The symbols of the workspace's files that begin with these letters, as far as a moment is enough to find them.
    pub async fn names_starting(&self, lead: &str) -> StartingNames {
        names_starting(&self.session().workspace, lead).await
    }
}
