//! One snapshot taken apart: files into scopes (symbols and module levels), scopes into units, units into tokens.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use crate::delta::tokenize::{Class, Spellings, Token, lex};
use crate::delta::units::{self, Cuts};
use sextant_base::positions::LineIndex;
use sextant_text::symbols::language::of_path;
use sextant_text::symbols::outline::{Outline, Symbol, SymbolKind};
use sextant_text::symbols::path_spelling;

/// No index.
pub(super) const NONE: u32 = u32::MAX;

pub(super) struct SideFile<'a> {
    pub text: &'a str,
    pub lines: LineIndex,
    pub tokens: Range<usize>,
    pub units: Range<usize>,
    /// The first is the module level.
    pub scopes: Range<usize>,
    /// ERROR and MISSING nodes; 0 without a grammar.
    pub errors: usize,
    /// True if there was a grammar.
    pub parsed: bool,
}

pub(super) struct Unit {
    pub file: u32,
    pub scope: u32,
    /// Range in [`Side::members`].
    pub members: Range<usize>,
    /// Hash of the spellings, layout left out; equal units have equal keys.
    pub key: u64,
    /// Tokens that are not layout.
    pub weight: u32,
    pub comment: bool,
}

pub(super) struct SideScope {
    pub file: u32,
    pub parent: u32,
    /// `None` for a module level.
    pub kind: Option<SymbolKind>,
    /// Spelling of the name; 0 for a module level.
    pub name: u32,
    pub ordinal: u32,
    /// Hash of the names from the file down, ordinals left out.
    pub path: u64,
    /// Own units in source order, those of nested symbols left out.
    pub units: Vec<u32>,
    /// The unit that holds the name.
    pub header: u32,
    pub name_token: u32,
    pub own: OwnTokens,
}

/// The tokens of a symbol without those of a nested one, comments and layout left out.
#[derive(Default)]
pub(super) struct OwnTokens {
    /// Their hash.
    pub body: u64,
    /// As `body`, every occurrence of the own name blanked.
    pub blanked: u64,
    /// Their number.
    pub weight: u32,
    /// Their spellings, sorted.
    pub bag: Vec<u32>,
}

/// The structure of one text from its syntax tree. Without a grammar its units are lines under one module level.
pub(super) struct Structure {
    cuts: Cuts,
    outline: Outline,
    parsed: bool,
}

/// Texts from this size on are parsed side by side: below it a thread costs more than it saves.
const WORTH_A_THREAD: usize = 64 * 1024;

/// Reads the structure of both sides' texts, given with their paths.
pub(super) fn structures(before: &[(&str, &str)], after: &[(&str, &str)]) -> (Vec<Structure>, Vec<Structure>) {
    let read = |files: &[(&str, &str)]| -> Vec<Structure> { files.iter().map(|f| Structure::of(f.0, f.1)).collect() };
    if before.iter().map(|(_, text)| text.len()).sum::<usize>() < WORTH_A_THREAD {
        return (read(before), read(after));
    }
    std::thread::scope(|scope| {
        let other = scope.spawn(|| read(before));
        let after = read(after);
        (other.join().unwrap_or_else(|_| read(before)), after)
    })
}

impl Structure {
    fn of(path: &str, text: &str) -> Self {
        match of_path(path).and_then(|language| language.tree(text).map(|tree| (language, tree))) {
            Some((language, tree)) => Self {
                cuts: units::of_tree(&tree, language.blocks),
                outline: Outline::of_tree(language, text, &tree),
                parsed: true,
            },
            None => Self { cuts: units::of_lines(text), outline: Outline::default(), parsed: false },
        }
    }
}

/// Of the names from the file down, in the words of their paths: a method keeps it when it moves to another block of
/// its type.
fn path_hash(symbol: &Symbol) -> u64 {
    let owners = path_spelling::parts(&symbol.owner).into_iter().filter(|owner| !owner.is_empty());
    let names = owners.map(path_spelling::last_name).chain(std::iter::once(symbol.name.as_str()));
    names.fold(0, |path, name| hash_of(&(path, name)))
}

#[derive(Default)]
pub(super) struct Side<'a> {
    pub files: Vec<SideFile<'a>>,
    pub tokens: Vec<Token>,
    pub units: Vec<Unit>,
    /// The tokens of units: a comment inside a statement does not interrupt it.
    pub members: Vec<u32>,
    pub scopes: Vec<SideScope>,
    /// Spelling of a quote.
    pub quote: u32,
}

impl<'a> Side<'a> {
    /// Takes texts apart, given with their paths and their structures.
    pub(super) fn read(files: &[(&str, &'a str)], structures: &[Structure], spellings: &mut Spellings<'a>) -> Self {
        let mut side = Self::default();
        files.iter().zip(structures).for_each(|((_, text), structure)| side.add(text, structure, spellings));
        side
    }

    fn add(&mut self, text: &'a str, structure: &Structure, spellings: &mut Spellings<'a>) {
        let Structure { cuts, outline, parsed } = structure;
        let file = self.files.len() as u32;
        let first_token = self.tokens.len();
        lex(text, spellings, &mut self.tokens);
        self.quote = spellings.id("\"");
        let first_scope = self.scopes.len();
        self.add_scopes(file, first_token, outline, text, spellings);
        let first_unit = self.units.len();
        self.add_units(file, first_token, first_scope, cuts, outline);
        for scope in &mut self.scopes[first_scope..] {
            summarize(scope, &self.units, &self.members, &self.tokens);
        }
        self.files.push(SideFile {
            text,
            lines: LineIndex::new(text),
            tokens: first_token..self.tokens.len(),
            units: first_unit..self.units.len(),
            scopes: first_scope..self.scopes.len(),
            errors: cuts.errors,
            parsed: *parsed,
        });
    }

    fn add_scopes(
        &mut self,
        file: u32,
        first_token: usize,
        outline: &Outline,
        text: &'a str,
        spellings: &mut Spellings<'a>,
    ) {
        let first = self.scopes.len() as u32;
        let empty = |kind, parent, name, ordinal, path, name_token| SideScope {
            file,
            parent,
            kind,
            name,
            ordinal,
            path,
            units: Vec::new(),
            header: NONE,
            name_token,
            own: OwnTokens::default(),
        };
        self.scopes.push(empty(None, NONE, 0, 0, 0, NONE));
        for symbol in &outline.symbols {
            let parent = symbol.parent.map_or(first, |p| first + 1 + p as u32);
            let name = spellings.id(&text[symbol.name_range.clone()]);
            let path = path_hash(symbol);
            let start = symbol.name_range.start as u32;
            let token = first_token + self.tokens[first_token..].partition_point(|t| t.start < start);
            self.scopes.push(empty(Some(symbol.kind), parent, name, symbol.ordinal as u32, path, token as u32));
        }
    }

    fn add_units(&mut self, file: u32, first_token: usize, first_scope: usize, cuts: &Cuts, outline: &Outline) {
        let first_unit = self.units.len();
        let mut counts = vec![0usize; cuts.comments.len()];
        let mut hint = 0;
        for token in &mut self.tokens[first_token..] {
            let unit = cuts.unit_at(token.start, &mut hint);
            token.unit = first_unit as u32 + unit;
            if let Some(count) = counts.get_mut(unit as usize) {
                *count += 1;
            }
        }
        let mut start = self.members.len();
        self.members.resize(start + counts.iter().sum::<usize>(), 0);
        for (count, comment) in counts.iter().zip(&cuts.comments) {
            self.units.push(Unit { file, scope: 0, members: start..start, key: 0, weight: 0, comment: *comment });
            start += count;
        }
        for (index, token) in self.tokens.iter().enumerate().skip(first_token) {
            let unit = &mut self.units[token.unit as usize];
            self.members[unit.members.end] = index as u32;
            unit.members.end += 1;
        }
        for index in first_unit..self.units.len() {
            let members = &self.members[self.units[index].members.clone()];
            let mut hasher = DefaultHasher::new();
            let mut weight = 0;
            for token in members.iter().map(|m| &self.tokens[*m as usize]) {
                if token.class != Class::Layout {
                    token.key.hash(&mut hasher);
                    weight += 1;
                }
            }
            let at = members.first().and_then(|m| outline.at(self.tokens[*m as usize].start as usize));
            let scope = first_scope + at.map_or(0, |symbol| symbol + 1);
            let unit = &mut self.units[index];
            unit.key = hasher.finish();
            unit.weight = weight;
            unit.scope = scope as u32;
            self.scopes[scope].units.push(index as u32);
        }
        for scope in &mut self.scopes[first_scope + 1..] {
            scope.header = self.tokens.get(scope.name_token as usize).map_or(NONE, |t| t.unit);
        }
    }

    pub(super) fn file_of(&self, unit: u32) -> &SideFile<'a> {
        &self.files[self.units[unit as usize].file as usize]
    }

    /// The tokens of a unit.
    pub(super) fn unit_tokens(&self, unit: u32) -> &[u32] {
        &self.members[self.units[unit as usize].members.clone()]
    }

    /// Sorted spellings of a unit, layout left out. A string inside a statement counts as one, at any length; a unit
    /// that is pure text (a docstring, a comment) counts its words.
    pub(super) fn unit_bag(&self, unit: u32) -> Vec<u32> {
        let tokens = self.unit_tokens(unit).iter().map(|t| &self.tokens[*t as usize]);
        let solid: Vec<&Token> = tokens.filter(|t| t.class != Class::Layout).collect();
        let mut bag = Vec::with_capacity(solid.len());
        let mut at = 0;
        while at < solid.len() {
            let end = string_end(&solid, at, self.quote);
            bag.push(match end - at {
                1 => solid[at].key,
                _ => hash_of(&solid[at..end].iter().map(|t| t.key).collect::<Vec<u32>>()) as u32 | STRING,
            });
            at = end;
        }
        if bag.len() <= 1 || self.units[unit as usize].comment {
            bag = solid.iter().map(|t| t.key).collect();
        }
        bag.sort_unstable();
        bag
    }
}

/// Set on the key of a whole string, so that it never equals a spelling.
const STRING: u32 = 1 << 31;

/// The end of the string that starts at a token; the next token if no string starts there or it does not end in the
/// unit. Read from the quotes alone, which is near enough for a measure of likeness.
fn string_end(tokens: &[&Token], at: usize, quote: u32) -> usize {
    let is_quote = |i: usize| tokens.get(i).is_some_and(|t| t.key == quote);
    let run = (at..at + 3).take_while(|i| is_quote(*i)).count();
    match run {
        0 => at + 1,
        2 => at + 2,
        _ => {
            let closes = |i: usize| (i..i + run).all(is_quote);
            (at + run..tokens.len()).find(|i| closes(*i)).map_or(at + 1, |i| i + run)
        }
    }
}

fn summarize(scope: &mut SideScope, units: &[Unit], members: &[u32], tokens: &[Token]) {
    let (mut body, mut blanked) = (DefaultHasher::new(), DefaultHasher::new());
    for unit in scope.units.iter().map(|u| &units[*u as usize]) {
        for token in members[unit.members.clone()].iter().map(|m| &tokens[*m as usize]) {
            if token.class == Class::Layout {
                continue;
            }
            scope.own.bag.push(token.key);
            if unit.comment {
                continue;
            }
            scope.own.weight += 1;
            token.key.hash(&mut body);
            if token.key == scope.name { u32::MAX } else { token.key }.hash(&mut blanked);
        }
    }
    scope.own.body = body.finish();
    scope.own.blanked = blanked.finish();
    scope.own.bag.sort_unstable();
}

pub(super) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
