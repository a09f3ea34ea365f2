//! Reads and judges the criteria that must hold after a step: a small grammar, judged by the known facts.

use std::fmt;

use serde::{Deserialize, Serialize};

use sextant_base::plural::counted;
use sextant_text::symbols::symbol_path::SymbolPath;

/// The grammar, as an error shows it to the author of another text.
pub(crate) const GRAMMAR: &str =
    "`no new diagnostics`, `no errors`, `CODE gone`, `symbol PATH exists`, `symbol PATH gone`, `command NAME passes`";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Criterion {
    /// The step leaves no error in the changed part of its symbols, and no new one anywhere. A step that only looks
    /// must leave none in all of its symbols.
    NoErrors,
    /// No diagnostic with this code is reported there.
    CodeGone(String),
    SymbolExists(SymbolPath),
    SymbolGone(SymbolPath),
    /// The step introduced nothing, from the severity floor up.
    NoNewDiagnostics,
    /// The provider of this name reports nothing. Where there is no such provider, the command of these words is run
    /// and ends with status 0.
    CommandPasses(String),
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoErrors => f.write_str("no errors"),
            Self::CodeGone(code) => write!(f, "{code} gone"),
            Self::SymbolExists(path) => write!(f, "symbol {path} exists"),
            Self::SymbolGone(path) => write!(f, "symbol {path} gone"),
            Self::NoNewDiagnostics => f.write_str("no new diagnostics"),
            Self::CommandPasses(name) => write!(f, "command {name} passes"),
        }
    }
}

impl From<Criterion> for String {
    fn from(criterion: Criterion) -> Self {
        criterion.to_string()
    }
}

impl TryFrom<String> for Criterion {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse(&text)
    }
}

/// Reads one criterion. The error names the grammar.
pub(crate) fn parse(text: &str) -> Result<Criterion, String> {
    let words: Vec<&str> = text.split_whitespace().map(|word| word.trim_matches('`')).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["no", "errors"] => Ok(Criterion::NoErrors),
        ["no", "new", "diagnostics"] => Ok(Criterion::NoNewDiagnostics),
        ["symbol", path, "exists"] => Ok(Criterion::SymbolExists(SymbolPath::parse(path))),
        ["symbol", path, "gone"] => Ok(Criterion::SymbolGone(SymbolPath::parse(path))),
        ["command", command @ .., "passes"] if !command.is_empty() => Ok(Criterion::CommandPasses(command.join(" "))),
        [code, "gone"] => Ok(Criterion::CodeGone((*code).to_owned())),
        _ => Err(format!("{:?} is not a check; a check is one of {GRAMMAR}", text.trim())),
    }
}

/// Most diagnostics that are named where there should be none.
const NAMED: usize = 10;

fn named(lines: &[&str]) -> String {
    lines[..lines.len().min(NAMED)].join("; ")
}

/// One diagnostic of a step's symbols.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedThere {
    pub code: String,
    pub is_error: bool,
    /// True if it stands in code that the step has changed.
    pub is_touched: bool,
    /// The report as a model and a user read it.
    pub line: String,
}

/// The facts after a step, for its criteria.
#[derive(Clone, Debug, Default)]
pub struct CheckFacts {
    /// True if any provider has reported on the step's files as they are now.
    pub spoken: bool,
    /// The reports in the step's symbols.
    pub reported: Vec<ReportedThere>,
    /// The new errors, wherever they are, a line each.
    pub new_errors: Vec<String>,
    /// The step's new diagnostics from the severity floor up, a line each.
    pub new: Vec<String>,
    /// True if that list is complete: every provider has reported on the texts before the step and after it.
    pub compared: bool,
    /// Full paths of the asked symbols that exist.
    pub present: Vec<SymbolPath>,
    /// The result of each command that is asked about, by its words.
    pub commands: Vec<(String, CheckResult)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckResult {
    Met,
    Unmet(String),
    /// No report decides it; half met.
    Unknown(String),
}

impl Criterion {
    pub fn judge(&self, known: &CheckFacts) -> CheckResult {
        let unmet_if = |wrong: bool, why: String| if wrong { CheckResult::Unmet(why) } else { CheckResult::Met };
        match self {
            Self::NoErrors | Self::CodeGone(_) | Self::NoNewDiagnostics if !known.spoken => {
                CheckResult::Unknown("nobody has reported on the step's files".to_owned())
            }
            Self::NoNewDiagnostics if known.new.is_empty() && !known.compared => {
                CheckResult::Unknown("not everybody has reported on the step's files".to_owned())
            }
            Self::NoErrors => {
                let there = known.reported.iter().filter(|one| one.is_error && one.is_touched);
                let mut errors: Vec<&str> = there.map(|one| one.line.as_str()).collect();
                let others = known.new_errors.iter().map(String::as_str).filter(|line| !errors.contains(line));
                errors.extend(others.collect::<Vec<_>>());
                unmet_if(!errors.is_empty(), format!("{}: {}", counted(errors.len(), "error"), named(&errors)))
            }
            Self::CodeGone(code) => {
                let left = known.reported.iter().any(|one| one.code == *code);
                unmet_if(left, format!("{code} is still reported"))
            }
            Self::NoNewDiagnostics => {
                let new: Vec<&str> = known.new.iter().map(String::as_str).collect();
                unmet_if(!new.is_empty(), format!("{} new: {}", new.len(), named(&new)))
            }
            Self::SymbolExists(path) => unmet_if(!known.present.contains(path), format!("{path} is not there")),
            Self::SymbolGone(path) => unmet_if(known.present.contains(path), format!("{path} is still there")),
            Self::CommandPasses(name) => match known.commands.iter().find(|(known, _)| known == name) {
                Some((_, finding)) => finding.clone(),
                None => CheckResult::Unknown(format!("{name} has not spoken")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_read_as_it_is_written() {
        for text in [
            "no errors",
            "reportReturnType gone",
            "symbol a.py::Cart::total exists",
            "symbol a.py::old gone",
            "no new diagnostics",
            "command pytest passes",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
            assert!(GRAMMAR.split('`').any(|form| form.split(' ').count() == text.split(' ').count()), "{text}");
        }
        assert_eq!(parse("command pytest -q  tests passes").unwrap().to_string(), "command pytest -q tests passes");
        assert_eq!(parse(" symbol `a.py::f`  exists ").unwrap().to_string(), "symbol a.py::f exists");
        for text in ["", "it works", "no warnings", "symbol a.py", "gone", "command passes"] {
            assert!(parse(text).unwrap_err().contains("command NAME passes"), "{text}");
        }
    }

    #[test]
    fn each_is_judged_by_what_is_known_and_silence_is_not_met() {
        let path = || SymbolPath::parse("a.py::f");
        let known = CheckFacts {
            spoken: true,
            reported: vec![
                ReportedThere {
                    code: "E1".into(),
                    is_error: true,
                    is_touched: true,
                    line: "error a.py::f:1 E1 wrong".into(),
                },
                ReportedThere {
                    code: "E3".into(),
                    is_error: true,
                    is_touched: false,
                    line: "error a.py::g:9 E3 old".into(),
                },
                ReportedThere { code: "W1".into(), ..ReportedThere::default() },
            ],
            new_errors: vec!["error a.py::f:1 E1 wrong".into(), "error b.py::h:2 E4 broken".into()],
            new: vec!["a.py::f:1 W1 unused".into()],
            compared: true,
            present: vec![path()],
            commands: vec![
                ("pytest".into(), CheckResult::Met),
                ("mypy".into(), CheckResult::Unmet("it reports 2".into())),
            ],
        };
        let judged = |text: &str| parse(text).unwrap().judge(&known);
        for text in ["E2 gone", "symbol a.py::f exists", "symbol a.py::g gone", "command pytest passes"] {
            assert_eq!(judged(text), CheckResult::Met, "{text}");
        }
        let unmet = ["no errors", "W1 gone", "no new diagnostics", "symbol a.py::f gone", "symbol b.py::f exists"];
        for text in unmet.into_iter().chain(["command mypy passes"]) {
            assert!(matches!(judged(text), CheckResult::Unmet(_)), "{text}: {:?}", judged(text));
        }
        assert_eq!(
            judged("no errors"),
            CheckResult::Unmet("2 errors: error a.py::f:1 E1 wrong; error b.py::h:2 E4 broken".into()),
            "an old one that the step has not touched is none of its"
        );
        assert!(matches!(judged("command cargo passes"), CheckResult::Unknown(_)));
        let none = |compared| CheckFacts { spoken: true, compared, ..CheckFacts::default() };
        assert_eq!(Criterion::NoNewDiagnostics.judge(&none(true)), CheckResult::Met);
        assert!(matches!(Criterion::NoNewDiagnostics.judge(&none(false)), CheckResult::Unknown(_)));
        assert!(matches!(Criterion::NoErrors.judge(&CheckFacts::default()), CheckResult::Unknown(_)));
    }
}
