//! The preferences of the user, for every project or for one; the project's preference wins.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::memory_error::{MemoryError, Result};
use crate::memory::store::{self, Memory};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preference {
    pub key: String,
    pub value: Value,
    /// `None`: for every project.
    pub project: Option<String>,
    /// Concluded from the actions of the user; it never replaces a stated preference.
    pub inferred: bool,
    /// Milliseconds since 1970.
    pub updated: i64,
}

impl Memory {
    /// Keeps a preference in place of the former one. Returns whether it was taken: an inferred one is rejected if the
    /// user has stated one for the same project and key.
    pub fn set_preference(&self, preference: Preference) -> Result<bool> {
        if preference.key.is_empty() {
            return Err(MemoryError::invalid("key", "it is empty"));
        }
        self.write(move |conn| {
            // Later is newer, also within a millisecond and after the clock went back.
            let sql = "INSERT INTO preferences (project, key, value, inferred, updated) VALUES (?1, ?2, ?3, ?4, \
                       max(?5, (SELECT coalesce(max(updated), 0) + 1 FROM preferences))) ON CONFLICT DO UPDATE \
                       SET value = ?3, inferred = ?4, updated = excluded.updated WHERE inferred >= ?4";
            let project = preference.project.as_deref().unwrap_or("");
            let value = serde_json::to_string(&preference.value)?;
            let Preference { key, inferred, updated, .. } = &preference;
            Ok(conn.execute(sql, (project, key, value, inferred, updated))? > 0)
        })
    }

    /// The preferences that hold in a project: its own, and the general ones that they do not replace; by key.
    pub fn preferences(&self, project: Option<&str>) -> Result<Vec<Preference>> {
        let rows = self.read(|conn| {
            let sql = "SELECT key, value, project, inferred, updated FROM preferences \
                       WHERE project IN ('', ?1) ORDER BY key, project DESC";
            store::all(conn, sql, [project.unwrap_or("")], |row| {
                Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(3)?, row.get(4)?))
            })
        })?;
        let mut out: Vec<Preference> = Vec::with_capacity(rows.len());
        for (key, value, project, inferred, updated) in rows {
            if out.last().is_none_or(|last| last.key != key) {
                let value = serde_json::from_str(&value)?;
                out.push(Preference {
                    key,
                    value,
                    project: (!project.is_empty()).then_some(project),
                    inferred,
                    updated,
                });
            }
        }
        Ok(out)
    }

    pub fn preference(&self, key: &str, project: Option<&str>) -> Result<Option<Preference>> {
        Ok(self.preferences(project)?.into_iter().find(|preference| preference.key == key))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_project_outweighs_the_general_and_the_said_outweighs_the_inferred() {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("m.db")).unwrap();
        let set = |value: &str, project: Option<&str>, inferred| {
            let project = project.map(str::to_owned);
            let one = Preference { key: "style".into(), value: json!(value), project, inferred, updated: 1 };
            memory.set_preference(one).unwrap()
        };
        let get = |project| memory.preference("style", project).unwrap().map(|p| p.value);
        assert_eq!(get(None), None);
        assert!(set("short", None, false));
        assert_eq!(get(Some("p")), Some(json!("short")));
        assert!(set("long", Some("p"), true), "inferred, without a stated one");
        assert_eq!((get(Some("p")), get(None)), (Some(json!("long")), Some(json!("short"))));
        assert!(!set("medium", None, true), "inferred, against the stated one");
        assert_eq!(get(None), Some(json!("short")));
        assert!(set("terse", Some("p"), false));
        assert_eq!(memory.preferences(Some("p")).unwrap().len(), 1);
    }
}
