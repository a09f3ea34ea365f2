//! What the user says about memory: prefer this, forget that, what do you know of it, what have you learned.

use serde_json::Value;

use crate::agent::remember::{Remember, now_ms};
use crate::agent::session::Session;
use crate::base::failure::{Failure, Kind};
use crate::memory::error::MemoryError;
use crate::memory::forget::Forget;
use crate::memory::preferences::Preference;
use crate::memory::search::Filters;

/// Entries of one answer.
const MOST: usize = 10;
/// Characters of a preference's name.
const KEY: usize = 60;

fn failed(error: &MemoryError) -> Failure {
    Failure::new(Kind::Internal, format!("the memory could not be used: {error}"), "try again; the log has the details")
}

impl Session {
    async fn memory_or_say(&self) -> Result<std::sync::Arc<Remember>, Failure> {
        let off = || {
            Failure::user("nothing is remembered here", "`memory.enabled` turns memory on; see :help sextant-options")
        };
        self.remember().await.ok_or_else(off)
    }

    /// Keeps what the user prefers, for this project.
    pub(crate) async fn prefer(&self, text: &str) -> Result<String, Failure> {
        let remember = self.memory_or_say().await?;
        let text = text.trim().to_owned();
        let key: String = text.to_lowercase().chars().take(KEY).collect();
        let (project, value) = (Some(remember.project.to_owned()), Value::String(text.clone()));
        let preference = Preference { key, value, project, inferred: false, updated: now_ms() };
        remember.run(move |memory| memory.set_preference(preference)).await.map_err(|error| failed(&error))?;
        Ok(format!("remembered: {text}"))
    }

    /// Deletes whatever holds the text, and says how much that was.
    pub(crate) async fn forget(&self, text: &str) -> Result<String, Failure> {
        let remember = self.memory_or_say().await?;
        let what = Forget::text(text.trim());
        let gone = remember.run(move |memory| memory.forget(&what)).await.map_err(|error| failed(&error))?;
        Ok(format!(
            "forgotten: {} entries, {} preferences, {} learnings",
            gone.entry_count(),
            gone.preferences.len(),
            gone.learnings
        ))
    }

    /// What is remembered about a subject.
    pub(crate) async fn recall_about(&self, text: &str) -> Result<String, Failure> {
        let remember = self.memory_or_say().await?;
        let (project, about) = (remember.project, text.trim().to_lowercase());
        let lines = remember
            .run(move |memory| {
                let mut lines = Vec::new();
                for preference in memory.preferences(Some(project))? {
                    let value = preference.value.as_str().map_or_else(|| preference.value.to_string(), str::to_owned);
                    if value.to_lowercase().contains(&about) || preference.key.contains(&about) {
                        lines.push(format!("preference: {value}"));
                    }
                }
                let hits = memory.search(&about, &Filters::default(), MOST)?;
                lines.extend(
                    hits.into_iter().map(|hit| format!("{}: {}", hit.entry.entry.kind.name(), hit.entry.entry.content)),
                );
                Ok(lines)
            })
            .await
            .map_err(|error| failed(&error))?;
        Ok(if lines.is_empty() { format!("nothing is remembered about {}", text.trim()) } else { lines.join("\n") })
    }

    /// What worked for which kind of task.
    pub(crate) async fn learned(&self) -> Result<String, Failure> {
        let remember = self.memory_or_say().await?;
        let project = remember.project;
        let lines = remember
            .run(move |memory| {
                let preferences = memory.preferences(Some(project))?.into_iter().map(|preference| {
                    let value = preference.value.as_str().map_or_else(|| preference.value.to_string(), str::to_owned);
                    format!("preference: {value}")
                });
                Ok(preferences.collect::<Vec<_>>())
            })
            .await
            .map_err(|error| failed(&error))?;
        Ok(if lines.is_empty() { "nothing has been learned yet".to_owned() } else { lines.join("\n") })
    }
}
