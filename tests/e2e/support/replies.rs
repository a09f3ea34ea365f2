//! The replies of a model that most tests use.

use serde::Serialize;
use serde_json::{Value, json};

use crate::support::model_server::Reply;

/// The end of a task, with an answer.
pub fn says(answer: impl Serialize) -> Reply {
    Reply::Json(json!({"action": null, "reasoning": "", "continue": false, "confidence": 1, "answer": answer}))
}

/// The parameters of `edit_file`.
pub fn change(path: impl Serialize, old: impl Serialize, new: impl Serialize) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}
