//! Decides whether a command works in a running session or in a process of its own.
//!
//! It also runs the work in the session: the same lines, the same end, the same way to stop it.

use std::path::Path;
use std::process;
use std::sync::Arc;

use clap::Args;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::answer_option::GivenAnswer;
use crate::cli::choose_session::{self, Looked};
use crate::cli::exit_status::CommandStatus;
use crate::cli::follow::{self, Following};
use crate::cli::settings::session_folders;
use crate::cli::{runtime, terminal};
use sextant_base::failure::{Failure, FailureKind};
use sextant_engine::api::{Engine, Origin, Request, TurnHeld, busy};
use sextant_serve::discovery::find_sessions::FoundSessions;
use sextant_serve::discovery::gate::StartGate;
use sextant_serve::discovery::{Advertisement, SessionEntry};
use sextant_serve::rpc::rpc_client::JoinedSession;
use sextant_serve::rpc::rpc_server::{Serving, serve};
use sextant_store::workspace::root::Root;

/// The choice among several sessions.
#[derive(Debug, Default, Args)]
pub(super) struct SessionOption {
    /// Session, by its name or process, where several run; see `sextant sessions` [default: the one used last]
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

#[derive(Debug, Default, Args)]
pub(super) struct JoinOptions {
    #[command(flatten)]
    session: SessionOption,
    /// Work in a process of this command's own, even where an editor has the workspace open
    #[arg(long, conflicts_with = "session")]
    headless: bool,
}

/// The work of a subcommand in a running session; `by` names the caller.
pub(super) type JoinedRun<'r> =
    &'r (dyn for<'a> Fn(&'a JoinedSession, &'a Request, String) -> BoxFuture<'a, Result<Value, Failure>> + Sync);

/// The same with the user's choice of a session.
#[derive(Clone, Copy)]
pub(super) struct JoinedWork<'a> {
    pub(super) options: &'a JoinOptions,
    pub(super) run: JoinedRun<'a>,
}

/// The place of a command's work.
pub(super) enum WorkPlace {
    Joined(Box<JoinedSession>),
    /// Here; no other process begins a session in the workspace until the gate is dropped.
    Own(Option<StartGate>),
}

/// The session to work in, if there is one; the choice is printed.
pub(super) async fn session(
    options: &JoinOptions,
    root: &Root,
    file: Option<&Path>,
    as_json: bool,
) -> Result<WorkPlace, Failure> {
    if options.headless {
        return Ok(WorkPlace::Own(None));
    }
    let gate = choose_session::gate(root).await;
    let mut failed = None;
    // A session that ends just now is found once more at most.
    for _ in 0..2 {
        let Looked { found, chosen } = choose_session::look(root, options.session.session.as_deref(), file).await?;
        found.problems.iter().for_each(|problem| tracing::warn!(problem, "no session"));
        let Some(entry) = chosen else {
            if !as_json {
                terminal::complain("sextant: no session runs in this workspace; working headless");
            }
            return Ok(WorkPlace::Own(gate));
        };
        match JoinedSession::to(entry).await {
            Ok(joined) => {
                if !as_json {
                    print_choice(&joined.entry, root, &found, options);
                }
                return Ok(WorkPlace::Joined(Box::new(joined)));
            }
            Err(failure) => failed = Some(failure),
        }
    }
    failed.map_or(Ok(WorkPlace::Own(gate)), Err)
}

/// A request in the session's terms; its workspace may begin in another folder.
pub(super) fn placed(request: Request, root: &Root, entry: &SessionEntry) -> Request {
    let symbols =
        request.symbols.iter().map(|symbol| choose_session::placed_symbol(symbol, root.path(), &entry.root)).collect();
    Request { symbols, ..request }
}

/// The running session of a workspace, for a command that never works in its own.
pub(super) async fn running(named: &SessionOption, root: &Root) -> Result<Option<Arc<JoinedSession>>, Failure> {
    let looked = choose_session::look(root, named.session.as_deref(), None).await?;
    let Some(entry) = looked.chosen else { return Ok(None) };
    Ok(Some(Arc::new(JoinedSession::to(entry).await?)))
}

fn print_choice(entry: &SessionEntry, root: &Root, found: &FoundSessions, options: &JoinOptions) {
    let of = if entry.root == root.path() { String::new() } else { format!(" of {}", entry.root.display()) };
    terminal::complain(&format!("sextant: working in the session {}{of}", entry.name));
    if found.entries.len() > 1 && options.session.session.is_none() {
        let names: Vec<&str> = found.entries.iter().map(|entry| entry.name.as_str()).collect();
        let names = names.join(", ");
        terminal::complain(&format!("  of {names}; --session NAME takes another"));
    }
}

/// # Errors
/// A task runs there, or options were given that the session has its own of.
pub(super) async fn refuse_own(session: &JoinedSession, given: &[&str]) -> Result<(), Failure> {
    if given.is_empty() {
        return Ok(());
    }
    // If the work cannot be done anyway, the other options do not matter.
    if let Some(task) = session.info().await?.running {
        return Err(busy(&task));
    }
    let name = &session.entry.name;
    let message = format!("the session {name} has settings of its own, and {} was given", given.join(", "));
    Err(Failure::user(message, "leave it out, or work beside the session with --headless"))
}

/// The name of the caller, as the session shows it to other clients.
pub(super) fn by() -> String {
    format!("a shell (process {})", process::id())
}

/// Does the work in a session. A signal that ends this process stops the task there.
pub(super) async fn work(
    session: JoinedSession,
    work: &JoinedWork<'_>,
    request: &Request,
    answers: &[GivenAnswer],
    as_json: bool,
) -> Result<CommandStatus, Failure> {
    let session = Arc::new(session);
    let following = Following::start(&session, by(), answers, as_json).await?;
    let stopping = Arc::clone(&session);
    tokio::spawn(async move {
        runtime::interrupted().await;
        let _ = stopping.cancel().await;
    });
    let ended = (work.run)(&session, request, by()).await;
    let answered = follow::end(following, &session).await;
    let outcome = match answered {
        Some(outcome) => outcome?,
        None => ended?,
    };
    if as_json {
        terminal::json(&json!({"type": "outcome", "outcome": outcome, "session": session.entry.name}));
    }
    Ok(CommandStatus::of_outcome(&outcome))
}

/// A result as the last line of JSON.
pub(super) fn value(result: impl serde::Serialize) -> Result<Value, Failure> {
    serde_json::to_value(result).map_err(|error| Failure::new(FailureKind::Internal, error.to_string(), "see the log"))
}

/// The session of this command's own, which other processes can find: they see that it is at work.
pub(super) struct Shared {
    serving: Serving,
    held: TurnHeld,
}

impl Shared {
    pub(super) fn cancel(&self) -> CancellationToken {
        self.held.cancel.clone()
    }

    pub(super) async fn end(self) {
        self.serving.end().await;
        drop(self.held);
    }
}

/// Lets other processes find the session of this command. Without a folder for that it works all the same.
pub(super) async fn serve_own(agent: &Arc<Engine>, request: &Request, gate: Option<StartGate>) -> Option<Shared> {
    let what = if request.text.is_empty() { "a command" } else { &request.text };
    let held = agent.begin(what, Origin::new(by())).ok()?;
    let what = Advertisement { root: agent.root().path().to_owned(), door: "headless", editor_pid: None };
    let served = serve(agent, what, session_folders()).await;
    drop(gate);
    match served {
        Ok(serving) => Some(Shared { serving, held }),
        Err(error) => {
            tracing::warn!(%error, "no other program can join this session");
            None
        }
    }
}
