//! The rules of freshness for servers that push, in Lua: the cases of the Rust rules hold.

use serde_json::{Value, json};

use crate::support::nvim::Nvim;
use crate::support::project::Project;

/// Judges a case as `push.lua` does, and returns the case's own words.
const JUDGE: &str = r"
local rules = require('sextant.lsp.push_freshness')
local function judged(case)
  local last, index, count = nil, nil, 0
  for at, sent in ipairs(case.publishes) do
    local version = sent[1] ~= vim.NIL and sent[1] or nil
    local publish = { version = version, at = sent[2], epoch = sent[3] }
    count = count + (version == 3 and 1 or 0)
    last = rules.newest(last, publish, 3)
    index = last == publish and at - 1 or index
  end
  if not last then
    return { verdict = 'wait' }
  end
  local habits = { one_file = case.one_file, once = not case.again, two_phase = case.two_phase,
    reads_disk = case.reads_disk, quiet_ms = 250 }
  local text = { version = 3, is_newest = case.epoch <= 5, epoch = case.epoch,
    is_doubtful = case.preamble and count < 2 }
  local how, ms = rules.judge(text, last, habits, case.ms)
  return { verdict = how or 'wait', wait_ms = ms, publish = how and index or nil }
end
";

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_that_hold_at_every_door_hold_in_lua() {
    let project = Project::new(&[("a.py", "x = 1\n")]);
    let nvim = Nvim::start(&project, "{}", &[]).await;
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../fixtures/freshness.json")).expect("JSON");
    for case in cases {
        let judge = format!("{JUDGE} return judged(vim.json.decode([==[{case}]==]))");
        let judged: Value = nvim.lua(&judge).await;
        let own = case.get("nvim").unwrap_or(&case);
        let mut expected = json!({"verdict": own["verdict"]});
        for key in ["wait_ms", "publish"] {
            if !own[key].is_null() {
                expected[key] = own[key].clone();
            }
        }
        assert_eq!(judged, expected, "{}", case["name"]);
    }
}
