//! Measures Neovim while an agent changes a file of 10,000 lines in 500 places, and while a user reviews them.

use std::fmt::Write as _;

use serde_json::json;

use crate::embedded::{Asked, Seen};
use crate::model_server::{ModelServer, Reply};

const CLASSES: usize = 10;
const METHODS: usize = 50;
const HUNKS: usize = CLASSES * METHODS;
const LINES_OF_METHOD: usize = 20;
/// The number of moves, and of decisions of one hunk each.
const DECISIONS: usize = 10;

/// The file, or one of its classes, with a value in the middle of each method.
fn class(number: usize, value: usize) -> String {
    let mut text = format!("class C{number}:\n");
    for method in 0..METHODS {
        let _ = writeln!(text, "    def m{method}(self, first: int) -> int:");
        for line in 2..LINES_OF_METHOD {
            let shown = if line == LINES_OF_METHOD / 2 { value } else { line };
            let _ = writeln!(text, "        value{line} = first + {shown}");
        }
        let _ = writeln!(text, "        return value2\n");
    }
    text
}

fn reply(number: usize) -> Reply {
    let parameters = json!({"symbol": format!("a.py::C{number}"), "action": "replace", "content": class(number, 1000)});
    Reply::Json(json!({
        "reasoning": "", "action": {"tool": "edit_symbol", "parameters": parameters},
        "continue": number + 1 < CLASSES, "confidence": 1, "answer": "",
    }))
}

/// Waits until the review counts so, and gives the turns of the loop since the last look.
async fn reviewed(asked: &Asked, count: Option<usize>) -> Result<Seen, String> {
    let wanted = count.map_or("count == nil".to_owned(), |count| format!("count and count.reviewed == {count}"));
    let code = format!(
        "return vim.wait(20000, function() local count = require('sextant.ui.review').count() return {wanted} end, 5)
           and 'yes' or vim.inspect(require('sextant.ui.review').count())"
    );
    match asked.lua(&code).await?.as_str() {
        // The drawing takes several turns.
        "yes" => asked.lua("vim.wait(400)").await.map(drop)?,
        other => return Err(format!("the review does not come to {count:?}: {other}")),
    }
    asked.seen().await
}

async fn input(asked: &Asked, keys: &str) -> Result<(), String> {
    asked.nvim.input(keys).await.map(drop).map_err(|error| error.to_string())
}

pub async fn run() -> Result<(), String> {
    println!("{HUNKS} hunks in a file of {} lines, with a screen; goal 16 ms", HUNKS * LINES_OF_METHOD);
    let text: String = (0..CLASSES).map(|number| class(number, LINES_OF_METHOD / 2)).collect::<Vec<_>>().join("\n");
    let server = ModelServer::start((0..CLASSES).map(reply)).await;
    let mut asked = Asked::start(&text, server).await?;
    let row = |name: &str, seen: &Seen| {
        println!("  {name:<46}longest turn {:>7.1} ms, processor {:>7.1} ms", seen.longest, seen.busiest);
    };
    asked.watch().await?;
    asked.lua("vim.cmd('AgentAsk! change every method')").await?;
    asked.ended().await?;
    row("the task, ten edits", &asked.seen().await?);
    asked.lua("vim.cmd('AgentReview')").await?;
    row(":AgentReview", &reviewed(&asked, Some(0)).await?);
    for _ in 0..DECISIONS {
        input(&asked, "]h").await?;
    }
    row("]h, ten times", &reviewed(&asked, Some(0)).await?);
    let mut decided = Vec::new();
    for count in 1..=DECISIONS {
        input(&asked, "ga").await?;
        decided.push(reviewed(&asked, Some(count)).await?);
    }
    let longest = decided.into_iter().max_by(|one, other| one.longest.total_cmp(&other.longest));
    longest.iter().for_each(|seen| row("ga, the longest of ten", seen));
    input(&asked, "gR<CR>").await?;
    row("gR", &reviewed(&asked, Some(DECISIONS + 1)).await?);
    input(&asked, "Otyped<Esc>").await?;
    row("a line typed", &reviewed(&asked, Some(DECISIONS + 1)).await?);
    asked.lua("vim.cmd('AgentReview reject all')").await?;
    row("reject all", &reviewed(&asked, None).await?);
    println!();
    Ok(())
}
