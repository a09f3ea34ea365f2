//! Three agents that edit files of their own at once, in a Neovim whose user types in another one.
//!
//! The suite makes a few edits. `TYPING_SECONDS=235` makes them for that long and prints what they cost;
//! `TYPING_REST=1` the same with nobody typing.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::mcp::replace;
use crate::support::mcp::{McpClient, text};
use crate::support::nvim::Nvim;
use crate::support::project::Project;

const CONFIG: &str = "{ quickfix = { open = false } }";

/// Edits of each agent where no time is set.
const EDITS: usize = 4;

#[derive(Default)]
struct EditCosts {
    milliseconds: Vec<u128>,
    partial: Vec<String>,
    wrong: Vec<String>,
}

impl EditCosts {
    fn add(&mut self, other: Self) {
        self.milliseconds.extend(other.milliseconds);
        self.partial.extend(other.partial);
        self.wrong.extend(other.wrong);
    }
}

/// Every second edit returns a string from a function of numbers, the next one takes it back.
async fn agent(mut client: McpClient, file: String, is_over: impl Fn(usize) -> bool) -> EditCosts {
    client.read("read_file", json!({"path": file})).await;
    let mut costs = EditCosts::default();
    let mut made = 0;
    while !is_over(made) {
        let (old, new) = if made % 2 == 0 { ("count * 2", "str(count)") } else { ("str(count)", "count * 2") };
        let began = Instant::now();
        let result = client.call("edit_file", replace(&file, old, new)).await;
        costs.milliseconds.push(began.elapsed().as_millis());
        assert_ne!(result["isError"], true, "{result}");
        let answer = &result["structuredContent"];
        if answer["diagnostics_status"] == "complete" {
            let found = answer["new_diagnostics"].as_array().map_or(0, Vec::len);
            if found != usize::from(made % 2 == 0) {
                costs.wrong.push(text(&result));
            }
        } else {
            costs.partial.push(text(&result));
        }
        made += 1;
    }
    assert!(client.end().await.success());
    costs
}

#[tokio::test(flavor = "multi_thread")]
async fn three_agents_beside_a_user_who_types_are_answered_about_their_own_edits() {
    let seconds = std::env::var("TYPING_SECONDS").ok().map(|text| text.parse().expect("a number of seconds"));
    let names = ["one.py", "two.py", "three.py"];
    let code = "def price(count: int) -> int:\n    return count * 2\n";
    let cart = "# Carts.\ndef total(prices: list[int]) -> int:\n    return sum(prices)\n";
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, code)).chain([("cart.py", cart)]).collect();
    let project = Project::new(&files);
    let mut nvim = Nvim::open(&project, CONFIG, &["basedpyright", "ruff"], "cart.py").await;
    nvim.command("AgentAsk what is here?").await;
    nvim.wait_for(&["SextantFinished", "SextantFailed"]).await;
    crate::rpc::joined(&project).await;
    if std::env::var_os("TYPING_REST").is_none() {
        let typing = "_G.keys = vim.uv.new_timer(); keys:start(0, 60, vim.schedule_wrap(function() \
            vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { '#' }) end))";
        nvim.command(&format!("lua {typing}")).await;
    }
    let began = Instant::now();
    let is_over = move |made: usize| seconds.map_or(made >= EDITS, |all| began.elapsed() >= Duration::from_secs(all));
    let mut agents = Vec::new();
    for name in names {
        let client = McpClient::open(&project, name, &[]).await;
        agents.push(tokio::spawn(agent(client, name.to_owned(), is_over)));
    }
    let mut costs = EditCosts::default();
    for agent in agents {
        costs.add(agent.await.expect("an agent that ends"));
    }
    let edits = costs.milliseconds.len();
    costs.milliseconds.sort_unstable();
    println!(
        "{edits} edits in {} s, median {} ms, p95 {} ms, {} partial, {} wrong",
        began.elapsed().as_secs(),
        costs.milliseconds[edits / 2],
        costs.milliseconds[edits * 95 / 100],
        costs.partial.len(),
        costs.wrong.len()
    );
    assert!(costs.wrong.is_empty(), "{:#?}", costs.wrong);
    assert!(costs.partial.len() * 5 <= edits, "{edits} edits, partial: {:#?}", costs.partial);
}
