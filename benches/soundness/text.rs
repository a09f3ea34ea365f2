//! Makes the file that is edited, a text of about 200 lines from a state, and the diagnostics expected in it.

use serde::{Deserialize, Serialize};

use crate::language::Language;
use crate::subjects::Subject;

const FUNCTIONS: usize = 12;

/// A line in each function that may hold a mistake. The number makes each mistake a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Clean,
    Name(u32),
    Type(u32),
    Syntax(u32),
}

#[derive(Clone, Debug)]
pub struct State {
    pub slots: [Slot; FUNCTIONS],
    /// Comment lines above each function.
    pub comments: [usize; FUNCTIONS],
    /// True if the line that imports `Bag` is there.
    pub import: bool,
    /// Changes with every edit that must have no effect.
    pub neutral: u32,
    next: u32,
}

/// The diagnostics that one line must have: none, any, or one with these words.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Expected {
    /// Zero-based.
    pub line: u32,
    pub found: bool,
    pub words: String,
}

/// Splitmix64: small, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn index(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).unwrap_or(0)
    }
}

impl State {
    pub fn new() -> Self {
        Self { slots: [Slot::Clean; FUNCTIONS], comments: [0; FUNCTIONS], import: true, neutral: 0, next: 0 }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    pub fn has_syntax_error(&self) -> bool {
        self.slots.iter().any(|slot| matches!(slot, Slot::Syntax(_)))
    }

    /// Adds a new undefined name if there is none, or removes one. Returns its words, and whether they must appear.
    pub fn change_name(&mut self, random: &mut Random) -> (String, bool) {
        self.repair_syntax();
        let at = random.index(FUNCTIONS);
        match self.slots[at] {
            Slot::Name(k) => {
                self.slots[at] = Slot::Clean;
                (missing(k), false)
            }
            _ => {
                let k = self.number();
                self.slots[at] = Slot::Name(k);
                (missing(k), true)
            }
        }
    }

    pub fn repair_syntax(&mut self) {
        for slot in self.slots.iter_mut().filter(|slot| matches!(slot, Slot::Syntax(_))) {
            *slot = Slot::Clean;
        }
    }

    /// A random edit; the name of its kind.
    pub fn change(&mut self, random: &mut Random) -> &'static str {
        if self.has_syntax_error() && random.chance(60) {
            self.repair_syntax();
            return "repair";
        }
        let at = random.index(FUNCTIONS);
        let k = self.number();
        match random.below(100) {
            0..25 => {
                self.slots[at] = Slot::Name(k);
                "name"
            }
            25..40 => {
                self.slots[at] = Slot::Type(k);
                "type"
            }
            40..50 if !self.has_syntax_error() => {
                self.slots[at] = Slot::Syntax(k);
                "syntax"
            }
            50..65 => {
                let broken = self.slots.iter().position(|slot| *slot != Slot::Clean);
                self.slots[broken.unwrap_or(at)] = Slot::Clean;
                "remove"
            }
            65..72 => {
                self.import = !self.import;
                "import"
            }
            72..86 => {
                self.comments[at] = (self.comments[at] + 1 + random.index(3)) % 5;
                "shift"
            }
            _ => {
                self.neutral = k;
                "neutral"
            }
        }
    }

    pub fn text(&self, language: Language) -> String {
        self.lines(language).0.join("\n") + "\n"
    }

    /// The required and the forbidden diagnostics of this text.
    pub fn expected(&self, subject: &Subject) -> Vec<Expected> {
        let (_, places) = self.lines(subject.language);
        let syntax = self.has_syntax_error();
        let nothing = |line| Expected { line, found: false, words: String::new() };
        let slots = self.slots.iter().zip(&places).filter_map(|(slot, line)| match slot {
            Slot::Syntax(_) => Some(Expected { line: *line, found: true, words: String::new() }),
            // Any other finding in a file that does not parse is the server's own affair.
            _ if syntax => None,
            Slot::Name(k) if subject.names => Some(Expected { line: *line, found: true, words: missing(*k) }),
            Slot::Type(_) if subject.types => Some(Expected { line: *line, found: true, words: String::new() }),
            _ => Some(nothing(*line)),
        });
        slots.collect()
    }

    /// The lines, and the number of the line of each slot.
    fn lines(&self, language: Language) -> (Vec<String>, Vec<u32>) {
        let template = language.template();
        let mut lines = template.header(self.import, self.neutral);
        let mut places = Vec::new();
        for (i, slot) in self.slots.iter().enumerate() {
            lines.extend((0..self.comments[i]).map(|n| template.remark(i, n)));
            let (body, place) = template.function(i, *slot);
            places.push(u32::try_from(lines.len() + place).unwrap_or(0));
            lines.extend(body);
        }
        lines.extend(template.end());
        (lines, places)
    }
}

fn missing(k: u32) -> String {
    format!("missing_{k}")
}
