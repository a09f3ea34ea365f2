//! Checks a plan against the project as it is: symbols, tools, references, scope. Nothing has run then.

use crate::diagnostics::collect_diagnostics;
use crate::memory::{self, chosen_preferences};
use crate::plan::inputs::{self, Input, TARGET, Value};
use crate::plan::step_numbers::StepFault;
use crate::plan::{Plan, Step, StepExtent, StepKind, StepState, check_criteria};
use crate::state::approvals::Approvals;
use crate::state::diagnostics_hub::DiagnosticsHub;
use crate::state::edit_service::EditService;
use crate::state::task::TaskWork;
use crate::state::task_scope::Scope;
use crate::state::task_store::TaskStore;
use crate::state::workspace::Workspace;
use crate::tools::{check, run_command, tool_list};
use crate::{step_executors, target};
use sextant_base::failure::Failure;
use sextant_model::step::{Model, PlanReply, PlanReplyStep};
use sextant_model::tools::ToolSpec;
use sextant_store::workspace::root::Root;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The fault of a reply that leaves the user with nothing.
const NO_STEPS: &str = "it has no step, and no reason for that: add steps, or the reason why nothing is to be done";

/// The steps of a reply as a plan, numbered behind those that are kept; or all of their faults. A step outside the scope
/// is a fault in a plan that runs at once, and marked in one that waits for the user.
pub(crate) async fn validate(
    edits: &EditService,
    scope: &Scope,
    reply: PlanReply,
    kept: &[Step],
    is_shown: bool,
) -> Result<Plan, Vec<String>> {
    let mut problems = Vec::new();
    if reply.steps.is_empty() && kept.is_empty() && reply.reason.trim().is_empty() {
        problems.push(NO_STEPS.to_owned());
    }
    let mut steps: Vec<Step> = Vec::new();
    for (index, given) in reply.steps.into_iter().enumerate() {
        let number = kept.len() + index + 1;
        let before: Vec<&Step> = kept.iter().chain(&steps).collect();
        let (given, mut wrong) = ReadStep::of_reply(given);
        let (step, more) = check_step(edits, scope, given, &before).await;
        wrong.extend(more);
        problems.extend(wrong.into_iter().map(|fault| format!("step {number}: {}", fault.message)));
        let outside = step.extent.outside.iter().filter(|_| !is_shown);
        problems.extend(outside.map(|path| format!("step {number}: {path} is outside {}", scope.names().join(", "))));
        steps.push(step);
    }
    if problems.is_empty() {
        let declined = reply.declined;
        Ok(Plan { title: reply.title, reason: reply.reason, steps, declined, ..Plan::default() })
    } else {
        Err(problems)
    }
}

/// A step as it is found in the project, and its faults.
type Checked = (Step, Vec<StepFault>);

/// A step before the project is asked: its symbols are paths as they were written.
pub(crate) struct ReadStep {
    step: Step,
    symbols: Vec<String>,
    creates: Vec<String>,
}

impl ReadStep {
    pub(crate) fn of(step: Step) -> Self {
        let texts = |list: &[SymbolPath]| list.iter().map(ToString::to_string).collect();
        Self { symbols: texts(&step.symbols), creates: texts(&step.extent.creates), step }
    }

    /// Reads the words of a reply, and names their faults.
    fn of_reply(given: PlanReplyStep) -> (Self, Vec<StepFault>) {
        let mut problems = Vec::new();
        let kind = StepKind::parse(&given.kind).unwrap_or_else(|| {
            problems.push(StepFault::of("kind", format!("there is no kind {:?}", given.kind)));
            StepKind::Edit
        });
        let inputs = inputs::parse(&given.with.join(", ")).unwrap_or_else(|problem| {
            problems.push(StepFault::of("with", problem));
            Vec::new()
        });
        let mut checks = Vec::new();
        for text in &given.checks {
            match check_criteria::parse(text) {
                Ok(check) => checks.push(check),
                Err(problem) => problems.push(StepFault::of("check", problem)),
            }
        }
        let PlanReplyStep { title, symbols, because, expect, after, creates, fallback, .. } = given;
        let step = Step { title, kind, because, expect, inputs, after, checks, fallback, ..Step::default() };
        (Self { step, symbols, creates }, problems)
    }
}

/// Checks one step that follows these. What the scope does not hold is marked in it.
pub(crate) async fn check_step(edits: &EditService, scope: &Scope, given: ReadStep, before: &[&Step]) -> Checked {
    let mut problems = Vec::new();
    let Step { title, kind, because, expect, inputs, after, checks, fallback, .. } = given.step;
    problems.extend(without_tools(kind, tool_list::specs()).map(|problem| StepFault::of("kind", problem)));
    problems.extend(references(&inputs, &after, before));
    for input in &inputs {
        if matches!(input.value, Value::Preference(_) | Value::Variable(_))
            && session_value(&edits.store, &input.value).await.is_none()
        {
            problems.push(StepFault::of("with", format!("{} is not known in this session", input.value)));
        }
    }
    let unknown = unknown_commands(&edits.hub, &edits.approvals, &checks).await;
    problems.extend(unknown.into_iter().map(|problem| StepFault::of("check", problem)));
    let symbols = symbols_of(&edits.workspace, &given.symbols, &given.creates, before, &mut problems).await;
    let creates = created_by(&edits.workspace.root, &given.creates, &mut problems);
    let has_target = inputs.iter().any(|input| input.name == TARGET && input.value.names_symbols());
    let searches =
        kind == StepKind::Search && !step_executors::search_step::terms(&title, &as_texts(&inputs)).is_empty();
    if given.symbols.is_empty() && creates.is_empty() && !has_target && kind != StepKind::Search {
        problems.push(StepFault::of("symbols", "it names no symbol: add `symbols: FILE::NAME` to it"));
    }
    if kind == StepKind::Search && !searches {
        problems.push(StepFault::of("", "a search needs words: `…` in its title, or an input pattern or terms"));
    }
    if kind.only_looks() && !creates.is_empty() {
        problems.push(StepFault::of("creates", format!("a step of kind {} creates nothing", kind.name())));
    }
    let mut step = Step {
        title,
        kind,
        symbols,
        because,
        expect,
        inputs,
        after,
        extent: StepExtent { creates, ..StepExtent::default() },
        checks,
        // Another look would need a model to think of it.
        fallback: if kind.only_looks() { String::new() } else { fallback },
        ..Step::default()
    };
    step.extent.outside = outside(scope, &step);
    (step, problems)
}

/// The symbols that a step changes, and those that it makes, without what the scope holds.
pub(crate) fn outside(scope: &Scope, step: &Step) -> Vec<SymbolPath> {
    if step.kind.only_looks() {
        return Vec::new();
    }
    let changed = step.symbols.iter().filter(|symbol| !within(scope, symbol));
    changed.chain(step.extent.creates.iter().filter(|new| !may_create(scope, new))).cloned().collect()
}

/// Each symbol exists, or an earlier step creates it.
async fn symbols_of(
    workspace: &Workspace,
    given: &[String],
    creates: &[String],
    before: &[&Step],
    problems: &mut Vec<StepFault>,
) -> Vec<SymbolPath> {
    let mut symbols = Vec::new();
    for text in given {
        let path = planned_file(&workspace.root, text, before);
        let is_own = |new: &String| new.trim_start_matches("./") == text.trim_start_matches("./");
        let made_before = before
            .iter()
            .any(|step| step.state != StepState::Done && step.extent.creates.iter().any(|new| makes(new, &path)));
        let found = match target::planned_path(workspace, text).await {
            Err(_) if made_before => Ok(path),
            // A symbol that the step makes itself is in its scope.
            Err(_) if creates.iter().any(is_own) => continue,
            found => found,
        };
        match found {
            Ok(symbol) => symbols.push(symbol),
            Err(failure) => problems.push(StepFault::of("symbols", failure.one_line())),
        }
    }
    symbols
}

/// A symbol as an earlier step creates it. A file without an ending, such as `Makefile`, reads as a bare name.
fn planned_file(root: &Root, text: &str, before: &[&Step]) -> SymbolPath {
    let path = target::written(root, text);
    let mut made = before.iter().flat_map(|step| &step.extent.creates).filter(|new| new.names.is_empty());
    match path.file.is_empty() {
        true if made.any(|new| new.file == path.names) => SymbolPath::new(path.names, ""),
        true => path,
        false => SymbolPath::new(root.resolve(&path.file).unwrap_or(path.file), path.names),
    }
}

/// Files whose usual name has no ending: it reads as the name of a symbol.
const BARE_FILES: [&str; 8] =
    ["CHANGELOG", "Dockerfile", "Gemfile", "Jenkinsfile", "Justfile", "LICENSE", "Makefile", "README"];

/// New symbols and files: inside the root, with a path.
fn created_by(root: &Root, given: &[String], problems: &mut Vec<StepFault>) -> Vec<SymbolPath> {
    let mut wrong = |message: String| problems.push(StepFault::of("creates", message));
    let mut creates = Vec::new();
    for text in given {
        let mut path = target::written(root, text);
        if path.file.is_empty() && BARE_FILES.contains(&&*path.names) {
            path = SymbolPath::new(path.names, "");
        }
        if path.file.is_empty() {
            wrong(format!("creates {text:?}: give the full path, path::name, or ./{text} for a file"));
            continue;
        }
        match root.resolve(&path.file) {
            Ok(file) => creates.push(SymbolPath::new(file, path.names)),
            Err(error) => wrong(Failure::from(error).one_line()),
        }
    }
    creates
}

/// The problems of checks by command: each needs a command that has reported, or one that may be run.
async fn unknown_commands(
    hub: &DiagnosticsHub,
    approvals: &Approvals,
    checks: &[check_criteria::Criterion],
) -> Vec<String> {
    let mut problems = Vec::new();
    for check in checks {
        if let check_criteria::Criterion::CommandPasses(name) = check {
            let command: Vec<String> = name.split(' ').map(str::to_owned).collect();
            if reported_by(hub, name).await.is_none()
                && let Some(why) = run_command::cannot_run(&hub.workspace, approvals, &command)
            {
                problems.push(format!("check `{check}`: no command {name} has reported, and {}", why.message));
            }
        }
    }
    problems
}

/// How much a configured command reports under this name; `None` where it has no report.
async fn reported_by(hub: &DiagnosticsHub, name: &str) -> Option<usize> {
    let known = collect_diagnostics::known(hub).await;
    let own = known.iter().filter(|((_, provider), _)| provider.strip_prefix("tool:") == Some(name));
    own.map(|(_, snap)| snap.diagnostics.len()).reduce(|all, more| all + more)
}

/// The result of a check by command: by the reports under its name, else by running it.
pub(crate) async fn command_stands(
    edits: &EditService,
    model: &dyn Model,
    work: &TaskWork,
    name: &str,
) -> check_criteria::CheckResult {
    use check_criteria::CheckResult;
    if let Some(count) = reported_by(&edits.hub, name).await {
        return if count > 0 { CheckResult::Unmet(format!("{name} reports {count}")) } else { CheckResult::Met };
    }
    let command: Vec<String> = name.split(' ').map(str::to_owned).collect();
    match check::run_check(edits, model, work, &command).await {
        Ok(ran) if ran.passed => CheckResult::Met,
        Ok(ran) => CheckResult::Unmet(ran.text),
        Err(refused) => CheckResult::Unknown(refused.message),
    }
}

/// The session's value for a reference to it; `None` where there is none.
pub(crate) async fn session_value(store: &TaskStore, value: &Value) -> Option<String> {
    let found = match value {
        Value::Preference(key) => chosen_preferences::preferences(store).await.remove(key),
        Value::Variable(name) => {
            let remember = memory::remember(store).await?;
            let (owner, name) = (remember.session.clone(), name.clone());
            remember.run(move |memory| Ok(memory.variable(&owner, &name))).await.ok().flatten()
        }
        Value::Text(_) | Value::Step(..) => None,
    };
    found.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// The inputs as far as they are known before anything has run.
fn as_texts(inputs: &[Input]) -> Vec<(String, String)> {
    let text = |input: &Input| match &input.value {
        Value::Text(text) => text.clone(),
        // Stands for any later output; its words are known when the step runs.
        _ => "x::x".to_owned(),
    };
    inputs.iter().map(|input| (input.name.clone(), text(input))).collect()
}

fn without_tools(kind: StepKind, there: &[ToolSpec]) -> Option<String> {
    let served = there.iter().any(|tool| tool.steps.contains(&kind.name()));
    (!served).then(|| format!("no tool is there for a step of kind {}", kind.name()))
}

/// The faults of references: they must go to earlier steps that can still have an output.
fn references(inputs: &[Input], after: &[usize], before: &[&Step]) -> Vec<StepFault> {
    let mut problems = Vec::new();
    let mut check = |detail: &'static str, number: usize, what: String| {
        let wrong = match number.checked_sub(1).and_then(|index| before.get(index)) {
            None => "is not an earlier step",
            Some(step) if matches!(step.state, StepState::Failed | StepState::Skipped) => "came to nothing",
            Some(_) => return,
        };
        problems.push(StepFault::of(detail, format!("{what}: step {number} {wrong}")));
    };
    for input in inputs {
        if let Some(number) = input.value.step() {
            check("with", number, input.value.to_string());
        }
    }
    after.iter().for_each(|number| check("after", *number, format!("after {number}")));
    problems
}

/// A new file makes all that is in it; a new symbol makes the content of the symbol.
fn makes(new: &SymbolPath, path: &SymbolPath) -> bool {
    new.file == path.file
        && (new.names.is_empty() || new.names == path.names || path.names.starts_with(&format!("{}::", new.names)))
}

/// A file in the scope allows its module level as well.
pub(crate) fn within(scope: &Scope, symbol: &SymbolPath) -> bool {
    scope.holds(symbol)
}

/// True if a new symbol has its place beside changeable ones: in its parent, or in the file.
fn may_create(scope: &Scope, symbol: &SymbolPath) -> bool {
    scope.holds(symbol) || scope.holds(&place_of(symbol))
}

/// The place of a new symbol: the symbol around it, or the module level of its file.
pub(crate) fn place_of(new: &SymbolPath) -> SymbolPath {
    let parent = new.names.rsplit_once("::").map_or("", |(parent, _)| parent);
    SymbolPath::new(&new.file, parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sextant_model::tools::Access;

    #[test]
    fn references_go_back_to_steps_that_gave_something() {
        let done = Step { state: StepState::Done, ..Step::default() };
        let failed = Step { state: StepState::Failed, ..Step::default() };
        let before = [&done, &failed];
        let inputs = inputs::parse("a = step1.output, b = step2.symbol, c = step3.files, d = text").unwrap();
        let problems = references(&inputs, &[1, 4], &before);
        assert_eq!(
            problems,
            [
                StepFault::of("with", "step2.symbol: step 2 came to nothing"),
                StepFault::of("with", "step3.files: step 3 is not an earlier step"),
                StepFault::of("after", "after 4: step 4 is not an earlier step")
            ]
        );
    }

    #[test]
    fn a_kind_without_its_tools_is_said_before_the_start() {
        for (_, kind) in StepKind::ALL {
            assert_eq!(without_tools(kind, tool_list::specs()), None);
        }
        let edits: Vec<ToolSpec> =
            tool_list::specs().iter().filter(|tool| tool.access == Access::Edit).cloned().collect();
        assert_eq!(without_tools(StepKind::Edit, &edits), None);
        let problem = without_tools(StepKind::Search, &edits).unwrap();
        assert_eq!(problem, "no tool is there for a step of kind search");
    }

    #[test]
    fn what_is_new_belongs_where_it_is_put() {
        let path = SymbolPath::parse;
        assert!(makes(&path("a.py"), &path("a.py::f")) && makes(&path("a.py::C"), &path("a.py::C::m")));
        assert!(!makes(&path("a.py::C"), &path("a.py::Cart")) && !makes(&path("a.py::f"), &path("a.py")));
        assert_eq!(place_of(&path("a.py::C::m")), path("a.py::C"));
        assert_eq!(place_of(&path("a.py::f")), path("a.py"));
        let class = Scope::Symbols(vec![path("a.py::C")]);
        assert!(may_create(&class, &path("a.py::C::new")) && !may_create(&class, &path("a.py::new")));
        assert!(may_create(&Scope::Workspace, &path("new.py")));
        assert!(!may_create(&Scope::Files(vec!["a.py".into()]), &path("new.py")));
    }
}
