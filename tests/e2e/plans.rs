//! Plans through the public engine with a scripted model: references, dependencies, fallbacks, checks, objections.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sextant::base::failure::Failure;
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{Config, Engine, Event, Outcome, Plan, PlanMode, Request, StepState, Steps};
use sextant::llm::endpoint::{Provider, RemoteConfig};
use sextant::llm::remote::RemoteModel;
use sextant::llm::retry::RetryPolicy;
use sextant::memory::entry::{self, Kind, NewEntry};
use sextant::memory::preferences::Preference;
use sextant::workspace::root::Root;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::nvim::ask::step;
use crate::support::model_server::{ModelServer, Reply};
use crate::support::project::Project;
use crate::support::replies::change;

const A: &str = "def price(x: int) -> int:\n    return x\n\n\ndef total(x: int) -> int:\n    return price(x)\n";
const B: &str = "def other() -> int:\n    return 2\n";

/// A session over a folder without language servers: what a plan does is decided by what the model says.
struct Run {
    project: Project,
    server: ModelServer,
    session: Engine,
    events: UnboundedReceiver<Event>,
    cancel: CancellationToken,
}

impl Run {
    async fn new(mode: PlanMode, script: impl IntoIterator<Item = Reply>) -> Self {
        Self::over(Project::new(&[("a.py", A), ("b.py", B)]), mode, script).await
    }

    async fn over(project: Project, mode: PlanMode, script: impl IntoIterator<Item = Reply>) -> Self {
        Self::configured(project, Config { mode, ..Config::default() }, script).await
    }

    async fn configured(project: Project, mut settings: Config, script: impl IntoIterator<Item = Reply>) -> Self {
        let server = ModelServer::start(script).await;
        let mut config = RemoteConfig::new(Provider::COMPATIBLE, "m");
        config.base_url = Some(server.url());
        let quick = RetryPolicy {
            max_attempts: 2,
            base: Duration::from_millis(1),
            cap: Duration::from_millis(2),
            patience: Duration::from_secs(5),
        };
        let model = RemoteModel::new(&config).expect("a sound configuration").with_retry(quick);
        let (sender, events) = unbounded_channel();
        let editor = HeadlessEditor::new(project.root(), Vec::new(), sender).expect("a folder");
        let root = Root::new(project.root()).expect("a root");
        settings.memory.state = Some(project.state_folder());
        let session = Engine::new(Arc::new(editor), Arc::new(model), root, settings);
        Self { project, server, session, events, cancel: CancellationToken::new() }
    }

    async fn plan(&self, text: &str) -> Result<Plan, Failure> {
        let request = Request { text: text.into(), workspace: true, ..Request::default() };
        self.session.plan(&request, &self.cancel).await.result
    }

    async fn approve(&self) -> (Outcome, Shown) {
        let ending = self.session.approve(Steps::All, &self.cancel).await;
        (ending.result.expect("an outcome"), Shown::of(ending.events))
    }

    async fn run(&self) -> (Outcome, Shown) {
        self.plan("do it").await.expect("a plan");
        self.approve().await
    }

    /// What the model was told in its request of this number, from 0.
    fn told(&self, number: usize) -> String {
        let requests = self.server.requests();
        let said = requests.get(number).unwrap_or_else(|| panic!("{} requests", requests.len()));
        format!("{}\n{}", said.said_by("system"), said.said_by("user"))
    }

    fn seen(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

/// What was shown at the end.
struct Shown {
    markdown: String,
    question: Option<(String, Vec<String>)>,
}

impl Shown {
    fn of(events: Vec<Event>) -> Self {
        let mut shown = Self { markdown: String::new(), question: None };
        for event in events {
            match event {
                Event::Plan { markdown, .. } => shown.markdown = markdown,
                Event::Question { text, options, .. } => shown.question = Some((text, options)),
                _ => {}
            }
        }
        shown
    }
}

fn plan(steps: &[Value]) -> Reply {
    Reply::Json(json!({"title": "T", "reason": "asked", "steps": steps, "confidence": 1}))
}

/// A step of a plan with these fields besides the usual ones.
fn with(title: &str, symbols: &[&str], fields: Value) -> Value {
    let mut step = json!({"title": title, "symbols": symbols, "because": "asked", "expect": "it is so"});
    for (name, value) in fields.as_object().expect("fields") {
        step[name] = value.clone();
    }
    step
}

fn replace(path: &str, old: &str, new: &str) -> Reply {
    step("edit_file", change(path, old, new), false)
}

/// An answer that ends a step without any action.
fn nothing(answer: &str) -> Reply {
    says(json!({"answer": answer}))
}

fn says(fields: Value) -> Reply {
    let mut reply = json!({"reasoning": "hm", "action": null, "continue": false, "confidence": 1, "answer": ""});
    for (name, value) in fields.as_object().expect("fields") {
        reply[name] = value.clone();
    }
    Reply::Json(reply)
}

fn reasons(outcome: &Outcome) -> String {
    outcome.trace.iter().map(|entry| format!("{} {}\n", entry.trace.about, entry.trace.reason)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_is_given_what_an_earlier_one_found_and_what_the_user_prefers() {
    let project = Project::new(&[("a.py", A), ("b.py", B)]);
    let memory = project.memory();
    let preference =
        Preference { key: "style".into(), value: json!("no semicolons"), project: None, inferred: false, updated: 1 };
    memory.set_preference(preference).expect("kept");
    drop(memory);
    let steps = [
        with("Find who uses `price`", &[], json!({"kind": "search"})),
        with(
            "Change it",
            &[],
            json!({"with": ["target = step1.symbol", "style = session.preferences.style", "hint = \"a, b\""]}),
        ),
    ];
    let run = Run::over(project, PlanMode::Planner, [plan(&steps), replace("a.py", "return x", "return x + 1")]).await;
    let (outcome, shown) = run.run().await;
    assert!(outcome.ok, "{}\n{}", outcome.summary, shown.markdown);
    let told = run.told(1);
    for wanted in ["Input target:\n<data>\na.py::price", "Input style:\n<data>\nno semicolons", "May edit: a.py::price"]
    {
        assert!(told.contains(wanted), "{wanted}\n{told}");
    }
    assert!(shown.markdown.contains("    - [x] look for price\n    - [x] read a.py::price"), "{}", shown.markdown);
    assert_eq!(run.server.requests().len(), 2, "a search asks no model");
    assert!(run.project.read("a.py").contains("return x + 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_stops_what_leans_on_it_and_the_rest_goes_on() {
    let steps = [
        with("Find `nowhere_at_all`", &[], json!({"kind": "search"})),
        with("Change what was found", &[], json!({"with": ["target = step1.symbols"]})),
        with("Change other", &["b.py::other"], json!({})),
        with("And again", &["b.py::other"], json!({"after": [2]})),
    ];
    // A search that finds nothing is off by no more than the limit, so that the plan goes on.
    let run = Run::new(PlanMode::Planner, [plan(&steps), replace("b.py", "return 2", "return 3")]).await;
    let (outcome, shown) = run.run().await;
    assert!(!outcome.ok);
    let states: Vec<&str> = shown.markdown.lines().filter(|line| line.starts_with("- [")).collect();
    assert_eq!(states[0], "- [!] Find `nowhere_at_all`", "{}", shown.markdown);
    assert!(states[1].starts_with("- [-]") && states[2].starts_with("- [x]") && states[3].starts_with("- [-]"));
    assert!(
        shown.markdown.contains("outcome: step 1 failed") && shown.markdown.contains("outcome: step 2 was skipped")
    );
    assert!(reasons(&outcome).contains("step 1 failed"), "{}", reasons(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_meant_is_said_before_anything_runs() {
    let wrong = || {
        plan(&[
            with("one", &["a.py::price"], json!({"with": ["x = step2.output", "y = session.nobody"], "after": [1]})),
            with("two", &["a.py::new"], json!({"check": ["it works", "command nope passes"]})),
            with("three", &[], json!({"creates": ["../out.py"], "kind": "edit"})),
            with("four", &[], json!({"kind": "search"})),
        ])
    };
    let run = Run::new(PlanMode::Planner, [wrong(), wrong(), wrong()]).await;
    let failure = run.plan("do it").await.expect_err("no plan");
    for wanted in [
        "step 1: step2.output: step 2 is not an earlier step",
        "step 1: session.nobody is not known",
        "step 1: after 1: step 1 is not an earlier step",
        "step 2: no single symbol new",
        "a check is one of `no new diagnostics`, `no errors`",
        "no command nope has reported, and nope is not on the user's list",
        "outside the workspace",
        "step 4: a search needs words",
    ] {
        assert!(failure.message.contains(wanted), "{wanted}\n{}", failure.message);
    }
    assert!(run.told(1).contains("step 2 is not an earlier step"), "the model is told");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_step_creates_another_may_change() {
    let steps = [
        with("Write it", &[], json!({"creates": ["new.py"], "check": ["symbol new.py::fresh exists"]})),
        with("Change it", &["new.py::fresh"], json!({})),
    ];
    let content = "def fresh() -> int:\n    return 1\n";
    let run = Run::new(
        PlanMode::Planner,
        [
            plan(&steps),
            step("write_file", json!({"path": "new.py", "content": content}), false),
            replace("new.py", "return 1", "return 2"),
        ],
    )
    .await;
    let (outcome, shown) = run.run().await;
    assert!(outcome.ok, "{}\n{}", outcome.summary, shown.markdown);
    assert_eq!(run.project.read("new.py"), content.replace('1', "2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_symbols_that_one_step_creates_another_may_change() {
    let files = ["Makefile", "./Procfile", ".env.example", "notes.txt", "docs/Dockerfile"];
    for (created, changed) in files.iter().flat_map(|path| [(*path, *path), (*path, path.trim_start_matches("./"))]) {
        let steps = [with("Write it", &[], json!({"creates": [created]})), with("Change it", &[changed], json!({}))];
        let path = created.trim_start_matches("./");
        let run = Run::new(
            PlanMode::Planner,
            [
                plan(&steps),
                step("write_file", json!({"path": path, "content": "one\n"}), false),
                replace(path, "one", "two"),
            ],
        )
        .await;
        let (outcome, shown) = run.run().await;
        assert!(outcome.ok, "{created}: {}\n{}", outcome.summary, shown.markdown);
        assert_eq!(run.project.read(path), "two\n", "{created}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fallback_is_tried_once_from_where_the_step_began() {
    let fields = json!({"check": ["symbol a.py::cost exists"], "fallback": "rename it with one edit"});
    let steps = [with("Rename price", &["a.py::price"], fields)];
    let run = Run::new(
        PlanMode::Planner,
        [plan(&steps), replace("a.py", "return x\n", "return x * 1\n"), replace("a.py", "def price", "def cost")],
    )
    .await;
    let (outcome, shown) = run.run().await;
    assert!(outcome.ok, "{}\n{}", outcome.summary, shown.markdown);
    assert!(
        run.told(2).contains("plan for it: rename it with one edit. Expected after it: it is so"),
        "{}",
        run.told(2)
    );
    let text = run.project.read("a.py");
    assert!(text.contains("def cost") && text.contains("    return x\n"), "the failed try is taken back: {text}");
    assert!(reasons(&outcome).contains("try the fallback"), "{}", reasons(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_that_does_not_hold_makes_a_new_plan_that_keeps_what_is_done() {
    let steps = [
        with("Find `price`", &[], json!({"kind": "search"})),
        with("Rename", &["a.py::price"], json!({"check": ["symbol a.py::price gone"]})),
        with("Last", &["b.py::other"], json!({})),
    ];
    let anew = [with("Rename rightly", &[], json!({"with": ["target = step1.symbol"]}))];
    let run = Run::new(
        PlanMode::Planner,
        [
            plan(&steps),
            replace("a.py", "return x\n", "return x * 1\n"),
            plan(&anew),
            replace("a.py", "def price", "def cost"),
        ],
    )
    .await;
    let (outcome, shown) = run.run().await;
    assert!(shown.markdown.contains("check `symbol a.py::price gone` does not hold"), "{}", shown.markdown);
    assert!(outcome.summary.contains("replanned 1 time"), "{}", outcome.summary);
    let told = run.told(2);
    assert!(told.contains("Steps that are kept") && told.contains("1. [x] Find `price` (a.py::price"), "{told}");
    assert!(shown.markdown.contains("- [x] Rename rightly") && !shown.markdown.contains("Last"), "{}", shown.markdown);
    assert!(reasons(&outcome).contains("deviation 0.50; plan again"), "{}", reasons(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planner_s_model_may_ask_for_another_plan_and_only_so_often() {
    let one = || plan(&[with("Change price", &["a.py::price"], json!({}))]);
    let objects = || says(json!({"replan": "price is generated"}));
    let script = [one(), objects(), one(), objects(), one(), objects(), one(), objects()];
    let mut run = Run::new(PlanMode::Planner, script).await;
    let (outcome, _) = run.run().await;
    assert!(!outcome.ok && outcome.summary.contains("replanned 3 times"), "{}", outcome.summary);
    let said = format!("{:?}", run.seen());
    assert!(said.contains("made again 3 times and still fails: the model objects: price is generated"), "{said}");
    let told = run.told(1);
    assert!(told.contains("Plan (done 0.00, you are at step 1):\n<data>\n1. [>] Change price"), "{told}");
    assert!(run.told(3).contains("Left the plan:") && run.told(3).contains("actual: step 1: the model objects"));
    let prefix = |told: &str| told.split("The user's request:").next().map(str::to_owned);
    assert_eq!(prefix(&run.told(1)), prefix(&run.told(3)), "the prefix can be cached");
    assert_eq!(run.server.requests()[1].body["response_format"]["json_schema"]["name"], "planner_step_reply");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_supervised_model_s_question_reaches_the_user_and_the_answer_reaches_the_model() {
    let steps = [
        with("Change price", &["a.py::price"], json!({})),
        with("Change other", &["b.py::other"], json!({"after": [1]})),
    ];
    let asked = json!({"reason": "two ways", "question": "Round up or down?", "options": ["up", "down"]});
    let mut run = Run::new(
        PlanMode::Supervised,
        [plan(&steps), says(json!({"decision": "escalate", "adherence": 0.2, "escalation": asked}))],
    )
    .await;
    let (outcome, shown) = run.run().await;
    let (text, options) = shown.question.expect("a question");
    assert_eq!((outcome.ok, text.as_str()), (false, "Step 1 asks: Round up or down? Its reason: two ways"));
    assert_eq!(options[..3], ["up", "down", "go on with the next step"]);
    assert!(shown.markdown.contains("- [!] Change price") && shown.markdown.contains("- [ ] Change other"));
    run.server.push(says(json!({"decision": "continue", "adherence": 1, "answer": "",
        "action": {"tool": "edit_file", "parameters": {"path": "a.py", "old_string": "return x\n", "new_string": "return -x\n"}}})));
    run.server.push(says(json!({"decision": "pause", "adherence": 1})));
    let ending = run.session.answer_question(2, &run.cancel).await;
    let shown = Shown::of(ending.events);
    let told = run.told(2);
    assert!(told.contains("Input answer:\n<data>\ndown"), "{told}");
    assert!(told.contains("Asked before:") && told.contains("→ down"), "{told}");
    assert!(run.told(3).contains("Kept to the plan so far: 1.00"), "{}", run.told(3));
    assert!(shown.question.expect("it pauses").0.contains("it wants to pause: hm"));
    assert!(shown.markdown.contains("- [x] Change price"), "{}", shown.markdown);
    assert_eq!(
        run.session.answer_question(9, &run.cancel).await.result.expect_err("no such answer").hint.text(),
        "1 to 4"
    );
    assert_eq!(run.server.requests()[1].body["response_format"]["json_schema"]["name"], "supervised_step_reply");
    assert!(run.seen().iter().all(|event| !matches!(event, Event::Started { mode, .. } if mode != "supervised")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_says_itself_that_it_left_the_plan_pauses_it() {
    let steps = [with("Change price", &["a.py::price"], json!({}))];
    let edit = json!({"tool": "edit_file", "parameters": {"path": "a.py", "old_string": "return x\n", "new_string": "return 0\n"}});
    let acts = says(json!({"decision": "continue", "adherence": 0.3, "action": edit}));
    let run = Run::new(PlanMode::Supervised, [plan(&steps), acts]).await;
    let (outcome, shown) = run.run().await;
    assert!(
        shown.question.expect("a question").0.contains("too far from what the plan expects"),
        "{}",
        reasons(&outcome)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn looks_that_lean_on_nothing_run_at_once() {
    let steps = [
        with("Look at a", &["a.py::price", "a.py::total"], json!({"kind": "examine"})),
        with("Look at b", &["b.py::other"], json!({"kind": "examine"})),
        with("Find `price`", &[], json!({"kind": "search"})),
    ];
    let mut run = Run::new(PlanMode::Planner, [plan(&steps)]).await;
    let (outcome, shown) = run.run().await;
    assert_eq!(shown.markdown.matches("- [x] Look").count(), 2, "{}\n{}", outcome.summary, shown.markdown);
    assert_eq!(run.server.requests().len(), 1, "looking asks no model");
    let events = run.seen();
    let begun = |wanted: u32| {
        events
            .iter()
            .position(|event| matches!(event, Event::Acting { step, .. } if *step == wanted))
            .expect("it looks")
    };
    let over = |wanted: u32| {
        events.iter().rposition(|event| matches!(event, Event::Acted { step, .. } if *step == wanted)).expect("it saw")
    };
    let under_way = (1..=3).filter(|step| begun(*step) < over(1)).count();
    assert_eq!(under_way, 3, "all three began before the first was over: {events:?}");
    assert!(begun(1) < over(2) && begun(1) < over(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn further_looks_come_with_the_same_answer_and_edits_do_not() {
    let look = |tool: &str, key: &str, what: &str| json!({"tool": tool, "parameters": {key: what}});
    let first = says(json!({"continue": true, "action": look("read_symbol", "symbol", "a.py::price"),
        "more": [look("read_symbol", "symbol", "a.py::total"), look("read_file", "path", "b.py")]}));
    let second = says(json!({"continue": true, "action": look("read_file", "path", "a.py"),
        "more": [{"tool": "write_file", "parameters": {"path": "b.py", "content": "x = 1\n"}}]}));
    let run = Run::new(PlanMode::Planner, [first, second, nothing("read")]).await;
    let request = Request { text: "look around".into(), path: Some("a.py".into()), ..Request::default() };
    let outcome = run.session.ask(&request, &run.cancel).await.result.expect("an outcome");
    assert_eq!((run.server.requests().len(), outcome.answer.as_str()), (3, "read"));
    let told = run.told(1);
    for wanted in ["def price(x", "a.py::total, lines ", "return 2"] {
        assert!(
            told.split_once("Result of read_symbol (ok)").is_some_and(|(_, results)| results.contains(wanted)),
            "{told}"
        );
    }
    assert!(run.told(2).contains("write_file does more, so none of `more` ran"), "{}", run.told(2));
    assert_eq!(run.project.read("b.py"), B);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_plans_anew_for_what_has_gone_is_told_what_there_is_instead() {
    let steps = [with("Rename price", &["a.py::price"], json!({})), with("Double it", &["a.py::price"], json!({}))];
    let again = [with("Double cost", &["a.py::cost"], json!({}))];
    let script = [
        plan(&steps),
        replace("a.py", "def price(x: int)", "def cost(x: int)"),
        plan(&again),
        replace("a.py", "return x\n", "return 2 * x\n"),
    ];
    let run = Run::new(PlanMode::Planner, script).await;
    let (outcome, shown) = run.run().await;
    let told = run.told(2);
    assert!(told.contains("a.py::price is gone") && told.contains("available in a.py: cost, total"), "{told}");
    assert!(shown.markdown.contains("- [x] Double cost"), "{}\n{}", outcome.summary, shown.markdown);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_brings_what_is_remembered_of_its_files() {
    let steps = [
        with("Look at price", &["a.py::price"], json!({"kind": "examine"})),
        with("Change it", &["a.py::price"], json!({"with": ["seen = step1.output"]})),
    ];
    let run = Run::new(PlanMode::Planner, [plan(&steps), replace("a.py", "return x\n", "return 2 * x\n")]).await;
    let memory = run.project.memory();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock").as_millis() as i64;
    for (text, file) in [("price was cut short", "a.py"), ("other was cut short", "b.py")] {
        let new = NewEntry::new("main", entry::Mode::Planner, Kind::Error, text, now - 1000);
        memory.append(NewEntry { files: vec![file.into()], ..new }).expect("kept");
    }
    let (outcome, shown) = run.run().await;
    assert!(outcome.ok, "{}\n{}", outcome.summary, shown.markdown);
    let told = run.told(1);
    assert!(told.contains("remembered of it:\n[error] price was cut short"), "{told}");
    assert!(!told.contains("other was cut short"), "its own view alone: {told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_preference_is_an_input_with_memory_and_without() {
    for enabled in [true, false] {
        let steps = [with("Change price", &["a.py::price"], json!({"with": ["style = session.preferences.style"]}))];
        let project = Project::new(&[("a.py", A), ("b.py", B)]);
        let config: Config = serde_json::from_value(json!({
            "preferences": {"style": "short functions"}, "memory": {"enabled": enabled},
        }))
        .expect("a configuration");
        let script = [plan(&steps), replace("a.py", "return x\n", "return 2 * x\n")];
        let run = Run::configured(project, config, script).await;
        let (outcome, _) = run.run().await;
        assert!(outcome.ok, "{}", outcome.summary);
        assert!(run.told(1).contains("Input style:\n<data>\nshort functions"), "{}", run.told(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_plan_is_changed_in_the_user_s_words_and_stays_where_that_fails() {
    let first = [with("Change price", &["a.py::price"], json!({})), with("Change other", &["b.py::other"], json!({}))];
    let second = [with("Change other alone", &["b.py::other"], json!({}))];
    let run = Run::new(PlanMode::Supervised, [plan(&first), plan(&second)]).await;
    run.plan("change: nothing is waiting yet").await.expect("a request like any other");
    let changed = run.plan("change: leave price alone").await.expect("a plan");
    assert_eq!(changed.steps.len(), 1);
    let told = run.told(1);
    assert!(told.contains("The user wants this changed in it: leave price alone"), "{told}");
    assert!(told.contains("1. [ ] Change price (a.py::price)"), "{told}");
    for _ in 0..3 {
        run.server.push(plan(&[with("x", &["a.py::nobody"], json!({}))]));
    }
    run.plan("change: do something odd").await.expect_err("no usable plan");
    {
        let mut given_up = std::pin::pin!(run.session.change_plan("never mind", &run.cancel));
        assert!(futures::poll!(given_up.as_mut()).is_pending());
        assert!(!run.session.has_plan(), "it is being changed");
    }
    assert!(run.session.has_plan(), "work that is dropped while it waits leaves the plan");
    run.server.push(replace("b.py", "return 2", "return 3"));
    let (outcome, shown) = run.approve().await;
    assert!(outcome.ok && shown.markdown.contains("- [x] Change other alone"), "{}", shown.markdown);
    assert_eq!(changed.steps[0].state, StepState::Open);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_no_prompt_holds_is_done_in_parts_and_shown_with_them() {
    let long = |name: &str| {
        let lines: String = (0..60).map(|n| format!("    value_{n} = {n} + {n} * 2\n")).collect();
        format!("def {name}() -> int:\n{lines}    return 1\n")
    };
    let project = Project::new(&[("a.py", &long("f")), ("b.py", &long("g"))]);
    let steps = [with("Return two", &["a.py::f", "b.py::g"], json!({}))];
    let script = [plan(&steps), replace("a.py", "return 1", "return 2"), replace("b.py", "return 1", "return 2")];
    let run = Run::over(project, PlanMode::Planner, script).await;
    let (outcome, shown) = run.run().await;
    assert!(outcome.ok, "{}\n{}", outcome.summary, shown.markdown);
    let parts = "    - [x] part 1 of 2, in a.py::f\n    - [x] part 2 of 2, in b.py::g\n";
    assert!(shown.markdown.contains(parts), "{}", shown.markdown);
    assert!(
        run.told(2).contains("May edit: b.py::g, the imports of b.py\n") && run.told(2).contains("part 2 of 2"),
        "{}",
        run.told(2)
    );
    assert!(reasons(&outcome).contains("part 1 of 2"), "{}", reasons(&outcome));
    assert!(run.project.read("b.py").contains("return 2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_gone_since_the_plan_was_made_is_said_before_the_start() {
    let steps = [with("Change other", &["b.py::other"], json!({})), with("Change price", &["a.py::price"], json!({}))];
    let mut run = Run::new(PlanMode::Supervised, [plan(&steps), replace("b.py", "return 2", "return 3")]).await;
    run.plan("do it").await.expect("a plan");
    run.project.write("a.py", "def total() -> int:\n    return 1\n");
    let (outcome, shown) = run.approve().await;
    let said = run.seen();
    let told = said.iter().position(
        |event| matches!(event, Event::Progress { text } if text == "before the start: a.py::price is not there any more"),
    );
    let began = said.iter().position(|event| matches!(event, Event::Acting { .. })).expect("the first step ran");
    assert!(told.is_some_and(|told| told < began), "{said:?}");
    assert!(
        shown.question.expect("a question").0.contains("a later step is not possible any more: a.py::price is gone")
    );
    assert!(!outcome.ok && run.project.read("b.py").contains("return 3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_input_that_nothing_came_of_is_an_error_before_its_step_runs() {
    let steps = [
        with("Look at b", &["b.py::other"], json!({"kind": "examine"})),
        with("Change it", &["a.py::price"], json!({"with": ["note = session.later"]})),
    ];
    let project = Project::new(&[("a.py", A), ("b.py", B)]);
    let run = Run::over(project, PlanMode::Supervised, vec![plan(&steps); 3]).await;
    let failure = run.plan("do it").await.expect_err("unknown to the session");
    assert!(failure.message.contains("session.later is not known"), "{failure:?}");
    // A search for a target outside of what may be changed hands on what the next step must not touch.
    let steps = [
        with("Find `other`", &[], json!({"kind": "search"})),
        with("Change it", &[], json!({"with": ["target = step1.symbols"]})),
    ];
    run.server.push(plan(&steps));
    let request = Request { text: "do it".into(), path: Some("a.py".into()), ..Request::default() };
    run.session.plan(&request, &run.cancel).await.result.expect("a plan");
    let (_, shown) = run.approve().await;
    assert_eq!(run.server.requests().len(), 4, "no model was asked for the step");
    assert!(shown.question.expect("a question").0.contains("an input cannot be had: b.py::other is outside a.py"));
    assert_eq!(run.project.read("b.py"), B);
}
