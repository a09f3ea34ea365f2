//! Runs the requests of a model besides tools: a question to the user, a wider scope, another plan, the end.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::edit::questions::{self, UserQuestion};
use crate::editor::event::QuestionKind;
use crate::events::fact::TaskFact;
use crate::plan::plan_progress::{Objection, PlanProgress};
use crate::plan::work_mode::Mode;
use crate::state::approvals::UserAnswer;
use crate::state::edit_service::EditService;
use crate::state::outcome::Ended;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::workspace::Workspace;
use crate::target;
use crate::tools::tool::schema;
use sextant_base::failure::{Failure, tool_failure};
use sextant_base::one_line::clean;
use sextant_diagnostics::policy::{Effect, Trace};
use sextant_model::chat::ToolUse;
use sextant_model::plan_contract::Contract;
use sextant_model::step::Model;
use sextant_model::tools::{Access, ToolSpec};
use sextant_store::workspace::auto_executed;
use sextant_text::symbols::symbol_path::SymbolPath;

const ASK_USER: &str = "ask_user";
/// The only option of a question that the model asks without any.
const OPEN: &str = "decide it yourself";
const REPLAN: &str = "replan";
pub(crate) const DONE: &str = "done";

#[derive(Debug, Deserialize, JsonSchema)]
struct AskUser {
    question: String,
    /// Answers to choose from.
    options: Option<Vec<String>>,
    /// Files and symbols that the task asks the user to let it edit.
    allow: Option<Vec<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Replan {
    reason: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct DoneParams {
    answer: String,
}

static CONTROLS: LazyLock<[ToolSpec; 3]> = LazyLock::new(|| {
    let spec = |name: &str, purpose: &str, schema: Value| ToolSpec::new(name, purpose, Access::Read, vec![], schema);
    [
        spec(
            ASK_USER,
            "only where the request leaves open what matters, or an edit outside of \"May edit\" is needed: name it in allow",
            schema::<AskUser>(),
        ),
        spec(REPLAN, "ends the step: what you see makes the plan itself wrong", schema::<Replan>()),
        spec(
            DONE,
            "last call: ends with this answer if all before it passes and nothing new is reported",
            schema::<DoneParams>(),
        ),
    ]
});

/// The controls that the mode of the task offers. A question needs somebody who can answer; a plan that was agreed with
/// the user waits for the answer.
pub(crate) fn offered(mode: Mode, can_ask: bool) -> impl Iterator<Item = &'static ToolSpec> {
    let asks = can_ask || mode == Mode::Supervised;
    let replans = mode == Mode::Planner;
    CONTROLS.iter().filter(move |tool| match tool.name.as_str() {
        REPLAN => replans,
        ASK_USER => asks,
        _ => true,
    })
}

/// Outcome of a use.
pub(crate) enum Control {
    /// The answer to the model.
    Answer(Result<String, Failure>),
    Ends(Ended),
    /// The task is done, with the model's answer, where the calls that it sent along hold.
    Done(String),
}

/// Carries out a use that is a control; `None` for a tool.
pub(crate) async fn run(
    edits: &EditService,
    model: &dyn Model,
    work: &mut TaskWork,
    course: &PlanProgress,
    used: &ToolUse,
) -> Option<Control> {
    match used.tool.as_str() {
        REPLAN => Some(match read::<Replan>(&used.parameters) {
            Ok(Replan { reason }) => Control::Ends(objects(reason, String::new(), Vec::new())),
            Err(failure) => Control::Answer(Err(failure)),
        }),
        DONE => Some(match read::<DoneParams>(&used.parameters) {
            Ok(DoneParams { answer }) => Control::Done(answer),
            Err(failure) => Control::Answer(Err(failure)),
        }),
        ASK_USER => Some(match read::<AskUser>(&used.parameters) {
            // A plan that was agreed with the user waits for the user with its own question, in another process too.
            Ok(asked) if matches!(course.contract, Contract::Supervised(_)) => {
                Control::Ends(objects(asked.question.clone(), asked.question, asked.options.unwrap_or_default()))
            }
            Ok(asked) => Control::Answer(ask(edits, model, work, asked).await),
            Err(failure) => Control::Answer(Err(failure)),
        }),
        _ => None,
    }
}

fn read<T: DeserializeOwned>(given: &Value) -> Result<T, Failure> {
    serde_json::from_value(given.clone()).map_err(|error| tool_failure(error.to_string(), "give what it names"))
}

fn objects(reason: String, question: String, options: Vec<String>) -> Ended {
    Ended::Objected(Objection { reason, question, options })
}

async fn ask(edits: &EditService, model: &dyn Model, work: &mut TaskWork, asked: AskUser) -> Result<String, Failure> {
    let question = clean(&asked.question);
    let wanted = wider(&edits.workspace, &work.scope, &asked.allow.unwrap_or_default()).await?;
    let names: Vec<String> = wanted.iter().map(ToString::to_string).collect();
    let (text, options) = if names.is_empty() {
        let given: Vec<String> = asked.options.unwrap_or_default().iter().map(|option| clean(option)).collect();
        // An open question is answered in words; each door needs an option as well.
        let options = if given.is_empty() { vec![OPEN.to_owned()] } else { given };
        (question.clone(), options)
    } else {
        let names = names.join(", ");
        (format!("{question} (this lets the task edit {names})"), vec![format!("yes, edit {names}"), "no".to_owned()])
    };
    // A scope that names a file is the user's word for it. Nobody gives that word beforehand for a file that something
    // runs.
    let runs = wanted.iter().any(|path| auto_executed::runs(&edits.workspace.root, &path.file, [""; 2]).is_some());
    let kind = match () {
        () if runs => QuestionKind::File,
        () if names.is_empty() => QuestionKind::Ask,
        () => QuestionKind::Scope,
    };
    let began = std::time::Instant::now();
    let answered = questions::ask_user(&edits.approvals, UserQuestion::of(kind, &text, &options));
    let answer = edits.hub.cancelled().run_until_cancelled_owned(answered).await;
    let answer = answer.unwrap_or_else(|| Err(Failure::cancelled()));
    work.events.did(TaskFact::UserWaited { time: began.elapsed() });
    let answer = answer.map_err(|failure| {
        tool_failure(failure.message, "go on without it, within \"May edit\"; say in your answer what is left")
    })?;
    let (choice, answer) = match answer {
        UserAnswer::Option(choice) => (choice, options.get(choice.saturating_sub(1)).cloned().unwrap_or_default()),
        UserAnswer::Words(words) => (0, words),
    };
    work.events.trace(work.step, Trace::new(Effect::Asked, &text, model.name(), &answer));
    if wanted.is_empty() {
        return Ok(format!("The user answers: {answer}"));
    }
    if choice != 1 {
        work.intent.consent.declined.extend(names);
        return Ok(format!("The user answers: {answer}. \"May edit\" stays as it is."));
    }
    work.scope = work.scope.widened(&wanted);
    Ok(format!("The user answers: yes. May edit now: {}", work.scope.described().join(", ")))
}

/// The files and symbols that a model names; each of them exists or may be created.
async fn wider(workspace: &Workspace, scope: &Scope, given: &[String]) -> Result<Vec<SymbolPath>, Failure> {
    let mut wanted = Vec::new();
    for text in given {
        let path = SymbolPath::parse(text);
        let known = match target::full_path(workspace, text).await {
            Ok(known) => known,
            // A file or symbol to create.
            Err(_) if !path.file.is_empty() => SymbolPath::new(workspace.root.resolve(&path.file)?, path.names),
            Err(failure) => match workspace.root.resolve(text) {
                Ok(file) if workspace.root.join(&file).is_file() => SymbolPath::new(file, ""),
                _ => return Err(failure),
            },
        };
        if !scope.holds(&known) && !wanted.contains(&known) {
            wanted.push(known);
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_can_be_objected_to_only_where_there_is_one() {
        let names = |mode: Mode| -> Vec<&str> { offered(mode, true).map(|tool| tool.name.as_str()).collect() };
        assert_eq!(names(Mode::Simple), ["ask_user", "done"]);
        assert_eq!(names(Mode::Supervised), ["ask_user", "done"]);
        assert_eq!(names(Mode::Planner), ["ask_user", "replan", "done"]);
        assert_eq!(offered(Mode::Simple, false).count(), 1, "nobody is there");
        assert_eq!(offered(Mode::Supervised, false).count(), 2);
    }
}
