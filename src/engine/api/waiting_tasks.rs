//! The part of the door about plans and tasks that wait: their list, and a choice among them.

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::api::engine::Engine;
use crate::commands::resume;
use crate::editor::event::{Event, PageEntry};
use crate::planner::waiting_list;
use crate::state::outcome::{Ending, Outcome};
use crate::state::span;
use sextant_base::failure::Failure;

impl Engine {
    /// Resumes the work that was left open, in this process or in one that ended: the last, or the one that `which`
    /// means (its number in the list, its name, or words of its title).
    pub async fn resume_chosen(&self, which: &str, approved: bool, cancel: &CancellationToken) -> Ending<Outcome> {
        // It is unknown whether a user has read the plan that goes on.
        self.session().approvals.plan_is_read(false);
        resume::resume(self.session(), which, approved, cancel).instrument(span::task()).await
    }

    /// The plans and tasks that wait, as a page with the task of each line.
    pub async fn waiting_page(&self) -> (String, Vec<PageEntry>) {
        waiting_list::page(&self.session().edits, &self.session().plans).await
    }

    /// The titles of the plans and tasks that wait, in the order of the page.
    pub async fn waiting_titles(&self) -> Vec<String> {
        waiting_list::titles(&self.session().edits, &self.session().plans).await
    }

    /// Discards a plan or task that waits. Its changes stay.
    ///
    /// # Errors
    /// Nothing that waits is meant.
    pub async fn discard(&self, which: &str) -> Result<Vec<Event>, Failure> {
        waiting_list::discard(&self.session().edits, &self.session().plans, which).await
    }
}
