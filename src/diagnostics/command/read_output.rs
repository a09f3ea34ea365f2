//! Reads the output of a command: JSON by pointers, SARIF, or lines by patterns.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use crate::command::command_config::{CommandFormat, HelpParts, Mapping, Spans, Units};
use crate::command::files_read::Artifact;
use crate::finding::{Finding, FindingPlace};
use crate::sarif;
use sextant_base::plural::counted;

/// The groups that a pattern may have.
const GROUPS: &[&str] = &["file", "line", "column", "end_line", "end_column", "severity", "code", "message"];

/// The findings in an output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandOutput {
    pub findings: Vec<Finding>,
    /// Items or lines that look like findings and cannot be read.
    pub lost: usize,
    /// The first files of the parts of the project that were read, if others were left out.
    pub only_read: Option<Vec<String>>,
    pub artifacts: Vec<Artifact>,
    /// The files that were read, relative to the root, if the command says so.
    pub files_read: Option<BTreeSet<String>>,
}

/// A format, ready to read.
#[derive(Debug)]
pub enum Reader {
    Json(Box<Mapping>),
    Sarif,
    Regex(Vec<Regex>),
}

impl Reader {
    /// # Errors
    /// The error in a pattern.
    pub fn new(format: &CommandFormat) -> Result<Self, String> {
        Ok(match format {
            CommandFormat::Json(mapping) => Self::Json(mapping.clone()),
            CommandFormat::Sarif => Self::Sarif,
            CommandFormat::Regex(patterns) => {
                Self::Regex(patterns.iter().map(|one| pattern(one)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Numbers stay as the tool counts them, less `first_line` and `first_column`.
    ///
    /// # Errors
    /// The reason why the whole output cannot be used.
    pub fn read(&self, text: &str, first_line: u32, first_column: u32) -> Result<CommandOutput, String> {
        let first = (first_line, first_column);
        match self {
            Self::Sarif => sarif::read_sarif::read(text).map(|(findings, lost)| CommandOutput {
                findings,
                lost,
                ..CommandOutput::default()
            }),
            Self::Json(mapping) if mapping.lines => lines(mapping, text, first),
            Self::Json(mapping) => {
                let document = serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
                let mut out = CommandOutput::default();
                document_items(mapping, &document, first, &mut out);
                Ok(out)
            }
            Self::Regex(patterns) => Ok(by_pattern(patterns, text, first)),
        }
    }
}

fn pattern(text: &str) -> Result<Regex, String> {
    let regex = Regex::new(text).map_err(|error| format!("a pattern cannot be read: {error}"))?;
    match regex.capture_names().flatten().find(|name| !GROUPS.contains(name)) {
        Some(name) => Err(format!("the pattern's group {name} means nothing; there are {}", GROUPS.join(", "))),
        None => Ok(regex),
    }
}

/// Tools print banners between their JSON lines. But a broken JSON line makes the whole output doubtful.
fn lines(mapping: &Mapping, text: &str, first: (u32, u32)) -> Result<CommandOutput, String> {
    let mut out = CommandOutput::default();
    let (mut read, mut other) = (0, 0);
    let (mut units, mut all) = (Vec::new(), true);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match serde_json::from_str::<Value>(line) {
            Ok(document) if document.is_object() || document.is_array() => {
                read += 1;
                if let Some(known) = &mapping.units {
                    let unit = document.pointer(&known.at).and_then(Value::as_str);
                    out.artifacts.extend(unit.and_then(|source| artifact(known, source, &document)));
                    units.extend(unit.map(str::to_owned));
                    all &= document.pointer(&known.all) != Some(&Value::Bool(false));
                }
                document_items(mapping, &document, first, &mut out);
            }
            Err(error) if line.starts_with(['{', '[']) => return Err(format!("a line is no JSON: {error}")),
            _ => other += 1,
        }
    }
    out.only_read = (!all).then_some(units);
    if read == 0 && other > 0 { Err(format!("there is no JSON in {}", counted(other, "line"))) } else { Ok(out) }
}

fn artifact(units: &Units, source: &str, document: &Value) -> Option<Artifact> {
    let files = document.pointer(units.artifacts.as_deref()?)?.as_array()?;
    let files = files.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Some(Artifact { source: source.to_owned(), files })
}

fn document_items(mapping: &Mapping, document: &Value, first: (u32, u32), out: &mut CommandOutput) {
    let Some(items) = document.pointer(&mapping.items) else {
        out.lost += 1;
        return;
    };
    let list = items.as_array().map_or(std::slice::from_ref(items), Vec::as_slice);
    for item in list {
        let wanted =
            mapping.only.as_ref().is_none_or(|only| item.pointer(&only.at).and_then(Value::as_str) == Some(&only.is));
        if !wanted {
            continue;
        }
        match json_finding(mapping, item, first) {
            Some(finding) => out.findings.push(finding),
            None => out.lost += 1,
        }
    }
}

fn json_finding(mapping: &Mapping, item: &Value, first: (u32, u32)) -> Option<Finding> {
    let message = item.pointer(&mapping.message)?.as_str()?.to_owned();
    let span = match &mapping.spans {
        None => item,
        Some(spans) => {
            let all = item.pointer(&spans.at).and_then(Value::as_array);
            let primary = |span: &&Value| span.pointer(&spans.primary) == Some(&Value::Bool(true));
            let span = all.and_then(|all| all.iter().find(primary)).unwrap_or(&Value::Null);
            used_at(span, spans, mapping.file.as_deref().unwrap_or_default())
        }
    };
    let word = |value: &Value, at: &Option<String>| match value.pointer(at.as_deref()?)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let number = |at: &Option<String>| word(span, at)?.parse::<u32>().ok();
    Some(Finding {
        file: word(span, &mapping.file),
        start: place(number(&mapping.line), number(&mapping.column), first),
        end: place(number(&mapping.end_line), number(&mapping.end_column), first),
        severity: word(item, &mapping.severity),
        code: word(item, &mapping.code),
        message,
        suggestion: word(item, &mapping.suggestion)
            .or_else(|| help(mapping.help.as_ref(), item, word(span, &mapping.label))),
        columns: None,
    })
}

/// The label of an item and the first of its parts that are help. They are no part of the message, by which diagnostics
/// are compared.
fn help(parts: Option<&HelpParts>, item: &Value, label: Option<String>) -> Option<String> {
    let first = parts.and_then(|parts| {
        let all = item.pointer(&parts.at)?.as_array()?;
        let is_help = |part: &&Value| part.pointer(&parts.level).and_then(Value::as_str) == Some(&parts.is);
        // The address of a lint's page helps nobody who cannot open it.
        let texts = all.iter().filter(is_help).filter_map(|part| part.pointer(&parts.message)?.as_str());
        texts.map(str::trim).find(|text| !text.contains("://")).map(str::to_owned)
    });
    let said: Vec<String> = label.into_iter().chain(first).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The place in the project that a place in a macro of another one comes from.
fn used_at<'a>(span: &'a Value, spans: &Spans, file: &str) -> &'a Value {
    let is_outside =
        |span: &Value| span.pointer(file).and_then(Value::as_str).is_some_and(|file| file.starts_with('/'));
    let use_of =
        |span: &&'a Value| spans.expansion.as_deref().and_then(|at| span.pointer(at)).filter(|at| at.is_object());
    let chain = std::iter::successors(Some(span), |span| use_of(span).filter(|_| is_outside(span)));
    chain.last().unwrap_or(span)
}

/// A number below the tool's own first one means an unknown place for some tools.
fn place(line: Option<u32>, column: Option<u32>, first: (u32, u32)) -> Option<FindingPlace> {
    let line = line?.checked_sub(first.0)?;
    Some(FindingPlace { line, column: column.and_then(|column| column.checked_sub(first.1)) })
}

fn by_pattern(patterns: &[Regex], text: &str, first: (u32, u32)) -> CommandOutput {
    let read = |line: &str| {
        let found = patterns.iter().find_map(|pattern| pattern.captures(line))?;
        let word =
            |name: &str| found.name(name).map(|found| found.as_str().trim().to_owned()).filter(|w| !w.is_empty());
        let number = |name: &str| word(name)?.parse::<u32>().ok();
        Some(Finding {
            file: word("file"),
            start: place(number("line"), number("column"), first),
            end: place(number("end_line"), number("end_column"), first),
            severity: word("severity"),
            code: word("code"),
            message: word("message").unwrap_or_else(|| line.trim().to_owned()),
            suggestion: None,
            columns: None,
        })
    };
    CommandOutput { findings: text.lines().filter_map(read).collect(), ..CommandOutput::default() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::command::command_config::builtin;

    fn read(name: &str, text: &str) -> Result<CommandOutput, String> {
        let config = builtin().unwrap().into_iter().find(|config| config.name == name).expect(name);
        Reader::new(&config.format).unwrap().read(text, config.first_line, config.first_column)
    }

    fn one(name: &str, text: &str) -> Finding {
        let mut out = read(name, text).unwrap();
        assert_eq!((out.findings.len(), out.lost), (1, 0), "{name}: {out:?}");
        out.findings.remove(0)
    }

    fn at(line: u32, column: u32) -> Option<FindingPlace> {
        Some(FindingPlace { line, column: Some(column) })
    }

    #[test]
    fn each_builtin_reads_what_its_tool_prints() {
        let ruff = one(
            "ruff",
            r#"[{"code":"F821","end_location":{"column":33,"row":4},"filename":"/w/a.py","location":{"column":26,"row":4},"message":"Undefined name `missing`","severity":"error"}]"#,
        );
        assert_eq!((ruff.start, ruff.end, ruff.code.as_deref()), (at(3, 25), at(3, 32), Some("F821")));
        let fixable = one(
            "ruff",
            r#"[{"code":"F401","filename":"/w/a.py","fix":{"applicability":"safe","edits":[],"message":"Remove unused import: `os`"},"location":{"column":8,"row":1},"message":"`os` imported but unused"}]"#,
        );
        assert_eq!((ruff.suggestion, fixable.suggestion.as_deref()), (None, Some("Remove unused import: `os`")));
        let mypy = one(
            "mypy",
            r#"{"file": "a.py", "line": 2, "column": 11, "end_line": 2, "end_column": 12, "message": "Incompatible", "hint": null, "code": "return-value", "severity": "error"}"#,
        );
        assert_eq!((mypy.start, mypy.end, mypy.severity.as_deref()), (at(1, 11), at(1, 12), Some("error")));
        let cargo = one(
            "cargo",
            concat!(
                r#"{"reason":"compiler-artifact","target":{}}"#,
                "\n",
                r#"{"reason":"compiler-message","message":{"message":"mismatched types","level":"error","code":{"code":"E0308"},"spans":[{"file_name":"b.rs","is_primary":false,"line_start":9,"column_start":1},{"file_name":"src/lib.rs","is_primary":true,"line_start":3,"line_end":3,"column_start":5,"column_end":8}]}}"#,
                "\n",
                r#"{"reason":"build-finished","success":false}"#,
            ),
        );
        assert_eq!((cargo.file.as_deref(), cargo.start, cargo.end), (Some("src/lib.rs"), at(2, 4), at(2, 7)));
        assert_eq!((cargo.code.as_deref(), cargo.severity.as_deref()), (Some("E0308"), Some("error")));
        let helped = one(
            "clippy",
            r#"{"reason":"compiler-message","message":{"message":"type annotations needed","level":"error","code":{"code":"E0282"},"spans":[{"file_name":"a.rs","is_primary":true,"line_start":1,"column_start":1,"label":"cannot infer type"}],"children":[{"level":"note","message":"a note"},{"level":"help","message":"visit https://rust-lang.github.io"},{"level":"help","message":"consider giving `x` an explicit type"}]}}"#,
        );
        assert_eq!(helped.message, "type annotations needed", "it is compared by its message");
        assert_eq!(helped.suggestion.as_deref(), Some("cannot infer type; consider giving `x` an explicit type"));
        assert_eq!(cargo.suggestion, None);
        let tsc = one(
            "tsc",
            "src/a (b).ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n  More on it.\n",
        );
        assert_eq!(
            (tsc.file.as_deref(), tsc.start, tsc.code.as_deref()),
            (Some("src/a (b).ts"), at(2, 4), Some("2322"))
        );
        let in_macro = one(
            "clippy",
            r#"{"reason":"compiler-message","message":{"message":"mismatched types","level":"error","code":null,"spans":[{"file_name":"/rustc/1/library/core/src/macros/mod.rs","is_primary":true,"line_start":608,"expansion":{"macro_decl_name":"write!","span":{"file_name":"/rustc/1/other.rs","line_start":1,"expansion":{"span":{"file_name":"src/lib.rs","line_start":3,"line_end":3,"column_start":5,"column_end":21,"expansion":null}}}}}]}}"#,
        );
        assert_eq!((in_macro.file.as_deref(), in_macro.start, in_macro.end), (Some("src/lib.rs"), at(2, 4), at(2, 20)));
        let pytest = one(
            "pytest",
            "F    [100%]\n=== FAILURES ===\n/w/test_a.py:3: AssertionError: assert 1 == 2\n1 failed in 0.01s\n",
        );
        assert_eq!(
            (pytest.file.as_deref(), pytest.start),
            (Some("/w/test_a.py"), Some(FindingPlace { line: 2, column: None }))
        );
        assert_eq!(pytest.message, "AssertionError: assert 1 == 2");
        let broken = one(
            "pytest",
            "test_b.py:1: in <module>\n    import x\nERROR test_b.py - NameError: name 'x' is not defined\n1 error in 0.05s\n",
        );
        assert_eq!((broken.file.as_deref(), broken.start), (Some("test_b.py"), None));
    }

    #[test]
    fn an_unknown_place_is_no_place() {
        let mypy = one(
            "mypy",
            r#"{"file": "a.py", "line": -1, "column": -1, "message": "m", "code": null, "severity": "error"}"#,
        );
        assert_eq!((mypy.start, mypy.code), (None, None));
        let rustc = one(
            "cargo",
            r#"{"reason":"compiler-message","message":{"message":"aborting","level":"error","code":null,"spans":[]}}"#,
        );
        assert_eq!((rustc.file, rustc.start), (None, None));
    }

    #[test]
    fn garbage_is_an_error_and_a_banner_is_not() {
        assert!(read("ruff", "error: no such option").unwrap_err().starts_with("no JSON"));
        assert!(read("mypy", "usage: mypy\nmypy: error").unwrap_err().contains("no JSON in 2 lines"));
        assert!(read("mypy", "{\"file\": ").is_err());
        assert_eq!(read("mypy", "").unwrap(), CommandOutput::default());
        assert_eq!(
            read("mypy", "Success\n{\"file\":\"a\",\"line\":1,\"column\":0,\"message\":\"m\"}").unwrap().findings.len(),
            1
        );
        assert_eq!(read("mypy", "{\"file\":\"a\"}").unwrap().lost, 1);
        assert!(Reader::new(&CommandFormat::Regex(vec!["(?P<where>x)".into()])).unwrap_err().contains("where"));
        assert!(Reader::new(&CommandFormat::Regex(vec!["(".into()])).is_err());
    }

    proptest! {
        #[test]
        fn no_output_whatever_is_worse_than_an_error(text in "[\\[\\]{}\":, a-z0-9\n.]{0,80}") {
            for config in builtin().unwrap() {
                let _ = Reader::new(&config.format).unwrap().read(&text, config.first_line, config.first_column);
            }
        }
    }
}
