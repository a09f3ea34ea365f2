//! `sextant diff`: which diagnostics a change introduced, fixed, hid or uncovered, and the exit status that follows.

mod batch;
mod checkout;
mod collect;
mod compare;
mod git;
mod json;
mod progress;
mod report;
mod revisions;
mod selection;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::base::deadline::Deadline;
use crate::base::failure::{Failure, Kind};
use crate::base::path;
use crate::cli::diff::checkout::Checkout;
use crate::cli::diff::collect::{Side, comparable, read};
use crate::cli::diff::compare::{Comparison, entries};
use crate::cli::diff::git::{Changed, Git};
use crate::cli::diff::progress::Progress;
use crate::cli::diff::revisions::{Revision, Sides};
use crate::cli::diff::selection::{Selection, Wish, below, changes_below, select, stray};
use crate::cli::log;
use crate::cli::settings::Servers;
use crate::diagnostics::model::Severity;
use crate::diagnostics::server::LanguageServer;
use crate::diagnostics::server::config::ServerConfig;
use crate::workspace::root::Root;

const EXAMPLES: &str = "\
Examples:
  sextant diff                          what the uncommitted changes introduced
  sextant diff HEAD~1                   what the last commit and the uncommitted changes introduced
  sextant diff origin/main...HEAD       what this branch introduced since it left main
  sextant diff v1.0 v1.1 src/shop       between two tags, in one folder
  sextant diff --format sarif HEAD~1 > new.sarif
  vim -q <(sextant diff --format errorformat) --cmd 'set efm=%f:%l:%c:\\ %t%*[^:]:\\ %m'

Both sides are checked by the same language servers: a revision in a temporary folder, the working tree where it is.
Nothing is written to the repository.

Exit status: 0 where nothing new is as bad as --fail-on, 1 where something is, 2 where the question cannot be answered
(no repository, no such revision, no provider; with --strict also where a part is not known).";

#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// `REV`, `REV REV2`, `A..B` or `A...B`, then files and folders to hear about. One revision is compared with the
    /// working tree [default: HEAD]
    #[arg(value_name = "REV|PATH")]
    words: Vec<String>,
    /// Files and folders to hear about
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<String>,
    /// Answer cases, as JSON lines on standard input, without a repository and without servers
    #[arg(long, exclusive = true)]
    batch: bool,
    /// How the answer is written
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// The least severe diagnostics to hear about
    #[arg(long, value_enum, default_value = "warning")]
    severity: Floor,
    /// The least severe new diagnostic that makes the exit status 1
    #[arg(long, value_enum, default_value = "error")]
    fail_on: FailOn,
    /// Check the changed files alone, not what may have broken elsewhere
    #[arg(long)]
    changed_only: bool,
    /// The most files that are checked; the changed ones come first
    #[arg(long, value_name = "COUNT", default_value_t = 2000)]
    max_files: usize,
    /// Seconds that the providers may take for everything, their start included
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,
    /// Exit with 2 where a provider did not answer or files were left out
    #[arg(long)]
    strict: bool,
    /// Say on standard error how far it is, also where that is no terminal
    #[arg(long)]
    progress: bool,
    /// Project folder in the repository [default: the project around the current folder]
    #[arg(long)]
    root: Option<PathBuf>,
    #[command(flatten)]
    servers: Servers,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Grouped by file, one line a diagnostic
    Text,
    /// One object
    Json,
    /// The new ones as `file:line:col: severity: symbol: message [code]`
    Errorformat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Floor {
    Error,
    Warning,
    Info,
    Hint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOn {
    Error,
    Warning,
    Never,
}

/// The question cannot be answered.
const FAILED: u8 = 2;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    if let Some(path) = &arguments.servers.log {
        log::start(path);
    }
    if arguments.batch {
        return match batch::run(std::io::stdin().lock(), std::io::stdout().lock()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => fail(&failure, arguments.format),
        };
    }
    let ended = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => {
            let ended = runtime.block_on(async {
                tokio::select! {
                    ended = compare(arguments) => ended,
                    () = stopped() => Err(Failure::new(Kind::Cancelled, "stopped", "nothing was changed")),
                }
            });
            runtime.shutdown_timeout(Duration::from_millis(200));
            ended
        }
        Err(error) => Err(Failure::new(Kind::Internal, format!("no runtime: {error}"), "free some memory")),
    };
    match ended {
        Ok(mut found) => {
            let status = status(&found, arguments);
            found.keep_from(arguments.severity.severity());
            print(&found, arguments.format);
            ExitCode::from(status)
        }
        Err(failure) => fail(&failure, arguments.format),
    }
}

fn status(found: &Comparison, arguments: &Arguments) -> u8 {
    let fails = arguments.fail_on.severity().is_some_and(|severity| found.has_new(severity));
    if arguments.strict && found.is_partial() { FAILED } else { u8::from(fails) }
}

fn print(found: &Comparison, format: Format) {
    let text = match format {
        Format::Text => report::text(found),
        Format::Json => json::json(found).to_string(),
        Format::Errorformat => {
            // What is not known must not look like nothing: it goes where it disturbs no reader of lines.
            report::unknown(found).iter().for_each(|what| complain(&format!("not known: {what}")));
            report::errorformat(found)
        }
    };
    if !text.is_empty() {
        // A reader that went away is no error of ours.
        let _ = writeln!(std::io::stdout().lock(), "{text}");
    }
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "sextant: {text}");
}

fn fail(failure: &Failure, format: Format) -> ExitCode {
    complain(&format!("{}\n  → {}", failure.message, failure.hint));
    if format == Format::Json {
        let _ = writeln!(std::io::stdout().lock(), "{}", serde_json::json!({"type": "failed", "failure": failure}));
    }
    ExitCode::from(FAILED)
}

/// Waits until somebody wants this process to end; temporary folders and servers then go in order.
async fn stopped() {
    let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

async fn compare(arguments: &Arguments) -> Result<Comparison, Failure> {
    let progress = Progress::new(arguments.progress);
    let here = std::env::current_dir().map_err(|error| {
        Failure::user(format!("the current folder cannot be read: {error}"), "go to a folder that exists")
    })?;
    let start = arguments.root.as_ref().map_or(here.clone(), |root| here.join(root));
    let git = Git::open(&start).await?;
    let root = match &arguments.root {
        Some(root) => Root::new(&here.join(root))?,
        None => Root::find(&here)?,
    };
    let prefix = path::relative(&git.top, root.path()).ok_or_else(|| {
        let message = format!("{} is not in the repository {}", root.path().display(), git.top.display());
        Failure::user(message, "name a folder of the repository with --root")
    })?;
    let sides = revisions::read(&git, &here, &arguments.words).await?;
    let servers = servers(arguments, root.path())?;
    let wish = wish(arguments, &sides, &here, root.path())?;

    let unkept = git.unkept().await?;
    progress.say(&format!("writing out {}", sides.before.name));
    let old = Checkout::new(&git, &sides.before.commit, &unkept).await?;
    let new = match &sides.after {
        Some(after) => {
            progress.say(&format!("writing out {}", after.name));
            Some(Checkout::new(&git, &after.commit, &unkept).await?)
        }
        None => None,
    };
    let new_root = new.as_ref().map_or(root.path().to_owned(), |new| new.tree.join(&prefix));
    let selection = choose(&git, &sides, &prefix, &wish, &servers, &new_root).await?;
    let (before, after, gaps) = read_sides(&selection, &sides, (old.tree.join(&prefix), new_root), &wish);

    let deadline = Deadline::after(Duration::from_secs(arguments.timeout));
    let (old_reports, new_reports) =
        futures::future::join(before.ask(&servers, deadline, progress), after.ask(&servers, deadline, progress)).await;
    let asked = old_reports.len() + new_reports.len();
    let said = comparable(&selection.files, (&before.name, old_reports), (&after.name, new_reports));
    if asked > 0 && said.answered.is_empty() {
        let why: Vec<String> = said
            .silent
            .iter()
            .map(|silent| format!("{} in {}: {}", silent.provider, silent.side, silent.why))
            .collect();
        let hint = "start it by hand to see what it lacks, or give it more time with --timeout";
        return Err(Failure::new(Kind::Tool, format!("no provider could answer: {}", why.join("; ")), hint));
    }
    let mut entries = entries(&selection.files, &before, &after, &said);
    entries.retain(|entry| entry.file().is_empty() || wish.names(entry.file()));
    Ok(Comparison {
        before: sides.before,
        after: sides.after,
        entries,
        providers: said.answered.iter().cloned().collect(),
        silent: said.silent,
        gaps,
        checked: selection.files.len(),
        changed: selection.files.iter().filter(|file| is_changed(file, &before, &after)).count(),
    })
}

fn servers(arguments: &Arguments, root: &Path) -> Result<Vec<ServerConfig>, Failure> {
    let servers = arguments.servers.find(root)?;
    if servers.is_empty() {
        let hint = "put basedpyright or another server on PATH, name its folder with --servers, or configure one";
        return Err(Failure::new(Kind::Config, "no provider of diagnostics was found", hint));
    }
    Ok(servers)
}

fn wish(arguments: &Arguments, sides: &Sides, here: &Path, root: &Path) -> Result<Wish, Failure> {
    let given = sides.paths.iter().chain(&arguments.paths);
    let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
    let inside = |given: &String| {
        path::relative(root, &here.join(given)).ok_or_else(|| {
            Failure::user(format!("{given} is outside of {}", root.display()), "name another folder with --root")
        })
    };
    let paths = given.map(inside).collect::<Result<Vec<String>, Failure>>()?;
    Ok(Wish { paths, changed_only: arguments.changed_only, most: arguments.max_files })
}

async fn choose(
    git: &Git,
    sides: &Sides,
    prefix: &str,
    wish: &Wish,
    servers: &[ServerConfig],
    new_root: &Path,
) -> Result<Selection, Failure> {
    let after = sides.after.as_ref().map(|after| after.commit.as_str());
    let changes = changes_below(git.changes(&sides.before.commit, after).await?, prefix);
    let old_files = below(git.files(&sides.before.commit).await?, prefix);
    let new_files = match after {
        Some(commit) => below(git.files(commit).await?, prefix),
        None => {
            let mut files = below(git.working_files().await?, prefix);
            files.retain(|file| new_root.join(file).symlink_metadata().is_ok_and(|what| what.is_file()));
            files
        }
    };
    if let Some(stray) = stray(wish, [&old_files, &new_files]) {
        let hint = "paths are relative to the current folder; git log -- PATH tells when a file was there";
        return Err(Failure::user(format!("{stray} is in neither of the two states"), hint));
    }
    let probes: Vec<LanguageServer> =
        servers.iter().map(|config| LanguageServer::new(config.clone(), new_root)).collect();
    // A server for every language is asked about what changed, and not about every file that there is.
    let everything = servers.iter().any(|config| config.languages.is_empty());
    let changed: std::collections::BTreeSet<&str> =
        changes.iter().flat_map(|change| [change.old.as_deref(), change.new.as_deref()]).flatten().collect();
    let covered = |path: &str| {
        let named =
            |(config, server): (&ServerConfig, &LanguageServer)| !config.languages.is_empty() && server.covers(path);
        servers.iter().zip(&probes).any(named) || (everything && changed.contains(path))
    };
    Ok(select(&changes, (&old_files, &new_files), covered, wish))
}

/// Reads both sides; the third part says what was left out.
fn read_sides(
    selection: &Selection,
    sides: &Sides,
    roots: (PathBuf, PathBuf),
    wish: &Wish,
) -> (Side, Side, Vec<String>) {
    let mut gaps = Vec::new();
    if selection.left_out > 0 {
        gaps.push(format!("{} more files, for --max-files is {}", selection.left_out, wish.most));
    }
    let mut side = |name: &str, root: PathBuf, paths: Vec<&String>| {
        let (texts, unread) = read(&root, paths.into_iter());
        if let Some(first) = unread.first() {
            gaps.push(format!("{} files in {name} that are no UTF-8 text ({first} among them)", unread.len()));
        }
        Side { name: name.to_owned(), root, texts }
    };
    let old = selection.files.iter().filter_map(|file: &Changed| file.old.as_ref()).collect();
    let before = side(&sides.before.name, roots.0, old);
    let after_name = sides.after.as_ref().map_or("working tree", |after: &Revision| &after.name);
    let new = selection.files.iter().filter_map(|file| file.new.as_ref()).collect();
    let after = side(after_name, roots.1, new);
    (before, after, gaps)
}

fn is_changed(file: &Changed, before: &Side, after: &Side) -> bool {
    let text = |side: &Side, path: &Option<String>| path.as_ref().and_then(|path| side.texts.get(path)).cloned();
    file.old != file.new || text(before, &file.old) != text(after, &file.new)
}

impl Floor {
    fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
            Self::Hint => Severity::Hint,
        }
    }
}

impl FailOn {
    fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Never => None,
        }
    }
}
