//! `sextant plan`: makes a plan for a folder and prints it; with `--approve` runs it.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::agent::plan::Steps;
use crate::base::failure::{Failure, Kind};
use crate::cli::headless;
use crate::editor::event::Event;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shared: headless::Job,
    /// Run the plan; without this it is only printed
    #[arg(long)]
    approve: bool,
    /// Answer to a question that a plan in supervised mode pauses with, counted from 1; may be given more than once
    #[arg(long = "answer", value_name = "NUMBER", requires = "approve")]
    answers: Vec<usize>,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let only_show: Box<headless::Run> = Box::new(|session, request, cancel| {
        Box::pin(async move {
            let plan = headless::shown(session, session.plan(request, cancel).await)?;
            Ok(json!({"ok": true, "plan": plan, "trace": session.trace()}))
        })
    });
    let answers = arguments.answers.clone();
    let approve: Box<headless::Run> = Box::new(move |session, request, cancel| {
        let answers = answers.clone();
        Box::pin(async move {
            let plan = headless::shown(session, session.plan(request, cancel).await)?;
            if plan.steps.is_empty() {
                return Ok(json!({"ok": true, "plan": plan}));
            }
            let mut ending = session.approve(Steps::All, cancel).await;
            for answer in answers {
                if !ending.events.iter().any(|event| matches!(event, Event::Question { .. })) {
                    break;
                }
                headless::shown(session, ending)?;
                ending = session.answer_question(answer, cancel).await;
            }
            let outcome = headless::shown(session, ending)?;
            serde_json::to_value(outcome)
                .map_err(|error| Failure::new(Kind::Internal, error.to_string(), "see the log"))
        })
    });
    headless::run(&arguments.shared, if arguments.approve { &approve } else { &only_show })
}
