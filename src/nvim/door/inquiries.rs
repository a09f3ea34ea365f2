//! Answers what the Lua layer asks beside any task, as for a completion: the symbols of files, the titles of what waits.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::door::{GivenRequest, NvimDoor, UsedWorkspace};
use crate::lua_messages::list;
use crate::nvim_wording;
use sextant_base::failure::Failure;
use sextant_engine::api::{AskedBefore, Command, Event};
use sextant_store::memory::examine_file;
use sextant_store::workspace::record_folder::Record;
use sextant_store::workspace::root::Root;

/// The receiver of the answers.
const ANSWERED: &str = "require('sextant.rpc.inquiry').answered(...)";
/// The receiver of the number of plans and tasks that wait.
const WAITING: &str = "require('sextant.status').know_waiting(...)";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InquiryParams {
    /// The number that the Lua layer gave it.
    id: u64,
    /// The files whose symbols are wanted.
    #[serde(deserialize_with = "list")]
    paths: Vec<String>,
    /// The letters that the wanted names begin with.
    lead: String,
}

impl NvimDoor {
    /// The symbols of files, by the paths as they were given. A file without any has none.
    pub(super) fn outlines(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, paths, .. } = given.own().unwrap_or_default();
        let (door, open) = (Arc::clone(self), self.asked_in(given));
        tokio::spawn(async move {
            let mut files = Map::new();
            for path in paths {
                let symbols = match &open {
                    Some(open) => open.session.file_symbols(&path).await.unwrap_or_default(),
                    None => Vec::new(),
                };
                files.insert(path, json!(symbols));
            }
            door.tell_lua(ANSWERED, json!({"id": id, "result": files})).await;
        });
    }

    /// The symbols of the workspace that begin with some letters.
    pub(super) fn names_starting(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, lead, .. } = given.own().unwrap_or_default();
        let (door, open) = (Arc::clone(self), self.asked_in(given));
        tokio::spawn(async move {
            let found = match &open {
                Some(open) => json!(open.session.names_starting(&lead).await),
                None => json!({"names": []}),
            };
            door.tell_lua(ANSWERED, json!({"id": id, "result": found})).await;
        });
    }

    /// The titles of the plans and tasks that wait, as `:AgentResume` takes them.
    pub(super) fn titles_waiting(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, .. } = given.own().unwrap_or_default();
        let (door, open) = (Arc::clone(self), self.asked_in(given));
        tokio::spawn(async move {
            let titles = match &open {
                Some(open) => open.session.waiting_titles().await,
                None => Vec::new(),
            };
            door.tell_lua(ANSWERED, json!({"id": id, "result": titles})).await;
        });
    }

    /// Everything here that an undo can take: the requests of tasks, newest first, and the symbols of the newest one.
    pub(super) fn standing(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, .. } = given.own().unwrap_or_default();
        let (door, open) = (Arc::clone(self), self.asked_in(given));
        tokio::spawn(async move {
            let (mut requests, mut symbols) = (Vec::new(), Vec::new());
            if let Some(open) = &open {
                requests = open.session.standing_requests().await;
                symbols = open.session.standing_symbols().await.unwrap_or_default();
            }
            door.tell_lua(ANSWERED, json!({"id": id, "result": {"requests": requests, "symbols": symbols}})).await;
        });
    }

    /// The request of an earlier task, which the Lua layer asks again.
    pub(super) fn asked_before(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, .. } = given.own().unwrap_or_default();
        let (door, open, task) = (Arc::clone(self), self.asked_in(given), given.word("task").to_owned());
        tokio::spawn(async move {
            let known = match &open {
                Some(open) => open.session.asked_before(&task).await,
                None => Err(Failure::user("its workspace is not in use any more", "list the tasks again")),
            };
            let result = match known {
                Ok(known) => json!({"text": known.request.text, "plans": known.plans}),
                Err(failure) => json!({"failure": nvim_wording::failure(&failure)}),
            };
            door.tell_lua(ANSWERED, json!({"id": id, "result": result})).await;
        });
    }

    /// Asks the request of an earlier task again.
    pub(super) fn ask_again(self: &Arc<Self>, given: &GivenRequest) {
        let Some(open) = self.asked_in(given) else {
            return self.refuse(Failure::user("its workspace is not in use any more", "list the tasks again"));
        };
        let (door, task) = (Arc::clone(self), given.word("task").to_owned());
        tokio::spawn(async move {
            match open.session.asked_before(&task).await {
                Ok(AskedBefore { request, plans: true }) => door.submit(&open, Command::Plan(request)),
                Ok(AskedBefore { request, plans: false }) => door.submit(&open, Command::Ask(request)),
                Err(failure) => open.session.emit(Event::refused(failure)),
            }
        });
    }

    /// The fault of the memory file of Neovim's folder, for `:checkhealth`. A sound file and a missing one have no fault.
    /// Nothing is changed by the look: no session is opened, which would set a damaged file aside.
    pub(super) fn memory_fault(self: &Arc<Self>, given: &GivenRequest) {
        let InquiryParams { id, .. } = given.own().unwrap_or_default();
        let door = Arc::clone(self);
        tokio::spawn(async move {
            let file = door.memory_file();
            let look = tokio::task::spawn_blocking(move || {
                file.and_then(|file| Some((examine_file::sound(&file).err()?, file)))
            });
            let fault = look.await.ok().flatten().map(|(error, file)| {
                json!({"file": file.display().to_string(), "why": error.to_string(), "is_damage": error.is_damage()})
            });
            door.tell_lua(ANSWERED, json!({"id": id, "result": {"fault": fault}})).await;
        });
    }

    /// The memory file of Neovim's folder, where there is one.
    fn memory_file(&self) -> Option<PathBuf> {
        let ready = self.ready.get().filter(|ready| ready.config.memory.enabled)?;
        let record = Record::of(self.state.as_ref()?, &Root::find(&ready.cwd).ok()?);
        record.exists().then(|| record.file())
    }

    /// Tells the Lua layer how many plans and tasks wait in a workspace.
    pub(super) async fn tell_waiting(&self, open: &UsedWorkspace) {
        let count = open.session.waiting_titles().await.len();
        self.tell_lua(WAITING, json!({"count": count})).await;
    }

    /// The workspace that a window names, else that of the current file.
    fn asked_in(&self, given: &GivenRequest) -> Option<Arc<UsedWorkspace>> {
        if given.root.is_some() { self.meant(given) } else { self.here_or_last(given).ok() }
    }

    async fn tell_lua(&self, receiver: &str, value: Value) {
        if let Some(channel) = self.channel()
            && let Err(error) = channel.tell(receiver, value.to_string()).await
        {
            tracing::warn!(%error, "an answer was not taken");
        }
    }
}
