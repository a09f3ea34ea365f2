//! Short-term variables of a session: kept in memory alone, gone with the process or the session.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::memory::entry::Kind;
use crate::memory::memory_error::Result;
use crate::memory::store::Memory;

pub type Variables = BTreeMap<String, Value>;

impl Memory {
    pub fn set_variable(&self, session: &str, name: &str, value: Value) {
        self.variables().entry(session.to_owned()).or_default().insert(name.to_owned(), value);
    }

    pub fn variable(&self, session: &str, name: &str) -> Option<Value> {
        self.variables().get(session)?.get(name).cloned()
    }

    /// Ends the short term: deletes the variables and the entries of kind `short_term`. Returns how many of each.
    pub fn end_session(&self, session: &str) -> Result<(usize, usize)> {
        let variables = self.variables().remove(session).map_or(0, |variables| variables.len());
        let name = session.to_owned();
        let entries = self.write(move |conn| {
            let sql = "DELETE FROM entries WHERE kind = ?1 AND session = (SELECT id FROM sessions WHERE name = ?2)";
            Ok(conn.execute(sql, (Kind::ShortTerm, &name))?)
        })?;
        Ok((variables, entries))
    }
}
