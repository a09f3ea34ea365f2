//! Runs inside Neovim: makes random edits through the product's own way, and writes each answer down.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nvim_rs::{Neovim, Value};
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::{Freshness, Report};
use sextant::diagnostics::syntax;
use sextant::editors::nvim::editor::{AMENDED, NvimEditor};
use sextant::editors::nvim::lua_channel::ChannelWriter;
use sextant::edits::hunks::hunks;
use sextant::engine::{Diagnostics, Document, Documents, Editor, FileEdit, Save};

use crate::first::Door;
use crate::inside::{self, Inside};
use crate::job::{Answer, Job, Trial};
use crate::subjects::{SUBJECTS, Subject};
use crate::text::{Random, State};

/// The wait for a server that starts, and for late answers.
const PATIENCE: Duration = Duration::from_secs(120);

/// One clock for both ways, in Neovim: from the edit to the tick in which settling delivers, or in which the change is
/// shown. A prepared question is asked as soon as the edit is done, and its answer sent as a late one.
const CLOCK: &str = r"
local channel = ...
local apply = require('sextant.edit.apply')
local do_apply = apply.apply
local function ask(params)
  require('sextant.lsp.collect_diagnostics').collect(params, function(_, entries)
    _G.clock.settled = vim.uv.hrtime()
    vim.rpcnotify(channel, 'late', vim.json.encode(entries[1]))
  end)
end
function apply.apply(params, reply)
  local question = _G.clock and _G.clock.question
  _G.clock = { edit = vim.uv.hrtime() }
  return do_apply(params, function(...)
    reply(...)
    if question then
      ask(question)
    end
  end)
end
";

/// Prepares a question.
const READY: &str = "local path, ms = ... _G.clock = { question = { files = { { path = path } }, ms = ms } }";

/// Milliseconds from the edit to the named event, or nil.
const ELAPSED: &str = "local at = _G.clock[...] return at and (at - _G.clock.edit) / 1e6 or nil";

/// Calls back when a word is shown, or no longer shown, by Neovim's own way.
const SHOWN: &str = r"
local channel, file, words, wanted = ...
local buf = vim.fn.bufnr(file)
local id
local function look()
  local found = vim.iter(vim.diagnostic.get(buf)):any(function(item)
    return item.message:find(words .. '%f[%W]') ~= nil
  end)
  if found == wanted then
    _G.clock.shown = vim.uv.hrtime()
    vim.rpcnotify(channel, 'shown')
    return true
  end
end
id = vim.api.nvim_create_autocmd('DiagnosticChanged', { callback = look })
";

/// An edit as a user types it: whole lines, in the current buffer.
const TYPE: &str = r"
local file, first, last, lines = ...
vim.api.nvim_buf_set_lines(vim.fn.bufnr(file), first, last, false, lines)
";

/// Kills the server's process with the system's own signal.
const KILL_9: &str = r"
local name, program = ...
vim.system({ 'pkill', '-KILL', '-P', tostring(vim.uv.os_getpid()), '-f', program }):wait()
vim.wait(10000, function()
  return #vim.lsp.get_clients({ name = name }) == 0
end, 5)
";

/// Ends the server by force; and starts it again.
const KILL: &str = r"
local name = ...
for _, client in ipairs(vim.lsp.get_clients({ name = name })) do
  client:stop(true)
end
";
const RESTART: &str = r"
local name = ...
vim.wait(10000, function()
  return #vim.lsp.get_clients({ name = name, _uninitialized = true }) == 0
end, 5)
vim.lsp.enable(name, false)
vim.lsp.enable(name)
";

struct Bench {
    inside: Arc<Inside>,
    nvim: Neovim<ChannelWriter>,
    api: i64,
    editor: Arc<NvimEditor>,
    job: Job,
    subject: &'static Subject,
    random: Random,
    state: State,
}

pub async fn run(inside: Arc<Inside>, nvim: Neovim<ChannelWriter>) {
    let job: Job = inside::job();
    let editor = inside.editor(&job.root);
    let subject = SUBJECTS.iter().find(|subject| subject.name == job.server).expect("a known server");
    let info = nvim.get_api_info().await.expect("Neovim");
    let mut bench = Bench {
        inside,
        nvim,
        api: info[0].as_i64().expect("a channel"),
        editor,
        random: Random(job.seed),
        state: State::new(),
        subject,
        job,
    };
    bench.nvim.exec_lua(CLOCK, vec![bench.api.into()]).await.expect("a clock");
    bench.warm().await;
    if bench.job.first {
        let (job, subject) = (bench.job.clone(), bench.subject);
        let done = crate::first::run(&mut bench, &job, subject).await;
        return std::fs::write(&job.out, serde_json::to_string(&done).expect("JSON")).expect("a full file");
    }
    let mut out = std::fs::File::create(&bench.job.out).expect("a file for the trials");
    for number in 0..bench.job.trials {
        // Every fifth is measured in Neovim's own way, the one after it in Sextant's, under the same conditions.
        let trial = match number % 5 {
            3 if subject.names => bench.default_way(number).await,
            4 if subject.names => bench.plain(number).await,
            0 if bench.job.kills && number % 10 == 5 => bench.killed(number).await,
            _ => bench.trial(number).await,
        };
        writeln!(out, "{}", serde_json::to_string(&trial).expect("JSON")).expect("a full line");
    }
}

#[async_trait]
impl Door for Bench {
    fn editor(&self) -> Arc<dyn Editor> {
        Arc::<NvimEditor>::clone(&self.editor)
    }

    async fn kill(&mut self) {
        if self.job.between {
            let program = self.job.command[0].rsplit('/').next().unwrap_or_default();
            let args = vec![self.subject.name.into(), program.into()];
            self.nvim.exec_lua(KILL_9, args).await.expect("a server that is killed");
            return;
        }
        self.nvim.exec_lua(KILL, vec![self.subject.name.into()]).await.expect("a server that is killed");
    }

    async fn again(&mut self) {
        self.nvim.exec_lua(RESTART, vec![self.subject.name.into()]).await.expect("a server that starts");
        self.warm().await;
    }
}

impl Bench {
    fn file(&self) -> String {
        self.subject.language.file()
    }

    async fn document(&self) -> Document {
        self.editor.read(&self.file()).await.expect("the document")
    }

    /// Edits until the server answers for the first time.
    async fn warm(&mut self) {
        let deadline = Deadline::after(PATIENCE * 2);
        loop {
            // One change a time: Neovim may send two of them as two versions, of which the last one changes no list.
            if self.subject.silent {
                self.state.change_name(&mut self.random);
            } else {
                self.state.neutral += 1;
            }
            self.apply(Save::Never).await;
            let reports = self.ask(Deadline::after_ms(20_000)).await;
            let done = |report: &Report| {
                report.freshness.is_fresh() || self.subject.unproven && report.freshness == Freshness::Quiet
            };
            if !reports.is_empty() && reports.iter().all(done) {
                break;
            }
            assert!(!deadline.passed(), "{} never answers: {reports:?}", self.job.server);
        }
        self.editor.late().await;
    }

    /// The server's answers; the syntax, which is always asked beside it, is not measured.
    async fn ask(&self, deadline: Deadline) -> Vec<Report> {
        let mut reports = self.editor.diagnostics(&[self.file()], &[], deadline).await;
        reports.retain(|report| report.provider != syntax::NAME);
        reports
    }

    /// Brings the buffer to the state, as a tool does.
    async fn apply(&self, save: Save) {
        let document = self.document().await;
        let after = self.state.text(self.subject.language);
        let edit =
            FileEdit::Change { path: document.path, version: document.version, hunks: hunks(&document.text, &after) };
        let done = self.editor.apply(&[edit], save).await.expect("the edit");
        assert_eq!(done[0].document.as_ref().map(|document| &*document.text), Some(after.as_str()));
    }

    /// Brings the buffer to the state, as a user does.
    async fn type_in(&self) {
        let (before, after) = (self.document().await.text, self.state.text(self.subject.language));
        let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
        let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        let tails = old[head..].iter().rev().zip(new[head..].iter().rev());
        let tail = tails.take_while(|(a, b)| a == b).count();
        let lines = new[head..new.len() - tail].iter().map(|line| Value::from(*line)).collect();
        let args = vec![self.file().into(), head.into(), (old.len() - tail).into(), Value::Array(lines)];
        self.nvim.exec_lua(TYPE, args).await.expect("typing");
    }

    /// An edit without a wait for its answer, and sometimes a question without one either.
    async fn hurry(&mut self) {
        self.state.change(&mut self.random);
        if self.random.chance(50) {
            self.apply(Save::Never).await;
        } else {
            self.type_in().await;
        }
        if self.random.chance(25) {
            self.ask(Deadline::after_ms(5)).await;
        }
        let pause = self.random.below(450);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }

    async fn elapsed(&self, event: &str) -> Option<f64> {
        self.nvim.exec_lua(ELAPSED, vec![event.into()]).await.expect("the clock").as_f64()
    }

    fn record(&self, number: usize, kind: &str, hurried: bool) -> Trial {
        Trial {
            number,
            kind: kind.to_owned(),
            hurried,
            text: self.state.text(self.subject.language),
            expected: self.state.expected(self.subject),
            answers: Vec::new(),
            late: Vec::new(),
            amended: 0,
            twice: 0,
            default_ms: None,
        }
    }

    /// One random edit and its answer.
    async fn trial(&mut self, number: usize) -> Trial {
        let hurried = self.random.chance(60);
        if hurried {
            self.hurry().await;
        }
        if self.random.chance(10) {
            self.write().await;
        }
        let kind = self.state.change(&mut self.random);
        let mut trial = self.record(number, kind, hurried);
        self.answer(&mut trial).await;
        trial
    }

    /// One edit whose server dies during the question, or right before; the next edit meets a new process.
    async fn killed(&mut self, number: usize) -> Trial {
        self.state.change(&mut self.random);
        let mut trial = self.record(number, "killed", false);
        let pause = Duration::from_millis(self.random.below(120));
        let kill = async {
            tokio::time::sleep(pause).await;
            self.nvim.exec_lua(KILL, vec![self.subject.name.into()]).await.expect("a server that is killed");
        };
        let start = Instant::now();
        self.apply(Save::IfClean).await;
        let (reports, ()) = tokio::join!(self.ask(Deadline::after_ms(self.job.budget_ms)), kill);
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        trial.answers = reports.iter().map(|report| Answer::of(report, ms)).collect();
        self.editor.late().await;
        self.nvim.exec_lua(RESTART, vec![self.subject.name.into()]).await.expect("a server that starts");
        self.warm().await;
        trial
    }

    async fn answer(&self, trial: &mut Trial) {
        let start = Instant::now();
        self.apply(Save::IfClean).await;
        let reports = self.ask(Deadline::after_ms(self.job.budget_ms)).await;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        trial.answers = reports.iter().map(|report| Answer::of(report, ms)).collect();
        let open = reports.iter().filter(|report| !report.freshness.is_fresh()).count();
        self.hear_late(trial, start, open).await;
    }

    /// Waits for outstanding answers, and takes those without an open question.
    async fn hear_late(&self, trial: &mut Trial, start: Instant, open: usize) {
        let version = self.document().await.version;
        let mut own = 0;
        // No later answer proves what the server never does.
        let seconds = if self.subject.unproven || self.subject.silent { 2 } else { 20 };
        let deadline = tokio::time::Instant::now() + Duration::from_secs(seconds);
        loop {
            for report in self.editor.late().await {
                if report.version == Some(version) {
                    if report.note.as_deref() == Some(AMENDED) {
                        trial.amended += 1;
                    } else {
                        own += 1;
                    }
                    trial.late.push(Answer::of(&report, start.elapsed().as_secs_f64() * 1000.0));
                }
            }
            if own >= open || tokio::time::timeout_at(deadline, self.inside.late.notified()).await.is_err() {
                break;
            }
        }
        trial.twice = own.saturating_sub(open);
    }

    /// Time of Neovim's own way: from the edit until its diagnostics show the change.
    async fn default_way(&mut self, number: usize) -> Trial {
        self.rest().await;
        let (words, wanted) = self.state.change_name(&mut self.random);
        let mut trial = self.record(number, "default", false);
        let args = vec![self.api.into(), self.file().into(), words.into(), wanted.into()];
        self.nvim.exec_lua(SHOWN, args).await.expect("a listener");
        self.apply(Save::Never).await;
        if tokio::time::timeout(Duration::from_secs(30), self.inside.shown.notified()).await.is_ok() {
            trial.default_ms = self.elapsed("shown").await;
        }
        self.write().await;
        trial
    }

    /// The time of Sextant's way, for an edit of the same kind.
    async fn plain(&mut self, number: usize) -> Trial {
        self.rest().await;
        self.state.change_name(&mut self.random);
        let mut trial = self.record(number, "plain", false);
        let path = std::path::Path::new(&self.job.root).join(self.file()).display().to_string();
        self.nvim.exec_lua(READY, vec![path.into(), self.job.budget_ms.into()]).await.expect("a question");
        let start = Instant::now();
        self.apply(Save::Never).await;
        let limit = tokio::time::Instant::now() + Duration::from_millis(self.job.budget_ms) + Duration::from_secs(30);
        // An earlier answer may have left its sign behind.
        while trial.answers.is_empty() && tokio::time::timeout_at(limit, self.inside.late.notified()).await.is_ok() {
            let reports = self.editor.late().await;
            let ms = self.elapsed("settled").await.unwrap_or(f64::NAN);
            trial.answers = reports.iter().map(|report| Answer::of(report, ms)).collect();
        }
        let open = trial.answers.iter().filter(|answer| !answer.freshness.is_fresh()).count();
        self.hear_late(&mut trial, start, open).await;
        self.write().await;
        trial
    }

    /// The write is outside of the measured time: the disk is not compared.
    async fn write(&self) {
        self.nvim.command("silent write").await.expect("a write");
    }

    /// Restores a text that parses, and waits for a server without work.
    async fn rest(&mut self) {
        self.state.repair_syntax();
        self.apply(Save::IfClean).await;
        self.ask(Deadline::after(PATIENCE)).await;
        self.editor.late().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
