//! Runs each command of the editor: the agent's own method, in the session's turn, beside the editor.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::conversation_page::ReadFrom;
use crate::engine::links::{EngineLink, INFO};
use crate::engine::reading_pages::ReadingPage;
use crate::engine::request_arguments::{GivenArguments, GivenPlace, as_request, buffer_of, real};
use crate::engine::{EngineHost, OpenSession};
use crate::link::AgentCommand;
use crate::message_line;
use sextant_base::deadline::Deadline;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;
use sextant_base::one_line::{headline, quoted};
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_diagnostics::model::Report;
use sextant_engine::api::{
    Command, Diagnostics, Engine, Event, Origin, PlanMode, ReviewedDiff, StepState, Steps, Target, UndoRequest,
    UserAnswer, busy, history, is_stop, plan_change,
};

/// The time limit of a look at a file's diagnostics, servers that still start included.
const LOOK_MS: u64 = 10_000;

/// The most characters of a task's trace in a question about it.
const TRACE: usize = 6000;

/// The most characters of a request in the title of a page.
const TITLE: usize = 60;

/// The head of a page with a diff.
const EDITABLE: &str = "<!-- edit the lines with a space or +; :w takes them over -->";

/// Carries out a command, and returns at once.
pub(super) fn take(engine: &Arc<EngineHost>, link: &Arc<EngineLink>, mut command: AgentCommand) {
    let (engine, link) = (Arc::clone(engine), Arc::clone(link));
    as_request(&mut command);
    let root = engine.setup.root.path();
    let named = |name| engine.buffers.mirror.of_buffer(root, name, link.hello.editor_pid);
    command.document = buffer_of(&command.arguments).and_then(named).or(command.document);
    let inside = |uri: &&String| path::from_uri(uri).is_none_or(|file| path::relative(root, &real(file)).is_some());
    if let Some(uri) = command.document.as_ref().filter(|uri| !engine.is_page(uri)).filter(inside) {
        lock(&engine.asked_from).came_from(uri);
    }
    tokio::spawn(async move {
        if command.command != "agent.stop" {
            engine.buffers.links.returned().await;
        }
        if let Err(failure) = carry_out(&engine, &link, &command).await {
            engine.refuse(Some(&link), &failure);
        }
    });
}

async fn carry_out(engine: &Arc<EngineHost>, link: &Arc<EngineLink>, command: &AgentCommand) -> Result<(), Failure> {
    let mut given = GivenArguments::read(&command.arguments)?;
    if matches!(command.command.as_str(), "agent.ask" | "agent.plan") {
        place_in_code(engine, &mut given.place, command.document.as_deref());
    }
    let agent = Arc::clone(&engine.session()?.agent);
    let document = about(engine, link, command.document.as_deref());
    match command.command.as_str() {
        "agent.ask" if is_stop(&given.text) && agent.turn().stop() => Ok(()),
        "agent.ask" if given.text.is_empty() => engine.requests.begin(engine, link, given.place, document).await,
        "agent.ask" => {
            let request = engine.request(&given, document.as_deref())?;
            engine.answers.blocks.asked_at(document.as_deref(), given.place.first_line());
            run(engine, link, Command::Ask(request))
        }
        "agent.plan" => plan(engine, link, &given, document.as_deref()).await,
        // The plan changes by the user's words, as the page has it now.
        "agent.change" if !engine.plan.take_over(engine).await => Ok(()),
        "agent.change" => run(engine, link, Command::ChangePlan(given.text)),
        "agent.approve" => approve(engine, link, Steps::All).await,
        "agent.step" => approve(engine, link, Steps::One).await,
        "agent.skip" => engine.plan.mark(engine, StepState::Skipped, given.number).await,
        "agent.retry" => engine.plan.mark(engine, StepState::Open, given.number).await,
        "agent.answer" => {
            engine.question.still_open(given.place.question)?;
            answer(engine, link, engine.question.answer(given.number, &given.text)?);
            Ok(())
        }
        "agent.apply" => engine.answers.blocks.apply(engine, link, &given, command.document.as_deref()),
        "agent.stop" => run(engine, link, Command::Stop),
        "agent.mode" => mode(engine, link, &agent, &given.text),
        "agent.show" if given.text == "plan" => show_plan(engine, link).await,
        "agent.show" if given.text == "waiting" => {
            page(engine, link, "agent.waiting", agent.waiting_page().await.0).await
        }
        "agent.show" => {
            let place = match engine.question.options() {
                Some(_) => ReadFrom::Question,
                None if agent.turn().is_free() => ReadFrom::LastPart,
                None => ReadFrom::End,
            };
            engine.answers.show(&engine.buffers, link, place).await
        }
        _ => look(engine, link, &given, &command.command, document.as_deref()).await,
    }
}

/// The code that the user came from to a page.
#[derive(Debug, Default)]
pub(super) struct AskedFrom {
    pub(super) uri: Option<String>,
    /// The lines of the last request there.
    lines: Option<(usize, usize)>,
}

impl AskedFrom {
    fn came_from(&mut self, uri: &str) {
        if self.uri.as_deref() != Some(uri) {
            *self = Self { uri: Some(uri.to_owned()), lines: None };
        }
    }
}

/// In a page, the lines of the last request stand for those of the page. A request in the conversation goes on with it.
fn place_in_code(engine: &EngineHost, place: &mut GivenPlace, document: Option<&str>) {
    let Some(uri) = document.filter(|_| place.file.is_none()) else { return };
    let mut asked_from = lock(&engine.asked_from);
    if !engine.is_page(uri) {
        asked_from.lines = place.lines();
        return;
    }
    place.follows = uri == engine.answers.page.uri();
    if place.lines().is_some() {
        place.use_lines(asked_from.lines);
    }
}

/// The file that a command is about. From a page it is the file that the user came from. An editor may send a command
/// before it has reported any document to this proxy. Then it is the file that the editor touched last at another
/// proxy.
fn about(engine: &EngineHost, link: &EngineLink, named: Option<&str>) -> Option<String> {
    let asked_from = || lock(&engine.asked_from).uri.clone();
    let touched = || engine.buffers.mirror.touched_last(engine.setup.root.path(), link.hello.editor_pid);
    match named {
        Some(uri) if !engine.is_page(uri) => Some(uri.to_owned()),
        Some(_) => asked_from().or_else(touched),
        None => touched().or_else(asked_from),
    }
}

/// The file of the user, as far as it is known outside of a command.
pub(super) fn asked_about(engine: &EngineHost) -> Option<String> {
    lock(&engine.asked_from).uri.clone().or_else(|| engine.buffers.mirror.touched_last(engine.setup.root.path(), None))
}

/// The commands that run no model: they undo a task, go on with it, or show a text to read.
async fn look(
    engine: &Arc<EngineHost>,
    link: &Arc<EngineLink>,
    given: &GivenArguments,
    command: &str,
    document: Option<&str>,
) -> Result<(), Failure> {
    let agent = Arc::clone(&engine.session()?.agent);
    match command {
        "agent.undo" => {
            let (target, reason) = Target::parse_because(&named(given));
            let wish = UndoRequest { target, partial: given.place.partial, reason, ..UndoRequest::default() };
            run(engine, link, Command::Undo(wish))
        }
        "agent.keep" => engine.changes.keep(engine, &given.text, document),
        "agent.redo" => run(engine, link, Command::Redo),
        "agent.resume" => {
            if agent.has_plan() && !engine.plan.take_over(engine).await {
                return Ok(());
            }
            let which = named(given);
            if which.is_empty() {
                show_plan_where_one_waits(engine, link, &agent).await?;
            }
            run(engine, link, Command::Resume { which, approved: false })
        }
        "agent.discard" => run(engine, link, Command::Discard(named(given))),
        "agent.diagnostics" => diagnostics(engine, link, document).await,
        "agent.stats" => page(engine, link, command, agent.statistics().await?).await,
        "agent.diff" => match engine.question.proposed().filter(|_| given.text.is_empty()) {
            Some(proposed) => page(engine, link, "agent.proposed", proposed).await,
            None => diff(engine, link, &agent, &Target::parse(&given.text)).await,
        },
        "agent.history" => {
            agent.recover().await;
            page(engine, link, command, history::markdown(&agent.history().await?)).await
        }
        "agent.why" if is_question(&given.text) => why(engine, link, given, document).await,
        "agent.why" => {
            agent.recover().await;
            let found = agent.traced(&given.text).await?;
            page(engine, link, command, found.markdown()).await
        }
        other => {
            let message = format!("{other} is no command of this version");
            Err(Failure::new(FailureKind::Internal, message, "restart the editor: two versions of Sextant run at once"))
        }
    }
}

/// Shows what a task, or a part of it, has changed, to be edited.
async fn diff(engine: &EngineHost, link: &EngineLink, agent: &Engine, part: &Target) -> Result<(), Failure> {
    agent.recover().await;
    let ReviewedDiff { task, request, diff, elsewhere } = agent.reviewed_text(part).await?;
    let list: Vec<String> = elsewhere.iter().map(|line| format!("- {line}\n")).collect();
    let list = if list.is_empty() { String::new() } else { format!("{}\n", list.concat()) };
    let title = quoted(&message_line::cut(&headline(&request), TITLE));
    // A changed line may begin a fence itself.
    let text = format!("# What {title} changed\n\n{EDITABLE}\n\n{list}`````diff\n{}\n`````\n", diff.trim_end());
    engine.reading.show(&engine.buffers, link, ReadingPage { name: "diff", text: &text, task: Some(&task) }).await
}

/// The number or the words that a command names its object with.
fn named(given: &GivenArguments) -> String {
    given.number.map_or_else(|| given.text.clone(), |number| number.to_string())
}

/// True for words to a model, false for the number or the name of a task.
fn is_question(text: &str) -> bool {
    text.contains(char::is_whitespace) || text.ends_with('?')
}

/// Asks the model about the last task, with its trace before it; nothing is changed.
async fn why(
    engine: &Arc<EngineHost>,
    link: &EngineLink,
    given: &GivenArguments,
    document: Option<&str>,
) -> Result<(), Failure> {
    let agent = &engine.session()?.agent;
    agent.recover().await;
    let mut request = engine.request(given, document)?;
    if let Ok(traced) = agent.traced("").await {
        let trace: String = traced.markdown().chars().take(TRACE).collect();
        request.text = format!("{}\n\nThis is about the last task, whose trace is:\n\n{trace}", given.text);
    }
    request.text.push_str("\n\nDo not change anything.");
    run(engine, link, Command::Ask(request))
}

/// Carries a command out; its events show what it does.
pub(super) fn run(engine: &EngineHost, link: &EngineLink, command: Command) -> Result<(), Failure> {
    let submitted = engine.session()?.agent.submit(command, Origin::new(link.editor()))?;
    engine.asked_by(Some(link));
    submitted.start();
    Ok(())
}

async fn plan(
    engine: &Arc<EngineHost>,
    link: &Arc<EngineLink>,
    given: &GivenArguments,
    document: Option<&str>,
) -> Result<(), Failure> {
    let agent = &engine.session()?.agent;
    if given.text.is_empty() {
        show_plan_where_one_waits(engine, link, agent).await?;
        return show_plan(engine, link).await;
    }
    let command = match plan_change(&given.text).filter(|_| agent.has_plan()) {
        Some(words) => Command::ChangePlan(words.to_owned()),
        None => Command::Plan(engine.request(given, document)?),
    };
    if let Some(task) = agent.turn().now() {
        return Err(busy(&task));
    }
    if let Command::Plan(request) = &command {
        engine.plan.begin(engine, &request.text);
    }
    // The page is shown while the user waits for it, not when the plan is there: they may be typing elsewhere by then.
    engine.plan.page.show(&engine.buffers, link).await?;
    run(engine, link, command)
}

async fn show_plan(engine: &EngineHost, link: &EngineLink) -> Result<(), Failure> {
    let page = &engine.plan.page;
    if page.wanted().is_empty() && page.open(&engine.buffers).is_none_or(|open| open.text.is_empty()) {
        return Err(Failure::user("no plan is there", "agent.plan with a request makes one"));
    }
    page.show(&engine.buffers, link).await
}

/// Approves the plan; the user approves the current text of the buffer.
async fn approve(engine: &Arc<EngineHost>, link: &Arc<EngineLink>, steps: Steps) -> Result<(), Failure> {
    if !engine.plan.take_over(engine).await {
        return Ok(());
    }
    run(engine, link, Command::Approve { steps, is_read: true })
}

/// Takes an answer.
pub(super) fn answer(engine: &Arc<EngineHost>, link: &Arc<EngineLink>, answer: UserAnswer) {
    engine.question.answered_with(&answer);
    if let Err(failure) = run(engine, link, Command::Answer(answer)) {
        engine.refuse(Some(link), &failure);
    }
}

/// Shows the plan that an earlier session has left.
async fn show_plan_where_one_waits(engine: &EngineHost, link: &EngineLink, agent: &Engine) -> Result<(), Failure> {
    if !agent.turn().is_free() {
        return Ok(());
    }
    let Ok(events) = agent.waiting_plan().await else { return Ok(()) };
    for event in events {
        if matches!(event, Event::Plan { .. }) {
            engine.plan.take(engine, event);
        }
    }
    engine.plan.page.show(&engine.buffers, link).await
}

fn mode(engine: &EngineHost, link: &EngineLink, agent: &Engine, wanted: &str) -> Result<(), Failure> {
    let mode = match wanted {
        "planner" | "auto" => PlanMode::Planner,
        "supervised" => PlanMode::Supervised,
        _ => return Err(Failure::user(format!("there is no mode {wanted:?}"), "use \"planner\" or \"supervised\"")),
    };
    agent.set_mode(mode);
    engine.buffers.links.used(link.id);
    link.message(INFO, &format!("plans run in {wanted} mode from now on"));
    Ok(())
}

/// Shows a text in a page with the name of its command.
async fn page(engine: &EngineHost, link: &EngineLink, command: &str, markdown: String) -> Result<(), Failure> {
    let (name, text) = (command.trim_start_matches("agent."), format!("{}\n", markdown.trim()));
    engine.reading.show(&engine.buffers, link, ReadingPage { name, text: &text, task: None }).await
}

/// The current reports on the document from all providers, with how fresh each report is.
async fn diagnostics(engine: &EngineHost, link: &EngineLink, document: Option<&str>) -> Result<(), Failure> {
    let OpenSession { editor, .. } = engine.session()?;
    let root = engine.setup.root.path();
    let file: Option<PathBuf> = document.and_then(path::from_uri);
    let file = file.and_then(|file| path::relative(root, &file.canonicalize().unwrap_or(file)));
    let file = file.ok_or_else(|| Failure::user("this is no file of the workspace", "go to one and ask there"))?;
    let reports = editor.diagnostics(std::slice::from_ref(&file), &[], Deadline::after_ms(LOOK_MS)).await;
    page(engine, link, "agent.diagnostics", reported(&file, &reports)).await
}

fn reported(file: &str, reports: &[Report]) -> String {
    let mut out = format!("# Diagnostics of {file}\n");
    if reports.is_empty() {
        out.push_str("\nNobody reports on this file: no language server runs for it.\n");
    }
    for report in reports {
        let how = match (&report.note, report.freshness.is_fresh()) {
            (_, true) => String::new(),
            (Some(note), false) => format!(" ({note})"),
            (None, false) => " (not known to be of this text)".to_owned(),
        };
        let many = counted(report.diagnostics.len(), "diagnostic");
        out.push_str(&format!("\n{}: {many}{how}\n\n", report.provider));
        for diagnostic in &report.diagnostics {
            let line = diagnostic.location.range().map_or(1, |range| range.start.line + 1);
            let code = diagnostic.code.as_deref().map(|code| format!(" [{code}]")).unwrap_or_default();
            let message = message_line::line(&diagnostic.message);
            out.push_str(&format!("- {file}:{line}: {}: {message}{code}\n", diagnostic.severity));
        }
    }
    out
}

impl EngineHost {
    /// # Errors
    /// No editor has sent the parts of the session yet.
    pub(super) fn session(&self) -> Result<&OpenSession, Failure> {
        let none = || Failure::new(FailureKind::Internal, "no editor is there", "start the editor again");
        self.session.get().ok_or_else(none)
    }

    /// Sets the link whose task runs from now on; `None` for a task of another program.
    pub(super) fn asked_by(&self, link: Option<&EngineLink>) {
        self.buffers.mirror.asked_by(link.and_then(|link| link.hello.editor_pid));
        self.buffers.links.asked_over(link.map(|link| link.id));
    }

    pub(super) fn is_page(&self, uri: &str) -> bool {
        self.reading.has(uri)
    }
}
