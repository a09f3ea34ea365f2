//! The engine behind an editor that speaks LSP alone: asked, planned with, typed against, left.

mod before;
mod lifecycle;
mod plan;
mod task;

/// Files for ruff, whose fixes the offline model applies.
pub const CART: &str = "import os\n\n\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";
pub const PRICE: &str = "import sys\n\n\ndef price(name: str) -> int:\n    return len(name)\n";
