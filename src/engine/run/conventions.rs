//! Reads the project's own guides for its conventions, as data: a short excerpt, or whole within a budget.

use crate::state::edit_service::EditService;
use crate::state::task_store::TaskStore;
use crate::tools::run_command;
use sextant_base::plural::counted;
use sextant_base::token_estimate;
use sextant_model::abilities::Style;
use sextant_model::prompt::prompt_budget::PromptBudget;
use sextant_model::question_frame::Framing;
use sextant_model::step::Model;
use sextant_store::workspace::root::Root;
use sextant_store::workspace::workspace_files;

/// Files at the top of the workspace, in the order in which they are read.
const GUIDES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];

/// Most characters of one line.
const LINE: usize = 160;

/// The git commands that need no permission.
const FREE: [&str; 5] = ["git status", "git log", "git diff", "git show", "git blame"];

/// The frame of the task's questions.
pub(crate) async fn framing(edits: &EditService, model: &dyn Model, conventions: bool) -> Framing {
    let root = edits.workspace.root.clone();
    let read = async {
        if !conventions {
            return String::new();
        }
        let abilities = model.abilities().await;
        let budget = PromptBudget::of(abilities).guides;
        let is_conversation = abilities.style == Style::Conversation;
        let read = move || if is_conversation { whole(&root, budget) } else { excerpt(&root, budget) };
        tokio::task::spawn_blocking(read).await.unwrap_or_default()
    };
    let (detail, commands) = (detail(&edits.store).await, run_command::could_run(&edits.workspace, &edits.approvals));
    let mut allowed = edits.workspace.config.commands_allowed.clone();
    if run_command::has_git(&edits.workspace.root) {
        allowed.extend(FREE.map(str::to_owned));
    }
    Framing { conventions: read.await, detail, commands, allowed }
}

/// The length of answer that the user likes: the project's preference, or else the general one.
async fn detail(store: &TaskStore) -> String {
    let general = store.config.preferences.get("detail").cloned().unwrap_or_default();
    // Memory that is not open yet stays closed here.
    let Some(Some(remember)) = store.memory.get().cloned() else { return general };
    let project = remember.project;
    let own = remember.run(move |memory| memory.preference("detail", Some(project))).await.ok().flatten();
    own.and_then(|own| own.value.as_str().map(str::to_owned)).unwrap_or(general)
}

/// The guides whole, as far as a budget of tokens reaches. Each stands under its name and is cut at a line. A note
/// gives the size of the rest and the place to read it. They are data, code blocks and all: they lift no rule.
fn whole(root: &Root, budget: usize) -> String {
    let mut out = String::new();
    let mut known: Vec<(String, String)> = Vec::new();
    for guide in GUIDES {
        let Ok(path) = root.resolve(guide) else { continue };
        let Some(text) = workspace_files::text(root, &path) else { continue };
        // A guide may be a link to another, or its copy.
        if text.trim().is_empty() || known.iter().any(|(file, other)| *file == path || *other == text) {
            continue;
        }
        let lines: Vec<String> = text.lines().map(printable).collect();
        known.push((path.clone(), text));
        let cost = |line: &str| token_estimate::estimate(line) + 1;
        let left = budget.saturating_sub(token_estimate::estimate(&out));
        let all: usize = cost(&path) + lines.iter().map(|line| cost(line)).sum::<usize>();
        // The note about the omitted part needs room too.
        let room = if all <= left { left } else { left.saturating_sub(cost(&path) + NOTE) };
        let mut spent = 0;
        let shown = lines.iter().take_while(|line| {
            spent += cost(line);
            spent <= room
        });
        let shown: Vec<&str> = shown.map(String::as_str).collect();
        let hidden = lines.len() - shown.len();
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{path}:\n"));
        shown.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        if hidden > 0 {
            let next = shown.len() + 1;
            out.push_str(&format!("[{} not shown: read_file {path}, offset {next}]\n", counted(hidden, "more line")));
        }
    }
    out.trim_end().to_owned()
}

/// Tokens that are kept for the note about the omitted part.
const NOTE: usize = 24;
/// Most characters of one line of a whole guide.
const LONG_LINE: usize = 1000;

fn printable(line: &str) -> String {
    let shown: String = line.trim_end().chars().filter(|c| *c == '\t' || !c.is_control()).take(LONG_LINE).collect();
    if line.chars().count() > LONG_LINE { format!("{shown} […]") } else { shown }
}

/// The first lines of each guide that fit; empty without guides.
fn excerpt(root: &Root, budget: usize) -> String {
    let mut out = String::new();
    for guide in GUIDES {
        // A guide that is a link out of the workspace does not belong to it.
        let Some(text) = root.resolve(guide).ok().and_then(|path| workspace_files::text(root, &path)) else { continue };
        for line in lines(&text) {
            let more = if out.is_empty() { line } else { format!("\n{line}") };
            if token_estimate::estimate(&out) + token_estimate::estimate(&more) > budget {
                return out;
            }
            out.push_str(&more);
        }
    }
    out
}

/// Prose and list items: no titles, no code, no tables, no comments.
fn lines(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut code = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("```") {
            code = !code;
        } else if !code && !line.is_empty() && !line.starts_with(['#', '|', '<', '!', '[']) {
            let plain: String = line.chars().filter(|c| !c.is_control()).take(LINE).collect();
            out.push(plain);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: usize = 150;

    #[test]
    fn an_excerpt_is_prose_within_its_tokens() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        assert_eq!(excerpt(&root, TOKENS), "");
        std::fs::write(dir.path().join("CONTRIBUTING.md"), "Sign off commits.\n".repeat(200)).unwrap();
        std::fs::write(
            dir.path().join("AGENTS.md"),
            "# Rules\n\n- Use type hints.\u{1b}[31m\n```sh\nrm -rf /\n```\n| a | b |\n",
        )
        .unwrap();
        let excerpt = excerpt(&root, TOKENS);
        assert!(excerpt.starts_with("- Use type hints.[31m\nSign off commits.\n"), "{excerpt}");
        assert!(!excerpt.contains("rm -rf") && !excerpt.contains("Rules"));
        assert!(token_estimate::estimate(&excerpt) <= TOKENS, "{}", token_estimate::estimate(&excerpt));
    }
    #[test]
    fn guides_are_whole_with_their_code_and_what_is_left_out_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        assert_eq!(whole(&root, 1000), "");
        let agents = "# Rules\n\n- Use type hints.\u{1b}[31m\n```sh\nmake test\n```\n";
        std::fs::write(dir.path().join("AGENTS.md"), agents).unwrap();
        std::fs::write(dir.path().join("CONTRIBUTING.md"), "Sign off commits.\n".repeat(200)).unwrap();
        let all = whole(&root, 100_000);
        assert!(
            all.starts_with("AGENTS.md:\n# Rules\n\n- Use type hints.[31m\n```sh\nmake test\n```\n\nCONTRIBUTING.md:"),
            "{all}"
        );
        assert_eq!(all.matches("Sign off").count(), 200);
        for budget in [60, 150, 800] {
            let some = whole(&root, budget);
            assert!(
                token_estimate::estimate(&some) <= budget,
                "{} of {budget}: {some}",
                token_estimate::estimate(&some)
            );
            let shown = some.matches("Sign off").count();
            let hidden = counted(200 - shown, "more line");
            let note = format!("[{hidden} not shown: read_file CONTRIBUTING.md, offset {}]", shown + 1);
            assert!(some.ends_with(&note), "{some}");
        }
        std::fs::write(dir.path().join("CLAUDE.md"), agents).unwrap();
        assert_eq!(whole(&root, 100_000), all, "a copy is shown once");
    }

    #[cfg(unix)]
    #[test]
    fn a_guide_that_leads_out_or_to_another_is_not_shown_twice_or_at_all() {
        let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::new(dir.path()).unwrap();
        std::fs::write(out.path().join("x.md"), "not yours\n").unwrap();
        std::fs::write(dir.path().join("AGENTS.md"), "ours\n").unwrap();
        std::os::unix::fs::symlink(out.path().join("x.md"), dir.path().join("CONTRIBUTING.md")).unwrap();
        std::os::unix::fs::symlink("AGENTS.md", dir.path().join("CLAUDE.md")).unwrap();
        assert_eq!(whole(&root, 1000), "AGENTS.md:\nours");
    }
}
