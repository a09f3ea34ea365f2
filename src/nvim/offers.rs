//! Collects the fixes that the clients of a buffer offer, and the clients that have not answered.

use std::time::Duration;

use serde_json::json;

use crate::editor::{NvimEditor, converted};
use crate::lua_messages::WireActions;
use sextant_base::deadline::AnswerWait;
use sextant_base::positions::Range;
use sextant_diagnostics::model::{self, Freshness};
use sextant_diagnostics::policy::confidence;
use sextant_engine::api::{EditorError, Fix, FixAnswers};

/// The extra time for the answer that Neovim itself gives at the deadline.
const ANSWER_LATER: Duration = Duration::from_millis(500);

/// Asks every client that supports code actions.
pub(super) async fn offers(
    editor: &NvimEditor,
    path: &str,
    range: Option<Range>,
    AnswerWait { deadline, waits }: AnswerWait,
) -> Result<FixAnswers, EditorError> {
    let params = json!({"path": editor.absolute(path), "range": range, "ms": deadline.left_ms(), "waits": waits});
    // Neovim itself names the clients that have not answered in time.
    let answer: WireActions = editor.channel.call("fixes", &params, path, deadline.left() + ANSWER_LATER).await?;
    let silent = answer.silent.into_iter().map(|client| format!("lsp:{client}")).collect();
    let mut fixes = Vec::new();
    for offer in answer.found {
        let text = if offer.repairs.is_empty() { "".into() } else { editor.fetch(path).await?.1 };
        let confidence = confidence::of_server(Freshness::Exact);
        fixes.push(Fix {
            provider: format!("lsp:{}", offer.client),
            repairs: converted(offer.client, path.to_owned(), offer.repairs, offer.encoding, &text, confidence).await,
            id: offer.id,
            title: model::name(&offer.title),
            kind: offer.kind,
            preferred: offer.preferred,
        });
    }
    Ok(FixAnswers { fixes, silent })
}
