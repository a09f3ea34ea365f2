//! `sextant plan`: makes a plan for a folder and prints it; with `--approve` runs it.

use crate::cli::exit_status::CommandStatus;

use clap::Args;
use serde_json::json;

use crate::cli::headless_run;
use crate::cli::join;
use crate::cli::settings::ModeOption;
use sextant_engine::api::Steps;

#[derive(Debug, Args)]
pub(super) struct PlanArguments {
    #[command(flatten)]
    shared: headless_run::Job,
    /// Run the plan; without this it is only printed. Files that run by being there are asked about, or named with
    /// --allow-file
    #[arg(long)]
    approve: bool,
    #[command(flatten)]
    mode: ModeOption,
}

pub(super) fn run(arguments: &PlanArguments) -> CommandStatus {
    let only_show: headless_run::HeadlessRun<'_> = &|session, request, cancel| {
        Box::pin(async move {
            let plan = headless_run::shown(session, session.plan(request, cancel).await)?;
            Ok(json!({"ok": !plan.declined, "plan": plan, "trace": session.trace()}))
        })
    };
    let approve: headless_run::HeadlessRun<'_> = &|session, request, cancel| {
        Box::pin(async move {
            let plan = headless_run::shown(session, session.plan(request, cancel).await)?;
            if plan.steps.is_empty() {
                return Ok(json!({"ok": !plan.declined, "plan": plan}));
            }
            let ending = session.approve_unseen(Steps::All, cancel).await;
            let ending = headless_run::answered(session, ending, cancel).await;
            let outcome = headless_run::shown(session, ending)?;
            join::value(outcome)
        })
    };
    let own = if arguments.approve { approve } else { only_show };
    let approves = arguments.approve;
    let joined: join::JoinedRun<'_> = &move |session, request, by| {
        Box::pin(async move {
            let plan = session.plan(request, by.clone()).await?;
            if !approves || plan.steps.is_empty() {
                return Ok(json!({"ok": !plan.declined, "plan": plan}));
            }
            join::value(session.approve(Steps::All, true, by).await?)
        })
    };
    headless_run::run(&arguments.shared, arguments.mode.given(), own, joined)
}
