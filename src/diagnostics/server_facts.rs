//! The known facts of single language servers and checkers, each fact measured: one row a tool, for every editor.
//!
//! Headless code asks [`knows`]; Neovim's Lua gets the rows in the handshake ([`handshake`]).

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::{self, Diagnostic, Severity};

/// The time that an answer is still awaited after its caller has gone, for a late report. A cold start of a type
/// checker on a large project takes some 20 s on a busy machine.
pub const LATE: Duration = Duration::from_secs(120);

/// The silence after a publish without proof, after which the publish counts as the server's last word. A guess: 9 of
/// 60 such answers of a real server were wrong, which is why it is never called fresh.
pub const QUIET: Duration = Duration::from_millis(250);

/// The pause before a pull that has to confirm an answer is sent.
pub const CONFIRM: Duration = Duration::from_millis(50);

/// The longest time that a server may still answer by settings that have changed.
pub(crate) const REREAD: Duration = Duration::from_secs(5);

/// The note for an unsaved text: this server declares to check saved files.
pub const SAVED_ONLY: &str = "it checks saved files only, and this one is not saved";

/// The same for a server that gets saves and has never reported on an unsaved text: its habits are unknown.
pub const PERHAPS_SAVED_ONLY: &str = "it may check saved files only, and this one is not saved";

/// The note for a check of the whole project while another of its texts, `{file}`, is not saved.
pub const OTHER_UNSAVED: &str = "it reads the project from the disk, and {file} is not saved";

/// The note for a file in a part of the project that a compiler has left out because of an error in `{file}`.
pub const NOT_REACHED: &str = "the compiler stopped at an error in {file} and has not read this file";

/// The note for the compiling half of a server with [`Fact::CompilesBeside`].
pub const NOT_COMPILED: &str = "cargo check has not run on this text";

/// The codes for what is unused or unreachable, and for a `switch` or a `return` in doubt. It is the list of vtsls and
/// of VS Code, which has not every such code: 6198, 6199 and 6205 stay errors.
pub const STYLE_CODES: [u64; 8] = [6133, 6138, 6192, 6196, 7027, 7028, 7029, 7030];

/// The setting of a server with [`Fact::StyleAsWarnings`], for JavaScript too. It is on if it is not given.
pub const STYLE_SETTING: &str = "typescript.reportStyleChecksAsWarnings";

/// rustc's errors of texts that end inside of a string, a character or a comment. Its other errors of a text that it
/// cannot parse have no code.
pub const UNENDED_CODES: [&str; 6] = ["E0748", "E0758", "E0762", "E0763", "E0765", "E0766"];

/// The end of the name of a server's compiler, which is a source of its own: `lsp:rust-analyzer/check`.
pub const COMPILER: &str = "/check";

/// A source is of a server if it has the server's own diagnostics, or those of its compiler.
pub fn is_of_server(source: &str, server: &str) -> bool {
    source.strip_suffix(COMPILER).unwrap_or(source) == server
}

/// A fact that is true of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fact {
    /// Its pulled diagnostics were compared with its pushed ones and found whole, advertised or not.
    AnswersPulls,
    /// It publishes a version once and whole: only then does the version of a publish prove anything.
    PublishesOnce,
    /// It never looks at another file than the one that it reports on.
    OneFile,
    /// Edits of another file concern it only if that is a header.
    OnlyHeaders,
    /// Its pull has answered from the text before, without an error (pyrefly 1.4.1: about 1 in 200).
    AnswersEarly,
    /// It answers a pull with `unchanged` after it has published the list, and publishes no list that stays equal
    /// (lua-language-server 3.19 with `--preview`).
    PublishesAtPull,
    /// Its answer to a pull is of the whole buffer: ranges are ignored, and no save changes it.
    PullOfBuffer,
    /// It publishes a version twice where `#` lines changed, first with the old preamble.
    Preamble,
    /// A read request makes it look at once instead of waiting for more typing.
    WokenByRequest,
    /// Its reports before it has loaded are partial, and it reports the end of loading (`experimental/serverStatus`).
    TellsWhenLoaded,
    /// It compiles after a save, and its answers to a pull leave the compiler's reports out.
    CompilesBeside,
    /// It answers with an empty list if it cannot check at all, and reports that elsewhere.
    HidesTrouble,
    /// It holds documents and has no reports on them.
    NoChecker,
    /// It takes a change of a whole text as one of as many lines as the new text has, and keeps the rest of the old.
    ChangesByRange,
    /// It publishes tsserver's errors with one of [`STYLE_CODES`] as warnings, unless [`STYLE_SETTING`] is off.
    StyleAsWarnings,
    /// One run of it reads a whole package, whichever files are asked about.
    WholePackage,
    /// It answers about the whole project from what it has read so far: it reports the indexing as progress, and
    /// publishes each open text once it has read it.
    AnswersWhileIndexing,
    /// It looks at a text when that is opened or changed and at no other time, and reads the files that the text sources
    /// from the disk (bash-language-server 5.8).
    LooksOnce,
    /// While it loads a project, which it reports as progress, it answers from the open texts alone (vtsls 0.3). It
    /// begins with the first text, and publishes nothing about a text without errors.
    AnswersWhileLoading,
}

use Fact::{
    AnswersEarly, AnswersPulls, AnswersWhileIndexing, AnswersWhileLoading, ChangesByRange, CompilesBeside,
    HidesTrouble, LooksOnce, NoChecker, OneFile, OnlyHeaders, Preamble, PublishesAtPull, PublishesOnce, PullOfBuffer,
    StyleAsWarnings, TellsWhenLoaded, WholePackage, WokenByRequest,
};

/// One tool.
#[derive(Clone, Copy, Debug, Serialize)]
struct ToolFacts {
    /// In lower case: the editors' name for it, and its own. `*name*` is every name with this in it.
    names: &'static [&'static str],
    /// Tools of one engine have one opinion, reported twice. Empty: an engine of its own.
    #[serde(skip)]
    engine: &'static str,
    facts: &'static [Fact],
    /// The names of files that it reads again some time after they have changed. Until then it answers by the old ones,
    /// and then it publishes, or asks for a refresh.
    settings: &'static [&'static str],
    #[serde(skip)]
    fatal: Option<FatalErrors>,
}

/// The errors behind which a tool does not know what the rest of the file means.
#[derive(Clone, Copy, Debug)]
struct FatalErrors {
    codes: &'static [&'static str],
    /// The way out, for a reader.
    way_out: &'static str,
}

const fn row(names: &'static [&'static str], engine: &'static str, facts: &'static [Fact]) -> ToolFacts {
    ToolFacts { names, engine, facts, settings: &[], fatal: None }
}

impl ToolFacts {
    const fn with_settings(self, settings: &'static [&'static str]) -> Self {
        Self { settings, ..self }
    }

    const fn with_fatal(self, codes: &'static [&'static str], way_out: &'static str) -> Self {
        Self { fatal: Some(FatalErrors { codes, way_out }), ..self }
    }
}

/// clang's fatal errors about a text or a module that it cannot read. clangd reports some of the rest all the same, and
/// nothing in the code that needs the missing names (clangd 21).
const CLANG_FATAL: &[&str] = &[
    "pp_file_not_found",
    "pp_error_opening_file",
    "cannot_open_file",
    "file_too_large",
    "module_not_found",
    "module_not_built",
    "module_build_failed",
];
const CLANG_WAY_OUT: &str = "compile_commands.json has to name its include path";

/// pyright waits 250 ms before it reads them, and longer on a busy machine (basedpyright 1.40).
const PYRIGHT_SETTINGS: &[&str] = &["pyrightconfig.json", "pyproject.toml"];

const RUST: &str = "rust";

const TOOLS: &[ToolFacts] = &[
    row(&["pyright"], "pyright", &[AnswersPulls, PublishesOnce]).with_settings(PYRIGHT_SETTINGS),
    row(&["basedpyright"], "pyright", &[AnswersPulls, PublishesOnce]).with_settings(PYRIGHT_SETTINGS),
    row(&["pylance"], "pyright", &[]),
    row(&["ruff"], "ruff", &[AnswersPulls, PublishesOnce, OneFile, PullOfBuffer]),
    row(&["ruff-lsp"], "ruff", &[OneFile]),
    row(&["ty"], "", &[AnswersPulls, PublishesOnce, PullOfBuffer]),
    row(&["pyrefly"], "", &[AnswersPulls, AnswersEarly]),
    row(&["pylsp"], "", &[PublishesOnce, OneFile]),
    row(&["jedi_language_server", "jedi-language-server"], "", &[PublishesOnce, OneFile]),
    row(&["mypy", "dmypy", "pylsp-mypy"], "mypy", &[]),
    row(&["clangd"], "", &[PublishesOnce, Preamble, WokenByRequest, OnlyHeaders, AnswersWhileIndexing])
        .with_fatal(CLANG_FATAL, CLANG_WAY_OUT),
    row(&["bashls", "bash-language-server"], "", &[PublishesOnce, LooksOnce]),
    row(&["lua_ls", "lua-language-server", "sumneko.lua"], "", &[PublishesAtPull]),
    row(&["rust-analyzer", "rust_analyzer"], RUST, &[TellsWhenLoaded, CompilesBeside]),
    // Its compiler, a source of its own.
    row(&["rust-analyzer/check", "rust_analyzer/check", "cargo", "rustc", "clippy"], RUST, &[WholePackage]),
    row(&["vtsls"], "tsserver", &[ChangesByRange, StyleAsWarnings, AnswersWhileLoading]),
    row(&["tsserver", "typescript-language-server", "ts_ls"], "tsserver", &[]),
    row(&["tsc"], "tsserver", &[WholePackage]),
    row(&["*eslint*"], "", &[HidesTrouble]),
    row(&["copilot", "github copilot", "copilot_ls"], "", &[NoChecker]),
    // Sextant's own look at the syntax.
    row(&["syntax"], "", &[OneFile]),
];

fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
        Some(part) => name.contains(part),
        None => pattern == name,
    }
}

fn of(name: &str) -> Option<&'static ToolFacts> {
    let name = name.to_lowercase();
    TOOLS.iter().find(|tool| tool.names.iter().any(|known| is_named(known, &name)))
}

/// True if there is a row of the tool of this name.
pub(crate) fn is_known(name: &str) -> bool {
    of(name).is_some()
}

/// True if the fact is known of the tool of this name.
pub fn knows(name: &str, fact: Fact) -> bool {
    of(name).is_some_and(|tool| tool.facts.contains(&fact))
}

/// True if the tool answers by an old text of this file for a while.
pub(crate) fn rereads(name: &str, path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    of(name).is_some_and(|tool| tool.settings.contains(&file))
}

/// The way out of an error behind which its tool does not know what the rest of the file means; `None` for any other.
pub(crate) fn way_out_of_fatal(d: &Diagnostic) -> Option<&'static str> {
    let name = d.source.split_once(':').map_or(d.source.as_str(), |(_, name)| name);
    let code = d.code.as_deref().filter(|_| d.severity == Severity::Error)?;
    // A user may give a server any name.
    let any = if d.source.starts_with("lsp:") { TOOLS } else { &[] };
    let own = of(name).map_or(any, std::slice::from_ref);
    own.iter().filter_map(|tool| tool.fatal).find(|fatal| fatal.codes.contains(&code)).map(|fatal| fatal.way_out)
}

/// True if two tools share an engine.
pub(crate) fn same_engine(a: &str, b: &str) -> bool {
    let engine = |name| of(name).map(|tool| tool.engine).filter(|engine| !engine.is_empty());
    a.eq_ignore_ascii_case(b) || engine(a).is_some_and(|shared| engine(b) == Some(shared))
}

/// True if the source speaks with the words of the Rust compiler.
pub(crate) fn is_of_rust(source: &str) -> bool {
    let name = source.split_once(':').map_or(source, |(_, name)| name);
    of(name).is_some_and(|tool| tool.engine == RUST)
}

/// The facts and the constants that go with them, as an editor's own layer gets them.
pub fn handshake() -> Value {
    let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "tools": TOOLS,
        "late_ms": ms(LATE),
        "quiet_ms": ms(QUIET),
        "confirm_ms": ms(CONFIRM),
        "reread_ms": ms(REREAD),
        // One more than is kept, which shows that there were more.
        "most": model::MOST + 1,
        "message": model::MESSAGE + 1,
        "unended_codes": UNENDED_CODES,
        "style": {"codes": STYLE_CODES, "setting": STYLE_SETTING},
        "notes": {
            "saved_only": SAVED_ONLY,
            "perhaps_saved_only": PERHAPS_SAVED_ONLY,
            "not_compiled": NOT_COMPILED,
            "other_unsaved": OTHER_UNSAVED,
            "not_reached": NOT_REACHED,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_any_of_its_names_in_any_case_and_stands_in_one_row() {
        assert!(knows("Ruff", Fact::OneFile) && knows("jedi-language-server", Fact::PublishesOnce));
        assert!(knows("vscode-eslint-language-server", Fact::HidesTrouble), "a name with it inside");
        assert!(!knows("ruffian", Fact::OneFile) && !knows("", Fact::OneFile));
        assert!(knows("rust_analyzer/check", Fact::WholePackage) && is_of_rust("lsp:rust_analyzer/check"));
        assert!(
            is_of_server("lsp:x/check", "lsp:x") && is_of_server("lsp:x", "lsp:x") && !is_of_server("lsp:y", "lsp:x")
        );
        let names: Vec<&str> = TOOLS.iter().flat_map(|tool| tool.names.iter().copied()).collect();
        for (at, name) in names.iter().enumerate() {
            let plain = name.trim_matches('*');
            assert_eq!(name.to_lowercase(), **name);
            let others = names.iter().enumerate().filter(|(other, _)| *other != at);
            assert_eq!(others.filter(|(_, other)| is_named(other, plain)).count(), 0, "{name} is in two rows");
        }
    }

    #[test]
    fn a_fatal_error_is_known_by_its_code_where_the_server_has_a_name_of_the_users() {
        let of = |source: &str, code: &str| {
            let location = model::Location::File { file: "a.cpp".into() };
            let (code, severity) = (Some(code.to_owned()), Severity::Error);
            let found = Diagnostic {
                source: source.into(),
                severity,
                code,
                message: "not found".into(),
                location,
                confidence: model::Confidence::High,
                suggested_action: None,
                evidence: None,
            };
            way_out_of_fatal(&found).is_some()
        };
        assert!(of("lsp:clangd", "pp_file_not_found") && of("lsp:my-cpp", "pp_file_not_found"));
        assert!(!of("lsp:vtsls", "pp_file_not_found") && !of("lsp:my-cpp", "undeclared_var_use"));
    }

    #[test]
    fn an_editor_is_given_every_row() {
        let given = handshake();
        let clangd = given["tools"].as_array().unwrap().iter().find(|tool| tool["names"][0] == "clangd").unwrap();
        let facts = ["publishes_once", "preamble", "woken_by_request", "only_headers", "answers_while_indexing"];
        assert_eq!(clangd["facts"], json!(facts));
        assert!(
            given["tools"].to_string().contains("mypy"),
            "a known one without a fact is not judged by its progress"
        );
        assert_eq!((&given["late_ms"], &given["most"]), (&json!(120_000), &json!(2_001)));
    }
}
