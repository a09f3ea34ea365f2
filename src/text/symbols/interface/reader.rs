//! The offers of one text, read from its symbols and the places that the interface query finds.

use std::collections::BTreeSet;
use std::ops::Range;

use super::offer_places::{Binding, BindingKind, Branch, Parts, within};
use super::{EVERYTHING, Offer, identifiers};
use crate::symbols::outline::Outline;

/// The kept literals of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Literals {
    All,
    /// Those that may decide a type: no literals that are printed or raised.
    Typed,
    None,
}

pub(super) struct OfferReader<'a> {
    text: &'a str,
    outline: &'a Outline,
    parts: &'a Parts,
    /// The branches that hold definitions others can name.
    branches: Vec<&'a Branch>,
}

impl<'a> OfferReader<'a> {
    pub(super) fn new(text: &'a str, outline: &'a Outline, parts: &'a Parts) -> Self {
        let mut reader = Self { text, outline, parts, branches: Vec::new() };
        let is_outward = |branch: &&Branch| reader.owner(outline.at(branch.range.start)).is_some();
        reader.branches = parts.branches.iter().filter(is_outward).collect();
        reader
    }

    /// The offers, each with the place of its name, in source order.
    pub(super) fn offers(&self) -> Vec<(usize, Offer)> {
        let mut out: Vec<(usize, Offer)> = Vec::new();
        for (index, symbol) in self.outline.symbols.iter().enumerate() {
            let Some(owner) = self.owner(symbol.parent) else { continue };
            let name = symbol.name_range.start;
            let body = self.parts.bodies.get(&name).copied().unwrap_or(symbol.declaration.end);
            let tests = self.tests(symbol.declaration.start);
            let header = self.plain(symbol.declaration.start..body, Literals::All);
            let inside = match symbol.kind {
                kind if !kind.is_code() => self.shape(index, name),
                _ => self.inferred(index, body),
            };
            let is_decorated = self.text[symbol.declaration.start..name].contains('\n');
            let is_structural = self.parts.structural.contains(&name);
            let outward = format!("{tests}{header}\n{inside}");
            let offer = self.offer(&symbol.name, owner, outward, Some(index));
            out.push((name, Offer { is_decorated, is_structural, ..offer }));
        }
        for binding in &self.parts.bindings {
            out.extend(self.bound(binding).map(|offer| (binding.name.start, offer)));
        }
        out.sort_by_key(|(at, _)| *at);
        out
    }

    /// The path of the holder of a member that others can name; `None` inside of a function.
    fn owner(&self, holder: Option<usize>) -> Option<String> {
        let Some(holder) = holder else { return Some(String::new()) };
        let mut chain = std::iter::successors(Some(holder), |at| self.outline.symbols[*at].parent);
        chain.all(|at| self.outline.symbols[at].kind.holds_members()).then(|| self.outline.path_of(holder))
    }

    /// The tests under which a definition applies.
    fn tests(&self, at: usize) -> String {
        let around = self.branches.iter().filter(|branch| branch.range.start <= at && at < branch.range.end);
        let test = |branch: &&&Branch| match &branch.test {
            Some(test) => format!("{}:", self.plain(test.clone(), Literals::All)),
            None => "else:".to_owned(),
        };
        around.map(|branch| test(&branch)).collect()
    }

    /// The fields of a class whose fields decide how it is made, as they stand.
    fn shape(&self, class: usize, name: usize) -> String {
        if !self.parts.shaped.contains(&name) {
            return String::new();
        }
        let is_value = |kind: BindingKind| matches!(kind, BindingKind::Value | BindingKind::Constant);
        let of_class = |one: &&Binding| is_value(one.kind) && self.outline.at(one.range.start) == Some(class);
        let declaration = &self.outline.symbols[class].declaration;
        let first = self.parts.bindings.partition_point(|one| one.range.start < declaration.start);
        let inside = self.parts.bindings[first..].iter().take_while(|one| one.range.start < declaration.end);
        let fields: Vec<String> =
            inside.filter(of_class).map(|field| self.plain(field.range.clone(), Literals::All)).collect();
        fields.join("\n")
    }

    fn bound(&self, binding: &Binding) -> Option<Offer> {
        let holder = self.outline.at(binding.range.start);
        let name = self.text[binding.name.clone()].to_owned();
        let (owner, before) = match binding.kind {
            BindingKind::Attribute => {
                let method = holder?;
                let symbol = &self.outline.symbols[method];
                let body = self.parts.bodies.get(&symbol.name_range.start).copied()?;
                let receiver = &self.text[binding.receiver.clone()?];
                if identifiers(&self.text[symbol.name_range.end..body]).next() != Some(receiver) {
                    return None;
                }
                (self.owner(symbol.parent)?, self.plain(symbol.declaration.start..body, Literals::All))
            }
            _ if self.is_global(holder, &name) => (String::new(), String::new()),
            _ => (self.owner(holder)?, String::new()),
        };
        if binding.kind == BindingKind::Star {
            let outward = self.plain(binding.range.clone(), Literals::All);
            return Some(self.offer(EVERYTHING, owner, outward, None));
        }
        let literals = match binding.kind {
            BindingKind::Value | BindingKind::Attribute if !name.starts_with("__") => Literals::None,
            _ => Literals::All,
        };
        let outward = match &binding.declared {
            Some(declared) => self.plain(declared.clone(), Literals::All),
            None => {
                let is_made = is_made(&self.text[binding.range.clone()]);
                let literals = if is_made { Literals::All } else { literals };
                format!("{before}\n{}", self.plain(binding.range.clone(), literals))
            }
        };
        // An import names only the origin of the thing.
        let outward = if binding.kind == BindingKind::Import { import_of(&outward, &name) } else { outward };
        let outward = format!("{}{outward}", self.tests(binding.range.start));
        Some(self.offer(&name, owner, outward, holder))
    }

    /// Whether a function binds a name for its module.
    fn is_global(&self, holder: Option<usize>, name: &str) -> bool {
        let function = holder.map(|holder| &self.outline.symbols[holder].declaration);
        function.is_some_and(|function| {
            within(&self.parts.globals, function).any(|global| &self.text[global.clone()] == name)
        })
    }

    fn offer(&self, name: &str, owner: String, outward: String, holder: Option<usize>) -> Offer {
        let own = holder.map(|holder| self.own_names(holder)).unwrap_or_default();
        let mentions = used_names(&outward).filter(|(word, is_member)| *is_member || !own.contains(word));
        let mentions = mentions.map(|(word, _)| word.to_owned()).collect();
        Offer { name: name.to_owned(), owner, outward, mentions, is_decorated: false, is_structural: false }
    }

    /// The names that a function binds for itself.
    fn own_names(&self, symbol: usize) -> BTreeSet<&str> {
        if !self.outline.symbols[symbol].kind.is_code() {
            return BTreeSet::new();
        }
        let extent = &self.outline.symbols[symbol].declaration;
        let first = self.parts.bindings.partition_point(|binding| binding.range.start < extent.start);
        let inside = self.parts.bindings[first..].iter().take_while(|binding| binding.range.start < extent.end);
        let locals = inside.filter(|binding| binding.kind == BindingKind::Value).map(|binding| &binding.name);
        let names = locals.chain(within(&self.parts.own, extent)).map(|name| &self.text[name.clone()]);
        names.filter(|name| !self.is_global(Some(symbol), name)).collect()
    }

    /// The source of the result of a function without a declared type: its whole body if it returns a result, else the
    /// way it ends.
    fn inferred(&self, symbol: usize, body: usize) -> String {
        let (name, end) = (self.outline.symbols[symbol].name_range.start, self.outline.symbols[symbol].declaration.end);
        if self.parts.declared.contains(&name) {
            return String::new();
        }
        let own = |range: &&Range<usize>| self.outline.at(range.start) == Some(symbol);
        let inside = body..end;
        let results: Vec<String> = within(&self.parts.results, &inside)
            .filter(own)
            .map(|range| self.plain(range.clone(), Literals::All))
            .collect();
        if !results.is_empty() {
            return format!("{}\n{}", results.join("\n"), self.plain(inside, Literals::Typed));
        }
        if within(&self.parts.endings.ends, &inside).any(|end| own(&end)) {
            return "ends".to_owned();
        }
        // A last statement may end on all of its ways.
        let tail = within(&self.parts.endings.tails, &inside).filter(own).last();
        let may_end = |tail: &&Range<usize>| within(&self.parts.endings.exits, tail).any(|exit| own(&exit));
        tail.filter(may_end).map(|tail| self.plain(tail.clone(), Literals::None)).unwrap_or_default()
    }

    /// A stretch of the text without its layout, its comments and some of its literals.
    fn plain(&self, range: Range<usize>, literals: Literals) -> String {
        let effects: Vec<&Range<usize>> = match literals {
            Literals::Typed => within(&self.parts.details.effects, &range).collect(),
            _ => Vec::new(),
        };
        let is_cut = |literal: &&Range<usize>| match literals {
            Literals::All => false,
            Literals::None => true,
            Literals::Typed => {
                let effect = effects.partition_point(|effect| effect.start <= literal.start);
                effects[..effect].iter().rev().take(4).any(|effect| literal.end <= effect.end)
            }
        };
        let mut out = String::new();
        let mut at = range.start;
        let cut = within(&self.parts.details.literals, &range).filter(is_cut);
        let mut cut: Vec<&Range<usize>> = within(&self.parts.details.comments, &range).chain(cut).collect();
        cut.sort_by_key(|cut| cut.start);
        for cut in cut {
            if cut.start >= at {
                out.push_str(&self.text[at..cut.start]);
                out.push_str(if self.text[cut.clone()].starts_with(|c: char| c.is_ascii_digit()) { "0" } else { "" });
                at = cut.end;
            }
        }
        out.push_str(&self.text[at..range.end.max(at)]);
        without_layout(&out)
    }
}

/// Whether a call or a subscript makes a value, whose literals may decide its type: `namedtuple("P", "x y")`,
/// `Literal["r"]`.
fn is_made(text: &str) -> bool {
    let mut before = ' ';
    text.chars().any(|c| {
        let is_applied = matches!(c, '(' | '[') && (before.is_alphanumeric() || matches!(before, '_' | ']' | ')'));
        before = c;
        is_applied
    })
}

/// The identifiers of a text, each with whether it is named as a member of something.
fn used_names(text: &str) -> impl Iterator<Item = (&str, bool)> {
    identifiers(text).map(|word| {
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        (word, text[..at].trim_end().ends_with('.'))
    })
}

/// A text with white space only where two words would become one without it.
fn without_layout(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    for part in text.split_whitespace() {
        if out.ends_with(is_word) && part.starts_with(is_word) {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}

/// The part of an import statement that names the origin of one of its names.
fn import_of(statement: &str, name: &str) -> String {
    let word = identifiers(statement).find(|word| *word == "import");
    let at = word.map_or(0, |word| word.as_ptr() as usize - statement.as_ptr() as usize);
    let (from, names) = statement.split_at(at);
    let aliased = names.split([',', '(', ')']).find(|part| identifiers(part).any(|word| word == name));
    format!("{from}{}", aliased.unwrap_or_default().trim_start_matches("import").trim())
}
