//! Fills a language's template: the lines of a text, and the place for a mistake in each function.

use crate::text::Slot;

/// The parts of a text. `@n` is a number, `@i` the number of the function, `@mistake` the line that may hold a mistake.
#[derive(Debug)]
pub struct Template {
    /// The other files of the project, by path.
    pub beside: &'static [(&'static str, &'static str)],
    /// The lines above the import.
    pub first: &'static str,
    /// What the rest needs from another file or place.
    pub import: &'static str,
    /// The lines between the import and the functions, with a number that does not matter.
    pub rest: &'static str,
    /// A line that no server has anything to say about.
    pub remark: &'static str,
    pub function: &'static str,
    /// The lines below the functions.
    pub last: &'static str,
    pub clean: &'static str,
    /// An unknown name, `missing_@n`.
    pub name: &'static str,
    /// A value of the wrong type, or another mistake that is seen only in a text that parses.
    pub kind: &'static str,
    pub syntax: &'static str,
}

fn lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(str::to_owned)
}

impl Template {
    /// Everything above the functions.
    pub fn header(&self, import: bool, neutral: u32) -> Vec<String> {
        let imported = lines(self.import).filter(|_| import);
        lines(self.first).chain(imported).chain(lines(&self.rest.replace("@n", &neutral.to_string()))).collect()
    }

    pub fn remark(&self, function: usize, n: usize) -> String {
        self.remark.replace("@i", &function.to_string()).replace("@n", &n.to_string())
    }

    /// A function, and the index of the slot among its lines.
    pub fn function(&self, i: usize, slot: Slot) -> (Vec<String>, usize) {
        let (mistake, n) = match slot {
            Slot::Clean => (self.clean, 0),
            Slot::Name(n) => (self.name, n),
            Slot::Type(n) => (self.kind, n),
            Slot::Syntax(n) => (self.syntax, n),
        };
        let text = self.function.replace("@i", &i.to_string());
        let place = lines(&text).position(|line| line.contains("@mistake")).expect("a place for a mistake");
        (lines(&text.replace("@mistake", &mistake.replace("@n", &n.to_string()))).collect(), place)
    }

    /// Everything below the functions.
    pub fn end(&self) -> impl Iterator<Item = String> {
        lines(self.last).filter(|_| !self.last.is_empty())
    }
}
