//! Treats the files of a folder as documents: versions that move with the content, and text that is not written yet.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::file_format::{self, FileFormat};
use crate::overlay::OpenBuffers;
use crate::transaction::{self, FileOperation, Refused};
use sextant_diagnostics::model::FileText;
use sextant_engine::api::{Applied, Document, EditorError, FileEdit, SETTINGS, Save};
use sextant_store::workspace::open_beneath;
use sextant_store::workspace::outside_changes::OutsideChanges;
use sextant_store::workspace::root::Root;
use sextant_text::edits::line_ends;

/// The last known state of one file.
#[derive(Clone, Debug)]
struct LastKnownFile {
    /// The text on disk with its format; `None` if there was no file, or no text in it.
    saved: Option<(Arc<str>, FileFormat)>,
    /// Text that an edit left unwritten (`Save::Never`).
    buffer: Option<Arc<str>>,
    /// The text in the editor, if the file is open there.
    open: Option<Arc<str>>,
    version: i64,
}

/// An edit of a file that is open in an editor: its text there, as it is written to a file.
#[derive(Clone, Debug)]
pub(super) struct OpenEdit {
    pub(super) path: String,
    pub(super) before: String,
    pub(super) after: String,
}

/// A folder's files. All methods ask the disk and may block.
pub(super) struct Files {
    root: PathBuf,
    seen: HashMap<String, LastKnownFile>,
    buffers: Option<Arc<dyn OpenBuffers>>,
    outside: OutsideChanges,
}

/// One edit that has passed every check.
struct Planned {
    path: String,
    /// The operation on disk; `None` if the text stays in memory.
    change: Option<FileOperation>,
    /// The text afterwards if it stays in memory.
    buffer: Option<Arc<str>>,
}

impl Files {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, seen: HashMap::new(), buffers: None, outside: OutsideChanges::default() }
    }

    pub(super) fn set_buffers(&mut self, buffers: Arc<dyn OpenBuffers>) {
        self.buffers = Some(buffers);
    }

    /// The files of these that came, changed or went since the last call, with LSP's number of each change.
    pub(super) fn changed_outside(&mut self, is_meant: impl Fn(&str) -> bool) -> Vec<(String, u8)> {
        Root::new(&self.root).map(|root| self.outside.take(&root, &SETTINGS, is_meant)).unwrap_or_default()
    }

    pub(super) fn read(&mut self, path: &str) -> Result<Document, EditorError> {
        self.look(path).map(|(document, _, _)| document)
    }

    /// The format in which the file was last seen; `None` if it is not known, or an editor has the file open.
    pub(super) fn format(&self, path: &str) -> Option<FileFormat> {
        let seen = self.seen.get(path).filter(|seen| seen.open.is_none() && seen.buffer.is_none())?;
        seen.saved.as_ref().map(|(_, format)| *format)
    }

    /// Writes a text in a format, if the file has this text apart from its line ends and its mark.
    pub(super) fn restore(&mut self, path: &str, text: &str, format: FileFormat) -> Result<bool, EditorError> {
        let (document, _, seen) = self.look(path)?;
        let bytes = file_format::encode(text, format);
        let alike = line_ends::with_returns(&document.text, 0) == line_ends::with_returns(text, 0);
        if document.unsaved || bytes == seen || !alike {
            return Ok(false);
        }
        let change = FileOperation::Write { path: path.to_owned(), seen, bytes };
        let written = transaction::commit(&self.root, &[change]);
        written.map(|()| true).map_err(|refused| match refused {
            Refused::Moved(_) => EditorError::Stale(path.to_owned()),
            Refused::Failed(_, error) => EditorError::Other(format!("{path} cannot be written: {error}")),
        })
    }

    /// Files whose text is in no file on disk.
    pub(super) fn unsaved(&self) -> Vec<String> {
        self.seen.iter().filter(|(_, seen)| seen.buffer.is_some()).map(|(path, _)| path.clone()).collect()
    }

    /// The document with its format and the bytes on disk.
    fn look(&mut self, path: &str) -> Result<(Document, FileFormat, Vec<u8>), EditorError> {
        let found = match open_beneath::read(&self.root, path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(EditorError::Other(format!("{path} cannot be read: {error}"))),
        };
        let read_only = found.as_ref().is_some_and(|found| found.mode & 0o222 == 0);
        let exists = found.is_some();
        let bytes = found.map(|found| found.bytes).unwrap_or_default();
        let known = self.seen.get(path);
        let next = known.map_or(1, |seen| seen.version + 1);
        let saved = match known.and_then(|seen| seen.saved.as_ref()) {
            Some((text, format)) if exists && file_format::is_written(&bytes, text, *format) => {
                Some((Arc::clone(text), *format))
            }
            _ if exists => file_format::decode(&bytes),
            _ => None,
        };
        let open = self.buffers.as_ref().and_then(|buffers| buffers.text(path));
        let new = LastKnownFile { saved: None, buffer: None, open: None, version: next };
        let seen = self.seen.entry(path.to_owned()).or_insert(new);
        if open.is_some() || seen.open.is_some() {
            if seen.open != open {
                *seen = LastKnownFile { saved: None, buffer: None, open: open.clone(), version: next };
            }
            seen.saved.clone_from(&saved);
        }
        if let Some(open) = open {
            let (text, format) =
                file_format::decode(open.as_bytes()).ok_or_else(|| EditorError::NotText(path.to_owned()))?;
            let unsaved = !exists || *bytes != *open.as_bytes();
            let document =
                Document { path: path.to_owned(), text, version: seen.version, exists, unsaved, locked: None };
            return Ok((document, format, bytes));
        }
        if seen.saved != saved {
            if seen.buffer.is_some() {
                return Err(EditorError::Conflict(path.to_owned()));
            }
            *seen = LastKnownFile { saved: saved.clone(), buffer: None, open: None, version: next };
        }
        let buffer = seen.buffer.clone();
        if !exists && buffer.is_none() {
            return Err(EditorError::NotFound(path.to_owned()));
        }
        if exists && saved.is_none() {
            return Err(EditorError::NotText(path.to_owned()));
        }
        let (text, format) = saved.unwrap_or_default();
        let document = Document {
            path: path.to_owned(),
            unsaved: buffer.is_some(),
            text: buffer.unwrap_or(text),
            version: seen.version,
            exists,
            locked: read_only.then(|| "the file is read-only".to_owned()),
        };
        Ok((document, format, bytes))
    }

    /// Applies all edits or none.
    pub(super) fn apply(&mut self, edits: &[FileEdit], save: Save) -> Result<Vec<Applied>, EditorError> {
        let mut planned: Vec<Planned> = Vec::with_capacity(edits.len());
        for edit in edits {
            if planned.iter().any(|plan| plan.path == edit.path()) {
                return Err(EditorError::Other(format!("{} is edited twice in one go", edit.path())));
            }
            planned.push(self.plan(edit, save)?);
        }
        let changes: Vec<&FileOperation> = planned.iter().filter_map(|plan| plan.change.as_ref()).collect();
        transaction::commit(&self.root, &changes).map_err(|refused| self.refusal(&planned, &refused))?;
        planned.into_iter().map(|plan| self.finish(plan)).collect()
    }

    /// The result of an edit in a file that is open in an editor; `None` for a file that is not.
    pub(super) fn open_edit(&mut self, edit: &FileEdit) -> Result<Option<OpenEdit>, EditorError> {
        let path = edit.path().to_owned();
        let Some(open) = self.buffers.as_ref().and_then(|buffers| buffers.text(&path)) else { return Ok(None) };
        let (document, format, _) = self.look(&path)?;
        let (version, hunks) = match edit {
            FileEdit::Create { .. } => return Err(EditorError::Exists(path)),
            FileEdit::Delete { .. } => {
                let reason = "it is open in the editor; close its buffer first".to_owned();
                return Err(EditorError::Locked { path, reason });
            }
            FileEdit::Change { version, hunks, .. } => (version, hunks),
        };
        if document.version != *version {
            return Err(EditorError::Stale(path));
        }
        let text = file_format::splice(&document.text, hunks, format)
            .map_err(|problem| EditorError::Other(format!("{path}: {problem}")))?;
        let after = String::from_utf8_lossy(&file_format::encode(&text, format)).into_owned();
        Ok(Some(OpenEdit { path, before: open.to_string(), after }))
    }

    /// The document as an edit of an open file has made it. If the user has typed since, it is an older text with a
    /// version of its own: the edit must not take their words back.
    pub(super) fn edited(&mut self, path: &str, after: &str) -> Result<Document, EditorError> {
        let document = self.read(path)?;
        let (text, _) = file_format::decode(after.as_bytes()).ok_or_else(|| EditorError::NotText(path.to_owned()))?;
        if *document.text == *text {
            return Ok(document);
        }
        let version = document.version + 1;
        if let Some(seen) = self.seen.get_mut(path) {
            (seen.open, seen.version) = (Some(Arc::from(after)), version);
        }
        Ok(Document { text, version, ..document })
    }

    /// Refuses an edit that could not be made now; nothing is changed.
    pub(super) fn check(&mut self, edit: &FileEdit, save: Save) -> Result<(), EditorError> {
        self.plan(edit, save).map(|_| ())
    }

    /// The texts as the edits would leave them; nothing is changed.
    pub(super) fn preview(&mut self, edits: &[FileEdit]) -> Result<Vec<FileText>, EditorError> {
        let mut texts: Vec<FileText> = Vec::with_capacity(edits.len());
        for edit in edits {
            let FileEdit::Change { path, version, hunks } = edit else { continue };
            let (document, format, _) = self.look(path)?;
            if document.version != *version {
                return Err(EditorError::Stale(path.clone()));
            }
            let text = file_format::splice(&document.text, hunks, format)
                .map_err(|problem| EditorError::Other(format!("{path}: {problem}")))?;
            texts.push(FileText { path: path.clone(), text: text.into() });
        }
        Ok(texts)
    }

    fn plan(&mut self, edit: &FileEdit, save: Save) -> Result<Planned, EditorError> {
        let name = edit.path().to_owned();
        let path = name.clone();
        let (text, format, seen) = match edit {
            FileEdit::Create { text, .. } => {
                match self.look(&name) {
                    Err(EditorError::NotFound(_)) => {}
                    Err(error @ EditorError::Conflict(_)) => return Err(error),
                    _ => return Err(EditorError::Exists(name)),
                }
                let buffer = (save == Save::Never).then(|| text.as_str().into());
                let change = buffer.is_none().then(|| FileOperation::Create { path, bytes: text.clone().into_bytes() });
                return Ok(Planned { path: name, change, buffer });
            }
            FileEdit::Delete { version, .. } => {
                let (document, _, seen) = self.look(&name)?;
                if document.version != *version {
                    return Err(EditorError::Stale(name));
                }
                if let Some(reason) = document.locked {
                    return Err(EditorError::Locked { path: name, reason });
                }
                let change = document.exists.then_some(FileOperation::Delete { path, seen });
                return Ok(Planned { path: name, change, buffer: None });
            }
            FileEdit::Change { version, hunks, .. } => {
                let (document, format, seen) = self.look(&name)?;
                if document.version != *version {
                    return Err(EditorError::Stale(name));
                }
                if let Some(reason) = document.locked {
                    return Err(EditorError::Locked { path: name, reason });
                }
                let text = file_format::splice(&document.text, hunks, format)
                    .map_err(|problem| EditorError::Other(format!("{name}: {problem}")))?;
                drop(document.text);
                if document.unsaved || save == Save::Never {
                    return Ok(Planned { path: name, change: None, buffer: Some(text.into()) });
                }
                (text, format, seen)
            }
        };
        let change = FileOperation::Write { path, seen, bytes: file_format::encoded(text, format) };
        Ok(Planned { path: name, change: Some(change), buffer: None })
    }

    fn refusal(&self, planned: &[Planned], refused: &Refused) -> EditorError {
        let (index, error) = match refused {
            Refused::Moved(index) => (*index, None),
            Refused::Failed(index, error) => (*index, Some(error)),
        };
        let plan = planned.iter().filter(|plan| plan.change.is_some()).nth(index);
        let path = plan.map(|plan| plan.path.clone()).unwrap_or_default();
        match (error, plan.and_then(|plan| plan.change.as_ref())) {
            (Some(error), _) => EditorError::Other(format!("{path} cannot be written: {error}")),
            (None, Some(FileOperation::Create { .. })) => EditorError::Exists(path),
            (None, _) => EditorError::Stale(path),
        }
    }

    fn finish(&mut self, plan: Planned) -> Result<Applied, EditorError> {
        let Planned { path, change, buffer } = plan;
        let saved = change.is_some();
        // The texts of the change are as long as the file, which is read next.
        drop(change);
        let unsaved = buffer.is_some();
        if let Some(seen) = self.seen.get_mut(&path) {
            if unsaved || seen.buffer.is_some() {
                seen.version += 1;
            }
            seen.buffer = buffer;
        }
        let document = match self.read(&path) {
            Ok(document) => Some(document),
            Err(EditorError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        let note = unsaved.then(|| "kept in memory and not written".to_owned());
        Ok(Applied { document, path, saved, note })
    }
}
