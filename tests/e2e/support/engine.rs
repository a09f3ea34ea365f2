//! The public engine over a folder, with a model on cue and an editor that can be made to stall.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::join_all;
use serde_json::{Value, json};
use sextant::base::deadline::{AnswerWait, Deadline};
use sextant::base::failure::Failure;
use sextant::base::positions::{Position, Range};
use sextant::diagnostics::model::{
    Confidence, Diagnostic, DiagnosticsProvider, Freshness, Location, MOST, Report, Severity,
};
use sextant::diagnostics::server::server_config::ServerConfig;
use sextant::diagnostics::syntax::Syntax;
use sextant::editors::headless::HeadlessEditor;
use sextant::engine::{
    Applied, Attachments, Config, Diagnostics, Document, Documents, EditorError, Engine, Event, FileEdit, FileMarks,
    FixAnswers, HalfDone, HeldFile, LanguageServers, LookupAnswer, Marks, NameLookup, Outcome, Plan, Request, Save,
    Steps, Traced, Ui, WorkspaceChange,
};
use sextant::llm::abilities::{Abilities, Style};
use sextant::llm::chat::{ChatInput, ChatMessage, ChatReply, ToolResult, ToolUse};
use sextant::llm::input::{PlanInput, StepInput};
use sextant::llm::price::Price;
use sextant::llm::step::{Action, Model, ModelError, OnText, PlanReply, PlanReplyStep, Spoken, StepReply, Usage};
use sextant::workspace::root::Root;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

use crate::support::project::Project;

/// Far beyond what anything here takes; what is still there then hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// One call of a model or of an editor, counted; at one of them the task is stopped.
#[derive(Default)]
pub struct Calls {
    count: AtomicUsize,
    names: Mutex<Vec<&'static str>>,
    stop: Mutex<Option<(usize, CancellationToken)>>,
    stopped: Mutex<Option<Instant>>,
    stall: Mutex<Option<Stall>>,
    /// Stops the task as soon as this answer about diagnostics (from 1) is given.
    answers: Mutex<Option<(usize, CancellationToken)>>,
    /// The calls of the editor that were answered; right behind this one of them (from 0) the task is stopped.
    done: AtomicUsize,
    behind: Mutex<Option<(usize, CancellationToken)>>,
}

/// Where an editor that is asked for an edit stalls, until it is told to go on.
#[derive(Clone)]
pub enum Stall {
    Before(Arc<Notify>),
    /// The edit is made, and the answer does not come.
    After(Arc<Notify>),
    /// The edit is made behind an answer that it was not in time.
    Late,
    /// Somebody types in this file: its text is another one at each look.
    Typing(&'static str),
}

impl Calls {
    /// Stops the task at its call of this number (from 0), which then never ends, unless it is an edit.
    pub fn stop_at(&self, call: usize, cancel: CancellationToken) {
        *self.stop.lock().unwrap() = Some((call, cancel));
    }

    /// Stops the task as soon as it is told of diagnostics for the time of this number (from 1).
    pub fn stop_behind(&self, answer: usize, cancel: CancellationToken) {
        *self.answers.lock().unwrap() = Some((answer, cancel));
    }

    /// Stops the task right behind the editor's answer of this number (from 0), so that what the task does with it
    /// begins before it can know.
    pub fn stop_behind_any(&self, answer: usize, cancel: CancellationToken) {
        *self.behind.lock().unwrap() = Some((answer, cancel));
    }

    fn done<T>(&self, answer: T) -> T {
        let number = self.done.fetch_add(1, Ordering::SeqCst);
        if let Some((_, cancel)) = self.behind.lock().unwrap().take_if(|(at, _)| *at == number) {
            *self.stopped.lock().unwrap() = Some(Instant::now());
            cancel.cancel();
        }
        answer
    }

    fn answered(&self) {
        let asked = self.names().iter().filter(|name| **name == "diagnostics").count();
        if let Some((_, cancel)) = self.answers.lock().unwrap().take_if(|(answer, _)| *answer == asked) {
            *self.stopped.lock().unwrap() = Some(Instant::now());
            cancel.cancel();
        }
    }

    /// Lets the next edits stall.
    pub fn stall(&self, stall: Option<Stall>) {
        *self.stall.lock().unwrap() = stall;
    }

    /// How long ago the task was stopped.
    pub fn since_stop(&self) -> Duration {
        self.stopped.lock().unwrap().expect("it was stopped").elapsed()
    }

    async fn note(&self, name: &'static str) {
        let call = self.count.fetch_add(1, Ordering::SeqCst);
        self.names.lock().unwrap().push(name);
        let stop = self.stop.lock().unwrap().clone();
        if let Some((at, cancel)) = stop
            && at == call
        {
            *self.stopped.lock().unwrap() = Some(Instant::now());
            cancel.cancel();
            if name != "apply" {
                std::future::pending::<()>().await;
            }
        }
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.names.lock().unwrap().clone()
    }
}

/// Answers from a queue and writes down what it is asked; at its end it is done.
#[derive(Default)]
pub struct Script {
    replies: Mutex<VecDeque<StepReply>>,
    /// Its answers in a conversation; with any it takes part in one.
    chats: Option<Mutex<VecDeque<ChatReply>>>,
    pub talked: Mutex<Vec<Talked>>,
    /// Tokens that it reads at once.
    context: Option<usize>,
    plans: Mutex<VecDeque<PlanReply>>,
    pub asked: Mutex<Vec<StepInput>>,
    pub planned: Mutex<Vec<PlanInput>>,
    pub usage: Usage,
    price: Option<Price>,
    /// Cannot be reached from its question of this number on, counted from 0.
    fails_from: Option<usize>,
    /// Says nothing from its question of this number on, counted from 0.
    pub silent_from: Option<usize>,
    calls: Arc<Calls>,
}

/// What a model was sent in a conversation.
#[derive(Clone, Debug)]
pub struct Talked {
    pub system: String,
    pub messages: Vec<ChatMessage>,
    pub tools: Vec<String>,
}

impl Talked {
    /// All texts of the last message.
    pub fn last(&self) -> String {
        match self.messages.last() {
            Some(ChatMessage::User(text)) => text.clone(),
            Some(ChatMessage::Results(results)) => {
                let line = |result: &ToolResult| format!("{} {}: {}", result.tool, result.ok, result.text);
                results.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }
}

/// An answer with these calls.
pub fn calls(uses: &[(&str, Value)]) -> ChatReply {
    let used = |(number, (tool, parameters)): (usize, &(&str, Value))| ToolUse {
        id: format!("use{number}"),
        tool: (*tool).to_owned(),
        parameters: parameters.clone(),
        problem: None,
    };
    ChatReply { uses: uses.iter().enumerate().map(used).collect(), ..ChatReply::default() }
}

/// An answer in words alone.
pub fn says(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

impl Script {
    /// One more answer.
    pub fn push(&self, reply: StepReply) {
        self.replies.lock().unwrap().push_back(reply);
    }
}

/// A step of a plan about these symbols, edited by hand where it is to be more.
pub fn planned(title: &str, symbols: &[&str]) -> PlanReplyStep {
    PlanReplyStep {
        title: title.into(),
        symbols: symbols.iter().map(|symbol| (*symbol).to_owned()).collect(),
        because: "asked".into(),
        expect: "it is so".into(),
        ..PlanReplyStep::default()
    }
}

pub fn plan_of(steps: impl IntoIterator<Item = PlanReplyStep>) -> PlanReply {
    PlanReply {
        title: "T".into(),
        reason: "R".into(),
        steps: steps.into_iter().collect(),
        confidence: 1.0,
        declined: false,
    }
}

/// The last action of a step.
pub fn last(tool: &str, parameters: Value) -> StepReply {
    StepReply { proceed: false, ..act(tool, parameters) }
}

/// A step that goes on.
pub fn act(tool: &str, parameters: Value) -> StepReply {
    let action = Some(Action { tool: tool.to_owned(), parameters });
    StepReply { action, reasoning: "as the text says".into(), proceed: true, confidence: 1.0, ..StepReply::default() }
}

#[async_trait]
impl Model for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    async fn abilities(&self) -> Abilities {
        let style = if self.chats.is_some() { Style::Conversation } else { Style::Step };
        let context = if self.chats.is_some() { 64_000 } else { 8192 };
        Abilities { style, context: self.context.unwrap_or(context) }
    }

    async fn chat(&self, input: &ChatInput<'_>, words: OnText<'_>) -> (Result<ChatReply, ModelError>, Usage) {
        self.talked.lock().unwrap().push(Talked {
            system: input.system.to_owned(),
            messages: input.messages.to_vec(),
            tools: input.tools.iter().map(|tool| tool.name.clone()).collect(),
        });
        self.calls.note("chat").await;
        let asks = matches!(input.messages.last(), Some(ChatMessage::User(told)) if told.contains("make a plan for the request"));
        if asks && let Some(plan) = self.plans.lock().unwrap().pop_front() {
            return (Ok(says(&plan_text(&plan))), self.usage);
        }
        let next = self.chats.as_ref().and_then(|chats| chats.lock().unwrap().pop_front());
        let reply = next.unwrap_or_else(|| says("done"));
        words(Spoken::answer(&reply.text));
        (Ok(reply), self.usage)
    }

    async fn step(&self, input: &StepInput, _words: OnText<'_>) -> (Result<StepReply, ModelError>, Usage) {
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(input.clone());
            asked.len() - 1
        };
        self.calls.note("step").await;
        if self.silent_from.is_some_and(|from| number >= from) {
            std::future::pending::<()>().await;
        }
        if self.fails_from.is_some_and(|from| number >= from) {
            let (endpoint, detail) = ("script".to_owned(), "the line is cut".to_owned());
            return (Err(ModelError::Unreachable { endpoint, detail }), Usage::default());
        }
        let done = StepReply { confidence: 1.0, answer: "done".to_owned(), ..StepReply::default() };
        (Ok(self.replies.lock().unwrap().pop_front().unwrap_or(done)), self.usage)
    }

    async fn plan(&self, input: &PlanInput, _words: OnText<'_>) -> (Result<PlanReply, ModelError>, Usage) {
        self.planned.lock().unwrap().push(input.clone());
        self.calls.note("plan").await;
        let empty =
            PlanReply { title: "T".into(), reason: "R".into(), steps: Vec::new(), confidence: 1.0, declined: false };
        (Ok(self.plans.lock().unwrap().pop_front().unwrap_or(empty)), self.usage)
    }
}

/// A plan as a model writes it.
pub fn plan_text(plan: &PlanReply) -> String {
    let mut text = serde_json::to_value(plan).expect("data");
    for step in text["steps"].as_array_mut().expect("steps") {
        let step = step.as_object_mut().expect("a step");
        let checks = step.remove("checks").unwrap_or_default();
        step.insert("check".to_owned(), checks);
    }
    text.to_string()
}

/// So many on the first line of a file, of two providers, all in words of their own text.
async fn flood(editor: &HeadlessEditor, file: &str, many: usize) -> Vec<Report> {
    let Ok(document) = editor.read(file).await else { return Vec::new() };
    let version = Some(document.version);
    let said = |source: &str, i: usize| Diagnostic {
        source: source.into(),
        severity: Severity::Error,
        // Of the first ones the rules look into the text.
        code: Some(if i < 300 { "F821".into() } else { format!("X{}", i + MOST * document.text.len()) }),
        message: format!("Undefined name `w{i}` of {} w{} in {}", i / 7, i % 7, document.text.len()),
        location: Location::Range {
            file: file.into(),
            range: Range { end: Position { line: 0, character: 3 }, ..Range::default() },
        },
        confidence: Confidence::Medium,
        suggested_action: None,
        evidence: None,
    };
    let of = |source: &str| Report {
        provider: source.into(),
        file: file.into(),
        diagnostics: (0..many).map(|i| said(source, i)).collect(),
        freshness: Freshness::Exact,
        version,
        wanted_version: version,
        elapsed_ms: 0,
        note: None,
        unasked: None,
    };
    vec![of("lsp:one"), of("lsp:other")]
}

/// The headless editor with every call counted, and one diagnostic of any message in each file.
struct Counted {
    inner: Arc<HeadlessEditor>,
    calls: Arc<Calls>,
    message: Option<String>,
    flood: usize,
}

#[async_trait]
impl Documents for Counted {
    async fn read(&self, path: &str) -> Result<Document, EditorError> {
        self.calls.note("read").await;
        let mut read = self.inner.read(path).await;
        if let (Ok(document), Some(Stall::Typing(typed))) = (&mut read, &*self.calls.stall.lock().unwrap())
            && path == *typed
        {
            document.version += i64::try_from(self.calls.names().len()).expect("a few calls");
        }
        self.calls.done(read)
    }

    async fn close(&self, _paths: &[String]) {}

    async fn apply(&self, edits: &[FileEdit], save: Save) -> Result<Vec<Applied>, EditorError> {
        let stall = self.calls.stall.lock().unwrap().clone();
        self.calls.note("apply").await;
        if let Some(Stall::Before(go)) = &stall {
            go.notified().await;
        }
        if let Some(Stall::Typing(typed)) = &stall
            && edits.iter().any(|edit| edit.path() == *typed)
        {
            return Err(EditorError::Stale((*typed).to_owned()));
        }
        let applied = self.inner.apply(edits, save).await;
        if let Some(Stall::After(go)) = &stall {
            go.notified().await;
        }
        if let Some(Stall::Late) = &stall {
            return Err(EditorError::Timeout(5000));
        }
        applied
    }

    async fn held(&self, _files: &[PathBuf]) -> Result<Vec<HeldFile>, EditorError> {
        Ok(Vec::new())
    }

    async fn sync(&self, _files: &[PathBuf]) {}

    async fn tidy(&self, _files: &[HalfDone]) {}
}

#[async_trait]
impl FileMarks for Counted {
    async fn marks(&self, path: &str) -> Marks {
        self.inner.marks(path).await
    }

    async fn restore_marks(&self, _path: &str, _then: &Marks, _after_edit: &Marks) {}

    async fn restore_format(&self, path: &str, text: &str, then: &Marks) -> bool {
        self.inner.restore_format(path, text, then).await
    }
}

#[async_trait]
impl Diagnostics for Counted {
    async fn diagnostics(&self, edited: &[String], bystanders: &[String], deadline: Deadline) -> Vec<Report> {
        self.calls.note("diagnostics").await;
        if self.flood > 0 {
            let reports = join_all(edited.iter().map(|file| flood(&self.inner, file, self.flood))).await;
            self.calls.answered();
            return self.calls.done(reports.into_iter().flatten().collect());
        }
        let Some(message) = &self.message else { return self.inner.diagnostics(edited, bystanders, deadline).await };
        let mut reports = Vec::new();
        for file in edited {
            let Ok(document) = self.inner.read(file).await else { continue };
            let source = "lsp:fake".to_owned();
            let location = Location::Range { file: file.clone(), range: Range::default() };
            let diagnostic = Diagnostic {
                source: source.clone(),
                severity: Severity::Error,
                code: None,
                message: message.clone(),
                location,
                confidence: Confidence::High,
                suggested_action: None,
                evidence: None,
            };
            let version = Some(document.version);
            reports.push(Report {
                provider: source,
                file: file.clone(),
                diagnostics: vec![diagnostic],
                freshness: Freshness::Exact,
                version,
                wanted_version: version,
                elapsed_ms: 0,
                note: None,
                unasked: None,
            });
        }
        reports
    }

    async fn late(&self) -> Vec<Report> {
        self.calls.note("late").await;
        self.inner.late().await
    }

    fn late_news(&self) -> tokio::sync::watch::Receiver<u64> {
        self.inner.late_news()
    }

    async fn loaded(&self) -> Vec<String> {
        self.calls.note("loaded").await;
        self.calls.done(self.inner.loaded().await)
    }

    async fn sharing(&self, edited: &[String], others: &[String]) -> Vec<String> {
        self.inner.sharing(edited, others).await
    }

    async fn probe(&self, edits: &[FileEdit], deadline: Deadline) -> Result<Vec<Report>, EditorError> {
        self.inner.probe(edits, deadline).await
    }
}

#[async_trait]
impl LanguageServers for Counted {
    async fn attached(&self) -> Option<Attachments> {
        None
    }

    async fn fixes(&self, path: &str, range: Option<Range>, patience: AnswerWait) -> Result<FixAnswers, EditorError> {
        self.calls.note("fixes").await;
        self.calls.done(self.inner.fixes(path, range, patience).await)
    }

    async fn fix_change(&self, id: &str, deadline: Deadline) -> Result<WorkspaceChange, EditorError> {
        self.calls.note("fix_change").await;
        self.inner.fix_change(id, deadline).await
    }

    async fn look_up(&self, wanted: &NameLookup, deadline: Deadline) -> Result<Vec<LookupAnswer>, EditorError> {
        self.calls.note("look_up").await;
        self.calls.done(self.inner.look_up(wanted, deadline).await)
    }
}

impl Ui for Counted {
    fn show(&self, event: Event) {
        self.inner.show(event);
    }
}

pub struct TestEngine {
    pub session: Arc<Engine>,
    pub model: Arc<Script>,
    pub calls: Arc<Calls>,
    pub events: UnboundedReceiver<Event>,
    pub cancel: CancellationToken,
}

/// What an engine is made with besides its project.
#[derive(Default)]
pub struct Setup {
    pub replies: Vec<StepReply>,
    /// Answers in a conversation; with any the model takes part in one.
    pub chats: Vec<ChatReply>,
    /// Tokens that the model reads at once.
    pub context: Option<usize>,
    pub plans: Vec<PlanReply>,
    /// As in the user's configuration.
    pub config: Value,
    /// Tokens of each answer, and how many of them the provider had cached.
    pub tokens: u64,
    pub cached: u64,
    /// The question from which on it says nothing, counted from 0.
    pub silent_from: Option<usize>,
    pub message: Option<String>,
    /// So many are reported by each of two providers.
    pub flood: usize,
    /// True if it remembers, where the configuration does not say.
    pub memory: bool,
    pub price: Option<Price>,
    pub fails_from: Option<usize>,
    pub servers: Vec<ServerConfig>,
    /// True if syntax errors are reported.
    pub syntax: bool,
}

impl TestEngine {
    pub fn new(project: &Project, setup: Setup) -> Self {
        let (sender, events) = unbounded_channel();
        let calls = Arc::new(Calls::default());
        let inner = HeadlessEditor::new(project.root(), setup.servers, sender).expect("a folder");
        let syntax: Vec<Box<dyn DiagnosticsProvider>> =
            if setup.syntax { vec![Box::new(Syntax::default())] } else { vec![] };
        let inner = Arc::new(inner.with_providers(syntax));
        let (prompt_tokens, cached_tokens) = (setup.tokens, setup.cached);
        let usage = Usage { calls: 1, prompt_tokens, cached_tokens, ..Usage::default() };
        let model = Arc::new(Script {
            replies: Mutex::new(setup.replies.into()),
            chats: (!setup.chats.is_empty()).then(|| Mutex::new(setup.chats.into())),
            context: setup.context,
            plans: Mutex::new(setup.plans.into()),
            usage,
            silent_from: setup.silent_from,
            price: setup.price,
            fails_from: setup.fails_from,
            calls: Arc::clone(&calls),
            ..Script::default()
        });
        let editor = Arc::new(Counted { inner, calls: Arc::clone(&calls), message: setup.message, flood: setup.flood });
        let mut config = setup.config;
        if config.is_null() {
            config = json!({});
        }
        if config["memory"].is_null() {
            config["memory"] = json!({"enabled": setup.memory});
        }
        let mut config: Config = serde_json::from_value(config).expect("a sound configuration");
        config.memory.state = Some(project.state_folder());
        let root = Root::new(project.root()).expect("a root");
        let model_of = Arc::<Script>::clone(&model);
        let session = Arc::new(Engine::new(editor, model_of, root, config));
        Self { session, model, calls, events, cancel: CancellationToken::new() }
    }

    /// Asks about `f` in `a.py`: the outcome as data, or the failure as `{"failed": …}`.
    pub async fn ask(&self, text: &str) -> Value {
        self.ask_about(&Request { text: text.into(), symbols: vec!["a.py::f".into()], ..Request::default() }).await
    }

    pub async fn ask_about(&self, request: &Request) -> Value {
        let asked = tokio::time::timeout(PATIENCE, self.session.ask(request, &self.cancel)).await;
        match asked.expect("the task hangs").result {
            Ok(outcome) => serde_json::to_value(outcome).expect("data"),
            Err(failure) => json!({"failed": failure}),
        }
    }

    pub async fn plan(&self, text: &str) -> Result<Plan, Failure> {
        self.plan_for(&Request { text: text.into(), workspace: true, ..Request::default() }).await
    }

    pub async fn plan_for(&self, request: &Request) -> Result<Plan, Failure> {
        let planned = tokio::time::timeout(PATIENCE, self.session.plan(request, &self.cancel)).await;
        planned.expect("the planning hangs").result
    }

    /// Runs the plan that waits: what came of it, and what was shown at its end.
    pub async fn approve(&self) -> (Result<Outcome, Failure>, Vec<Event>) {
        let ran = tokio::time::timeout(PATIENCE, self.session.approve(Steps::All, &self.cancel)).await;
        let ending = ran.expect("the plan hangs");
        (ending.result, ending.events)
    }

    /// What was shown so far and not looked at.
    pub fn seen(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// What the model was told last came of its actions, one for each question after the first.
    pub fn told(&self) -> Vec<String> {
        let asked = self.model.asked.lock().unwrap();
        asked.iter().filter_map(|input| input.ask.results.last().map(|last| last.text.clone())).collect()
    }

    /// Every question of a conversation.
    pub fn talked(&self) -> Vec<Talked> {
        self.model.talked.lock().unwrap().clone()
    }

    /// The trace as text.
    pub fn trace(&self) -> String {
        Traced { task: String::new(), request: String::new(), entries: self.session.trace() }.markdown()
    }

    /// The next question to the user.
    pub async fn question(&mut self) -> (String, Vec<String>) {
        let wait = async {
            loop {
                if let Event::Question { text, options, .. } = self.events.recv().await.expect("events") {
                    return (text, options);
                }
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.expect("no question came")
    }
}
