//! Any command as a provider (`tool:NAME`): run, read, and believed only for the text that it saw.

pub mod background;
pub mod capture;
pub mod command_config;
pub mod files_read;
mod names_from;
mod one_of_targets;
pub mod read_output;
pub mod run_program;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;

use crate::command::command_config::{Columns, CommandConfig};
use crate::command::read_output::{CommandOutput, Reader};
use crate::command::run_program::Stopped;
use crate::delta::hidden_checks::stops;
use crate::finding::{Finding, FindingPlace};
use crate::model::{self, Diagnostic, DiagnosticsProvider, FileText, Freshness, Location, Reach, Report, Unasked};
use crate::server::language_id::language_id;
use crate::server_facts::{NOT_REACHED, OTHER_UNSAVED};
use crate::unrequested_files::{self, ChangedFindings, LastRun};
use crate::{cargo_units, disk, files_outside_root, program};
use sextant_base::deadline::Deadline;
use sextant_base::lock::lock;
use sextant_base::path;
use sextant_base::plural::counted;
use sextant_base::positions::LineIndex;

/// The names that tools give their standard input.
const STDIN: &[&str] = &["-", "<stdin>", "stdin", "stdin.py"];

/// Characters of a suggestion, which should be one short line.
const SUGGESTION: usize = 120;

/// The first line of the tool's suggestion for a fix.
fn suggestion(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SUGGESTION).collect()
}

/// The reason why a text that is only in an editor gets no report.
const UNSAVED: &str = "it checks saved files only, and this one is not or was changed meanwhile";

/// The reason why a command over a project says nothing of a file that is in no part of it.
const NOT_A_PART: &str = "it has not read this file, which is in no part of the project that it checks";

/// One command over one workspace.
#[derive(Debug)]
pub struct CommandProvider {
    source: String,
    config: CommandConfig,
    reader: Reader,
    root: PathBuf,
    /// `None` if it is not installed.
    program: Option<PathBuf>,
    /// The findings of its last run over the whole project.
    last: Mutex<LastRun<BTreeSet<Finding>>>,
}

/// The most findings of one run.
const FINDINGS: usize = 50_000;

/// The result of one run.
type RunResult = Result<CommandOutput, (Freshness, String)>;

impl CommandProvider {
    /// Does not run it. A program without a `/` is searched in these folders; a missing one makes every report
    /// unavailable.
    ///
    /// # Errors
    /// The error in the configuration.
    pub fn new(config: CommandConfig, root: &Path, folders: &[PathBuf]) -> Result<Self, String> {
        let wrong = |problem| format!("the command {}: {problem}", config.name);
        if let Some(problem) = config.problem() {
            return Err(wrong(problem));
        }
        let reader = Reader::new(&config.format).map_err(wrong)?;
        let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = config.command.first().map(String::as_str).unwrap_or_default();
        let program = if name.contains('/') { Some(PathBuf::from(name)) } else { program::find(folders, name) };
        Ok(Self { source: format!("tool:{}", config.name), config, reader, root, program, last: Mutex::default() })
    }

    /// The path of its program; `None` if it is not installed.
    pub fn program(&self) -> Option<&Path> {
        self.program.as_deref()
    }

    pub fn covers(&self, path: &str) -> bool {
        let languages = &self.config.languages;
        languages.is_empty() || languages.iter().any(|language| language == language_id(path))
    }

    /// Runs it for one file, or for all.
    async fn run(&self, file: Option<&FileText>, deadline: Deadline) -> RunResult {
        let Some(program) = &self.program else {
            let name = self.config.command.first().map(String::as_str).unwrap_or_default();
            return Err((Freshness::Unavailable, format!("{name} is not installed")));
        };
        let root = self.root.to_string_lossy();
        let path = file.map(|file| self.root.join(&file.path).to_string_lossy().into_owned()).unwrap_or_default();
        let fill = |part: &String| part.replace("{root}", &root).replace("{file}", &path);
        let arguments: Vec<String> = self.config.command.iter().skip(1).map(fill).collect();
        let input = file.filter(|_| !self.config.needs_saved).map(|file| &*file.text);
        let own = Duration::from_millis(self.config.timeout_ms);
        let ran = run_program::run(program, &arguments, &self.root, input, own.min(deadline.left())).await;
        let unavailable = |why: String| (Freshness::Unavailable, why);
        let ran = ran.map_err(|stopped| match stopped {
            Stopped::TimedOut => (Freshness::Timeout, "it was not done in time and was ended".to_owned()),
            Stopped::TooMuch => unavailable("it printed more than 8 MiB".to_owned()),
            Stopped::Failed(why) => unavailable(why),
        })?;
        let words = if ran.last_words.is_empty() { String::new() } else { format!(": {}", ran.last_words) };
        if !self.config.ran.contains(&ran.status) {
            return Err(unavailable(format!("it ended with exit status {}{words}", ran.status)));
        }
        let text = String::from_utf8_lossy(&ran.stdout);
        let output = self.reader.read(&text, self.config.first_line, self.config.first_column);
        let mut output = output.map_err(|why| unavailable(format!("its output cannot be read: {why}{words}")))?;
        if output.lost > 0 {
            return Err(unavailable(format!("{} of its findings cannot be read", output.lost)));
        }
        if output.findings.len() > FINDINGS {
            return Err(unavailable(format!("it reports more than {}", counted(FINDINGS, "diagnostic"))));
        }
        if output.findings.is_empty() && self.config.ran.first() != Some(&ran.status) {
            let why = format!("it ended with exit status {} and nothing that can be read{words}", ran.status);
            return Err(unavailable(why));
        }
        let limit = own.min(deadline.left());
        let resolved = names_from::resolve(program, &self.config.names_from, &self.root, &mut output.findings, limit);
        resolved.await.map_err(unavailable)?;
        output.files_read = if self.config.lists_files {
            Some(files_read::listed(&self.root, &text))
        } else {
            files_read::of_artifacts(&self.root, &output.artifacts).await
        };
        Ok(output)
    }

    async fn on_disk(&self, file: &FileText) -> bool {
        disk::has(&self.root.join(&file.path), &file.text).await
    }

    async fn first_unsaved(&self, files: &[FileText]) -> Option<String> {
        for file in files.iter().filter(|file| self.covers(&file.path)) {
            if !self.on_disk(file).await {
                return Some(file.path.clone());
            }
        }
        None
    }

    async fn all_on_disk(&self, files: &[&FileText]) -> Vec<bool> {
        let mut same = Vec::with_capacity(files.len());
        for file in files {
            same.push(!self.config.needs_saved || self.on_disk(file).await);
        }
        same
    }

    fn location(&self, finding: &Finding, file: &FileText, index: &LineIndex) -> Location {
        let columns = self.config.columns;
        let ascii = |place: &FindingPlace| file.text[index.line_range(&file.text, place.line as usize)].is_ascii();
        let line_only = |place: FindingPlace| FindingPlace { column: None, ..place };
        let doubtful = columns == Columns::Ascii && !finding.start.iter().chain(&finding.end).all(ascii);
        if doubtful {
            let whole = Finding { start: finding.start.map(line_only), end: None, ..finding.clone() };
            return whole.location(&file.path, &file.text, index, columns.into());
        }
        finding.location(&file.path, &file.text, index, columns.into())
    }

    fn diagnostic(&self, finding: &Finding, location: Location) -> Diagnostic {
        Diagnostic {
            source: self.source.clone(),
            severity: self.config.severity_of(finding.code.as_deref(), finding.severity.as_deref()),
            code: finding.code.as_deref().map(model::name),
            message: model::message(&finding.message),
            location,
            confidence: self.config.confidence,
            suggested_action: finding.suggestion.as_deref().map(suggestion),
            evidence: Some(self.config.command.first().cloned().unwrap_or_default()),
        }
    }

    /// True if a finding is about a file. In a run for one file, a finding without a place is about that file.
    fn is_about(&self, finding: &Finding, path: &str) -> bool {
        let by_file = self.config.asks_by_file();
        match finding.file.as_deref() {
            None => by_file,
            Some(name) if by_file && !self.config.needs_saved && STDIN.contains(&name) => true,
            Some(_) => finding.file_in(&self.root).as_deref() == Some(path),
        }
    }

    /// Why an answer is not about a file: the command has not read it.
    fn unread(&self, output: &CommandOutput, path: &str) -> Option<String> {
        let has_read = |units: Vec<&String>| {
            let inside = units.into_iter().filter_map(|unit| Path::new(unit).strip_prefix(&self.root).ok()?.to_str());
            cargo_units::has_read(&self.root, inside, path)
        };
        let units: Vec<&String> = output.only_read.iter().flatten().collect();
        let is_read = match &output.files_read {
            // A part with an error leaves no list behind.
            Some(files) => {
                let is_artifact = |unit: &&String| output.artifacts.iter().any(|known| known.source == **unit);
                files.contains(path) || has_read(units.iter().copied().filter(|unit| !is_artifact(unit)).collect())
            }
            None => output.only_read.is_none() || has_read(units.clone()),
        };
        // A finding in a file shows that it was read, in whatever folder it lies.
        if is_read || output.findings.iter().any(|one| self.named(one).as_deref() == Some(path)) {
            return None;
        } else if output.only_read.is_none() || has_read(units) {
            return Some(NOT_A_PART.to_owned());
        }
        let at = output.findings.iter().filter(|one| one.severity.as_deref() == Some("error"));
        let at = at.filter_map(|one| self.named(one)).next().unwrap_or_else(|| "another part".to_owned());
        Some(NOT_REACHED.replace("{file}", &at))
    }

    /// The file of a finding: relative to the root, or absolute if it is outside.
    fn named(&self, finding: &Finding) -> Option<String> {
        let name = finding.file.as_deref().filter(|name| !name.is_empty())?;
        path::relative_or_absolute(&self.root, &self.root.join(name))
    }

    /// The run has read a file that nobody asked about.
    fn has_read(&self, output: &CommandOutput, path: &str) -> bool {
        match &output.only_read {
            Some(units) if files_outside_root::is_outside(path) => {
                cargo_units::has_read(&self.root, units.iter().map(String::as_str), path)
            }
            None if files_outside_root::is_outside(path) => true,
            _ => self.unread(output, path).is_none(),
        }
    }

    /// Findings of one file as diagnostics.
    fn located<'f>(&self, findings: impl IntoIterator<Item = &'f Finding>, file: &FileText) -> Vec<Diagnostic> {
        let index = LineIndex::new(&file.text);
        let located = findings.into_iter().map(|one| self.diagnostic(one, self.location(one, file, &index)));
        one_of_targets::each_once(located)
    }

    /// Reports on the files that nobody asked about and of which a run over the project says something else than the run
    /// before.
    async fn unasked(&self, output: &CommandOutput, asked: &[&FileText], began: SystemTime) -> Vec<Report> {
        let mut found: BTreeMap<String, BTreeSet<Finding>> = BTreeMap::new();
        for finding in &output.findings {
            if let Some(path) = self.named(finding).filter(|path| self.covers(path)) {
                found.entry(path).or_default().insert(finding.clone());
            }
        }
        let has_read = |path: &str| self.has_read(output, path);
        let error = |one: &Finding| self.diagnostic(one, Location::File { file: self.named(one).unwrap_or_default() });
        let may_stop = |found: &BTreeSet<Finding>| found.iter().any(|one| stops(&error(one)));
        let mut changed = lock(&self.last).take(&self.root, began, found, has_read, may_stop);
        changed.retain(|file| asked.iter().all(|one| one.path != file.path));
        let more = changed.split_off(changed.len().min(unrequested_files::MOST));
        let mut reports = Vec::new();
        for file in changed {
            reports.extend(self.unasked_report(file).await);
        }
        reports.extend(more.first().map(|file| {
            let text = FileText { path: file.path.clone(), text: Arc::default() };
            self.report(&text, &Err((Freshness::Unavailable, unrequested_files::not_reported(more.len()))), true, 0)
        }));
        reports
    }

    async fn unasked_report(&self, file: ChangedFindings<BTreeSet<Finding>>) -> Option<Report> {
        if files_outside_root::is_outside(&file.path) {
            let [earlier, now] = [file.earlier.unwrap_or_default(), file.now].map(Vec::from_iter);
            return files_outside_root::report(&self.source, &file.path, &earlier, &now, |one| one.message.clone());
        }
        let text: Arc<str> = disk::text(&self.root.join(&file.path)).await?.into();
        let now = FileText { path: file.path, text: Arc::clone(&text) };
        let earlier = file.earlier.map(|earlier| self.located(&earlier, &now));
        let diagnostics = self.located(&file.now, &now);
        Some(Report {
            provider: self.source.clone(),
            file: now.path,
            diagnostics,
            freshness: Freshness::Exact,
            version: None,
            wanted_version: None,
            elapsed_ms: 0,
            note: None,
            unasked: Some(Unasked { text, earlier }),
        })
    }

    fn report(&self, file: &FileText, answer: &RunResult, saved: bool, elapsed_ms: u64) -> Report {
        let unread = answer.as_ref().ok().and_then(|output| self.unread(output, &file.path));
        let (freshness, diagnostics, note) = match answer {
            Err((freshness, why)) => (*freshness, Vec::new(), Some(why.clone())),
            Ok(_) if unread.is_some() => (Freshness::Unavailable, Vec::new(), unread),
            Ok(_) if !saved => (Freshness::Unavailable, Vec::new(), Some(UNSAVED.to_owned())),
            Ok(output) => {
                let about = output.findings.iter().filter(|finding| self.is_about(finding, &file.path));
                let located = self.located(about, file);
                let nowhere = output.findings.iter().filter(|finding| finding.file.is_none()).count();
                let left_out = nowhere > 0 && !self.config.asks_by_file();
                let note = left_out.then(|| format!("{nowhere} of its findings name no file and are left out"));
                (Freshness::Exact, located, note)
            }
        };
        Report {
            provider: self.source.clone(),
            file: file.path.clone(),
            diagnostics,
            freshness,
            version: None,
            wanted_version: None,
            elapsed_ms,
            note,
            unasked: None,
        }
    }
}

#[async_trait]
impl DiagnosticsProvider for CommandProvider {
    fn name(&self) -> &str {
        &self.source
    }

    fn languages(&self) -> &[String] {
        &self.config.languages
    }

    fn reach(&self) -> Reach {
        self.config.reach
    }

    async fn fetch(&self, files: &[FileText], deadline: Deadline) -> Vec<Report> {
        let covered: Vec<&FileText> = files.iter().filter(|file| self.covers(&file.path)).collect();
        if covered.is_empty() {
            return Vec::new();
        }
        let groups: Vec<Vec<&FileText>> = if self.config.asks_by_file() {
            covered.into_iter().map(|file| vec![file]).collect()
        } else {
            vec![covered]
        };
        // A command that reaches over the project reads all of it from the disk, which differs from an unsaved text.
        let whole = self.config.needs_saved && self.config.reach != Reach::File;
        let unsaved = if whole { self.first_unsaved(files).await } else { None };
        let mut reports = Vec::new();
        for group in groups {
            if let Some(other) = &unsaved {
                for file in group {
                    let why = OTHER_UNSAVED.replace("{file}", other);
                    let why = if file.path == *other { UNSAVED.to_owned() } else { why };
                    let answer = Err((Freshness::Unavailable, why));
                    reports.push(self.report(file, &answer, true, deadline.elapsed_ms()));
                }
                continue;
            }
            let (before, began) = (self.all_on_disk(&group).await, SystemTime::now());
            // None of its findings would fit a requested text.
            let answer = if before.contains(&true) {
                let one = if self.config.asks_by_file() { group.first().copied() } else { None };
                self.run(one, deadline).await
            } else {
                Ok(CommandOutput::default())
            };
            let after = self.all_on_disk(&group).await;
            let is_whole = self.config.reach != Reach::File && !self.config.asks_by_file();
            if let Ok(output) = &answer
                && is_whole
                && before.iter().chain(&after).all(|saved| *saved)
            {
                reports.extend(self.unasked(output, &group, began).await);
            }
            for ((file, before), after) in group.into_iter().zip(before).zip(after) {
                reports.push(self.report(file, &answer, before && after, deadline.elapsed_ms()));
            }
        }
        reports
    }
}
