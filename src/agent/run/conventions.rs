//! What the project's own guides say of its conventions: a short excerpt, as data.

use crate::agent::state::session::Session;
use crate::agent::tools::run_command;
use crate::llm::framing::Framing;
use crate::llm::tokens;
use crate::workspace::files;
use crate::workspace::root::Root;

/// At the top of the workspace, in the order in which they are read.
const GUIDES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];

/// Tokens of the excerpt of all guides together.
const TOKENS: usize = 150;

/// Characters of one line.
const LINE: usize = 160;

/// What frames the task's questions.
pub(crate) async fn framing(session: &Session, conventions: bool) -> Framing {
    let root = session.root.clone();
    let read = async {
        if !conventions {
            return String::new();
        }
        tokio::task::spawn_blocking(move || excerpt(&root)).await.unwrap_or_default()
    };
    let (detail, commands) = (detail(session).await, run_command::could_run(session));
    Framing { conventions: read.await, detail, commands, allowed: Vec::new() }
}

/// How much the user likes to be told: the project's preference, or else the general one.
async fn detail(session: &Session) -> String {
    let general = session.config.preferences.get("detail").cloned().unwrap_or_default();
    // Memory that nobody has opened yet is not opened for this.
    let Some(Some(remember)) = session.opened.memory.get().cloned() else { return general };
    let project = remember.project;
    let own = remember.run(move |memory| memory.preference("detail", Some(project))).await.ok().flatten();
    own.and_then(|own| own.value.as_str().map(str::to_owned)).unwrap_or(general)
}

/// The first lines of each guide that fit; empty without guides.
fn excerpt(root: &Root) -> String {
    let mut out = String::new();
    for guide in GUIDES {
        // A guide that is a link out of the workspace is none of its own.
        let Some(text) = root.resolve(guide).ok().and_then(|path| files::text(root, &path)) else { continue };
        for line in lines(&text) {
            let more = if out.is_empty() { line } else { format!("\n{line}") };
            if tokens::estimate(&out) + tokens::estimate(&more) > TOKENS {
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

    #[test]
    fn an_excerpt_is_prose_within_its_tokens() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path()).unwrap();
        assert_eq!(excerpt(&root), "");
        std::fs::write(dir.path().join("CONTRIBUTING.md"), "Sign off commits.\n".repeat(200)).unwrap();
        std::fs::write(
            dir.path().join("AGENTS.md"),
            "# Rules\n\n- Use type hints.\u{1b}[31m\n```sh\nrm -rf /\n```\n| a | b |\n",
        )
        .unwrap();
        let excerpt = excerpt(&root);
        assert!(excerpt.starts_with("- Use type hints.[31m\nSign off commits.\n"), "{excerpt}");
        assert!(!excerpt.contains("rm -rf") && !excerpt.contains("Rules"));
        assert!(tokens::estimate(&excerpt) <= TOKENS, "{}", tokens::estimate(&excerpt));
    }
}
