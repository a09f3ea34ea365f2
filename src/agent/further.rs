//! Further looks of one answer: what a model wants to read besides its action, without another call for each.

use crate::agent::run_loop;
use crate::agent::session::Session;
use crate::agent::task::Task;
use crate::llm::step::{Action, LastResult};
use crate::llm::tools::LOOKS;

/// Runs the further actions of an answer where all of them only look, and none of them otherwise: the model
/// is told which is not allowed. Returns how many results came of it.
pub(crate) async fn look_further(session: &Session, task: &mut Task, more: &[Action]) -> usize {
    if let Some(problem) = refused(more) {
        task.results.push(LastResult { tool: "more".to_owned(), ok: false, text: problem });
        return 1;
    }
    for action in more {
        let (result, _) = run_loop::act(session, task, action, "asked for together").await;
        task.results.push(result);
        // Asked for one at a time, each of them would have been a question of its own.
        task.notes.calls_saved += 1;
    }
    more.len()
}

fn refused(more: &[Action]) -> Option<String> {
    let other = more.iter().find(|action| !LOOKS.contains(&action.tool.as_str()))?;
    Some(format!("`more` takes only {}; {} does more, so none of `more` ran", LOOKS.join(", "), other.tool))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_action_that_edits_stops_all_of_them() {
        let action = |tool: &str| Action { tool: tool.to_owned(), parameters: json!({}) };
        assert_eq!(refused(&[]), None);
        assert_eq!(refused(&[action("read_symbol"), action("search")]), None);
        let said = refused(&[action("read_symbol"), action("write_file")]).unwrap();
        assert!(said.contains("write_file does more, so none"), "{said}");
    }
}
