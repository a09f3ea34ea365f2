//! `sextant mcp`: the tools of a workspace for another agent, which starts this process.

mod headless_workspace;
mod joined_workspace;

use crate::cli::exit_status::CommandStatus;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use clap::Args;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::client_config::{KnownClient, snippet};
use crate::cli::mcp::headless_workspace::HeadlessWorkspace;
use crate::cli::mcp::joined_workspace::JoinedWorkspace;
use crate::cli::settings::{ServerFolders, UserFiles, WorkOptions};
use crate::cli::{choose_session, log, runtime, terminal};
use sextant_base::access_token;
use sextant_base::failure::{Failure, FailureKind};
use sextant_serve::mcp::mcp_workspace::{OpenWorkspace, WorkspaceOpener};
use sextant_serve::mcp::{http, stdio};
use sextant_store::workspace::root::Root;

#[derive(Debug, Args)]
pub(super) struct McpArguments {
    /// Workspace folder, where the client names none [default: the project around the current folder]
    #[arg(long)]
    root: Option<PathBuf>,
    #[command(flatten)]
    servers: ServerFolders,
    /// Milliseconds that the diagnostics of one edit may take
    #[arg(long)]
    timeout_ms: Option<u64>,
    #[command(flatten)]
    files: UserFiles,
    /// Serve over HTTP on this port of this machine alone instead, 0 for any that is free; the first line of the output
    /// has the address and the token that each request has to carry
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,
    /// Print what this client's configuration says to start the server, and end
    #[arg(long, value_enum, value_name = "CLIENT")]
    print_config: Option<KnownClient>,
}

pub(super) fn run(arguments: McpArguments) -> CommandStatus {
    if let Some(client) = arguments.print_config {
        return print_config(client, arguments.root.as_deref());
    }
    if let Some(path) = &arguments.files.log {
        log::start(path);
    }
    let fallback = fallback(arguments.root.as_deref());
    if let (Some(_), Err(failure)) = (&arguments.root, &fallback) {
        terminal::fail(failure);
        return CommandStatus::NotDone;
    }
    let runtime = match runtime::start() {
        Ok(runtime) => runtime,
        Err(failure) => {
            terminal::fail(&failure);
            return CommandStatus::NotDone;
        }
    };
    let stop = CancellationToken::new();
    let McpArguments { servers, timeout_ms, files, http: port, .. } = arguments;
    let opener = Box::new(Headless { options: WorkOptions::without_model(servers, timeout_ms), files });
    let served = runtime.block_on(async {
        let ended = stop.clone();
        tokio::spawn(async move {
            runtime::interrupted().await;
            ended.cancel();
        });
        match port {
            Some(port) => serve_http(opener, fallback, port, stop).await,
            None => {
                stdio::serve(opener, fallback, stop).await;
                Ok(())
            }
        }
    });
    // The reader of standard input may be a thread that cannot be stopped; it must not hold the process.
    runtime.shutdown_background();
    match served {
        Ok(()) => CommandStatus::Done,
        Err(failure) => {
            terminal::fail(&failure);
            CommandStatus::NotDone
        }
    }
}

/// The variable with a token for servers that are restarted often; without it a new token is made.
const TOKEN: &str = "SEXTANT_MCP_TOKEN";
/// The least characters of such a token.
const TOKEN_LENGTH: usize = 32;

async fn serve_http(
    opener: Box<Headless>,
    fallback: Result<Root, Failure>,
    port: u16,
    stop: CancellationToken,
) -> Result<(), Failure> {
    let token = given_token()?;
    let report = |address: SocketAddr| {
        terminal::json(&json!({"url": format!("http://{address}/"), "token": token}));
    };
    http::serve(opener, fallback, port, &token, &report, stop).await
}

fn given_token() -> Result<String, Failure> {
    match std::env::var(TOKEN) {
        Ok(given) if given.len() < TOKEN_LENGTH || !given.bytes().all(|byte| byte.is_ascii_graphic()) => {
            let message = format!("{TOKEN} is no token: {TOKEN_LENGTH} visible characters at least");
            Err(Failure::new(FailureKind::Config, message, "make a random one, or leave it out"))
        }
        Ok(given) => Ok(given),
        Err(_) => {
            let none = |error| Failure::new(FailureKind::Internal, format!("no token can be made: {error}"), TOKEN);
            access_token::fresh().map_err(none)
        }
    }
}

/// The folder for calls of a client that names no folder.
fn fallback(given: Option<&std::path::Path>) -> Result<Root, Failure> {
    match given {
        Some(root) => Ok(Root::new(root)?),
        None => {
            let unread = |error| Failure::user(format!("the current folder cannot be read: {error}"), "use --root");
            Ok(Root::find(&std::env::current_dir().map_err(unread)?)?)
        }
    }
}

fn print_config(client: KnownClient, root: Option<&std::path::Path>) -> CommandStatus {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("sextant"));
    let mut arguments = vec!["mcp".to_owned()];
    if let Some(root) = root {
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        arguments.extend(["--root".to_owned(), root.display().to_string()]);
    }
    let (text, place) = snippet(client, &program, &arguments);
    terminal::line(&text);
    terminal::complain(&format!("put this into {place}"));
    CommandStatus::Done
}

/// Opens workspaces: joins a running session, or treats the folder as an editor, with the language servers of the
/// configuration or the installed ones.
struct Headless {
    options: WorkOptions,
    files: UserFiles,
}

#[async_trait]
impl WorkspaceOpener for Headless {
    async fn open(&self, root: Root) -> Result<Arc<dyn OpenWorkspace>, Failure> {
        let gate = choose_session::gate(&root).await;
        if let Some(joined) = JoinedWorkspace::find(&root).await {
            return Ok(Arc::new(joined));
        }
        let settings = self.options.settings(&self.files, root.path())?;
        Ok(Arc::new(HeadlessWorkspace::open(root, settings, gate).await?))
    }
}
