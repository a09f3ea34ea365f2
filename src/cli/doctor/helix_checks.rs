//! Checks the needs of a user of Helix: Helix, its two files as `sextant setup helix` writes them, the servers behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use toml_edit::DocumentMut;

use crate::cli::doctor::programs::{self, version};
use crate::cli::doctor::{CheckedThing, Health, doctor_checks};
use crate::cli::headless_run::Where;
use crate::cli::settings::session_folders;
use crate::cli::setup::config_files;
use crate::cli::setup::found::{self, KeysInSetup, LanguageInSetup, ProxiedInSetup};
use crate::cli::setup::{self, helix_config::PREFIX, helix_languages, key_names, key_places, unserved};
use sextant_base::failure::Failure;
use sextant_diagnostics::program;
use sextant_diagnostics::server::server_config::ServerConfig;
use sextant_serve::discovery::find_sessions;
use sextant_store::workspace::open_beneath;

/// The oldest Helix that the proxy works with.
const OLDEST: (u32, u32, u32) = (25, 7, 1);

/// The largest file of a workspace that is looked into.
const LARGEST: u64 = 1 << 20;

const SETUP: &str = "`sextant setup helix` writes it, after it has shown what";

/// # Errors
/// There is no folder to check.
pub(super) async fn all(place: &Where) -> Result<Vec<CheckedThing>, Failure> {
    let (_, root) = place.find()?;
    let root = root.path();
    let places = program::places(root, &[], std::env::var_os("PATH").as_deref());
    let mut found = vec![CheckedThing::ok("version", format!("sextant {}", env!("CARGO_PKG_VERSION")))];
    found.push(CheckedThing::ok("workspace", root.display().to_string()));
    found.push(editor(&places).await);
    match setup::paths() {
        Err(failure) => found.push(CheckedThing::failed("languages", &failure)),
        Ok([languages, config]) => {
            match document(languages, "languages", Health::Error) {
                Ok(document) => found.extend(written(&document, &places, root).await),
                Err(thing) => found.push(thing),
            }
            found.extend(of_workspace(root, &places));
            // The keys are for comfort; the servers are the way in.
            match document(config, "config", Health::Note) {
                Ok(config) => found.extend(keys(&config)),
                Err(thing) => found.push(thing),
            }
        }
    }
    found.extend(doctor_checks::sessions(root).await);
    found.push(engine(root));
    Ok(found)
}

async fn editor(places: &[PathBuf]) -> CheckedThing {
    const NAME: &str = "helix";
    let wanted = "install Helix 25.07.1 or newer; its program is `hx`, or `helix` on some systems";
    let Some(hx) = ["hx", "helix"].iter().find_map(|name| program::find(places, name)) else {
        return CheckedThing::of(NAME, Health::Error, "neither hx nor helix is on PATH", wanted);
    };
    let answer = version(&hx).await.unwrap_or_default();
    let text = format!("{answer} ({})", hx.display());
    match release(&answer) {
        None => CheckedThing::of(NAME, Health::Warning, format!("{} reports no version", hx.display()), wanted),
        Some(release) if release < OLDEST => CheckedThing::of(NAME, Health::Warning, text, wanted),
        Some(_) => CheckedThing::ok(NAME, text),
    }
}

/// `helix 25.07.1 (0123abcd)`; a release without a third number is its first.
fn release(answer: &str) -> Option<(u32, u32, u32)> {
    let from = answer.find(|c: char| c.is_ascii_digit())?;
    let word = answer[from..].split(|c: char| c != '.' && !c.is_ascii_digit()).next()?;
    let mut parts = word.split('.').map(str::parse::<u32>);
    let (year, month) = (parts.next()?.ok()?, parts.next()?.ok()?);
    Some((year, month, parts.next().and_then(Result::ok).unwrap_or(0)))
}

/// A file of the user's, or its fault. A file that is not there is not set up.
fn document(path: PathBuf, name: &'static str, missing: Health) -> Result<DocumentMut, CheckedThing> {
    let shown = path.display().to_string();
    match config_files::read(path) {
        Ok((file, document)) if file.before.is_some() => Ok(document),
        Ok(_) => Err(CheckedThing::of(name, missing, format!("there is no {shown}: Helix is not set up"), SETUP)),
        Err(failure) => Err(CheckedThing::failed(name, &failure)),
    }
}

/// The languages that go through the proxy, and whether it and the server behind it start.
async fn written(document: &DocumentMut, places: &[PathBuf], root: &Path) -> Vec<CheckedThing> {
    let own = setup::program(places);
    let broken = setup::shim_without_server(places).await;
    let installed = |name: &str| program::find(places, name).is_some_and(|file| broken.as_ref() != Some(&file));
    let proxied = found::proxied(document, &own);
    if proxied.is_empty() {
        let text = "no language server goes through Sextant: Helix is not set up";
        return vec![CheckedThing::of("languages", Health::Error, text, SETUP)];
    }
    let languages = found::languages(document, &own, installed);
    let mut things = Vec::new();
    if !languages.iter().any(|language| language.name == "markdown") {
        let text = "markdown has no list: in the plan and the conversation there are no commands";
        things.push(CheckedThing::of("language", Health::Warning, text, SETUP));
    }
    things.extend(languages.iter().map(language));
    things.extend(unknown(document, places, &languages).await);
    let of = found::known_for(setup::SHIM);
    let is_listed = languages.iter().any(|language| of.contains(&language.name.as_str()));
    if let Some(file) = broken.filter(|_| !is_listed && unserved::has_rust(root)) {
        let text = format!("{}: {} does not start", of.join(", "), file.display());
        things.push(CheckedThing::of("language", Health::Warning, text, setup::INSTALLS));
    }
    things.extend(proxied.iter().filter_map(|server| unlisted(server, &languages)));
    let programs: BTreeSet<&str> = proxied.iter().map(|server| server.program.as_str()).collect();
    things.extend(programs.into_iter().map(|program| started(places, "sextant", program)));
    let inner = proxied.iter().filter(|server| !server.inner.is_empty()).map(|server| {
        let mut config =
            ServerConfig { name: server.name.clone(), command: server.inner.clone(), ..ServerConfig::default() };
        config.look_up(places);
        programs::answered(config)
    });
    things.extend(join_all(inner).await);
    things
}

/// The languages that Helix does not know. It refuses the whole file for one.
async fn unknown(document: &DocumentMut, places: &[PathBuf], languages: &[LanguageInSetup]) -> Vec<CheckedThing> {
    let mut things = Vec::new();
    for name in languages.iter().filter(|language| language.listed).map(|language| &language.name) {
        if !helix_languages::is_known(places, document, name).await {
            let text = format!("Helix knows no language {name}, and refuses all of languages.toml for it");
            let hint = "take its [[language]] out, or correct its name; `hx --health languages` lists them";
            things.push(CheckedThing::of("language", Health::Error, text, hint));
        }
    }
    things
}

/// One language: the servers behind Sextant, the others, and whether one of them has the commands.
fn language(language: &LanguageInSetup) -> CheckedThing {
    const NAME: &str = "language";
    let LanguageInSetup { name, proxied, direct, listed } = language;
    let through: Vec<&str> = proxied.iter().map(|server| server.name.as_str()).collect();
    let direct = direct.join(", ");
    if proxied.is_empty() {
        let text = if *listed {
            format!("{name}: its language-servers ({direct}) lack Sextant")
        } else {
            format!("{name}: {direct} starts without Sextant")
        };
        return CheckedThing::of(NAME, Health::Warning, text, SETUP);
    }
    let mut text = format!("{name}: {} through Sextant", through.join(", "));
    if !direct.is_empty() {
        text.push_str(&format!(", {direct} beside it"));
    }
    let loud: Vec<&str> = proxied.iter().filter(|server| !server.quiet).map(|server| server.name.as_str()).collect();
    match &loud[..] {
        [] => CheckedThing::of(
            NAME,
            Health::Warning,
            format!("{text}, all of them with --quiet: there are no commands"),
            "take --quiet out of the args of the first one",
        ),
        [_] => CheckedThing::ok(NAME, text),
        _ => CheckedThing::of(
            NAME,
            Health::Warning,
            format!("{text}; Helix refuses commands that several servers have ({})", loud.join(", ")),
            "put \"--quiet\" behind \"lsp\" in the args of all but the first",
        ),
    }
}

/// A server that no language has.
fn unlisted(server: &ProxiedInSetup, languages: &[LanguageInSetup]) -> Option<CheckedThing> {
    let name = &server.name;
    let has = |language: &LanguageInSetup| language.proxied.iter().any(|one| one.name == *name);
    if languages.iter().any(has) {
        return None;
    }
    let of = found::known_for(name);
    let lists: Vec<&str> = of.into_iter().filter(|of| languages.iter().any(|l| l.listed && l.name == *of)).collect();
    let text = match &lists[..] {
        [] => format!("{name} goes through Sextant, and no language-servers of yours name it"),
        lists => format!("the language-servers of {} lack {name}, which goes through Sextant", lists.join(", ")),
    };
    Some(CheckedThing::of("language", Health::Warning, text, "add it to the language-servers of its [[language]]"))
}

fn started(places: &[PathBuf], name: &str, program: &str) -> CheckedThing {
    const NAME: &str = "proxy";
    match found::program(places, program) {
        Some(file) => CheckedThing::ok(NAME, format!("{name} ({})", file.display())),
        None => {
            let hint = "install it, put its folder on PATH (folders inside of the project are passed over), or correct \
                        it in languages.toml";
            CheckedThing::of(NAME, Health::Error, format!("{name}: {program} is not found"), hint)
        }
    }
}

/// A note on the workspace's own lists: they replace the user's if the workspace is trusted.
fn of_workspace(root: &Path, places: &[PathBuf]) -> Option<CheckedThing> {
    let text = open_beneath::text(root, ".helix/languages.toml", LARGEST)?;
    let document: DocumentMut = text.parse().ok()?;
    let lists = found::languages(&document, &setup::program(places), |_| false);
    let names: Vec<&str> = lists.iter().filter(|list| list.listed).map(|list| list.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        let text =
            format!("the workspace's .helix/languages.toml has its own language-servers of {}", names.join(", "));
        let hint = "where Helix trusts the workspace they go before yours: name the servers of your list there too";
        CheckedThing::of("language", Health::Note, text, hint)
    })
}

fn keys(config: &DocumentMut) -> Vec<CheckedThing> {
    let by_hand = format!("`sextant setup helix {}` puts the agent on other keys", key_places::free_option(config));
    let unread = |prefix: &str| prefix.split_whitespace().find(|key| !key_names::is_key(key)).map(str::to_owned);
    let mut things = vec![match found::keys(config) {
        KeysInSetup::Ours(prefix) => match unread(&prefix) {
            Some(key) => {
                let text = format!("{prefix}: {key} is no key of Helix, which refuses all of config.toml for it");
                CheckedThing::of("keys", Health::Error, text, format!("take these lines out; {by_hand}"))
            }
            None => CheckedThing::ok("keys", prefix),
        },
        KeysInSetup::Users => CheckedThing::of("keys", Health::Note, format!("{PREFIX} is a key of your own"), by_hand),
        KeysInSetup::Nobodys => CheckedThing::of("keys", Health::Note, "the agent is on no key", SETUP),
    }];
    if !found::shows_progress(config) {
        let hint = "set editor.lsp.display-progress-messages = true";
        things.push(CheckedThing::of("progress", Health::Note, "Helix does not show what a task does", hint));
    }
    things
}

fn engine(root: &Path) -> CheckedThing {
    let found = find_sessions::of_root(&session_folders(), root);
    match found.entries.iter().find(|entry| entry.door == "lsp") {
        Some(entry) => CheckedThing::ok("engine", format!("{} (process {})", entry.name, entry.pid)),
        None => CheckedThing::ok("engine", "none runs for this workspace; the first file that Helix opens starts it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(things: &[CheckedThing]) -> Vec<(Health, &str)> {
        things.iter().map(|thing| (thing.state, thing.text.as_str())).collect()
    }

    #[test]
    fn a_release_is_three_numbers() {
        assert_eq!(release("helix 25.07.1 (079a789e)"), Some((25, 7, 1)));
        assert_eq!(release("helix 25.01"), Some((25, 1, 0)));
        assert!(release("helix 25.07 (x)").is_some_and(|release| release < OLDEST));
        assert!(release("helix 26.01").is_some_and(|release| release > OLDEST));
        assert_eq!(release("none"), None);
    }

    #[tokio::test]
    async fn each_language_says_what_goes_through_and_what_is_amiss() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["sextant", "ruff", "gopls"] {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let text = r#"
            [[language]]
            name = "python"
            language-servers = ["ruff", "own", { name = "ty", only-features = ["hover"] }]
            [[language]]
            name = "rust"
            language-servers = ["rust-analyzer"]
            [[language]]
            name = "lua"
            language-servers = ["a", "b"]
            [[language]]
            name = "c"
            language-servers = ["q"]
            [language-server]
            ruff = { command = "sextant", args = ["lsp", "--", "ruff", "server"] }
            a = { command = "/opt/sextant", args = ["lsp", "--", "gone-ls"] }
            b = { command = "sextant", args = ["lsp", "--", "ruff"] }
            q = { command = "sextant", args = ["lsp", "--quiet", "--", "ruff"] }
            basedpyright = { command = "sextant", args = ["lsp", "--quiet", "--", "ruff"] }
            taplo = { command = "taplo", args = ["lsp", "stdio"] }
        "#;
        let things = written(&text.parse().unwrap(), &[dir.path().to_owned()], dir.path()).await;
        let all = findings(&things);
        for (health, part) in [
            (Health::Warning, "markdown has no list"),
            (Health::Ok, "python: ruff through Sextant, own, ty beside it"),
            (Health::Warning, "rust: its language-servers (rust-analyzer) lack Sextant"),
            (Health::Warning, "lua: a, b through Sextant; Helix refuses commands that several servers have (a, b)"),
            (Health::Warning, "c: q through Sextant, all of them with --quiet"),
            (Health::Warning, "go: gopls starts without Sextant"),
            (Health::Warning, "the language-servers of python lack basedpyright"),
            (Health::Error, "sextant: /opt/sextant is not found"),
            (Health::Error, "a: gone-ls is not found"),
            (Health::Error, "q ("),
        ] {
            let there = all.iter().any(|(state, text)| *state == health && text.starts_with(part));
            assert!(there, "{part}: {all:#?}");
        }
        assert!(!all.iter().any(|(_, text)| text.contains("taplo")), "its lsp is its own: {all:#?}");
        let none = written(&"theme = 1".parse().unwrap(), &[], dir.path()).await;
        assert_eq!(findings(&none).len(), 1);
        assert_eq!(none[0].state, Health::Error);
    }
}
