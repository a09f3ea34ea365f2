//! Tests the modules with scripted tools: which parts they look at, in which order, and which run at once.

use std::sync::Mutex;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::Barrier;

use crate::plan::{StepKind, StepState};
use crate::step_executors::module::{ModuleContext, ModuleResult, ReadAction, ReadOnlyTools};
use crate::step_executors::{run_at_once, validate};
use sextant_base::failure::{Failure, tool_failure};
use sextant_text::symbols::symbol_path::SymbolPath;

/// Answers from a table and records the questions, in order.
struct Scripted {
    log: Mutex<Vec<String>>,
    /// The first look of each step waits here until all of them are there.
    meeting: Option<Barrier>,
}

impl Scripted {
    fn new(meeting: Option<Barrier>) -> Self {
        Self { log: Mutex::default(), meeting }
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

#[async_trait]
impl ReadOnlyTools for Scripted {
    async fn look(&self, context: &ModuleContext, tool: &str, parameters: Value) -> Result<String, Failure> {
        let given = ["query", "path", "symbol", "pattern"].iter().find_map(|key| parameters[*key].as_str());
        let given = given.unwrap_or_default();
        let first = !self.log().iter().any(|line| line.starts_with(&format!("{} ", context.number)));
        self.log.lock().unwrap().push(format!("{} {tool} {given}", context.number));
        if let Some(meeting) = self.meeting.as_ref().filter(|_| first) {
            meeting.wait().await;
        }
        match (tool, given) {
            (_, given) if given.contains("gone") => Err(tool_failure("no single symbol gone", "")),
            ("search", "nowhere") => Ok("nothing matches \"nowhere\"".into()),
            ("search", _) => Ok("a.py::f:3: f()\nb.py:1: from a import f\nb.py::g:4: f()".into()),
            _ => Ok(format!("text of {given}")),
        }
    }

    async fn reported(&self, context: &ModuleContext, symbol: &SymbolPath) -> Vec<String> {
        self.log.lock().unwrap().push(format!("{} reported {symbol}", context.number));
        vec![format!("error {symbol}:1 E1 wrong")]
    }
}

fn step(number: usize, kind: StepKind, title: &str, symbols: &[&str]) -> ModuleContext {
    let symbols = symbols.iter().map(|text| SymbolPath::parse(text)).collect();
    ModuleContext { number, title: title.into(), kind, symbols, ..ModuleContext::default() }
}

async fn one(context: ModuleContext) -> (ModuleResult, Vec<String>) {
    let eyes = Scripted::new(None);
    let mut results = run_at_once(&[context], &eyes).await;
    (results.remove(0), eyes.log())
}

#[tokio::test]
async fn an_examination_goes_from_the_outline_to_the_sources_to_what_is_reported() {
    let (result, log) = one(step(1, StepKind::Examine, "look", &["a.py::f", "a.py::g"])).await;
    assert_eq!(
        log,
        [
            "1 list_symbols a.py",
            "1 read_symbol a.py::f",
            "1 read_symbol a.py::g",
            "1 reported a.py::f",
            "1 reported a.py::g"
        ]
    );
    assert!(result.error.is_none() && result.parts.iter().all(|part| part.state == StepState::Done));
    assert!(result.output.text.contains("E1 wrong") && result.output.text.contains("text of a.py::g"));
    assert_eq!(result.output.files, ["a.py"]);
}

#[tokio::test]
async fn an_examination_of_what_is_not_there_fails_and_shows_how_far_it_came() {
    let (result, _) = one(step(1, StepKind::Examine, "look", &["a.py::gone"])).await;
    assert!(result.error.is_some_and(|error| error.contains("gone")));
    let states: Vec<StepState> = result.parts.iter().map(|part| part.state).collect();
    assert_eq!(states, [StepState::Done, StepState::Failed, StepState::Done]);
    let (result, log) = one(step(1, StepKind::Examine, "look", &[])).await;
    assert!(result.error.is_some_and(|error| error.contains("nothing to look at")) && log.is_empty());
}

#[tokio::test]
async fn a_search_reads_the_symbols_that_it_finds() {
    let (result, log) = one(step(2, StepKind::Search, "find `f`", &[])).await;
    assert_eq!(log, ["2 search f", "2 read_symbol a.py::f", "2 read_symbol b.py::g"]);
    let symbols: Vec<String> = result.output.symbols.iter().map(ToString::to_string).collect();
    assert_eq!(symbols, ["a.py::f", "b.py", "b.py::g"]);
    assert_eq!(result.parts[0].title, "look for f");
    let (result, _) = one(step(2, StepKind::Search, "find `f`", &["b.py"])).await;
    assert_eq!(result.output.files, ["b.py"], "its symbols say where to look");
    let (result, _) = one(step(2, StepKind::Search, "find `nowhere`", &[])).await;
    assert_eq!(result.error.as_deref(), Some("nothing was found"));
}

#[tokio::test]
async fn looks_run_at_once_and_their_results_come_in_order() {
    // Each step's first look waits for the other two: one after the other, they would never end.
    let eyes = Scripted::new(Some(Barrier::new(3)));
    let contexts = [
        step(1, StepKind::Examine, "look", &["a.py::f"]),
        step(2, StepKind::Search, "find `f`", &[]),
        step(3, StepKind::Examine, "look", &["b.py"]),
    ];
    let met = tokio::time::timeout(std::time::Duration::from_secs(60), run_at_once(&contexts, &eyes)).await;
    let results = met.expect("the three steps never met: they ran one after the other");
    let first: Vec<String> = eyes.log().into_iter().take(3).collect();
    assert_eq!(first, ["1 list_symbols a.py", "2 search f", "3 list_symbols b.py"], "three are under way");
    assert_eq!(
        results.iter().map(|result| result.output.files[0].as_str()).collect::<Vec<_>>(),
        ["a.py", "a.py", "b.py"]
    );
}

#[test]
fn a_module_s_plan_is_held_to_its_limits() {
    assert!(validate(&[]).is_err());
    let twice = [ReadAction::Search("a".into()), ReadAction::Search("a".into())];
    assert!(validate(&twice).unwrap_err().contains("twice"));
    let many: Vec<ReadAction> = (0..30).map(|n| ReadAction::Search(n.to_string())).collect();
    assert!(validate(&many).unwrap_err().contains("too many"));
    assert_eq!(validate(&many[..3]), Ok(()));
}

#[tokio::test]
async fn what_is_remembered_of_a_module_s_own_work_comes_with_what_it_saw() {
    let eyes = Scripted::new(None);
    let plain = step(1, StepKind::Examine, "look at f", &["a.py::f"]);
    let memory = vec!["[error] edit_file a.py failed".to_owned()];
    let informed = ModuleContext { memory: memory.clone(), ..plain.clone() };
    let lost = ModuleContext { memory, ..step(2, StepKind::Examine, "look at gone", &["a.py::gone"]) };
    let results = run_at_once(&[plain, informed, lost], &eyes).await;
    let before = &results[0].output.text;
    assert_eq!(results[1].output.text, format!("remembered of it:\n[error] edit_file a.py failed\n{before}"));
    assert!(results[2].error.is_some() && results[2].output.text.is_empty());
}
