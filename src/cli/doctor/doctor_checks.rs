//! Makes the doctor's checks, each after those it depends on.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;
use url::Url;

use crate::cli::doctor::{CheckedThing, Health, programs};
use crate::cli::headless_run::Where;
use crate::cli::settings::{ServerFolders, Settings, UserFiles, WorkOptions, session_folders, state_folder};
use crate::cli::{choose_session, models};
use sextant_base::failure::Failure;
use sextant_base::plural::counted;
use sextant_base::private_files;
use sextant_model::endpoint::{self, RemoteConfig};
use sextant_serve::discovery::{self, find_sessions};
use sextant_store::memory::examine_file;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

/// The time limit for a model's server to take a connection.
const CONNECT: Duration = Duration::from_secs(3);

/// Makes all checks.
///
/// # Errors
/// There is no folder to check.
pub(super) async fn all(
    place: &Where,
    servers: &ServerFolders,
    files: &UserFiles,
) -> Result<Vec<CheckedThing>, Failure> {
    let (_, root) = place.find()?;
    let mut found = vec![CheckedThing::ok("version", format!("sextant {}", env!("CARGO_PKG_VERSION")))];
    found.push(CheckedThing::ok("workspace", root.path().display().to_string()));
    let settings = WorkOptions::without_model(servers.clone(), None).settings(files, root.path());
    match &settings {
        Ok(_) => found.push(CheckedThing::ok("config", "it can be used")),
        Err(failure) => found.push(CheckedThing::failed("config", failure)),
    }
    found.push(state());
    found.push(memory(&root));
    found.extend(sessions(root.path()).await);
    found.extend(programs::all(&root, settings.as_ref().ok()).await);
    if let Ok(Settings { model, .. }) = &settings {
        found.push(self::model(model).await);
    }
    Ok(found)
}

fn state() -> CheckedThing {
    const NAME: &str = "state";
    let Some(folder) = state_folder() else {
        let hint = "without it nothing is remembered, and nothing can be undone after a restart: set XDG_STATE_HOME";
        return CheckedThing::of(NAME, Health::Error, "there is no folder for what is remembered", hint);
    };
    let shown = folder.display();
    if folder.symlink_metadata().is_err() {
        let parent = folder.ancestors().skip(1).find(|above| above.exists()).unwrap_or(Path::new("/"));
        let writable = rustix::fs::access(parent, rustix::fs::Access::WRITE_OK).is_ok();
        return if writable {
            CheckedThing::ok(NAME, format!("{shown}, made by the first task"))
        } else {
            let hint = format!("{} cannot be written to: make the folder, or set XDG_STATE_HOME", parent.display());
            CheckedThing::of(NAME, Health::Error, format!("{shown} cannot be made"), hint)
        };
    }
    match private_files::folder(&folder) {
        Ok(()) => CheckedThing::ok(NAME, shown.to_string()),
        Err(error) => {
            let hint = "it has to be a folder of yours and no link; what is remembered is kept in it";
            CheckedThing::of(NAME, Health::Error, format!("{shown}: {error}"), hint)
        }
    }
}

fn memory(root: &Root) -> CheckedThing {
    const NAME: &str = "memory";
    let record = state_folder().map(|state| Record::of(&state, root)).filter(Record::exists);
    let Some(record) = record else { return CheckedThing::ok(NAME, "nothing is remembered of this workspace yet") };
    let file = record.file();
    let size = file.metadata().map_or(0, |about| about.len()).div_ceil(1024);
    match examine_file::sound(&file) {
        Ok(()) => match examine_file::set_aside(&file).last() {
            None => CheckedThing::ok(NAME, format!("{}, {size} KiB, sound", file.display())),
            Some(aside) => {
                let hint = "undo knows nothing of what is in it: put it back under its old name for the version of \
                            Sextant that made it, or remove it";
                let text = format!("{}, {size} KiB, sound; {} was set aside", file.display(), aside.display());
                CheckedThing::of(NAME, Health::Warning, text, hint)
            }
        },
        Err(error) if error.is_damage() => {
            let hint = "the next task sets it aside as it is and starts again; nothing of the project is lost";
            CheckedThing::of(NAME, Health::Error, format!("{}: {error}", file.display()), hint)
        }
        Err(error) => {
            let hint = "another process may hold it; look again when it is over";
            CheckedThing::of(NAME, Health::Warning, format!("{}: {error}", file.display()), hint)
        }
    }
}

/// The folder of sessions, and its entries. The look removes the leftovers of dead processes.
pub(super) async fn sessions(root: &Path) -> Vec<CheckedThing> {
    let folders = session_folders();
    let mut things = vec![runtime(&folders)];
    let found = find_sessions::everywhere(&folders);
    // The sessions that a command would join.
    let here = choose_session::around(root).await.entries;
    let names: Vec<&str> = here.iter().map(|entry| entry.name.as_str()).collect();
    let of_here =
        if names.is_empty() { "none of this workspace".to_owned() } else { format!("here: {}", names.join(", ")) };
    things.push(CheckedThing::ok("sessions", format!("{}, {of_here}", counted(found.entries.len(), "session"))));
    let hint = "remove it where no process of yours made it, or restart the older of two versions";
    things.extend(found.problems.iter().map(|why| CheckedThing::of("sessions", Health::Warning, why.clone(), hint)));
    things
}

/// The first folder that a session could really be made in.
fn runtime(folders: &[PathBuf]) -> CheckedThing {
    const NAME: &str = "runtime";
    let mut why = Vec::new();
    for folder in folders {
        match discovery::could_hold(folder) {
            Ok(()) => return CheckedThing::ok(NAME, folder.display().to_string()),
            Err(error) => why.push(format!("{}: {error}", folder.display())),
        }
    }
    let hint = "set XDG_RUNTIME_DIR to a folder of yours with a short path; without it no program can join another";
    let text = format!("there is no folder for sessions: {}", why.join("; "));
    CheckedThing::of(NAME, Health::Error, text, hint)
}

async fn model(given: &Value) -> CheckedThing {
    const NAME: &str = "model";
    let made = match models::make(given) {
        Ok(made) => made,
        Err(failure) => return CheckedThing::failed(NAME, &failure),
    };
    let remote = serde_json::from_value::<RemoteConfig>(given.clone()).ok();
    let endpoint = remote.and_then(|config| endpoint::resolve(&config, &|name| std::env::var(name).ok()).ok());
    let Some(endpoint) = endpoint else {
        return CheckedThing::ok(NAME, format!("{}: it fixes what is reported, without a language model", made.name()));
    };
    let (name, shown) = (made.name().to_owned(), endpoint.shown);
    let proxied = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"];
    if !endpoint.local && proxied.iter().any(|name| std::env::var_os(name).is_some()) {
        return CheckedThing::of(NAME, Health::Note, format!("{name} at {shown}, by a proxy, which was not tried"), "");
    }
    match reach(&endpoint.base_url).await {
        Ok(()) => CheckedThing::ok(NAME, format!("{name} at {shown} takes connections")),
        Err(why) => {
            let hint = "start the server, or correct base_url; `--model offline` works without one";
            CheckedThing::of(NAME, Health::Error, format!("{name} at {shown} cannot be reached: {why}"), hint)
        }
    }
}

/// Succeeds if a server takes a connection at an address; nothing is sent.
async fn reach(url: &str) -> Result<(), String> {
    let url = Url::parse(url).map_err(|error| error.to_string())?;
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err("it has no host".to_owned());
    };
    let host = match host {
        url::Host::Domain(name) => name.to_owned(),
        url::Host::Ipv4(address) => address.to_string(),
        url::Host::Ipv6(address) => address.to_string(),
    };
    match tokio::time::timeout(CONNECT, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer within {} s", CONNECT.as_secs())),
    }
}
