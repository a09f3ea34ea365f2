//! The one place that every tool call passes before it acts: known, well-formed, in scope, allowed.
//!
//! What decides is the task's own scope, the user's configuration and the user's answers. No text that was read
//! is looked at here, so none can lift a rule.

use serde_json::Value;

use crate::agent::edit::guard;
use crate::agent::state::scope::Scope;
use crate::agent::state::session::Session;
use crate::agent::state::task::Task;
use crate::agent::tools::{NAMES, run_command};
use crate::base::failure::{Failure, FailureKind, tool_failure};
use crate::diagnostics::policy::{Effect, Trace};
use crate::llm::tools::{self, Parameter, ParameterType, Tool};
use crate::symbols::path::SymbolPath;
use crate::workspace::files;

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    Read,
    Write,
    Run,
}

/// `None` for a tool that does not exist.
pub(crate) fn need(tool: &str) -> Option<Need> {
    Some(match tool {
        "read_file" | "read_symbol" | "list_symbols" | "search" => Need::Read,
        "edit_file" | "edit_symbol" | "write_file" | "apply_fix" => Need::Write,
        "run_command" => Need::Run,
        _ => return None,
    })
}

/// Lets a call through, or refuses it before anything is done. A refusal is in the trace with its reason.
pub(crate) async fn gate(session: &Session, task: &mut Task, tool: &str, given: &Value) -> Result<Need, Failure> {
    let passed = check(session, task, tool, given).await;
    if let Err(failure) = &passed
        && failure.kind != FailureKind::Cancelled
    {
        let about = format!("{tool} {}", subject(given));
        task.trace.push(task.counts.step, Trace::new(Effect::Refused, about.trim_end(), "gate", failure.one_line()));
    }
    passed
}

async fn check(session: &Session, task: &mut Task, tool: &str, given: &Value) -> Result<Need, Failure> {
    let need = need(tool).ok_or_else(|| {
        tool_failure(format!("there is no tool named {tool:?}"), format!("the tools are {}", NAMES.join(", ")))
    })?;
    if let Some(known) = tools::find(tool) {
        well_formed(known, given).map_err(|problem| tool_failure(problem, tools::signature(known)))?;
    }
    known_to_git(session, task, given)?;
    match need {
        Need::Read => {}
        Need::Write if task.intent.read_only => return Err(forbidden()),
        Need::Write => writable(session, task, tool, given)?,
        Need::Run => run_command::may_run(session, task, given).await?,
    }
    Ok(need)
}

/// Refuses a file that the project keeps out of version control, where the user has not named it: what is built,
/// fetched or private is no part of the work.
fn known_to_git(session: &Session, task: &Task, given: &Value) -> Result<(), Failure> {
    let named = given["path"].as_str().map(str::to_owned);
    let named = named.or_else(|| given["symbol"].as_str().map(|symbol| SymbolPath::parse(symbol).file));
    let Some(path) = named.filter(|path| !path.is_empty()) else { return Ok(()) };
    // What cannot be resolved is refused by the tool, with its own words.
    let Ok(path) = session.root.resolve(&path) else { return Ok(()) };
    if task.reports.created.contains(&path) || guard::is_named(task, &path) || !files::is_ignored(&session.root, &path)
    {
        return Ok(());
    }
    Err(tool_failure(
        format!("{path} is left out of version control, and the request does not name it"),
        "go on without it; the user can name it in the request",
    ))
}

/// Whether the file that is to be written can belong to the scope. Which of its text may change is checked
/// with the edit itself, in [`crate::agent::edit::change::change`].
fn writable(session: &Session, task: &Task, tool: &str, given: &Value) -> Result<(), Failure> {
    if tool == "apply_fix" {
        let id = given["fix"].as_str().unwrap_or_default();
        let offered = task.conversation.offered.iter().any(|offer| offer.id == id);
        return if offered {
            Ok(())
        } else {
            Err(tool_failure(format!("no fix {id:?} is offered"), "name one that is"))
        };
    }
    let path = given["path"]
        .as_str()
        .map(str::to_owned)
        .unwrap_or_else(|| SymbolPath::parse(given["symbol"].as_str().unwrap_or_default()).file);
    // A bare symbol name is resolved, and then checked, by the tool.
    if path.is_empty() && tool == "edit_symbol" {
        return Ok(());
    }
    let path = session.root.resolve(&path)?;
    let inside = match &task.scope {
        Scope::Workspace => true,
        scope => scope.files().contains(&path),
    };
    if inside { Ok(()) } else { Err(task.scope.outside(&path)) }
}

fn forbidden() -> Failure {
    tool_failure("the request says that nothing may be changed; nothing was written", "answer without an edit")
}

/// What a call is about, in its own words.
fn subject(given: &Value) -> String {
    let named = ["symbol", "path", "fix"].iter().find_map(|key| given[*key].as_str());
    named
        .map_or_else(
            || {
                given["command"]
                    .as_array()
                    .map(|words| words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
            },
            |name| Some(name.to_owned()),
        )
        .unwrap_or_default()
}

/// Every parameter known and of its type, and the required ones there.
fn well_formed(tool: &Tool, given: &Value) -> Result<(), String> {
    let Some(object) = given.as_object() else { return Err(format!("{} takes an object of parameters", tool.name)) };
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let known = tool.parameters.iter().find(|parameter| parameter.name == name);
        let Some(known) = known else { return Err(format!("{} takes no parameter {name:?}", tool.name)) };
        if !fits(known, value) {
            return Err(format!("{}: {name} is of the wrong type", tool.name));
        }
    }
    let missing =
        tool.parameters.iter().find(|known| known.required && object.get(known.name).is_none_or(Value::is_null));
    missing.map_or(Ok(()), |missing| Err(format!("{} needs {}", tool.name, missing.name)))
}

fn fits(parameter: &Parameter, value: &Value) -> bool {
    match parameter.kind {
        ParameterType::Text => value.is_string(),
        ParameterType::Texts => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        ParameterType::Whole => value.is_u64(),
        ParameterType::Flag => value.is_boolean(),
        ParameterType::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::tools::TOOLS;

    #[test]
    fn every_tool_has_a_need_and_a_row() {
        for tool in TOOLS {
            assert!(need(tool.name).is_some() && NAMES.contains(&tool.name), "{}", tool.name);
        }
        assert_eq!(NAMES.len(), TOOLS.len());
        assert_eq!(need("rm"), None);
    }

    #[test]
    fn what_is_not_well_formed_is_told() {
        let check = |tool: &str, given: Value| well_formed(tools::find(tool).unwrap(), &given);
        assert_eq!(check("read_file", json!({"path": "a.py", "limit": null})), Ok(()));
        assert_eq!(check("run_command", json!({"command": ["pytest", "-q"]})), Ok(()));
        for (tool, given) in [
            ("read_file", json!({"path": 1})),
            ("read_file", json!([])),
            ("read_file", json!({"path": "a.py", "user_approved": true})),
            ("edit_symbol", json!({"symbol": "f", "action": "rm", "content": ""})),
            ("edit_symbol", json!({"symbol": "f", "action": "replace"})),
            ("run_command", json!({"command": "rm -rf /"})),
            ("run_command", json!({"command": [1]})),
        ] {
            assert!(check(tool, given.clone()).is_err(), "{tool} {given}");
        }
    }
}
