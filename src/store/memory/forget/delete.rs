//! Deletes the rows that a forgetting takes, store by store, within one transaction.

use rusqlite::{Connection, Params, Row};
use serde_json::Value;

use crate::memory::entries::known_session;
use crate::memory::entry::{EntryId, Kind};
use crate::memory::forget::{Forget, Forgotten, forget_tasks};
use crate::memory::memory_error::Result;

/// The tables with a column of this name.
const SESSION_TABLES: [&str; 7] = ["entries", "summaries", "trace", "traced_tasks", "runs", "checkpoints", "tasks"];

/// Entries whose beginning is shown, and characters of each.
const SHOWN: usize = 5;
const BEGINNING: usize = 80;

/// Rows and bytes that are read before some of the rows are deleted.
const PAGE: (usize, usize) = (1_000, 8 << 20);

/// True if a text holds a part of one, in any case and across any white space.
pub(in crate::memory) fn holds(text: &str, part: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let (lower, part) = (text.to_lowercase(), plain(part));
    lower.contains(&part) || part.contains(' ') && plain(text).contains(&part)
}

/// The same for JSON, also inside of its strings, where a quote or a line end is written otherwise.
pub(in crate::memory) fn json_holds(json: &str, part: &str) -> bool {
    fn inside(value: &Value, part: &str) -> bool {
        match value {
            Value::String(text) => holds(text, part),
            Value::Array(all) => all.iter().any(|value| inside(value, part)),
            Value::Object(all) => all.iter().any(|(key, value)| holds(key, part) || inside(value, part)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    holds(json, part) || serde_json::from_str(json).is_ok_and(|value| inside(&value, part))
}

/// Shows every row (an id, a text) of a query that takes a session and the last shown id, in the order of the ids.
/// There may be more rows than one answer holds, and a shown row may be deleted.
pub(super) fn in_pages(
    conn: &Connection,
    sql: &str,
    session: Option<i64>,
    mut show: impl FnMut(i64, &str) -> Result<()>,
) -> Result<()> {
    let mut last = i64::MIN;
    loop {
        let (mut page, mut bytes) = (Vec::new(), 0);
        let mut question = conn.prepare_cached(sql)?;
        let mut rows = question.query((session, last))?;
        while page.len() < PAGE.0 && bytes < PAGE.1 {
            let Some(row) = rows.next()? else { break };
            let (id, content) = (row.get::<_, i64>(0)?, row.get::<_, String>(1)?);
            bytes += content.len();
            last = id;
            page.push((id, content));
        }
        drop(rows);
        drop(question);
        if page.is_empty() {
            return Ok(());
        }
        for (id, content) in &page {
            show(*id, content)?;
        }
    }
}

/// The values kept from each row of a query; the rows themselves may be more than an answer holds.
pub(super) fn sifted<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    keep: impl Fn(&Row<'_>) -> Result<Option<T>>,
) -> Result<Vec<T>> {
    let mut question = conn.prepare_cached(sql)?;
    let mut rows = question.query(params)?;
    let mut kept = Vec::new();
    while let Some(row) = rows.next()? {
        kept.extend(keep(row)?);
    }
    Ok(kept)
}

pub(in crate::memory) fn delete(conn: &Connection, filter: &Forget) -> Result<Forgotten> {
    let mut out = Forgotten::default();
    if filter.everything {
        everything(conn, filter, &mut out)?;
        return Ok(out);
    }
    let session = match &filter.session {
        Some(name) => match known_session(conn, name)? {
            Some(id) => Some(id),
            None => return Ok(out),
        },
        None => None,
    };
    if filter.project.is_none() {
        entries(conn, filter, session, &mut out)?;
    }
    if !filter.entries_only() {
        if filter.session.is_none() {
            of_projects(conn, filter, &mut out)?;
        }
        if filter.project.is_none() {
            of_sessions(conn, filter, session, &mut out)?;
        }
    }
    if let Some(session) = session {
        let unused = SESSION_TABLES.map(|table| format!("NOT EXISTS (SELECT 1 FROM {table} WHERE session = ?1)"));
        conn.execute(&format!("DELETE FROM sessions WHERE id = ?1 AND {}", unused.join(" AND ")), [session])?;
    }
    Ok(out)
}

fn entries(conn: &Connection, filter: &Forget, session: Option<i64>, out: &mut Forgotten) -> Result<()> {
    let ids = serde_json::to_string(&filter.ids)?;
    let kinds = serde_json::to_string(&filter.kinds)?;
    let sql = "SELECT id, kind, session, iif(?8, content || char(10) || tools || char(10) || files, '') FROM entries WHERE \
               (?1 IS NULL OR session = ?1) AND (?2 IS NULL OR mode = ?2) \
               AND (?3 = '[]' OR kind IN (SELECT value FROM json_each(?3))) \
               AND (?4 = '[]' OR id IN (SELECT value FROM json_each(?4))) \
               AND (?5 IS NULL OR timestamp >= ?5) AND (?6 IS NULL OR timestamp < ?6) AND (?7 IS NULL OR id > ?7) \
               ORDER BY id";
    let after = filter.after.map(|id| id.0);
    let text = filter.text.as_deref();
    let params = (session, filter.mode, kinds, ids, filter.since, filter.before, after, text.is_some());
    let mut question = conn.prepare_cached(sql)?;
    let mut rows = question.query(params)?;
    let mut found: Vec<(i64, Kind, i64)> = Vec::new();
    let mut shown = Vec::new();
    while let Some(row) = rows.next()? {
        let content = row.get_ref(3)?.as_str().unwrap_or_default();
        if text.is_none_or(|text| holds(content, text)) {
            if shown.len() < SHOWN && !content.is_empty() {
                shown.push(content.lines().next().unwrap_or_default().chars().take(BEGINNING).collect());
            }
            found.push((row.get(0)?, row.get(1)?, row.get(2)?));
        }
    }
    drop(rows);
    out.shown = shown;
    for (id, kind, session) in found {
        conn.prepare_cached("DELETE FROM entries WHERE id = ?1")?.execute([id])?;
        let sql = "DELETE FROM summaries WHERE session = ?1 AND ?2 BETWEEN first_entry AND last_entry";
        out.summaries += conn.prepare_cached(sql)?.execute((session, id))?;
        out.entries.entry(kind).or_default().push(EntryId(id));
    }
    Ok(())
}

/// Every row of every store, but for the tasks that are kept.
fn everything(conn: &Connection, filter: &Forget, out: &mut Forgotten) -> Result<()> {
    entries(conn, filter, None, out)?;
    of_projects(conn, filter, out)?;
    of_sessions(conn, filter, None, out)?;
    let unused = SESSION_TABLES.map(|table| format!("NOT EXISTS (SELECT 1 FROM {table} WHERE session = sessions.id)"));
    conn.execute(&format!("DELETE FROM sessions WHERE {}", unused.join(" AND ")), [])?;
    Ok(())
}

/// The rows of a project, or of all projects.
fn of_projects(conn: &Connection, filter: &Forget, out: &mut Forgotten) -> Result<()> {
    let project = filter.project.as_deref();
    let sql = "SELECT project, key, value FROM preferences WHERE (?1 IS NULL OR project = ?1)";
    let meant = sifted(conn, sql, [project], |row| {
        let (of, key, value) = (row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        let has = |text: &String| json_holds(&format!("{key} {value}"), text) || json_holds(&value, text);
        Ok(filter.text.as_ref().is_none_or(has).then_some((of, key)))
    })?;
    for (of, key) in meant {
        conn.prepare_cached("DELETE FROM preferences WHERE project = ?1 AND key = ?2")?.execute((of, &key))?;
        out.preferences.push(key);
    }

    let sql = "SELECT project, task, approach, note FROM learnings WHERE (?1 IS NULL OR project = ?1)";
    let meant = sifted(conn, sql, [project], |row| {
        let (of, content) = (row.get::<_, String>(0)?, [row.get::<_, String>(1)?, row.get(2)?, row.get(3)?]);
        let has = |text: &String| content.iter().any(|part| holds(part, text));
        let [task, approach, _] = &content;
        Ok(filter.text.as_ref().is_none_or(has).then(|| [of, task.clone(), approach.clone()]))
    })?;
    let sql = "DELETE FROM learnings WHERE project = ?1 AND task = ?2 AND approach = ?3";
    for row in meant {
        out.learnings += conn.prepare_cached(sql)?.execute(row)?;
    }
    Ok(())
}

/// The rows of a session besides entries, or of all sessions.
fn of_sessions(conn: &Connection, filter: &Forget, session: Option<i64>, out: &mut Forgotten) -> Result<()> {
    let json: Test = |content, text| json_holds(content, text);
    out.summaries += remove(conn, "summaries", "text", json, filter, session)?;
    let texts = "task || ' ' || subject || ' ' || reason || ' ' || detail";
    out.record.trace = remove(conn, "trace", texts, json, filter, session)? + traces(conn, filter, session)?;
    out.record.runs = remove(conn, "runs", "task", json, filter, session)?;
    forget_tasks::delete(conn, filter, session, out)
}

/// True if a content holds a text.
type Test = fn(&str, &str) -> bool;

/// Deletes the rows of a table with a session whose texts match; returns their number.
fn remove(
    conn: &Connection,
    table: &str,
    texts: &str,
    test: Test,
    filter: &Forget,
    session: Option<i64>,
) -> Result<usize> {
    let sql = format!("SELECT id, {texts} FROM {table} WHERE (?1 IS NULL OR session = ?1) AND id > ?2 ORDER BY id");
    let delete = format!("DELETE FROM {table} WHERE id = ?1");
    let mut gone = 0;
    in_pages(conn, &sql, session, |id, content| {
        if filter.text.as_ref().is_none_or(|text| test(content, text)) {
            gone += conn.prepare_cached(&delete)?.execute([id])?;
        }
        Ok(())
    })?;
    Ok(gone)
}

/// A trace goes as a whole if its request holds the text, otherwise entry by entry. Every entry counts, and a trace
/// with no entry left counts as one.
fn traces(conn: &Connection, filter: &Forget, session: Option<i64>) -> Result<usize> {
    let has = |content: &str| filter.text.as_ref().is_none_or(|text| holds(content, text));
    let mut gone = 0;
    let sql = "SELECT id, request FROM traced_tasks WHERE (?1 IS NULL OR session = ?1) AND id > ?2 ORDER BY id";
    in_pages(conn, sql, session, |id, request| {
        if has(request) {
            // Deleted by themselves and first: rows that go along with a task are not counted.
            let entries = conn.prepare_cached("DELETE FROM traced_entries WHERE traced = ?1")?.execute([id])?;
            conn.prepare_cached("DELETE FROM traced_tasks WHERE id = ?1")?.execute([id])?;
            gone += entries.max(1);
        }
        Ok(())
    })?;
    let sql = "SELECT id, about || ' ' || rule || ' ' || reason FROM traced_entries \
         WHERE (?1 IS NULL OR traced IN (SELECT id FROM traced_tasks WHERE session = ?1)) AND id > ?2 ORDER BY id";
    in_pages(conn, sql, session, |id, content| {
        if has(content) {
            gone += conn.prepare_cached("DELETE FROM traced_entries WHERE id = ?1")?.execute([id])?;
        }
        Ok(())
    })?;
    Ok(gone)
}
