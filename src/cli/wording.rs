//! What a reader in a shell is told in place of Neovim's commands: the engine words its ways out for one door.

use crate::base::failure::Failure;
use crate::editor::event::Event;

/// Neovim's command, and what does the same in a shell. A longer name comes before one that begins it.
const COMMANDS: &[(&str, &str)] = &[
    (":AgentAsk!", "sextant ask"),
    (":AgentAsk", "sextant ask"),
    (":AgentPlan", "sextant plan"),
    (":AgentResume", "sextant resume"),
    (":AgentUndo", "sextant undo"),
    (":AgentStats", "sextant stats"),
    (":AgentMemory", "sextant ask 'what do you remember about …'"),
    (":AgentTrace", "sextant why"),
    (":AgentRedo", "sextant redo"),
    (":AgentAnswer", "--answer"),
    (":AgentMode", "--mode"),
    (":AgentStop", "Ctrl-C"),
    ("(:checkhealth vim.lsp)", "(--servers FOLDER says where one is)"),
    (":checkhealth sextant names it", "--log FILE tells more"),
];

/// What stands for a page of the help.
const PAGE: &str = "the README";

/// A text of the engine as a shell user reads it.
pub(super) fn shell(text: &str) -> String {
    let text = &two_doors(text);
    if !text.contains(":Agent") && !text.contains(":help sextant") && !text.contains(":checkhealth") {
        return text.to_owned();
    }
    let mut out = text.to_owned();
    for (neovim, shell) in COMMANDS {
        out = quoted(&out, neovim, shell).replace(neovim, shell);
    }
    pages(&out)
}

/// What holds in an editor alone; the place of the whole clause.
const EDITOR_ONLY: &[&str] = &["; `u` undoes the rest", "`u` undoes your own changes"];

/// Where both doors are named the shell's own is left: ``:AgentRedo (`sextant redo`)`` becomes `` `sextant redo` ``.
fn two_doors(text: &str) -> String {
    let mut out = EDITOR_ONLY.iter().fold(text.to_owned(), |text, clause| text.replace(clause, ""));
    while let Some(middle) = out.find(" (`sextant ") {
        let start = out[..middle].rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let end = out[middle..].find(')').map(|at| middle + at);
        let (Some(end), true) = (end, out[start..middle].starts_with(":Agent")) else { break };
        out = format!("{}{}{}", &out[..start], &out[middle + 2..end], &out[end + 1..]);
    }
    out
}

/// `` `:AgentPlan make it so` `` becomes `` `sextant plan 'make it so'` ``.
fn quoted(text: &str, neovim: &str, shell: &str) -> String {
    let start = format!("`{neovim} ");
    let mut parts = text.split(&start);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('`') {
            Some((words, rest)) => out.push_str(&format!("`{shell} '{words}'`{rest}")),
            None => out.push_str(&format!("{start}{part}")),
        }
    }
    out
}

/// Pages of the help, by their names.
fn pages(text: &str) -> String {
    let mut parts = text.split(":help sextant");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        out.push_str(PAGE);
        out.push_str(&part[end..]);
    }
    out
}

pub(super) fn failure(failure: &Failure) -> Failure {
    Failure::new(failure.kind, shell(&failure.message), shell(&failure.hint))
}

/// An event in the words of a shell. What a model, a file or a plan says stays as it is.
pub(super) fn event(event: Event) -> Event {
    match event {
        Event::Progress { text } => Event::Progress { text: shell(&text) },
        Event::Acted { step, tool, ok: false, text } => Event::Acted { step, tool, ok: false, text: shell(&text) },
        Event::Question { text, options } => Event::Question { text: shell(&text), options },
        Event::Interrupted { request, done, of, notes } => {
            Event::Interrupted { request, done, of, notes: notes.iter().map(|note| shell(note)).collect() }
        }
        Event::Finished { ok, summary } => Event::Finished { ok, summary: shell(&summary) },
        Event::Failed { failure: failed } => Event::Failed { failure: failure(&failed) },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neovims_commands_become_those_of_the_shell() {
        for (said, wanted) in [
            ("make one first: `:AgentPlan make it so`", "make one first: `sextant plan 'make it so'`"),
            ("kept; :AgentUndo takes it back", "kept; sextant undo takes it back"),
            ("(a larger range, or :AgentPlan)", "(a larger range, or sextant plan)"),
            ("configure a model (:help sextant-models), or not", "configure a model (the README), or not"),
            ("plain `text`", "plain `text`"),
            ("gone; :AgentRedo (`sextant redo`) brings it back", "gone; `sextant redo` brings it back"),
            (":AgentUndo! (`sextant undo --partial`) takes the rest", "`sextant undo --partial` takes the rest"),
            ("only ours is undone here; `u` undoes the rest", "only ours is undone here"),
        ] {
            assert_eq!(shell(said), wanted);
        }
    }
}
