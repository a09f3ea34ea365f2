//! A user who does anything at all while the agent works: types, takes back, closes, reloads, resizes, reviews, leaves.
//!
//! `SEEDS=100 SEED=1` runs as many sequences as one likes, from a seed on; each failure names its own.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;

use crate::nvim::ask::{options, step};
use crate::support::model_server::{ModelServer, Reply};
use crate::support::nvim::Nvim;
use crate::support::project::Project;
use crate::support::replies::says;

const ACTIONS: usize = 60;
/// The time in which a command's answer may take the user somewhere.
const ANSWER: Duration = Duration::from_secs(10);
const FILES: [&str; 2] = ["a.py", "b.py"];
const FUNCTIONS: usize = 6;

/// A small generator: the same seed gives the same sequence.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).expect("a small number")
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

fn text() -> String {
    (0..FUNCTIONS).fold(String::new(), |mut out, n| {
        let _ = write!(out, "def f{n}() -> int:\n    return {n}\n\n\n");
        out
    })
}

/// What a model says: edits of both files, words, an end.
fn reply(chance: &mut Chance, number: usize) -> Reply {
    let function = chance.below(FUNCTIONS);
    match chance.below(4) {
        0 => says(format!("done {number}")),
        1 => step("read_file", json!({"path": chance.of(&FILES)}), true),
        _ => {
            let symbol = format!("{}::f{function}", chance.of(&FILES));
            let body = format!("def f{function}() -> int:\n    return {number}");
            step("edit_symbol", json!({"symbol": symbol, "action": "replace", "content": body}), chance.below(3) > 0)
        }
    }
}

/// Names of the marks that were typed, each `FILE MARK`, and what the screen was left with.
const WATCH: &str = r"
_G.watch = {}
local api = vim.api

-- The lines of a file as the user has them: of its buffer, or else of the disk.
local function lines(name)
  local buf = vim.fn.bufnr(vim.fs.joinpath(vim.fn.getcwd(), name))
  if buf > 0 and api.nvim_buf_is_loaded(buf) then
    return api.nvim_buf_get_lines(buf, 0, -1, false)
  end
  return vim.fn.readfile(name)
end

function watch.present()
  local out = {}
  for _, name in ipairs({ 'a.py', 'b.py' }) do
    for _, line in ipairs(lines(name)) do
      local mark = line:match('^# %a+ %d+$')
      if mark then
        out[#out + 1] = name .. ' ' .. mark
      end
    end
  end
  return #out > 0 and out or vim.empty_dict() and {}
end

-- The place of the user: no one else moves it.
function watch.place()
  local win = api.nvim_get_current_win()
  return ('%d %d %s %s'):format(api.nvim_get_current_tabpage(), win, api.nvim_get_mode().mode, vim.fn.bufname())
end

-- What happens in so many milliseconds without a key.
function watch.rest(ms)
  vim.v.errmsg = ''
  local before = watch.place()
  vim.wait(ms, function() return false end, 5)
  local messages = vim.fn.execute('messages')
  vim.cmd('messages clear')
  local own = before:find('sextant://', 1, true) and not api.nvim_win_is_valid(tonumber(before:match('^%d+ (%d+)')))
  -- A window of ours that is closed takes the user back to the code.
  local after = own and before or watch.place()
  return { before = before, after = after, error = vim.v.errmsg, messages = messages, present = watch.present() }
end
";

#[derive(Debug, Deserialize)]
struct Rest {
    before: String,
    after: String,
    error: String,
    messages: String,
    present: Vec<String>,
}

/// One action of the user.
#[derive(Clone, Copy, Debug)]
enum Action {
    Types,
    Undoes,
    Redoes,
    Splits,
    Tab,
    Closes,
    Deletes,
    Reloads,
    Opens,
    Outside,
    Resizes,
    Reviews,
    Decides,
    Asks,
    Plans,
    Steers,
    Stops,
    Shows,
    TakesBack,
    BringsBack,
    Answers,
    Saves,
}

const ALL: [Action; 22] = [
    Action::Types,
    Action::Undoes,
    Action::Redoes,
    Action::Splits,
    Action::Tab,
    Action::Closes,
    Action::Deletes,
    Action::Reloads,
    Action::Opens,
    Action::Outside,
    Action::Resizes,
    Action::Reviews,
    Action::Decides,
    Action::Asks,
    Action::Plans,
    Action::Steers,
    Action::Stops,
    Action::Shows,
    Action::TakesBack,
    Action::BringsBack,
    Action::Answers,
    Action::Saves,
];

struct Sequence {
    project: Project,
    nvim: Nvim,
    chance: Chance,
    done: Vec<String>,
    marks: usize,
    expected: BTreeSet<String>,
    /// Since when a command is under way whose answer takes the user somewhere: to a change, to a page.
    goes: Option<Instant>,
}

impl Sequence {
    /// Types keys in normal mode, and waits until they are taken.
    async fn keys(&mut self, keys: &str) {
        let number = self.done.len();
        self.nvim.keys(&format!("<C-\\><C-n>{keys}<C-\\><C-n><Cmd>let g:taken = {number}<CR>")).await;
        let taken = format!("return (vim.wait(20000, function() return vim.g.taken == {number} end, 2))");
        assert!(!self.nvim.prompts().await, "a prompt: {}\n{}", self.so_far(), self.nvim.screen.text());
        assert!(self.nvim.lua::<bool>(&taken).await, "{}\n{}", self.so_far(), self.nvim.screen.text());
    }

    fn so_far(&self) -> String {
        self.done.join("\n")
    }

    /// In a window with a file; the user goes there first.
    async fn in_code(&mut self, keys: &str) {
        let name = self.chance.of(&FILES);
        self.keys(&format!(":silent! hide edit {name}<CR>{keys}")).await;
    }

    async fn present(&self) -> BTreeSet<String> {
        self.nvim.lua::<Vec<String>>("return watch.present()").await.into_iter().collect()
    }

    async fn acts(&mut self, action: Action) {
        self.done.push(format!("{action:?}"));
        let request = format!("change f{}", self.chance.below(FUNCTIONS));
        if matches!(action, Action::Reviews | Action::Decides | Action::Shows | Action::Plans) {
            self.goes = Some(Instant::now());
        }
        match action {
            Action::Types => {
                self.marks += 1;
                let (file, mark) = (self.chance.of(&FILES), format!("# typed {}", self.marks));
                let to = if self.chance.below(2) == 0 { "gg" } else { "G" };
                self.keys(&format!(
                    ":silent! hide edit {file}<CR>:setlocal noautoindent formatoptions=<CR>{to}o{mark}"
                ))
                .await;
                let here = format!("{file} {mark}");
                if self.present().await.contains(&here) {
                    self.expected.insert(here);
                }
            }
            Action::Undoes | Action::Redoes | Action::Reloads => {
                let keys = match action {
                    Action::Undoes => "u",
                    Action::Redoes => "<C-r>",
                    _ => ":edit!<CR>",
                };
                self.in_code(keys).await;
                // What the user takes back is the user's.
                let present = self.present().await;
                self.expected.retain(|mark| present.contains(mark));
            }
            Action::Splits => self.keys(":silent! vsplit<CR>").await,
            Action::Tab => {
                let keys = self.chance_of(&[":tabnew<CR>", "gt", ":silent! tabclose<CR>"]);
                self.keys(keys).await;
            }
            Action::Closes => self.keys(":silent! close<CR>").await,
            Action::Deletes => self.in_code(":silent! bdelete<CR>").await,
            Action::Opens => self.in_code("").await,
            Action::Saves => self.keys(":silent! wall<CR>").await,
            Action::Outside => self.outside().await,
            Action::Resizes => {
                let (columns, lines) = (60 + self.chance.below(120), 16 + self.chance.below(40));
                self.nvim.resize(columns as i64, lines as i64).await;
                self.keys("").await;
            }
            Action::Reviews => self.keys(":silent! AgentReview<CR>").await,
            Action::Decides => {
                let open: bool = self.nvim.lua("return require('sextant.ui.review').count() ~= nil").await;
                let keys = self.chance_of(&["]h", "[h", "ga", "gA", "gR<CR>", "gB", "gQ"]);
                let file: bool = self.nvim.lua("return vim.bo.buftype == '' and vim.fn.maparg('gQ', 'n') ~= ''").await;
                if open && file {
                    self.keys(keys).await;
                }
            }
            Action::Asks => self.in_code(&format!(":silent! AgentAsk! {request}<CR>")).await,
            Action::Plans => self.in_code(&format!(":silent! AgentPlan {request}<CR>")).await,
            Action::Steers => self.keys(":silent! AgentAsk say why<CR>").await,
            Action::Stops => self.keys(":silent! AgentStop<CR>").await,
            Action::Shows => {
                let keys = self.chance_of(&[
                    ":silent! AgentShow<CR>",
                    ":silent! AgentHistory<CR>",
                    ":silent! AgentLog<CR>",
                    ":silent! AgentDiff<CR>",
                ]);
                self.keys(keys).await;
            }
            Action::TakesBack => self.keys(":silent! AgentUndo<CR>").await,
            Action::BringsBack => self.keys(":silent! AgentRedo<CR>").await,
            Action::Answers => self.keys(":silent! AgentAnswer 1<CR>").await,
        }
    }

    fn chance_of(&mut self, all: &[&'static str]) -> &'static str {
        self.chance.of(all)
    }

    /// Another program adds a line to a file that has no unsaved changes.
    async fn outside(&mut self) {
        self.keys(":silent! wall<CR>").await;
        self.marks += 1;
        let (file, mark) = (self.chance.of(&FILES), format!("# outside {}", self.marks));
        let path = self.project.root().join(file);
        let mut open = std::fs::OpenOptions::new().append(true).open(path).expect("a file");
        writeln!(open, "{mark}").expect("a line");
        self.keys(":silent! checktime<CR>").await;
        let here = format!("{file} {mark}");
        if self.present().await.contains(&here) {
            self.expected.insert(here);
        }
    }

    async fn rests(&mut self) {
        let ms = 5 + self.chance.below(150);
        let rest: Rest = self.nvim.lua(&format!("return watch.rest({ms})")).await;
        if rest.before != rest.after {
            let goes = self.goes.take().is_some_and(|since| since.elapsed() < ANSWER);
            assert!(goes, "the user was at {} and is at {}:\n{}", rest.before, rest.after, self.so_far());
        }
        assert!(rest.error.is_empty(), "{}:\n{}", rest.error, self.so_far());
        for sign in ["stack traceback", "Error executing", "Error in ", "E5108", "lua/sextant"] {
            assert!(!rest.messages.contains(sign), "{}:\n{}", rest.messages, self.so_far());
        }
        let present: BTreeSet<String> = rest.present.into_iter().collect();
        let lost: Vec<&String> = self.expected.difference(&present).collect();
        assert!(lost.is_empty(), "{lost:?} is gone:\n{}", self.so_far());
    }
}

/// One sequence; the number of requests that its model got.
async fn anything(seed: u64) -> usize {
    let project = Project::new(&[("a.py", &text()), ("b.py", &text())]);
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let replies: Vec<Reply> = (0..ACTIONS * 5).map(|number| reply(&mut chance, number + 100)).collect();
    let server = ModelServer::start(replies).await;
    let nvim = Nvim::on_screen(&project, &options(&server), &["ruff"]).await;
    nvim.lua::<bool>(&format!("{WATCH}\nvim.o.autoread = true\nvim.o.swapfile = false\nreturn true")).await;
    nvim.edit("a.py").await;
    let done = vec![format!("seed {seed}")];
    let mut sequence = Sequence { project, nvim, chance, done, marks: 0, expected: BTreeSet::new(), goes: None };
    for _ in 0..ACTIONS {
        let action = sequence.chance.of(&ALL);
        println!("{seed} {action:?}");
        sequence.acts(action).await;
        sequence.rests().await;
    }
    sequence.nvim.keys("<C-\\><C-n>:qa!<CR>").await;
    let end = tokio::time::timeout(Duration::from_secs(60), sequence.nvim.child().wait()).await;
    assert!(end.is_ok_and(|status| status.expect("an end").success()), "Neovim stays:\n{}", sequence.so_far());
    server.requests().len()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_a_user_does_meanwhile_loses_a_line_moves_the_user_or_shows_an_error() {
    let (first, count) = (number("SEED", 1), number("SEEDS", 2));
    let mut requests = 0;
    for seed in first..first + count {
        requests += anything(seed).await;
    }
    println!("{count} sequences, {requests} requests");
    assert!(requests as u64 >= count * 4, "the agent had nothing to do");
}
