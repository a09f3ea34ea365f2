//! Runs the commands of a workspace beside an editor: a command slower than its request goes on, and its result is
//! delivered late, once.

use std::sync::{Arc, Mutex};

use futures::future::join_all;
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

use crate::command::CommandProvider;
use crate::late_signal::LateSignal;
use crate::model::{DiagnosticsProvider, FileText, Freshness, Reach, Report};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;

/// A time in milliseconds that no caller waits: the limit of a run in the background is the command's own.
const FAR_MS: u64 = 24 * 60 * 60 * 1000;

/// Simultaneous runs, so that a request for many files leaves the machine to its user.
const AT_ONCE: usize = 4;

/// One file as the editor has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorText {
    /// Path relative to the root.
    pub path: String,
    pub text: Arc<str>,
    /// The editor's own version of the text.
    pub version: i64,
    /// True if it was edited; a command that looks at single files runs for these alone.
    pub edited: bool,
}

/// Reports that came after their deadline, and the signal for them.
#[derive(Debug)]
struct Letters {
    waiting: Mutex<Vec<Report>>,
    signal: LateSignal,
}

/// The commands of one workspace. Dropping it ends the runs.
#[derive(Debug)]
pub struct Commands {
    commands: Vec<Arc<CommandProvider>>,
    runs: Mutex<Vec<CommandRequest>>,
    letters: Arc<Letters>,
    room: Arc<Semaphore>,
}

/// One request to one command, answered or not.
#[derive(Clone, Debug)]
struct CommandRequest {
    /// The command, and the file if it runs for each file on its own.
    key: (usize, String),
    asked: Vec<EditorText>,
    state: Arc<Mutex<BackgroundState>>,
    done: watch::Receiver<bool>,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct BackgroundState {
    answer: Option<Vec<Report>>,
    /// True if the last caller went away without the answer.
    owed: bool,
}

impl Commands {
    /// Does not start a run. A late answer raises the signal.
    pub fn new(commands: Vec<CommandProvider>, signal: &LateSignal) -> Self {
        let letters = Letters { waiting: Mutex::default(), signal: signal.clone() };
        Self {
            commands: commands.into_iter().map(Arc::new).collect(),
            runs: Mutex::default(),
            letters: Arc::new(letters),
            room: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// The signal that late answers raise.
    pub fn signal(&self) -> &LateSignal {
        &self.letters.signal
    }

    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// True if any command looks further than at single files.
    pub fn reach_over_files(&self) -> bool {
        self.commands.iter().any(|command| command.reach() != Reach::File)
    }

    /// True if one of those covers a file, so that an edit elsewhere may break it.
    pub fn reach(&self, path: &str) -> bool {
        self.commands.iter().any(|command| command.reach() != Reach::File && command.covers(path))
    }

    /// True if one of those covers both files.
    pub fn share(&self, one: &str, other: &str) -> bool {
        let covers = |command: &CommandProvider| command.covers(one) && command.covers(other);
        self.commands.iter().any(|command| command.reach() != Reach::File && covers(command))
    }

    /// One report for each command that covers a file, before the deadline.
    pub async fn ask(&self, files: &[EditorText], deadline: Deadline) -> Vec<Report> {
        let mut runs = Vec::new();
        for (index, command) in self.commands.iter().enumerate() {
            let single = command.reach() == Reach::File;
            let covered = files.iter().filter(|file| command.covers(&file.path) && (file.edited || !single));
            // From here on only the texts matter: a caller with the same request gets the same run.
            let mut covered: Vec<EditorText> =
                covered.map(|file| EditorText { edited: true, ..file.clone() }).collect();
            covered.sort_by(|a, b| a.path.cmp(&b.path));
            if single {
                runs.extend(covered.into_iter().map(|file| self.run(index, file.path.clone(), vec![file])));
            } else if !covered.is_empty() {
                runs.push(self.run(index, String::new(), covered));
            }
        }
        join_all(runs.into_iter().map(|run| self.answer(run, deadline))).await.concat()
    }

    /// The reports that came after their deadline, each once. Only reports that are fresh for their text.
    pub fn late(&self) -> Vec<Report> {
        std::mem::take(&mut *lock(&self.letters.waiting))
    }

    /// The run that answers this request already, or a new one in the place of an older request's.
    fn run(&self, index: usize, about: String, asked: Vec<EditorText>) -> CommandRequest {
        let key = (index, about);
        let mut runs = lock(&self.runs);
        if let Some(known) = runs.iter().position(|run| run.key == key) {
            let same = runs[known].asked == asked && lock(&runs[known].state).answer.is_none();
            if same {
                lock(&runs[known].state).owed = false;
                return runs[known].clone();
            }
            runs.swap_remove(known).task.abort();
        }
        let run = self.start(key, asked);
        runs.push(run.clone());
        run
    }

    fn start(&self, key: (usize, String), asked: Vec<EditorText>) -> CommandRequest {
        let command = Arc::clone(&self.commands[key.0]);
        let (letters, room) = (Arc::clone(&self.letters), Arc::clone(&self.room));
        let state = Arc::new(Mutex::new(BackgroundState::default()));
        let (over, done) = watch::channel(false);
        let task = tokio::spawn({
            let (state, asked) = (Arc::clone(&state), asked.clone());
            async move {
                let _room = room.acquire().await;
                let texts: Vec<FileText> =
                    asked.iter().map(|file| FileText { path: file.path.clone(), text: file.text.clone() }).collect();
                let mut reports = command.fetch(&texts, Deadline::after_ms(FAR_MS)).await;
                for report in &mut reports {
                    let version = asked.iter().find(|file| file.path == report.file).map(|file| file.version);
                    report.wanted_version = version;
                    report.version = version.filter(|_| report.freshness.is_fresh());
                }
                let mut state = lock(&state);
                if state.owed {
                    let fresh = reports.iter().filter(|report| report.freshness.is_fresh()).cloned();
                    lock(&letters.waiting).extend(fresh);
                    letters.signal.raise();
                }
                state.answer = Some(reports);
                drop(state);
                over.send_replace(true);
            }
        });
        CommandRequest { key, asked, state, done, task: task.abort_handle() }
    }

    async fn answer(&self, mut run: CommandRequest, deadline: Deadline) -> Vec<Report> {
        let in_time = tokio::time::timeout(deadline.left(), run.done.wait_for(|done| *done)).await;
        let mut state = lock(&run.state);
        if let Some(reports) = &state.answer {
            return reports.clone();
        }
        // A run that ended without an answer was dropped for a newer request.
        let goes_on = in_time.is_err();
        state.owed = goes_on;
        drop(state);
        let note =
            if goes_on { "it goes on, and is reported when it is done" } else { "asked again before it was answered" };
        let unanswered = |file: &EditorText| Report {
            provider: self.commands[run.key.0].name().to_owned(),
            file: file.path.clone(),
            diagnostics: Vec::new(),
            freshness: Freshness::Timeout,
            version: None,
            wanted_version: Some(file.version),
            elapsed_ms: deadline.elapsed_ms(),
            note: Some(note.to_owned()),
            unasked: None,
        };
        run.asked.iter().map(unanswered).collect()
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        lock(&self.runs).iter().for_each(|run| run.task.abort());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::command::command_config::CommandConfig;

    const LONG_MS: u64 = 60_000;

    /// A command that waits for the file `go` beside the project, and reports one line of `a.py`.
    fn slow(name: &str, folder: &std::path::Path, reach: &str) -> CommandProvider {
        let script = format!(
            "while [ ! -e '{0}' ]; do sleep 0.02; done; echo x >> '{0}.ran'; echo 'a.py:1: slow word'; exit 1",
            folder.join("go").display()
        );
        let config: CommandConfig = serde_json::from_value(json!({
            "name": name,
            "command": ["/bin/sh", "-c", script],
            "reach": reach,
            "format": {"regex": ["^(?P<file>[^:]+):(?P<line>\\d+): (?P<message>.*)$"]},
        }))
        .unwrap();
        CommandProvider::new(config, &folder.join("project"), &[]).unwrap()
    }

    fn project(text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("project/a.py"), text).unwrap();
        folder
    }

    fn a(text: &str, version: i64) -> EditorText {
        EditorText { path: "a.py".into(), text: text.into(), version, edited: true }
    }

    async fn letter(commands: &Commands, news: &mut watch::Receiver<u64>) -> Vec<Report> {
        let come = tokio::time::timeout(Duration::from_millis(LONG_MS), news.changed()).await;
        come.expect("a late answer").expect("the commands are there");
        commands.late()
    }

    #[tokio::test]
    async fn a_slow_answer_is_reported_late_and_once() {
        let folder = project("x = 1\n");
        let signal = LateSignal::default();
        let commands = Commands::new(vec![slow("slow", folder.path(), "file")], &signal);
        let mut news = signal.news();
        let first = commands.ask(&[a("x = 1\n", 7)], Deadline::after_ms(50)).await;
        assert_eq!((first[0].freshness, first[0].wanted_version), (Freshness::Timeout, Some(7)), "{first:?}");
        assert!(first[0].note.as_deref().is_some_and(|note| note.contains("goes on")));
        std::fs::write(folder.path().join("go"), "").unwrap();
        let late = letter(&commands, &mut news).await;
        assert_eq!((late.len(), late[0].freshness, late[0].version), (1, Freshness::Exact, Some(7)), "{late:?}");
        assert_eq!(late[0].diagnostics[0].message, "slow word");
        assert_eq!(commands.late(), [], "once");
    }

    #[tokio::test]
    async fn the_same_question_waits_for_the_run_that_answers_it_and_another_text_ends_it() {
        let folder = project("x = 1\n");
        let commands = Commands::new(vec![slow("slow", folder.path(), "project")], &LateSignal::default());
        let short = || Deadline::after_ms(50);
        commands.ask(&[a("x = 1\n", 1)], short()).await;
        commands.ask(&[a("x = 1\n", 1)], short()).await;
        std::fs::write(folder.path().join("go"), "").unwrap();
        let answer = commands.ask(&[a("x = 1\n", 1)], Deadline::after_ms(LONG_MS)).await;
        assert_eq!(answer[0].freshness, Freshness::Exact, "{answer:?}");
        assert_eq!(commands.late(), [], "a delivered answer is not reported late as well");
        let ran = std::fs::read_to_string(folder.path().join("go.ran")).unwrap();
        assert_eq!(ran.lines().count(), 1, "one run for one question");
        let unsaved = commands.ask(&[a("x = 2\n", 2)], Deadline::after_ms(LONG_MS)).await;
        assert_eq!((unsaved[0].freshness, unsaved[0].version), (Freshness::Unavailable, None), "{unsaved:?}");
        assert!(unsaved[0].note.as_deref().is_some_and(|note| note.contains("saved files only")));
    }

    #[tokio::test]
    async fn an_answer_of_a_text_that_is_gone_is_not_reported() {
        let folder = project("x = 1\n");
        let signal = LateSignal::default();
        let commands = Commands::new(vec![slow("slow", folder.path(), "file")], &signal);
        let mut news = signal.news();
        commands.ask(&[a("x = 1\n", 1)], Deadline::after_ms(50)).await;
        std::fs::write(folder.path().join("project/a.py"), "x = 3\n").unwrap();
        std::fs::write(folder.path().join("go"), "").unwrap();
        assert_eq!(letter(&commands, &mut news).await, []);
    }
}
