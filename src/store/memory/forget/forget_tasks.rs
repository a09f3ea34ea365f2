//! Selects the tasks of a forgetting: the state and the checkpoints of one go together, or stay together.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use serde_json::Value;

use crate::memory::checkpoints::{content, sweep};
use crate::memory::forget::delete::{holds, json_holds, sifted};
use crate::memory::forget::{Cost, Forget, Forgotten};
use crate::memory::memory_error::Result;
use crate::memory::store;

/// The tasks whose state, checkpoints or kept contents match.
fn meant(conn: &Connection, filter: &Forget, session: Option<i64>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for sql in [
        "SELECT task, state FROM tasks WHERE (?1 IS NULL OR session = ?1)",
        "SELECT task, state FROM checkpoints WHERE (?1 IS NULL OR session = ?1)",
        "SELECT tasks.task, said FROM conversations JOIN tasks ON tasks.task = conversations.task \
         WHERE (?1 IS NULL OR session = ?1)",
        "SELECT task, path FROM checkpoint_files JOIN checkpoints ON id = checkpoint WHERE (?1 IS NULL OR session = ?1)",
    ] {
        let mut question = conn.prepare_cached(sql)?;
        let mut rows = question.query([session])?;
        while let Some(row) = rows.next()? {
            let (task, text) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?);
            if filter.text.as_ref().is_none_or(|part| holds(&task, part) || json_holds(&text, part)) {
                names.insert(task);
            }
        }
    }
    if let Some(part) = &filter.text {
        names.extend(packed(conn, part, session)?);
    }
    Ok(names)
}

/// The tasks whose kept contents hold a text, one content at a time.
fn packed(conn: &Connection, part: &str, session: Option<i64>) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for blob in sifted(conn, "SELECT id FROM blobs ORDER BY id", [], |row| Ok(Some(row.get::<_, i64>(0)?)))? {
        // Unreadable contents cannot be given back, and they may hold the text.
        let hit = content(conn, blob).map_or(true, |bytes| holds(&String::from_utf8_lossy(&bytes), part));
        if hit {
            let sql = "SELECT DISTINCT task FROM checkpoints JOIN checkpoint_files ON checkpoint = id \
                       WHERE (before_blob = ?1 OR after_blob = ?1) AND (?2 IS NULL OR session = ?2)";
            names.extend(sifted(conn, sql, (blob, session), |row| Ok(Some(row.get::<_, String>(0)?)))?);
        }
    }
    Ok(names)
}

pub(super) fn costs(conn: &Connection, filter: &Forget) -> Result<Vec<Cost>> {
    let session = match &filter.session {
        Some(name) if !filter.everything => match crate::memory::entries::known_session(conn, name)? {
            Some(id) => Some(id),
            None => return Ok(Vec::new()),
        },
        _ => None,
    };
    if filter.project.is_some() || (filter.entries_only() && !filter.everything) {
        return Ok(Vec::new());
    }
    let mut out = Vec::new();
    for task in meant(conn, filter, session)? {
        let sql = "SELECT state, phase, owner FROM tasks WHERE task = ?1";
        let state = store::all(conn, sql, [&task], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
        })?;
        let (state, phase, owner) = state.into_iter().next().unwrap_or_default();
        let value: Value = serde_json::from_str(&state).unwrap_or_default();
        let request = value["request"].as_str().unwrap_or_default().to_owned();
        let sql = "SELECT reason, count(*), max(owner) FROM checkpoints WHERE task = ?1 GROUP BY reason";
        let rows = store::all(conn, sql, [&task], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, Option<String>>(2)?))
        })?;
        let busy = rows.iter().find_map(|(_, _, owner)| owner.clone());
        let count = |count: i64| usize::try_from(count).unwrap_or(0);
        let checkpoints: BTreeMap<String, usize> =
            rows.into_iter().map(|(reason, number, _)| (reason, count(number))).collect();
        out.push(Cost { task, request, phase, owner: busy.or(owner), checkpoints });
    }
    Ok(out)
}

pub(super) fn delete(conn: &Connection, filter: &Forget, session: Option<i64>, out: &mut Forgotten) -> Result<()> {
    let (kept, gone): (Vec<String>, Vec<String>) =
        meant(conn, filter, session)?.into_iter().partition(|task| filter.keep.contains(task));
    for task in &gone {
        let sql = "DELETE FROM checkpoints WHERE task = ?1 AND (?2 IS NULL OR session = ?2) RETURNING id";
        out.record.checkpoints.extend(sifted(conn, sql, (task, session), |row| Ok(Some(row.get::<_, i64>(0)?)))?);
        let sql = "DELETE FROM tasks WHERE task = ?1 AND (?2 IS NULL OR session = ?2)";
        out.record.tasks += conn.prepare_cached(sql)?.execute((task, session))?;
    }
    if !out.record.checkpoints.is_empty() {
        sweep(conn)?;
    }
    (out.record.task_names, out.record.kept) = (gone, kept);
    Ok(())
}
