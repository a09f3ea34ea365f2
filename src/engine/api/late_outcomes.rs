//! Renews the outcomes of finished work by answers that come late, whatever door the session has.

use std::future::Future;
use std::sync::Arc;

use crate::api::turn::TaskTurn;
use crate::planner::step_result;
use crate::run::quickfix_lists;
use crate::state::session::Session;

/// Follows the late answers of a session as long as it lives. A running task takes them itself: after its last events
/// only the rest is left.
pub(super) fn follow(session: &Arc<Session>, turn: Arc<TaskTurn>) -> impl Future<Output = ()> + Send + use<> {
    let mut news = session.workspace.editor.late_news();
    let session = Arc::downgrade(session);
    async move {
        while news.changed().await.is_ok() {
            turn.over().await;
            let Some(session) = session.upgrade() else { return };
            quickfix_lists::amend(&session.edits).await;
            step_result::amend(&session.edits, &session.plans).await;
        }
    }
}
