//! A scenario in a real Neovim, by its commands and keys.

use std::path::PathBuf;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::conformance::client::{Client, Door, End, EndKind, Introduced, World};
use crate::conformance::scenario::Asked;
use crate::support::nvim::Nvim;

pub struct Neovim {
    nvim: Nvim,
    root: PathBuf,
    door: Door,
    /// True if a plan is what was begun last.
    plans: bool,
}

/// Configures the server as a user would; `...` is JSON.
const SERVER: &str = r"
local given = vim.json.decode(...)
vim.lsp.config(given.name, { cmd = given.cmd, filetypes = { 'python' }, root_markers = { 'pyproject.toml' }, settings = given.settings })
vim.lsp.enable(given.name)
";

impl Neovim {
    pub async fn start(world: &World) -> Self {
        let options = world.options();
        let options =
            format!("vim.tbl_extend('force', vim.json.decode([==[{options}]==]), {{ publishes_once = {{ 'fake' }} }})");
        let nvim = Nvim::start(&world.project, &options, &[]).await;
        let server = &world.server;
        let settings = if server.settings.is_object() { json!(server.settings) } else { json!({"none": true}) };
        let given = json!({"name": server.name, "cmd": server.command, "settings": settings});
        nvim.lua::<bool>(&format!("(function(...) {SERVER} end)([==[{given}]==]) return true")).await;
        Self { nvim, root: world.project.root().to_owned(), door: world.door(), plans: false }
    }

    /// Runs a command about a place, from the window of the user's own.
    async fn about(&mut self, command: &str, asked: &Asked) {
        let file = &asked.file;
        let go = format!(
            "for _, win in ipairs(vim.api.nvim_list_wins()) do
               local name = vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win))
               if vim.api.nvim_win_get_config(win).relative == '' and not name:find('^sextant://') then
                 vim.api.nvim_set_current_win(win)
               end
             end
             vim.cmd.buffer({file:?})
             return true"
        );
        self.nvim.lua::<bool>(&go).await;
        let range = asked.line.map_or_else(|| "%".to_owned(), |line| line.to_string());
        let command = match asked.everywhere {
            true => format!("{command}! {}", asked.text),
            false => format!("{range}{command} {}", asked.text),
        };
        self.nvim.command(&command).await;
    }

    /// The buffer of a file, where it is loaded, as its lines.
    async fn buffer(&self, file: &str) -> Option<Vec<String>> {
        let path = self.root.join(file).display().to_string();
        self.nvim
            .lua(&format!(
                "local buf = vim.fn.bufnr('^' .. {path:?} .. '$')
                 if buf < 0 or not vim.api.nvim_buf_is_loaded(buf) then return vim.NIL end
                 return vim.api.nvim_buf_get_lines(buf, 0, -1, false)"
            ))
            .await
    }
}

#[async_trait]
impl Client for Neovim {
    async fn open(&mut self, file: &str) {
        self.nvim.edit(file).await;
    }

    async fn type_text(&mut self, file: &str, over: &str, text: &str) {
        let Some(lines) = self.buffer(file).await else { panic!("{file} is not open") };
        let changed = (lines.join("\n") + "\n").replace(over, text);
        let lines = json!(changed.trim_end_matches('\n').split('\n').collect::<Vec<_>>());
        let path = self.root.join(file).display().to_string();
        let set = format!(
            "local buf = vim.fn.bufnr('^' .. {path:?} .. '$')
             local old, new = vim.api.nvim_buf_get_lines(buf, 0, -1, false), vim.json.decode([==[{lines}]==])
             local first = 1
             while first <= #old and first <= #new and old[first] == new[first] do first = first + 1 end
             local last = 0
             while last <= #old - first and last <= #new - first and old[#old - last] == new[#new - last] do last = last + 1 end
             vim.api.nvim_buf_set_lines(buf, first - 1, #old - last, false, vim.list_slice(new, first, #new - last))
             return true"
        );
        self.nvim.lua::<bool>(&set).await;
    }

    async fn ask(&mut self, asked: &Asked) {
        self.plans = false;
        self.about("AgentAsk", asked).await;
    }

    async fn plan(&mut self, asked: &Asked) {
        self.plans = true;
        self.about("AgentPlan", asked).await;
    }

    async fn plan_text(&mut self, _has: &[String]) -> String {
        let lines: Vec<String> =
            self.nvim.lua("return vim.api.nvim_buf_get_lines(vim.fn.bufnr('sextant://plan'), 0, -1, false)").await;
        lines.join("\n") + "\n"
    }

    /// The window cannot be typed in; the session takes the document from any program.
    async fn edit_plan(&mut self, markdown: &str) {
        let answer = self.door.ask("plan/set", json!({"markdown": markdown})).await;
        assert!(answer["result"].is_object(), "{answer}");
        self.nvim.wait("SextantPlan").await;
    }

    async fn approve(&mut self, one_step: bool) {
        self.plans = false;
        self.nvim.command("AgentPlan").await;
        self.nvim.keys(if one_step { "s" } else { "<CR>" }).await;
    }

    async fn undo(&mut self) {
        self.plans = false;
        self.nvim.command("AgentUndo").await;
    }

    async fn redo(&mut self) {
        self.plans = false;
        self.nvim.command("AgentRedo").await;
    }

    async fn stop(&mut self) {
        self.nvim.command("AgentStop").await;
    }

    async fn save_all(&mut self) {
        self.nvim.command("silent wall").await;
    }

    async fn end(&mut self) -> End {
        let names: &[&str] =
            if self.plans { &["SextantPlan", "SextantFailed"] } else { &["SextantFinished", "SextantFailed"] };
        let (name, data) = self.nvim.wait_for(names).await;
        let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match name.as_str() {
            "SextantPlan" => End { kind: EndKind::Planned, said: said(&data["markdown"]) },
            "SextantFailed" => End { kind: EndKind::Failed, said: said(&data["failure"]["message"]) },
            _ if data["ok"] == true => End { kind: EndKind::Ok, said: said(&data["summary"]) },
            _ => End { kind: EndKind::NotOk, said: said(&data["summary"]) },
        }
    }

    async fn text(&mut self, file: &str) -> String {
        match self.buffer(file).await {
            Some(lines) => lines.join("\n") + "\n",
            None => std::fs::read_to_string(self.root.join(file)).expect("a file"),
        }
    }

    async fn introduced(&mut self, _count: usize) -> Vec<Introduced> {
        let listed: Vec<Introduced> = self
            .nvim
            .lua(
                r"
                local list, root = vim.fn.getqflist({ items = 1, title = 1 }), vim.fn.getcwd() .. '/'
                local out = { { '', '' } }
                for _, item in ipairs(list.title:find('^Sextant') and list.items or {}) do
                  local path = vim.api.nvim_buf_get_name(item.bufnr):sub(#root + 1)
                  out[#out + 1] = { ('%s:%d'):format(path, item.lnum), item.type .. ': ' .. item.text }
                end
                return out",
            )
            .await;
        // An empty list would be no list for the JSON of Lua.
        listed.into_iter().skip(1).collect()
    }
}
