//! A list of tools for the tests of this room, which knows no real one: a copy of the agent's own at one time.

use std::sync::LazyLock;

use serde_json::Value;

use crate::tools::{Access, ToolSpec};

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let all: Vec<Value> = serde_json::from_str(include_str!("sample.json")).unwrap();
    all.iter().map(read).collect()
});

pub(crate) fn tools() -> &'static [ToolSpec] {
    &TOOLS
}

fn read(tool: &Value) -> ToolSpec {
    let text = |key: &str| tool[key].as_str().unwrap();
    let access = match text("access") {
        "Read" => Access::Read,
        "Edit" => Access::Edit,
        _ => Access::Run,
    };
    let kinds = ["edit", "examine", "search"].into_iter();
    let steps = kinds.filter(|kind| tool["steps"].as_array().unwrap().iter().any(|known| known == kind)).collect();
    ToolSpec::new(text("name"), text("purpose"), access, steps, tool["schema"].clone())
}
