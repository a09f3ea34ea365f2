//! The process inside Neovim: random edits through the product's own way, each answer written down.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use nvim_rs::{Handler, Neovim, Value};
use serde_json::json;
use sextant::base::deadline::Deadline;
use sextant::diagnostics::model::Report;
use sextant::editor::{Document, Editor, FileEdit, Save};
use sextant::editors::nvim::channel::{Channel, Writer};
use sextant::editors::nvim::editor::NvimEditor;
use sextant::edits::hunks::hunks;
use tokio::sync::Notify;

use crate::job::{Answer, Job, Trial, VARIABLE};
use crate::subjects::{SUBJECTS, Subject};
use crate::text::{Random, State};

/// For a server that starts, and for late answers.
const PATIENCE: Duration = Duration::from_secs(120);

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

#[derive(Clone, Default)]
struct Ears {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    channel: OnceLock<Arc<Channel>>,
    editor: OnceLock<Arc<NvimEditor>>,
    shown: Notify,
    late: Notify,
}

#[async_trait]
impl Handler for Ears {
    type Writer = Writer;

    async fn handle_notify(&self, name: String, args: Vec<Value>, nvim: Neovim<Writer>) {
        let text = args.first().and_then(Value::as_str).unwrap_or_default().to_owned();
        match name.as_str() {
            "reply" => {
                if let Some(channel) = self.inner.channel.get() {
                    channel.take_piece(&args);
                }
            }
            "late" => {
                if let Some(editor) = self.inner.editor.get() {
                    editor.take_late(serde_json::from_str(&text).expect("a late answer"));
                    self.inner.late.notify_one();
                }
            }
            "shown" => self.inner.shown.notify_one(),
            "hello" => {
                let channel = Arc::new(Channel::new(nvim));
                let _ = self.inner.channel.set(Arc::clone(&channel));
                let welcome = json!({"version": env!("CARGO_PKG_VERSION"), "root": "", "model": "none"});
                tokio::spawn(async move {
                    channel.tell("require('sextant.rpc').welcome(...)", welcome.to_string()).await.expect("a greeting");
                });
            }
            "trials" => {
                let inner = Arc::clone(&self.inner);
                tokio::spawn(async move {
                    let done = tokio::spawn(run(inner, nvim.clone())).await;
                    // The report says what is missing; Neovim must end in any case.
                    if let Err(error) = done {
                        let out = job().out + ".failed";
                        let _ = std::fs::write(out, error.to_string());
                    }
                    let _ = nvim.command("qa!").await;
                });
            }
            _ => {}
        }
    }
}

fn job() -> Job {
    let path = std::env::var_os(VARIABLE).expect("a job");
    serde_json::from_slice(&std::fs::read(path).expect("the job")).expect("a readable job")
}

/// Serves the Neovim that started this process, until it ends.
pub async fn serve() {
    let (_nvim, io) = nvim_rs::create::tokio::new_parent(Ears::default()).await.expect("Neovim on standard input");
    let _ = io.await;
}

struct Bench {
    inner: Arc<Inner>,
    nvim: Neovim<Writer>,
    api: i64,
    editor: Arc<NvimEditor>,
    job: Job,
    subject: &'static Subject,
    random: Random,
    state: State,
}

async fn run(inner: Arc<Inner>, nvim: Neovim<Writer>) {
    let job = job();
    let channel = Arc::clone(inner.channel.get().expect("a greeting came first"));
    let editor = Arc::new(NvimEditor::new(PathBuf::from(&job.root), channel));
    let _ = inner.editor.set(Arc::clone(&editor));
    let subject = SUBJECTS.iter().find(|subject| subject.name == job.server).expect("a known server");
    let info = nvim.get_api_info().await.expect("Neovim");
    let mut bench = Bench {
        inner,
        nvim,
        api: info[0].as_i64().expect("a channel"),
        editor,
        random: Random(job.seed),
        state: State::new(),
        subject,
        job,
    };
    bench.warm().await;
    let mut out = std::fs::File::create(&bench.job.out).expect("a file for the trials");
    for number in 0..bench.job.trials {
        // Every fifth is measured in Neovim's own way, the one after it in ours, under the same conditions.
        let trial = match number % 5 {
            3 if subject.names => bench.default_way(number).await,
            4 if subject.names => bench.plain(number).await,
            _ => bench.trial(number).await,
        };
        writeln!(out, "{}", serde_json::to_string(&trial).expect("JSON")).expect("a full line");
    }
}

impl Bench {
    fn file(&self) -> String {
        self.subject.language.file().to_owned()
    }

    async fn document(&self) -> Document {
        self.editor.read(&self.file()).await.expect("the document")
    }

    /// Edits until the server answers for the first time.
    async fn warm(&mut self) {
        let deadline = Deadline::after(PATIENCE * 2);
        loop {
            self.state.neutral += 1;
            self.apply(Save::Never).await;
            let reports = self.ask(Deadline::after_ms(20_000)).await;
            if !reports.is_empty() && reports.iter().all(|report| report.freshness.is_fresh()) {
                break;
            }
            assert!(!deadline.passed(), "{} never answers: {reports:?}", self.job.server);
        }
        self.editor.late().await;
    }

    async fn ask(&self, deadline: Deadline) -> Vec<Report> {
        self.editor.diagnostics(&[self.file()], &[], deadline).await
    }

    /// Brings the buffer to the state, as a tool does.
    async fn apply(&self, save: Save) {
        let document = self.document().await;
        let after = self.state.text(self.subject.language);
        let edit =
            FileEdit::Change { path: document.path, version: document.version, hunks: hunks(&document.text, &after) };
        let done = self.editor.apply(&[edit], save).await.expect("the edit");
        assert_eq!(done[0].document.as_ref().map(|document| document.text.as_str()), Some(after.as_str()));
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

    /// An edit that nobody waits for, and sometimes a question that nobody waits for either.
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

    fn record(&self, number: usize, kind: &str, hurried: bool) -> Trial {
        Trial {
            number,
            kind: kind.to_owned(),
            hurried,
            text: self.state.text(self.subject.language),
            expected: self.state.expected(self.subject),
            answers: Vec::new(),
            late: Vec::new(),
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
            self.nvim.command("silent write").await.expect("a write");
        }
        let kind = self.state.change(&mut self.random);
        let mut trial = self.record(number, kind, hurried);
        self.answer(&mut trial).await;
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

    /// Waits for the answers that are still to come, and takes those that nothing was open for.
    async fn hear_late(&self, trial: &mut Trial, start: Instant, open: usize) {
        let version = self.document().await.version;
        let mut own = 0;
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            for report in self.editor.late().await {
                if report.version == Some(version) {
                    own += 1;
                    trial.late.push(Answer::of(&report, start.elapsed().as_secs_f64() * 1000.0));
                }
            }
            if own >= open || tokio::time::timeout_at(deadline, self.inner.late.notified()).await.is_err() {
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
        let start = Instant::now();
        self.apply(Save::IfClean).await;
        if tokio::time::timeout(Duration::from_secs(30), self.inner.shown.notified()).await.is_ok() {
            trial.default_ms = Some(start.elapsed().as_secs_f64() * 1000.0);
        }
        trial
    }

    /// Time of ours, of an edit of the same kind.
    async fn plain(&mut self, number: usize) -> Trial {
        self.rest().await;
        self.state.change_name(&mut self.random);
        let mut trial = self.record(number, "plain", false);
        self.answer(&mut trial).await;
        trial
    }

    /// A text that parses, and a server that has nothing left to do.
    async fn rest(&mut self) {
        self.state.repair_syntax();
        self.apply(Save::IfClean).await;
        self.ask(Deadline::after(PATIENCE)).await;
        self.editor.late().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}
