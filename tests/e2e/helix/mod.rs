//! The engine behind an editor that speaks LSP alone: asked, planned with, typed against, left.

mod before;
mod blocks;
mod commands;
mod conversation;
mod crash;
mod edited_diff;
mod hazards;
mod lifecycle;
mod open_question;
mod plan;
mod servers;
mod setup;
mod task;

use serde_json::{Value, json};

use crate::support::model_server::ModelServer;

/// Files for ruff, whose fixes the offline model applies.
pub const CART: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";
pub const PRICE: &str = "import sys\n\n\ndef price(name: str) -> int:\n    return len(name)\n";

/// The options of an editor whose agent asks this model; generous in time, since the machine may be busy.
pub fn with_model(server: &ModelServer) -> Value {
    json!({
        "model": {"provider": "openai_compatible", "model": "m", "base_url": server.url(), "max_attempts": 2},
        "diagnostics": {"timeout_ms": 60_000, "start_timeout_ms": 120_000},
    })
}
