//! Refuses to pair the complaints about two undefined names, one of which the edit put in the place of the other.
//!
//! `json.dumps` becomes `jsonn.dumps`: the place and the template are the same, and the error is still another one. A
//! rename exchanges the name at its declaration too.

use crate::code_aliases::is_undefined_name;
use crate::delta::pair_diagnostics::Carry;
use crate::delta::same_message;
use crate::delta::side::{NONE, Side};
use crate::delta::tokenize::Class;

/// The exchanges of one name for another one from which on they are a rename.
const RENAMED: u32 = 2;

impl Carry<'_, '_> {
    /// True if each message is about the own name at its place, and the edit exchanged the names there alone.
    pub(super) fn is_exchanged(&self, b: u32, a: u32) -> bool {
        let (from, to) = (self.b(b).span, self.a(a).span);
        if from.0 == NONE || from.0 != from.1 || to.0 != to.1 || self.tokens.after(from.0) != to.0 {
            return false;
        }
        let (x, y) = (&self.before.tokens[from.0 as usize], &self.after.tokens[to.0 as usize]);
        if x.key == y.key || x.class != Class::Word || self.votes.get(&(x.key, y.key)).is_some_and(|n| *n >= RENAMED) {
            return false;
        }
        let (old, new) = (&self.old.0[b as usize], &self.new.0[a as usize]);
        is_undefined_name(old)
            && is_undefined_name(new)
            && same_message::names(&old.message, word(self.before, from.0))
            && same_message::names(&new.message, word(self.after, to.0))
    }
}

/// The spelling of a token.
fn word<'a>(side: &Side<'a>, token: u32) -> &'a str {
    let at = &side.tokens[token as usize];
    &side.file_of(at.unit).text[at.start as usize..at.end as usize]
}
