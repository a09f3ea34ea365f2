//! Takes over the pages of Sextant's that the user saves or opens: the plan, a request, a diff.

use std::sync::Arc;

use crate::engine::EngineHost;
use crate::engine::links::{ERROR, EngineLink, INFO};
use crate::engine::reading_pages::ShownDiff;
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_engine::api::DiffRefused;

impl EngineHost {
    /// Offers the actions of a page of Sextant's that is open again.
    pub(super) fn opened(self: &Arc<Self>, uri: &str) {
        if uri == self.plan.page.uri() {
            self.plan.page.opened(&self.buffers);
            self.plan.dress(self);
        }
        for page in [&self.answers.page, &self.requests.page] {
            if uri == page.uri() {
                page.opened(&self.buffers);
            }
        }
        self.look_at_blocks(uri);
        self.changes.opened(self, uri);
        if self.question.options().is_some() {
            self.offer(uri);
        }
    }

    /// Looks again for blocks of code where the conversation stands still.
    pub(super) fn look_at_blocks(self: &Arc<Self>, uri: &str) {
        let stands = || self.session.get().is_some_and(|session| session.agent.turn().is_free());
        if uri == self.answers.page.uri() && stands() {
            let engine = Arc::clone(self);
            tokio::spawn(async move { engine.answers.blocks.look(&engine).await });
        }
    }

    pub(super) fn saved(self: &Arc<Self>, link: &Arc<EngineLink>, uri: &str) {
        let (engine, link) = (Arc::clone(self), Arc::clone(link));
        if uri == self.plan.page.uri() {
            tokio::spawn(async move { engine.plan.saved(&engine).await });
        } else if uri == self.requests.page.uri() {
            tokio::spawn(async move {
                if let Err(failure) = engine.requests.send(&engine, &link).await {
                    engine.refuse(Some(&link), &failure);
                }
            });
        } else if let Some(shown) = self.reading.diff(uri) {
            let uri = uri.to_owned();
            tokio::spawn(async move {
                if let Err(failure) = engine.take_diff(&link, &uri, &shown).await {
                    engine.refuse(Some(&link), &failure);
                }
            });
        }
    }

    /// Takes over the diff that the user has edited. Its faults stand on their lines.
    async fn take_diff(&self, link: &EngineLink, uri: &str, shown: &ShownDiff) -> Result<(), Failure> {
        let Some(open) = self.buffers.mirror.of_uri(uri) else { return Ok(()) };
        let agent = &self.session()?.agent;
        match agent.edit_diff(&shown.task, &shown.text, &open.text).await {
            Ok(summary) => {
                self.tell_faults(uri, &open.text, &[]);
                self.reading.taken(uri, &open.text);
                if !summary.is_empty() {
                    self.changes.look(self).await;
                    self.tell(link, INFO, &format!("{summary}; :wa writes open buffers"));
                }
                Ok(())
            }
            Err(DiffRefused::Faults(faults)) => {
                self.tell_faults(uri, &open.text, &faults);
                let first = faults.first().map(|fault| format!("line {}: {}", fault.line, fault.message));
                let more = match faults.len() {
                    0 | 1 => String::new(),
                    many => format!(" ({} in all)", counted(many, "fault")),
                };
                link.message(ERROR, &format!("nothing was taken over; {}{more}", first.unwrap_or_default()));
                Ok(())
            }
            Err(DiffRefused::Failure(failure)) => Err(failure),
        }
    }
}
