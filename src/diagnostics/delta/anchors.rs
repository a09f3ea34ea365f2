//! The anchor of a diagnostic in the code: the tokens at its start and end, the first token of its line.

use std::collections::HashMap;

use crate::delta::index_pairs::Matching;
use crate::delta::same_message;
use crate::delta::side::{NONE, Side, hash_of};
use crate::model::{Diagnostic, Location};
use sextant_base::positions::{Encoding, Range};

/// A place in the after snapshot that a diagnostic of either side points to. [`NOWHERE`] when its code is gone.
pub(super) type AnchorPlace = u64;
pub(super) const NOWHERE: AnchorPlace = u64::MAX;
/// Set on places that are positions in an unchanged text.
const POSITION: u64 = 1 << 63;

/// The text of a message, ever more loosely: as it is, after renames, without numbers, its template.
pub(super) type Texts = [u32; 4];

#[derive(Clone, Debug)]
pub(super) struct Anchored {
    /// Source and code.
    pub kind: u32,
    pub texts: Texts,
    /// The after-file, or a hash that stands for it.
    pub file: u64,
    pub start: AnchorPlace,
    pub end: AnchorPlace,
    pub line: AnchorPlace,
    /// Bytes from the start token's first byte to the range's start.
    pub offset: u32,
    /// No range, an empty range at 0:0, or one behind the last token.
    pub file_level: bool,
    /// Starts in the middle of a token or before one.
    pub line_shaped: bool,
    /// First and last own token (indices of its own side); [`NONE`] for an unchanged text.
    pub span: (u32, u32),
}

/// Numbers for messages and for source and code, shared by both sides.
#[derive(Default)]
pub(super) struct MessageIds {
    ids: HashMap<String, u32>,
    kinds: HashMap<(String, String), u32>,
}

impl MessageIds {
    fn id(&mut self, text: String) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(text).or_insert(next)
    }

    fn kind(&mut self, d: &Diagnostic) -> u32 {
        let next = self.kinds.len() as u32;
        *self.kinds.entry((d.source.clone(), d.code.clone().unwrap_or_default())).or_insert(next)
    }
}

/// One side of the change, as its diagnostics are anchored to it.
pub(super) struct Ground<'s, 'a> {
    pub side: &'s Side<'a>,
    /// Index into the side's files by path.
    pub files: HashMap<&'s str, usize>,
    /// Own file to after-file.
    pub partner: Vec<u32>,
    /// For the before side: the new places of its tokens. The tokens of the after side stay in place.
    pub tokens: Option<&'s Matching>,
}

impl Ground<'_, '_> {
    fn place(&self, token: u32) -> AnchorPlace {
        let after = self.tokens.map_or(token, |tokens| tokens.after(token));
        if after == NONE { NOWHERE } else { u64::from(after) }
    }

    /// A file outside of the change stands for itself.
    fn file(&self, location: &Location) -> (u64, Option<usize>) {
        let Some(path) = location.file() else {
            return (hash_of(&matches!(location, Location::Project)) | POSITION, None);
        };
        match self.files.get(path) {
            Some(index) if self.partner[*index] != NONE => (u64::from(self.partner[*index]), Some(*index)),
            Some(index) => (NOWHERE - 1, Some(*index)),
            None => (hash_of(&path) | POSITION, None),
        }
    }

    fn anchor(&self, d: &Diagnostic, kind: u32, texts: Texts) -> Anchored {
        let (file, index) = self.file(&d.location);
        let mut out = Anchored {
            kind,
            texts,
            file,
            start: NOWHERE,
            end: NOWHERE,
            line: NOWHERE,
            offset: 0,
            file_level: true,
            line_shaped: false,
            span: (NONE, NONE),
        };
        let Some(range) = d.location.range() else { return out };
        let at_top = range == Range::default();
        match index {
            None => {
                let position = |place: &dyn std::fmt::Debug| hash_of(&(file, format!("{place:?}"))) | POSITION;
                out.start = position(&range.start);
                out.end = position(&range.end);
                out.line = position(&range.start.line);
                out.file_level = at_top;
            }
            Some(index) => self.anchor_in(index, range, at_top, &mut out),
        }
        out
    }

    fn anchor_in(&self, index: usize, range: Range, at_top: bool, out: &mut Anchored) {
        let file = &self.side.files[index];
        let bytes = file.lines.byte_range(file.text, range, Encoding::Utf16);
        let tokens = &self.side.tokens[file.tokens.clone()];
        let first = tokens.partition_point(|t| t.end as usize <= bytes.start);
        let Some(token) = tokens.get(first).filter(|_| !at_top) else { return };
        out.file_level = false;
        let last = tokens.partition_point(|t| (t.start as usize) < bytes.end).saturating_sub(1);
        let last = if bytes.is_empty() { first } else { last };
        let base = file.tokens.start as u32;
        out.span = (base + first as u32, base + last as u32);
        out.start = self.place(out.span.0);
        out.end = self.place(out.span.1);
        out.offset = (token.start as usize).abs_diff(bytes.start) as u32;
        out.line_shaped = token.start as usize != bytes.start;
        let line_start = file.lines.line_start(range.start.line as usize);
        let in_line = tokens.partition_point(|t| t.end as usize <= line_start);
        out.line = self.place(base + in_line as u32);
    }
}

/// Anchors every diagnostic of one side; `renames` is given for the before side.
pub(super) fn anchor(
    ground: &Ground<'_, '_>,
    diagnostics: &[Diagnostic],
    renames: &HashMap<&str, &str>,
    words: &mut MessageIds,
) -> Vec<Anchored> {
    let mut seen: HashMap<&str, Texts> = HashMap::new();
    let texts = |words: &mut MessageIds, text: &str| {
        let renamed = same_message::renamed(text, renames);
        // Every degree is a namespace of its own: a masked text must not meet an unmasked one.
        [
            words.id(format!("0{text}")),
            words.id(format!("1{renamed}")),
            words.id(format!("2{}", same_message::without_numbers(&renamed))),
            words.id(format!("3{}", same_message::template(&renamed))),
        ]
    };
    diagnostics
        .iter()
        .map(|d| {
            let texts = *seen.entry(d.message.as_str()).or_insert_with(|| texts(words, &d.message));
            let kind = words.kind(d);
            ground.anchor(d, kind, texts)
        })
        .collect()
}
