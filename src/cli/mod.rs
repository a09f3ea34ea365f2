//! Defines the command line, one file a subcommand, and wires the rooms to each other.

mod answer_option;
mod approve_command;
mod ask_command;
mod choose_session;
mod cli_wording;
mod client_config;
mod completions;
mod diff;
mod doctor;
mod engine_command;
mod exit_status;
mod follow;
mod forget_command;
mod headless_run;
mod join;
mod log;
mod lsp;
mod mcp;
mod models;
mod nvim;
mod plan_command;
mod printing;
mod prompts;
mod redo_command;
mod resume_command;
mod runtime;
mod sessions;
mod settings;
mod setup;
mod stats_command;
mod status;
mod terminal;
mod undo_command;
mod why;

use crate::cli::exit_status::CommandStatus;

use clap::{CommandFactory, Parser, Subcommand};

/// The end of every subcommand's help.
const STATUS: &str = "Exit status: 0 when what was asked for is done; 1 when it is not, and why is on standard error \
    (`diff`: also for a new error, `doctor`: for something that does not work); 2 when the command line cannot be read. \
    With --json a failure is a line of JSON with kind, message and hint.";

/// An AI agent inside Neovim that navigates by symbols instead of line numbers.
#[derive(Debug, Parser)]
#[command(name = "sextant", version, after_help = STATUS)]
struct Cli {
    #[command(subcommand)]
    command: SextantCommand,
}

#[derive(Debug, Subcommand)]
enum SextantCommand {
    /// Do what a request says, in a folder, with the language servers found there
    Ask(headless_run::Job),
    /// Make a plan for a request and print it; with --approve run it
    Plan(plan_command::PlanArguments),
    /// Run the plan that waits; --step runs its next step alone
    Approve(approve_command::ApproveArguments),
    /// Go on with the last task that was stopped or interrupted, in this folder
    Resume(resume_command::ResumeArguments),
    /// Take back what the last task changed, or a part of it; again for the task before
    Undo(undo_command::UndoArguments),
    /// Bring back what was undone last
    Redo(redo_command::RedoArguments),
    /// Forget what holds a text, of all that is remembered of a workspace; says what went and what stays
    Forget(forget_command::ForgetArguments),
    /// Report the diagnostics that a change in a git repository introduced, fixed, hid or uncovered
    Diff(diff::DiffArguments),
    /// Show how the runs in a workspace went: success, time, tokens, memory, by mode
    Stats(stats_command::StatsArguments),
    /// Show what led to what in the last task, or in an earlier one
    Why(why::WhyArguments),
    /// List the editors and other programs that have a session open, in every workspace
    Sessions(sessions::SessionsArguments),
    /// Show what the session of a workspace does and what it has done
    Status(status::StatusArguments),
    /// Print what happens in the session of a workspace as it happens
    Watch(status::StatusArguments),
    /// Stop the task that runs in the session of a workspace; what it finished is kept
    Stop(status::StatusArguments),
    /// Look whether everything that is needed is there and sound; status 1 where something does not work
    Doctor(doctor::DoctorArguments),
    /// List the texts that open a prompt, or print one; files of your own replace them
    Prompts(prompts::PromptsArguments),
    /// Print what completes this command line in a shell
    Completions(completions::CompletionsArguments),
    /// Write the manual pages into a folder
    Man(completions::ManArguments),
    /// Change the configuration of an editor that has no plugins, so that the agent works in it
    Setup(setup::SetupArguments),
    /// Serve the tools of a workspace to another agent, over standard input and output (MCP)
    Mcp(mcp::McpArguments),
    /// Hold the session of a workspace for the proxies of an editor, which start this
    #[command(hide = true)]
    Engine(engine_command::EngineArguments),
    /// Stand before a language server (after `--`), or be one, for an editor that speaks LSP: Helix among others
    Lsp(lsp::LspArguments),
    /// Serve the Neovim that starts this process, over standard input and output
    Nvim(nvim::NvimArguments),
}

/// Runs the command line of this process.
pub fn run() -> CommandStatus {
    terminal::catch_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return terminal::usage(&error),
    };
    match cli.command {
        SextantCommand::Ask(arguments) => ask_command::run(&arguments),
        SextantCommand::Plan(arguments) => plan_command::run(&arguments),
        SextantCommand::Approve(arguments) => approve_command::run(&arguments),
        SextantCommand::Resume(arguments) => resume_command::run(&arguments),
        SextantCommand::Undo(arguments) => undo_command::run(&arguments),
        SextantCommand::Redo(arguments) => redo_command::run(&arguments),
        SextantCommand::Forget(arguments) => forget_command::run(&arguments),
        SextantCommand::Doctor(arguments) => doctor::run(&arguments),
        SextantCommand::Diff(arguments) => diff::run(&arguments),
        SextantCommand::Stats(arguments) => stats_command::run(&arguments),
        SextantCommand::Why(arguments) => why::run(&arguments),
        SextantCommand::Sessions(arguments) => sessions::run(&arguments),
        SextantCommand::Status(arguments) => status::status(&arguments),
        SextantCommand::Watch(arguments) => status::watch(&arguments),
        SextantCommand::Stop(arguments) => status::stop(&arguments),
        SextantCommand::Prompts(arguments) => prompts::run(&arguments),
        SextantCommand::Completions(arguments) => completions::completions(&arguments, Cli::command()),
        SextantCommand::Man(arguments) => completions::man(&arguments, Cli::command()),
        SextantCommand::Setup(arguments) => setup::run(&arguments),
        SextantCommand::Mcp(arguments) => mcp::run(arguments),
        SextantCommand::Engine(arguments) => engine_command::run(arguments),
        SextantCommand::Lsp(arguments) => lsp::run(arguments),
        SextantCommand::Nvim(arguments) => nvim::run(&arguments),
    }
}
