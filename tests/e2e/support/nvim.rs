//! A real Neovim without a screen, with the plugin and the real language servers in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use nvim_rs::compat::tokio::Compat;
use nvim_rs::{Handler, Neovim, UiAttachOptions, Value};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::support::project::Project;
use crate::support::screen::{COLUMNS, LINES, Screen};
use crate::support::servers::tool;

/// Generous: real servers start cold on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

type Writer = Compat<ChildStdin>;

#[derive(Clone)]
struct Ears {
    heard: UnboundedSender<(String, Json)>,
    screen: Screen,
}

#[async_trait]
impl Handler for Ears {
    type Writer = Writer;

    async fn handle_notify(&self, name: String, args: Vec<Value>, _nvim: Neovim<Writer>) {
        if name == "redraw" {
            return self.screen.draw(&args);
        }
        let text = |index: usize| args.get(index).and_then(Value::as_str).unwrap_or_default().to_owned();
        let json = serde_json::from_str(&text(1)).unwrap_or(Json::Null);
        let _ = self.heard.send((text(0), json));
    }
}

pub struct Nvim {
    nvim: Neovim<Writer>,
    heard: UnboundedReceiver<(String, Json)>,
    child: Child,
    /// Drawn to where the Neovim was started with [`Nvim::on_screen`].
    pub screen: Screen,
}

/// Where a Neovim is started.
pub struct Place<'a> {
    pub root: &'a Path,
    pub home: &'a Path,
    /// For what Neovim keeps for itself.
    pub own: &'a Path,
    pub state: &'a Path,
    /// `PATH`, where it is not the test's own.
    pub path: Option<String>,
}

/// The Neovim under test.
pub fn binary() -> PathBuf {
    std::env::var_os("SEXTANT_NVIM").map_or_else(|| tool("nvim"), PathBuf::from)
}

/// Configures the servers as a user would; `...` is the folder that they are in.
const SERVERS: &str = r"
local tools, wanted = ...
local known = {
  basedpyright = {
    cmd = { tools .. '/basedpyright-langserver', '--stdio' },
    -- As nvim-lspconfig has it.
    settings = { basedpyright = { analysis = { autoSearchPaths = true, diagnosticMode = 'openFilesOnly' } } },
  },
  ruff = { cmd = { tools .. '/ruff', 'server' } },
}
for _, name in ipairs(wanted) do
  vim.lsp.config(name, vim.tbl_extend('force', known[name], { filetypes = { 'python' }, root_markers = { 'pyproject.toml' } }))
  vim.lsp.enable(name)
end
";

/// Tells the test what the plugin tells the user's own autocommands.
const EARS: &str = r"
local channel = ...
function _G.tell(name, data)
  vim.rpcnotify(channel, 'heard', name, vim.json.encode(data))
end
for _, name in ipairs({ 'SextantStarted', 'SextantFinished', 'SextantFailed', 'SextantEdited', 'SextantPlan', 'SextantQuestion', 'SextantInterrupted' }) do
  vim.api.nvim_create_autocmd('User', { pattern = name, callback = function(args)
    vim.rpcnotify(channel, 'heard', name, vim.json.encode(args.data or vim.empty_dict()))
  end })
end
";

/// Tells the test what the plugin says in messages, in the place of a screen.
const MESSAGES: &str = r"
local channel = ...
vim.notify = function(text, level)
  vim.rpcnotify(channel, 'heard', 'message', vim.json.encode({ text = text, level = level }))
end
";

impl Nvim {
    /// Starts Neovim in the project with these options of `setup()` (a Lua table) and these servers.
    pub async fn start(project: &Project, options: &str, servers: &[&str]) -> Self {
        Self::start_with(project, options, servers, env!("CARGO_BIN_EXE_sextant")).await
    }

    /// The same, with this file in the window.
    pub async fn open(project: &Project, options: &str, servers: &[&str], file: &str) -> Self {
        let this = Self::start(project, options, servers).await;
        this.edit(file).await;
        this
    }

    /// [`Nvim::on_screen`], with this file in the window.
    pub async fn open_on_screen(project: &Project, options: &str, servers: &[&str], file: &str) -> Self {
        let this = Self::on_screen(project, options, servers).await;
        this.edit(file).await;
        this
    }

    pub async fn start_with(project: &Project, options: &str, servers: &[&str], sextant: &str) -> Self {
        Self::begin(project, options, servers, sextant).await.listening().await
    }

    /// Starts Neovim in any folder, with another home, and without servers.
    #[allow(dead_code, reason = "the adversary's suite uses it")]
    pub async fn start_at(place: &Place<'_>, options: &str) -> Self {
        Self::begin_at(place, options, &[], env!("CARGO_BIN_EXE_sextant")).await.listening().await
    }

    async fn listening(self) -> Self {
        let this = self;
        let channel = this.nvim.get_api_info().await.expect("an answer")[0].clone();
        this.nvim.exec_lua(MESSAGES, vec![channel]).await.expect("messages");
        this
    }

    /// The same in a terminal of 80 columns and 24 lines, where messages are drawn as a user sees them.
    pub async fn on_screen(project: &Project, options: &str, servers: &[&str]) -> Self {
        let this = Self::begin(project, options, servers, env!("CARGO_BIN_EXE_sextant")).await;
        let mut how = UiAttachOptions::new();
        how.set_linegrid_external(true).set_hlstate_external(true);
        let (columns, lines) = (i64::try_from(COLUMNS).expect("a width"), i64::try_from(LINES).expect("a height"));
        this.nvim.ui_attach(columns, lines, &how).await.expect("a screen");
        this
    }

    /// Gives the terminal another size.
    pub async fn resize(&self, columns: i64, lines: i64) {
        self.nvim.ui_try_resize(columns, lines).await.expect("another size");
    }

    /// True if Neovim waits for a key before it does anything else (`Press ENTER`, `-- More --`).
    pub async fn prompts(&self) -> bool {
        let mode = self.nvim.get_mode().await.expect("a mode");
        let of = |name: &str| mode.iter().find(|(key, _)| key.as_str() == Some(name)).map(|(_, value)| value.clone());
        of("blocking") == Some(Value::from(true)) || of("mode").is_some_and(|mode| mode.as_str() == Some("r"))
    }

    async fn begin(project: &Project, options: &str, servers: &[&str], sextant: &str) -> Self {
        let (home, state) = (project.beside("home"), project.state_home());
        let place = Place { root: project.root(), home: &home, own: &home, state: &state, path: None };
        Self::begin_at(&place, options, servers, sextant).await
    }

    async fn begin_at(place: &Place<'_>, options: &str, servers: &[&str], sextant: &str) -> Self {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).display();
        let mut command = Command::new(binary());
        command
            .args(["--clean", "--headless", "--embed", "-n"])
            .args(["--cmd", &format!("set runtimepath^={repository}")])
            .current_dir(place.root)
            .env("HOME", place.home)
            .stderr(Stdio::null())
            .kill_on_drop(true);
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"] {
            command.env(name, place.own.join(name));
        }
        command.env("XDG_STATE_HOME", place.state);
        command.env("XDG_RUNTIME_DIR", place.own.with_file_name("runtime"));
        if let Some(path) = &place.path {
            command.env("PATH", path);
        }
        let (sender, heard) = unbounded_channel();
        let screen = Screen::default();
        let ears = Ears { heard: sender, screen: screen.clone() };
        let (nvim, _io, child) = nvim_rs::create::tokio::new_child_cmd(&mut command, ears)
            .await
            .unwrap_or_else(|error| panic!("{} is needed: {error}", binary().display()));
        let this = Self { nvim, heard, child, screen };
        let channel = this.nvim.get_api_info().await.expect("an answer")[0].clone();
        this.nvim.exec_lua(EARS, vec![channel]).await.expect("ears");
        let setup = format!("local o = {options}; o.binary = '{sextant}'; require('sextant').setup(o)");
        this.nvim.exec_lua(&setup, vec![]).await.expect("setup");
        if !servers.is_empty() {
            let tools = tool("basedpyright-langserver").parent().expect("a folder").display().to_string();
            tool("ruff");
            let wanted = servers.iter().map(|name| Value::from(*name)).collect();
            this.nvim.exec_lua(SERVERS, vec![tools.into(), Value::Array(wanted)]).await.expect("servers");
        }
        this
    }

    /// Runs Lua and gives back what it returns.
    pub async fn lua<T: DeserializeOwned>(&self, code: &str) -> T {
        let wrapped = format!("return vim.json.encode((function() {code}\nend)())");
        let value = tokio::time::timeout(PATIENCE, self.nvim.exec_lua(&wrapped, vec![]))
            .await
            .unwrap_or_else(|_| panic!("Neovim does not answer: {code}"))
            .unwrap_or_else(|error| panic!("{code}: {error}"));
        serde_json::from_str(value.as_str().expect("JSON")).unwrap_or_else(|error| panic!("{code}: {value}: {error}"))
    }

    /// Starts the process and waits until it has handed over what it knows of servers, as the first command does.
    pub async fn greeted(&self) {
        let ask = "require('sextant.rpc.channel').send('greet', {})
            return (vim.wait(60000, require('sextant.lsp.servers').has_facts, 10))";
        assert!(self.lua::<bool>(ask).await, "no handshake");
    }

    /// True if this Neovim has the feature (`:help has()`).
    #[allow(dead_code, reason = "the adversary's suite has no use for it")]
    pub async fn has(&self, feature: &str) -> bool {
        self.lua(&format!("return vim.fn.has('{feature}') == 1")).await
    }

    /// Runs an Ex command.
    pub async fn command(&self, text: &str) {
        self.nvim.command(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
    }

    /// Types keys, as a user at the keyboard.
    pub async fn keys(&self, keys: &str) {
        self.nvim.input(keys).await.expect("keys");
    }

    pub async fn edit(&self, path: &str) {
        self.command(&format!("edit {path}")).await;
    }

    /// The next event, whatever it is.
    #[allow(dead_code, reason = "the adversary's suite uses it")]
    pub async fn hear(&mut self) -> (String, Json) {
        self.heard.recv().await.expect("Neovim is there")
    }

    #[allow(dead_code, reason = "the adversary's suite uses it")]
    pub fn id(&self) -> u32 {
        self.child.id().expect("Neovim runs")
    }

    /// The next event of this name; events before it are dropped.
    pub async fn wait(&mut self, name: &str) -> Json {
        self.wait_for(&[name]).await.1
    }

    /// The next event of one of these names.
    pub async fn wait_for(&mut self, names: &[&str]) -> (String, Json) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let mut before = Vec::new();
        loop {
            match tokio::time::timeout_at(deadline, self.heard.recv()).await {
                Ok(Some(event)) if names.contains(&event.0.as_str()) => return event,
                Ok(Some(event)) => before.push(event),
                _ => panic!("none of {names:?} came, but {before:?}"),
            }
        }
    }

    /// The end of the running task: its summary, or a panic with the failure.
    pub async fn finished(&mut self) -> String {
        match self.wait_for(&["SextantFinished", "SextantFailed"]).await {
            (name, data) if name == "SextantFinished" => data["summary"].as_str().unwrap_or_default().to_owned(),
            (_, data) => panic!("the task failed: {data}"),
        }
    }

    /// Runs a command that starts a task, and waits for its end: the summary, or a panic with the failure.
    pub async fn task(&mut self, command: &str) -> String {
        self.command(command).await;
        self.finished().await
    }

    /// Runs a command that starts a task which fails: its failure, or a panic with the summary.
    pub async fn failed_task(&mut self, command: &str) -> Json {
        self.command(command).await;
        self.failed().await
    }

    /// Runs a command, and waits for the next event of this name.
    pub async fn command_until(&mut self, command: &str, event: &str) -> Json {
        self.command(command).await;
        self.wait(event).await
    }

    /// Runs a command, and waits until the screen shows these words.
    pub async fn command_shows(&self, command: &str, words: &str) {
        self.command(command).await;
        self.screen.shows(words).await;
    }

    /// Types keys, and waits until the screen shows these words.
    pub async fn keys_show(&self, keys: &str, words: &str) {
        self.keys(keys).await;
        self.screen.shows(words).await;
    }

    /// The end of the running task: its failure, or a panic with the summary.
    pub async fn failed(&mut self) -> Json {
        match self.wait_for(&["SextantFinished", "SextantFailed"]).await {
            (name, data) if name == "SextantFailed" => data["failure"].clone(),
            (_, data) => panic!("the task did not fail: {data}"),
        }
    }

    /// Stops the running task by its key; returns its failure. While a script runs, Neovim takes the key for an
    /// interrupt of that and no mapping sees it: it is pressed again, as a user would.
    pub async fn stopped_by_key(&mut self) -> Json {
        loop {
            self.keys("<C-c>").await;
            if let Ok(failure) = tokio::time::timeout(Duration::from_secs(10), self.failed()).await {
                return failure;
            }
        }
    }

    pub async fn text(&self) -> String {
        let lines: Vec<String> = self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)").await;
        lines.join("\n") + "\n"
    }

    /// `path:line: type: text` of each entry, with the list's title first.
    pub async fn quickfix(&self) -> Vec<String> {
        self.lua(
            r"
            local list = vim.fn.getqflist({ items = 1, title = 1 })
            local out = { list.title }
            for _, item in ipairs(list.items) do
              local name = vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr))
              out[#out + 1] = ('%s:%d: %s: %s'):format(name, item.lnum, item.type, item.text)
            end
            return out",
        )
        .await
    }

    /// What stands in the answer window.
    pub async fn answer(&self) -> String {
        let lines: Vec<String> = self
            .lua("local b = vim.fn.bufnr('sextant://answer'); return b > 0 and vim.api.nvim_buf_get_lines(b, 0, -1, false) or { '' }")
            .await;
        lines.join("\n")
    }

    /// The answer, once these words are in it.
    pub async fn answered(&self, words: &str) -> String {
        let said = format!(
            "return (vim.wait(60000, function()
                local buffer = vim.fn.bufnr('sextant://answer')
                local lines = buffer > 0 and vim.api.nvim_buf_get_lines(buffer, 0, -1, false) or {{}}
                return table.concat(lines, '\\n'):find({words:?}, 1, true) ~= nil
            end, 10))"
        );
        assert!(self.lua::<bool>(&said).await, "{words} is not said: {}", self.answer().await);
        self.answer().await
    }

    /// The process itself, to be ended without a word.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }
}
