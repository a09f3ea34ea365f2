//! Keeps the user's preferences, and shows what memory knows.

use std::sync::Arc;

use serde_json::json;

use crate::memory::chosen_preferences::{self, LEARNINGS, LONGEST, SHOWN};
use crate::memory::{learn, project_files};
use crate::state::notes::short;
use crate::state::task_store::TaskStore;
use sextant_base::clock::now_ms;
use sextant_base::failure::Failure;
use sextant_base::one_line::quoted;
use sextant_base::plural::counted;
use sextant_base::secrets;
use sextant_store::memory::preferences::Preference;
use sextant_store::workspace::root::Root;

/// Keeps a preference of the user, and returns what was kept.
pub(crate) async fn prefer(store: &TaskStore, text: &str) -> Result<String, Failure> {
    let remember = chosen_preferences::needs_memory(store).await?;
    let text = chosen_preferences::bare(text);
    if text.is_empty() {
        return Err(Failure::user("there is nothing to remember in it", "say what, as in “remember that …”"));
    }
    if secrets::holds_likely(&text) {
        return Err(Failure::user(
            "this looks like a key or a password; nothing was kept",
            "memory goes into prompts: keep secrets elsewhere",
        ));
    }
    let (key, value) = chosen_preferences::named(&short(&text, LONGEST));
    let project = remember.project;
    let preference = Preference {
        key: key.clone(),
        value: json!(value),
        project: Some(project.to_owned()),
        inferred: false,
        updated: now_ms(),
    };
    let kept = remember.run(move |memory| {
        let former = memory.preferences(Some(project))?.into_iter().find(|one| one.key == preference.key);
        memory.set_preference(preference)?;
        Ok(former)
    });
    let former = kept
        .await
        .map_err(|error| chosen_preferences::failure(&error))?
        .map(|one| chosen_preferences::text_of(&one.value));
    let former = former.filter(|former| *former != value).unwrap_or_default();
    let instead = match former.as_str() {
        "" => String::new(),
        former => format!(", in place of “{former}”"),
    };
    let kept = chosen_preferences::shown(&key, &value);
    Ok(format!(
        "Kept for this project: “{kept}”{instead}. The model reads it with every request here; “forget {value}” deletes it."
    ))
}

/// All entries about something, and how many they are.
pub(crate) async fn recall_about(store: &TaskStore, text: &str) -> Result<(String, usize), Failure> {
    let remember = chosen_preferences::needs_memory(store).await?;
    let (what, project) = (chosen_preferences::bare(text), remember.project);
    let words = what.clone();
    let found = remember
        .run(move |memory| {
            let hits = memory.search(&words, SHOWN)?;
            Ok((hits, memory.preferences(Some(project))?, memory.all_learnings(Some(project), usize::MAX)?))
        })
        .await;
    let (hits, stated, learned) = found.map_err(|error| chosen_preferences::failure(&error))?;
    let lower = what.to_lowercase();
    let about = |line: &String| line.to_lowercase().contains(&lower);
    let mut lines: Vec<String> =
        chosen_preferences::merged(&chosen_preferences::configured_preferences(&store.config), &stated)
            .into_iter()
            .filter(about)
            .map(|line| format!("- prefers {line}"))
            .collect();
    lines.extend(learned.iter().map(learn::line).filter(about).take(SHOWN).map(|line| format!("- {line}")));
    lines.extend(hits.iter().map(|hit| chosen_preferences::line_of(&hit.entry)));
    let text = match lines.is_empty() {
        true => format!("Nothing is known about {}.", quoted(&what)),
        false => format!("Known about “{what}”:\n{}", lines.join("\n")),
    };
    Ok((text, lines.len()))
}

/// All that is known, in short, as Markdown.
pub(crate) async fn learned(store: &TaskStore, root: &Root) -> Result<String, Failure> {
    let remember = chosen_preferences::needs_memory(store).await?;
    remember.written().await;
    let (known, root) = (Arc::clone(&remember), root.clone());
    let all = remember
        .run(move |memory| {
            let project = Some(known.project);
            let entries = memory.history(&known.session, &[], SHOWN)?;
            let used = project_files::in_work(memory)?;
            let found = (project_files::count(&root), project_files::commands(&root));
            let learned = memory.all_learnings(project, LEARNINGS)?;
            Ok((memory.preferences(project)?, learned, found, used, entries, memory.entry_count()?))
        })
        .await;
    let (stated, learned, found, used, entries, count) = all.map_err(|error| chosen_preferences::failure(&error))?;
    let mut out = vec!["# What is remembered here".to_owned()];
    let mut part = |title: &str, lines: Vec<String>| {
        out.push(format!("\n## {title}\n"));
        out.push(if lines.is_empty() { "(nothing yet)".to_owned() } else { lines.join("\n") });
    };
    let preferences = chosen_preferences::merged(&chosen_preferences::configured_preferences(&store.config), &stated);
    part("Preferences", preferences.into_iter().map(|line| format!("- {line}")).collect());
    part("Learned", learned.iter().map(|one| format!("- {}", learn::line(one))).collect());
    let ((files, more), commands) = found;
    let mut project = vec![format!("- {}{}", counted(files, "file"), if more { " and more" } else { "" })];
    if !used.is_empty() {
        project.push(format!("- worked on most: {}", used.iter().take(5).cloned().collect::<Vec<_>>().join(", ")));
    }
    project.extend(commands.iter().map(|one| format!("- `{}` ({})", one.command, one.found_in)));
    part("Project", project);
    part(&format!("Last entries (of {count})"), entries.iter().rev().map(chosen_preferences::line_of).collect());
    out.push("\n“forget …” deletes what holds these words, from the file as well.".to_owned());
    Ok(out.join("\n"))
}
