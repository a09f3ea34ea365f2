//! Lists the symbols of a file for a front end, beside any task.

use crate::api::engine::Engine;
use crate::commands::file_outline::{OutlinedSymbol, file_outline};
use sextant_base::failure::Failure;

impl Engine {
    /// The symbols of a file in source order; none where its language has none.
    ///
    /// # Errors
    /// The file is not in the workspace or cannot be read.
    pub async fn file_symbols(&self, file: &str) -> Result<Vec<OutlinedSymbol>, Failure> {
        file_outline(&self.session().workspace, file).await
    }
}
