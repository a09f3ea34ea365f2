//! The meaning of a request's words: symbols, files and codes.

use std::collections::BTreeSet;

use crate::state::task_scope::Scope;
use sextant_base::plural::counted;
use sextant_diagnostics::located::LocatedDiagnostic;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The fewest letters of a plain word that may be a symbol's name.
pub(crate) const SHORTEST: usize = 3;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Analysis {
    pub question: bool,
    pub symbols: Vec<SymbolPath>,
    pub files: Vec<String>,
    /// Names that stand for several symbols, each with all of them.
    pub ambiguous: Vec<(String, Vec<SymbolPath>)>,
    /// Each name of the request with all its meanings: symbols, files as a whole.
    pub meanings: Vec<Meaning>,
    /// Files that it names and that do not exist yet.
    pub new_files: Vec<String>,
    /// Codes of known diagnostics that the request quotes.
    pub codes: BTreeSet<String>,
    /// The number of known diagnostics that bear on it.
    pub bearing: usize,
}

/// The meaning of one name of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Meaning {
    pub name: String,
    /// True if its form marks it as a name.
    pub sure: bool,
    pub paths: Vec<SymbolPath>,
}

impl Meaning {
    /// The text for a model and a user; `None` where the name alone is clear.
    fn line(&self) -> Option<String> {
        let paths: Vec<String> = self.paths.iter().map(ToString::to_string).collect();
        match paths.as_slice() {
            [one] if *one == self.name => None,
            [one] => Some(format!("`{}` is {one}", self.name)),
            _ => Some(format!("`{}` may be {}", self.name, paths.join(" or "))),
        }
    }
}

impl Analysis {
    /// The meanings of the request's names, a line each; without those for which `is_seen` holds.
    pub(crate) fn lines(&self, is_seen: impl Fn(&SymbolPath) -> bool) -> Vec<String> {
        let is_news = |meaning: &&Meaning| !matches!(meaning.paths.as_slice(), [one] if is_seen(one));
        self.meanings.iter().filter(is_news).filter_map(Meaning::line).take(MOST_LINES).collect()
    }

    /// The named symbols that are not shown as part of the scope.
    pub(crate) fn named(&self, scope: &Scope) -> Vec<SymbolPath> {
        let shown = |symbol: &SymbolPath| *scope != Scope::Workspace && scope.holds(symbol);
        let files = self.files.iter().map(|file| SymbolPath::new(file, ""));
        self.symbols.iter().cloned().chain(files).filter(|symbol| !shown(symbol)).take(MOST_SOURCES).collect()
    }

    /// The files that a task reads: its scope, and what a question names beside it. A question widens no scope.
    pub(crate) fn read(&self, scope: &Scope) -> Scope {
        if self.question { scope.widened(&self.named(scope)) } else { scope.clone() }
    }

    /// True if a diagnostic is about a symbol or file that the request names.
    pub(crate) fn bears_on(&self, found: &LocatedDiagnostic) -> bool {
        let named = !self.symbols.is_empty() && Scope::Symbols(self.symbols.clone()).holds(&found.symbol);
        let quoted = found.diagnostic.code.as_ref().is_some_and(|code| self.codes.contains(code));
        named || quoted || self.files.contains(&found.symbol.file)
    }

    pub(crate) fn words(&self) -> String {
        let mut parts = vec![if self.question { "a question" } else { "a change" }.to_owned()];
        let named: Vec<String> =
            self.symbols.iter().map(ToString::to_string).chain(self.files.iter().cloned()).collect();
        if !named.is_empty() {
            parts.push(format!("it names {}", named.join(", ")));
        }
        for (name, all) in &self.ambiguous {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            parts.push(format!("{name} may be {}", all.join(" or ")));
        }
        if self.bearing > 0 {
            let bear = if self.bearing == 1 { "bears" } else { "bear" };
            parts.push(format!("{} {bear} on it", counted(self.bearing, "known diagnostic")));
        }
        parts.join("; ")
    }
}

/// A word of a request that may name something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// As a symbol path or a file path.
    pub(crate) name: String,
    /// True if its form marks it as a name: quoted, `a::b`, `a_b`, `f()`, `CamelCase`, a path.
    pub(crate) sure: bool,
}

impl Mention {
    /// A plain word of one or two letters counts as a word, whatever symbols exist.
    pub(crate) fn is_long_enough(&self) -> bool {
        self.sure || (self.name.chars().count() >= SHORTEST && !self.name.starts_with(|c: char| c.is_ascii_digit()))
    }
}

impl Analysis {
    pub(crate) fn take_files(&mut self, name: &str, files: &[String]) {
        let paths = files.iter().map(|file| SymbolPath::new(file, "")).collect();
        self.meanings.push(Meaning { name: name.to_owned(), sure: true, paths });
        if let [one] = files
            && !self.files.contains(one)
        {
            self.files.push(one.clone());
        }
    }

    pub(crate) fn take(&mut self, name: &str, sure: bool, found: Vec<SymbolPath>) {
        if !found.is_empty() {
            self.meanings.push(Meaning { name: name.to_owned(), sure, paths: found.clone() });
        }
        match found.as_slice() {
            [] => {}
            [one] if self.symbols.contains(one) => {}
            [one] => self.symbols.push(one.clone()),
            _ => self.ambiguous.push((name.to_owned(), found)),
        }
    }
}

/// The most names whose meaning a model gets.
const MOST_LINES: usize = 12;

/// Sources that are shown beside those in scope.
pub(crate) const MOST_SOURCES: usize = 4;
