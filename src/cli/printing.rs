//! Prints events as lines: for a reader, or as JSON for a program.

use crate::cli::{cli_wording, terminal};
use sextant_base::plural::counted;
use sextant_engine::api::Event;

/// Prints events in order.
#[derive(Debug)]
pub(super) struct Printer {
    as_json: bool,
    /// True if the last words did not end their line.
    open_line: bool,
}

impl Printer {
    pub(super) fn new(as_json: bool) -> Self {
        Self { as_json, open_line: false }
    }

    pub(super) fn print(&mut self, event: Event) {
        let event = cli_wording::event(event);
        if self.as_json {
            if let Ok(value) = serde_json::to_value(&event) {
                terminal::json(&value);
            }
            return;
        }
        if let Event::Words { text, .. } = &event {
            terminal::piece(text);
            self.open_line = !text.ends_with('\n');
            return;
        }
        if std::mem::take(&mut self.open_line) {
            terminal::line("");
        }
        if let Some(text) = words(&event) {
            terminal::line(&text);
        }
    }
}

/// An event for a reader; `None` if there is nothing to print.
fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::Started { request, mode, model } => format!("{request} ({mode}, {model})"),
        Event::Risk { line, .. } => line.clone(),
        Event::Progress { text } => format!("… {text}"),
        Event::Acting { step, tool, target, .. } => format!("{step}. {tool} {target}"),
        Event::Acted { text, ok, .. } => format!("   {}{}", if *ok { "" } else { "✗ " }, text.replace('\n', "\n   ")),
        // While the plan runs, the events of its steps are enough.
        Event::Plan { phase, .. } if phase == "executing" => return None,
        Event::Plan { markdown, phase, .. } => format!("[{phase}]\n{markdown}"),
        Event::Question { text, options, shows, .. } => {
            let list: Vec<String> =
                options.iter().enumerate().map(|(n, option)| format!("  {}. {option}", n + 1)).collect();
            let shows = shows.iter().flat_map(|shows| shows.lines()).map(|line| format!("  | {line}\n"));
            format!("? {text}\n{}{}", shows.collect::<String>(), list.join("\n"))
        }
        Event::Introduced { entries, .. } => {
            let lines: Vec<String> = entries
                .iter()
                .map(|entry| format!("{}:{}:{}: {}: {}", entry.path, entry.line, entry.column, entry.kind, entry.text))
                .collect();
            if lines.is_empty() {
                return None;
            }
            lines.join("\n")
        }
        Event::Interrupted { request, done, of, notes } => {
            let how_far = if *of > 0 { format!(", {done} of {} done", counted(*of, "step")) } else { String::new() };
            let mut lines = notes.clone();
            lines.push(format!(
                "A task was interrupted: “{request}”{how_far}. `sextant resume` goes on, `sextant undo` takes it back."
            ));
            lines.join("\n")
        }
        Event::Waiting { request, done, of } => format!(
            "“{request}” waits, {done} of {} done; `sextant resume` goes on, `sextant undo` takes it back",
            counted(*of, "step")
        ),
        Event::Trace { markdown } | Event::Page { markdown, .. } => markdown.clone(),
        Event::Finished { summary, .. } => summary.clone(),
        Event::Failed { failure } | Event::Refused { failure, .. } => format!("✗ {}", failure.one_line()),
        Event::Edited { .. }
        | Event::Review { .. }
        | Event::Phase { .. }
        | Event::Place { .. }
        | Event::BlockTarget { .. }
        | Event::Places { .. }
        | Event::Log { .. }
        | Event::Conversation { .. }
        | Event::Answered
        | Event::Queued { .. }
        | Event::PlanChecked { .. }
        | Event::Words { .. }
        | Event::Mode { .. } => return None,
    })
}
