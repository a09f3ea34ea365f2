//! Checks every tool call before it acts: known, well-formed, in scope, allowed.
//!
//! The task's own scope, the user's configuration and the user's answers decide. No text that was read is looked at
//! here, so no text can lift a rule.

use serde_json::{Map, Value};

use crate::edit::edit_guard;
use crate::state::approvals::Approvals;
use crate::state::asked_rename;
use crate::state::call_summary::Subject;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::tool::{ToolCall, ToolDefinition};
use crate::tools::tool_list;
use sextant_base::failure::{Failure, FailureKind, tool_failure};
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::tools::{Access, names};
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;
use sextant_text::symbols::symbol_path::SymbolPath;

/// A call as its tool takes it. A model's call was validated where its reply was read. A call from elsewhere that does
/// not fit is refused here, in the same words.
pub(crate) fn call(name: &str, given: &Value) -> Result<ToolCall, Failure> {
    let unknown = || {
        let known = format!("the tools are {}", names(tool_list::specs()));
        tool_failure(format!("there is no tool named {name:?}"), known)
    };
    read(tool_list::definition(name).ok_or_else(unknown)?, given)
}

/// A call of a client outside.
pub(crate) fn call_outside(name: &str, given: &Value) -> Result<ToolCall, Failure> {
    let known = || tool_list::for_clients().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
    let unknown = || {
        let shown: String = name.chars().take(40).collect();
        tool_failure(format!("there is no tool named {shown:?}"), format!("the tools are {}", known()))
    };
    read(tool_list::for_clients().find(|tool| tool.name == name).ok_or_else(unknown)?, given)
}

fn read(tool: &'static ToolDefinition, given: &Value) -> Result<ToolCall, Failure> {
    let name = tool.name;
    let Some(object) = given.as_object() else {
        return Err(tool_failure(format!("{name} takes an object of parameters"), "give the parameters that it names"));
    };
    let present = object.iter().filter(|(_, value)| !value.is_null());
    let present: Map<String, Value> = present.map(|(name, value)| (name.clone(), value.clone())).collect();
    tool.call(Value::Object(present)).map_err(|error| {
        let why = tool.spec().fit(object).err().unwrap_or_else(|| format!("{name}: {error}"));
        tool_failure(why, "give the parameters that the tool names")
    })
}

/// Lets a call through, or refuses it before anything is done. A refusal is in the trace with its reason; so is that of
/// an unreadable call.
pub(crate) async fn gate(
    workspace: &Workspace,
    approvals: &Approvals,
    work: &TaskWork,
    tool: &str,
    read: Result<ToolCall, Failure>,
) -> Result<ToolCall, Failure> {
    let about = read.as_ref().map(|call| call.subject().traced()).unwrap_or_default();
    let passed = match read {
        Ok(call) => check(workspace, approvals, work, &call).await.map(|()| call),
        Err(failure) => Err(failure),
    };
    if let Err(failure) = &passed
        && failure.kind != FailureKind::Cancelled
    {
        let about = format!("{tool} {about}");
        work.events.trace(work.step, Trace::new(Effect::Refused, about.trim_end(), "gate", failure.one_line()));
    }
    passed
}

async fn check(workspace: &Workspace, approvals: &Approvals, work: &TaskWork, call: &ToolCall) -> Result<(), Failure> {
    let subject = call.subject();
    known_to_git(&workspace.root, work, &subject)?;
    if call.access() == Access::Edit {
        if work.intent.read_only {
            return Err(forbidden());
        }
        writable(&workspace.root, work, &subject)?;
    }
    call.permit(workspace, approvals, &work.events, &work.reports.offers).await
}

/// Refuses a file that the project keeps out of version control, where the user has not named it. Built, fetched and
/// private files are no part of the work.
fn known_to_git(root: &Root, work: &TaskWork, subject: &Subject) -> Result<(), Failure> {
    let Some(path) = subject.place() else { return Ok(()) };
    // The tool refuses an unresolvable path, with its own words.
    let Ok(path) = root.resolve(&path) else { return Ok(()) };
    if work.reports.created.contains(&path)
        || edit_guard::is_named(work, &path)
        || !workspace_files::is_ignored(root, &path)
    {
        return Ok(());
    }
    // A client outside has no request.
    let (why, way_out) = match work.intent.client {
        Some(_) => ("", "go on without it, or let the user make this change"),
        None => (", and the request does not name it", "go on without it; the user can name it in the request"),
    };
    Err(tool_failure(format!("{path} is left out of version control{why}"), way_out))
}

/// Refuses a file that cannot belong to the scope. The edit itself checks which part of its text may change, in
/// [`crate::edit::change::change`].
fn writable(root: &Root, work: &TaskWork, subject: &Subject) -> Result<(), Failure> {
    // The tool resolves, and then checks, a subject without a file: a symbol's bare name, an offered fix.
    let of_symbol = || subject.symbol.as_ref().map(|symbol| target::written_symbol(root, symbol).file);
    let path = subject.file.clone().or_else(of_symbol).filter(|path| !path.is_empty());
    let Some(path) = path else { return Ok(()) };
    let path = root.resolve(&path)?;
    if subject.file.is_none() && !root.join(&path).exists() {
        // A part of a path: the tool looks for the file.
        return Ok(());
    }
    let symbol = subject.symbol.as_ref().map(|symbol| SymbolPath::new(&*path, SymbolPath::parse(symbol).names));
    let inside = match &work.scope {
        Scope::Workspace => true,
        scope => scope.files().contains(&path) || symbol.is_some_and(|one| asked_rename::is_wide(work, &one, None)),
    };
    if inside { Ok(()) } else { Err(work.scope.outside(&path)) }
}

fn forbidden() -> Failure {
    tool_failure("the request says that nothing may be changed; nothing was written", "answer without an edit")
}
