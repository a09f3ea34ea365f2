//! Pairs a complaint with itself where the change rewrote its code and, with it, the types that it names.
//!
//! `return (n for n in all)` becomes `return [n for n in all]`: the declared type is as wrong as before, though the
//! message names another one. The place in the statement is the proof. Everything around it stands as it was.

use std::collections::HashMap;

use crate::delta::anchors::Anchored;
use crate::delta::index_pairs::Matching;
use crate::delta::pair_diagnostics::Carry;
use crate::delta::replaced;
use crate::delta::same_message;
use crate::delta::side::{NONE, Side};
use crate::delta::tokenize::Class;

/// A statement that has a partner, by its number after the change; or the unchanged statements around one without.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum StatementPlace {
    Paired(u32),
    Between(u32, u32),
}

/// The diagnostics of either side with one kind, place and template.
type Candidates = (Vec<u32>, Vec<u32>);

impl Carry<'_, '_> {
    /// Pairs what is alone on both sides with its kind, its statement and the template of its first line.
    pub(super) fn reworded(&self, out: &mut Matching) {
        let (old, new) = {
            let (old, new) = self.left(out);
            (old.collect::<Vec<u32>>(), new.collect::<Vec<u32>>())
        };
        if old.is_empty() || new.is_empty() {
            return;
        }
        let around = replaced::find(self.before, self.after, self.units);
        let place = |partner: u32, around: (u32, u32)| match partner {
            NONE => StatementPlace::Between(around.0, around.1),
            after => StatementPlace::Paired(after),
        };
        let mut groups: HashMap<(u32, StatementPlace, String), Candidates> = HashMap::new();
        for b in old {
            let Some(unit) = one_unit(self.before, self.b(b)) else { continue };
            let place = place(self.units.after(unit), around.before[unit as usize]);
            let template = same_message::first_template(&self.old.0[b as usize].message);
            groups.entry((self.b(b).kind, place, template)).or_default().0.push(b);
        }
        for a in new {
            let Some(unit) = one_unit(self.after, self.a(a)) else { continue };
            let has_partner = self.units.before(unit) != NONE;
            let place = place(if has_partner { unit } else { NONE }, around.after[unit as usize]);
            let template = same_message::first_template(&self.new.0[a as usize].message);
            if let Some(group) = groups.get_mut(&(self.a(a).kind, place, template)) {
                group.1.push(a);
            }
        }
        for (old, new) in groups.into_values() {
            if let ([b], [a]) = (&old[..], &new[..])
                && self.is_reworded(*b, *a)
            {
                out.pair(*b, *a);
            }
        }
    }

    /// True if the two are in one symbol of one file, with one frame of code, and a quoted part that stayed.
    fn is_reworded(&self, b: u32, a: u32) -> bool {
        let (x, y) = (self.b(b), self.a(a));
        let (old, new) = (&self.old.0[b as usize], &self.new.0[a as usize]);
        let scope = |side: &Side<'_>, d: &Anchored| side.units[Self::unit(side, d) as usize].scope;
        let (from, to) = (scope(self.before, x), scope(self.after, y));
        let is_one_symbol = self.scopes.after(from) == to
            && self.before.scopes[from as usize].path == self.after.scopes[to as usize].path;
        let frame = frame(self.before, x);
        is_one_symbol
            && x.file == y.file
            && old.severity == new.severity
            && !(frame.0.is_empty() && frame.1.is_empty())
            && frame == self::frame(self.after, y)
            && same_message::shares_quoted(&old.message, &new.message)
    }
}

/// The statement of a diagnostic that lies in one alone.
fn one_unit(side: &Side<'_>, d: &Anchored) -> Option<u32> {
    let unit = |token: u32| side.tokens.get(token as usize).map(|token| token.unit);
    unit(d.span.0).filter(|first| unit(d.span.1) == Some(*first))
}

/// The words of its statement before and behind a diagnostic, layout left out.
fn frame(side: &Side<'_>, d: &Anchored) -> (Vec<u32>, Vec<u32>) {
    let unit = side.tokens[d.span.0 as usize].unit;
    let solid = |token: &&u32| side.tokens[**token as usize].class != Class::Layout;
    let key = |token: &u32| side.tokens[*token as usize].key;
    let tokens = side.unit_tokens(unit);
    let before = tokens.iter().filter(|token| **token < d.span.0).filter(solid).map(key);
    let behind = tokens.iter().filter(|token| **token > d.span.1).filter(solid).map(key);
    (before.collect(), behind.collect())
}
