//! The offers of one text, read from its symbols and the places that the interface query finds.

use std::collections::BTreeSet;
use std::ops::Range;

use super::deciding_steps::DecidingSteps;
use super::local_names::LocalNames;
use super::offer_places::{Binding, BindingKind, Branch, OfferPlaces, within};
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

/// The text that decides how a name may be used, with the names in it that others may have given their meaning.
#[derive(Default)]
struct Outward {
    text: String,
    mentions: BTreeSet<String>,
}

pub(super) struct OfferReader<'a> {
    text: &'a str,
    outline: &'a Outline,
    parts: &'a OfferPlaces,
    locals: LocalNames<'a>,
    steps: DecidingSteps<'a>,
    /// The branches that hold definitions others can name.
    branches: Vec<&'a Branch>,
}

impl<'a> OfferReader<'a> {
    pub(super) fn new(text: &'a str, outline: &'a Outline, parts: &'a OfferPlaces) -> Self {
        let locals = LocalNames::of(text, outline, parts);
        let steps = DecidingSteps::of(text, outline, parts);
        let mut reader = Self { text, outline, parts, locals, steps, branches: Vec::new() };
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
            let body = self.parts.definitions.bodies.get(&name).copied().unwrap_or(symbol.declaration.end);
            let mut outward = self.tests(symbol.declaration.start);
            self.take(&mut outward, symbol.declaration.start..body, Literals::All);
            match symbol.kind {
                kind if !kind.is_code() => self.shape(index, name, &mut outward),
                _ => self.inferred(index, body, &mut outward),
            }
            let is_decorated = self.text[symbol.declaration.start..name].contains('\n');
            let definitions = &self.parts.definitions;
            let offer = Offer {
                is_decorated,
                is_structural: definitions.structural.contains(&name),
                is_generic: definitions.generic.contains(&name),
                bases: definitions.bases.get(&name).copied().unwrap_or_default(),
                is_abstract: definitions.abstracts.contains(&name),
                ..offer(&symbol.name, owner, outward)
            };
            out.push((name, offer));
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
    fn tests(&self, at: usize) -> Outward {
        let mut out = Outward::default();
        for branch in self.branches.iter().filter(|branch| branch.range.start <= at && at < branch.range.end) {
            match &branch.test {
                Some(test) => self.take(&mut out, test.clone(), Literals::All),
                None => out.text.push_str("else:"),
            }
        }
        out
    }

    /// The fields of a class whose fields decide how it is made, as they stand.
    fn shape(&self, class: usize, name: usize, out: &mut Outward) {
        if !self.parts.definitions.shaped.contains(&name) {
            return;
        }
        let is_value = |kind: BindingKind| matches!(kind, BindingKind::Value | BindingKind::Constant);
        let of_class = |one: &&Binding| is_value(one.kind) && self.outline.at(one.range.start) == Some(class);
        let declaration = &self.outline.symbols[class].declaration;
        let first = self.parts.bindings.partition_point(|one| one.range.start < declaration.start);
        let inside = self.parts.bindings[first..].iter().take_while(|one| one.range.start < declaration.end);
        inside.filter(of_class).for_each(|field| self.take(out, field.range.clone(), Literals::All));
    }

    fn bound(&self, binding: &Binding) -> Option<Offer> {
        let holder = self.outline.at(binding.range.start);
        let name = self.text[binding.name.clone()].to_owned();
        let mut outward = self.tests(binding.range.start);
        let owner = match binding.kind {
            BindingKind::Attribute => {
                let symbol = &self.outline.symbols[holder?];
                let first = self.parts.definitions.firsts.get(&symbol.name_range.start)?;
                let receiver = &self.text[binding.receiver.clone()?];
                if identifiers(&self.text[first.clone()]).next() != Some(receiver) {
                    return None;
                }
                self.owner(symbol.parent)?
            }
            _ if self.locals.is_global(holder, &name) => String::new(),
            _ => self.owner(holder)?,
        };
        if binding.kind == BindingKind::Star {
            self.take(&mut outward, binding.range.clone(), Literals::All);
            return Some(offer(EVERYTHING, owner, outward));
        }
        let is_widened = matches!(binding.kind, BindingKind::Value | BindingKind::Attribute)
            && !name.starts_with("__")
            && !is_constant(&name);
        let literals = if is_widened { self.widened(&binding.range) } else { Literals::All };
        match &binding.declared {
            Some(declared) => self.take(&mut outward, declared.clone(), Literals::All),
            None => {
                if let Some(beside) = &binding.beside {
                    self.take(&mut outward, beside.clone(), Literals::All);
                }
                self.take(&mut outward, binding.range.clone(), literals);
                let is_inside = |one: &&Range<usize>| one.contains(&binding.range.start);
                if let Some(around) = self.parts.sources.comprehensions.iter().find(is_inside) {
                    self.take(&mut outward, around.clone(), literals);
                }
                self.source(binding, holder, &mut outward);
            }
        }
        Some(offer(&name, owner, outward))
    }

    /// The source of what a function binds for others: its header, and the statements that decide the value.
    fn source(&self, binding: &Binding, holder: Option<usize>, out: &mut Outward) {
        let function = holder.filter(|holder| !self.outline.symbols[*holder].kind.holds_members());
        let Some(function) = function else { return };
        let symbol = &self.outline.symbols[function];
        if let Some(body) = self.parts.definitions.bodies.get(&symbol.name_range.start) {
            self.take(out, symbol.declaration.start..*body, Literals::All);
        }
        for step in self.steps.before(binding, function) {
            let literals = if step.is_plain { self.widened(step.range) } else { Literals::Typed };
            self.take(out, step.range.clone(), literals);
        }
    }

    /// The literals of a value whose type is wider than it. A call, a subscript or a choice makes a value whose type
    /// its literals may decide: `namedtuple("P", "x y")`, `Literal["r"]`, `0 or "x"`.
    fn widened(&self, value: &Range<usize>) -> Literals {
        match within(&self.parts.details.made, value).next() {
            Some(_) => Literals::All,
            None => Literals::None,
        }
    }

    /// The source of the result of a function without a declared type: its whole body if it returns a result, else the
    /// way it ends. With a declared type it is the kind of the function, and what a method lacks that has to be filled
    /// in.
    fn inferred(&self, symbol: usize, body: usize, out: &mut Outward) {
        let (name, end) = (self.outline.symbols[symbol].name_range.start, self.outline.symbols[symbol].declaration.end);
        let own = |range: &&Range<usize>| self.outline.at(range.start) == Some(symbol);
        let inside = body..end;
        if within(&self.parts.kinds, &inside).any(|kind| own(&kind)) {
            out.text.push_str("kind\n");
        }
        let is_declared = self.parts.definitions.declared.contains(&name);
        let decides = !is_declared || self.is_abstract(symbol);
        if decides && within(&self.parts.unfilled, &inside).any(|unfilled| own(&unfilled)) {
            self.take(out, inside.clone(), Literals::None);
        }
        if is_declared {
            return;
        }
        let results: Vec<_> = within(&self.parts.results, &inside).filter(own).collect();
        if !results.is_empty() {
            results.into_iter().for_each(|result| self.take(out, result.clone(), Literals::All));
            return self.take(out, inside, Literals::Typed);
        }
        if within(&self.parts.endings.ends, &inside).any(|end| own(&end)) {
            return out.text.push_str("ends");
        }
        // A last statement may end on all of its ways.
        let tail = within(&self.parts.endings.tails, &inside).filter(own).last();
        let may_end = |tail: &&Range<usize>| within(&self.parts.endings.exits, tail).any(|exit| own(&exit));
        if let Some(tail) = tail.filter(may_end) {
            self.take(out, tail.clone(), Literals::None);
        }
    }

    /// True if a class that inherits this method has to fill it in.
    fn is_abstract(&self, symbol: usize) -> bool {
        let symbol = &self.outline.symbols[symbol];
        let class = symbol.parent.map(|class| self.outline.symbols[class].name_range.start);
        self.parts.definitions.abstracts.contains(&symbol.name_range.start)
            || class.is_some_and(|class| self.parts.definitions.structural.contains(&class))
    }

    /// Adds a stretch of the text: without its layout, its comments and some of its literals.
    fn take(&self, out: &mut Outward, range: Range<usize>, literals: Literals) {
        let mut plain = String::new();
        let mut at = range.start;
        let end = Range { start: range.end, end: range.end };
        for cut in self.cut(&range, literals).into_iter().chain([&end]) {
            if cut.start >= at {
                plain.push_str(&self.text[at..cut.start]);
                plain.push_str(number(&self.text[cut.clone()]));
                out.mentions.extend(self.locals.mentions(at..cut.start));
                at = cut.end;
            }
        }
        out.text.push_str(&without_layout(&plain));
        out.text.push('\n');
    }

    /// The places in a stretch that change no type, in order.
    fn cut(&self, range: &Range<usize>, literals: Literals) -> Vec<&'a Range<usize>> {
        let details = &self.parts.details;
        let covers = |ranges: &[&Range<usize>], literal: &Range<usize>| {
            let before = ranges.partition_point(|one| one.start <= literal.start);
            ranges[..before].iter().rev().take(4).any(|one| literal.end <= one.end)
        };
        let holders: Vec<&Range<usize>> = match literals {
            Literals::All => Vec::new(),
            Literals::Typed => within(&details.effects, range).collect(),
            Literals::None => within(&details.exact, range).collect(),
        };
        let is_cut = |literal: &&Range<usize>| match literals {
            Literals::All => false,
            Literals::Typed => covers(&holders, literal),
            Literals::None => !covers(&holders, literal),
        };
        let cut = within(&details.literals, range).filter(is_cut);
        let mut cut: Vec<&Range<usize>> = within(&details.comments, range).chain(cut).collect();
        cut.sort_by_key(|cut| cut.start);
        cut
    }
}

fn offer(name: &str, owner: String, outward: Outward) -> Offer {
    let Outward { text, mentions } = outward;
    Offer { name: name.to_owned(), owner, outward: text, mentions, ..Offer::default() }
}

/// The number of the same type that stands for a literal; nothing for a literal of another kind.
fn number(literal: &str) -> &'static str {
    let is_plain = !literal.starts_with("0x") && !literal.starts_with("0X");
    match literal.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        false => "",
        true if is_plain && literal.ends_with(['j', 'J']) => "0j",
        true if is_plain && literal.contains(['.', 'e', 'E']) => "0.0",
        true => "0",
    }
}

/// True if a name is that of a constant, whose type is its very value.
fn is_constant(name: &str) -> bool {
    name.contains(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
}

/// A text with white space only where two words would become one without it.
pub(super) fn without_layout(text: &str) -> String {
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
