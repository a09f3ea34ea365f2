//! Which rows a forgetting takes, store by store, within one transaction.

use rusqlite::Connection;
use serde_json::Value;

use crate::memory::entries::known_session;
use crate::memory::entry::{EntryId, Kind};
use crate::memory::error::Result;
use crate::memory::forget::{Forget, Forgotten, tasks};
use crate::memory::store;

/// The tables with a column of this name.
const SESSION_TABLES: [&str; 7] = ["entries", "summaries", "trace", "traced_tasks", "runs", "checkpoints", "tasks"];

/// Entries whose beginning is told, and characters of each.
const SHOWN: usize = 5;
const BEGINNING: usize = 80;

/// Whether a text holds a part of one, in any case and across any white space.
pub(in crate::memory) fn holds(text: &str, part: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let (lower, part) = (text.to_lowercase(), plain(part));
    lower.contains(&part) || part.contains(' ') && plain(text).contains(&part)
}

/// The same of JSON, also inside of its strings, where a quote or a line end is written otherwise.
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

/// What belongs to a project, or to all of them.
fn of_projects(conn: &Connection, filter: &Forget, out: &mut Forgotten) -> Result<()> {
    let project = filter.project.as_deref();
    let remove = |table: &str, shown: &str, texts: &str| -> Result<Vec<String>> {
        let value = if table == "preferences" { "value" } else { "''" };
        let sql = format!("SELECT project, {shown}, {texts}, {value} FROM {table} WHERE (?1 IS NULL OR project = ?1)");
        let rows = store::all(conn, &sql, [project], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
        })?;
        let mut removed = Vec::new();
        for (of, name, content, value) in rows {
            if filter.text.as_ref().is_none_or(|text| json_holds(&content, text) || json_holds(&value, text)) {
                let sql = format!("DELETE FROM {table} WHERE project = ?1 AND {shown} = ?2");
                if conn.prepare_cached(&sql)?.execute((of, &name))? > 0 {
                    removed.push(name);
                }
            }
        }
        Ok(removed)
    };
    out.preferences = remove("preferences", "key", "key || ' ' || value")?;
    out.files = remove("project_files", "path", "path")?;
    out.commands = remove("project_commands", "name", "name || ' ' || command || ' ' || found_in")?;

    let sql = "SELECT project, task, approach, note FROM learnings WHERE (?1 IS NULL OR project = ?1)";
    let rows =
        store::all(conn, sql, [project], |row| Ok([row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    for [of, task, approach, note] in rows {
        let content = [task.as_str(), approach.as_str(), note.as_str()];
        if filter.text.as_ref().is_none_or(|text| content.iter().any(|part| holds(part, text))) {
            let sql = "DELETE FROM learnings WHERE project = ?1 AND task = ?2 AND approach = ?3";
            out.learnings += conn.prepare_cached(sql)?.execute((&of, &task, &approach))?;
        }
    }
    Ok(())
}

/// What a session left besides entries, or all of them.
fn of_sessions(conn: &Connection, filter: &Forget, session: Option<i64>, out: &mut Forgotten) -> Result<()> {
    let remove = |table: &str, texts: &str| -> Result<Vec<i64>> {
        let sql = format!("SELECT id, {texts} FROM {table} WHERE (?1 IS NULL OR session = ?1)");
        let rows = store::all(conn, &sql, [session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
        let gone: Vec<i64> = rows
            .into_iter()
            .filter(|(_, content)| filter.text.as_ref().is_none_or(|text| json_holds(content, text)))
            .map(|(id, _)| id)
            .collect();
        for id in &gone {
            conn.prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))?.execute([id])?;
        }
        Ok(gone)
    };
    out.summaries += remove("summaries", "text")?.len();
    out.trace = remove("trace", "task || ' ' || subject || ' ' || reason || ' ' || detail")?.len();
    out.trace += traces(conn, filter, session)?;
    out.runs = remove("runs", "task")?.len();
    tasks::delete(conn, filter, session, out)
}

/// A trace goes as a whole where its request holds the text, otherwise entry by entry.
fn traces(conn: &Connection, filter: &Forget, session: Option<i64>) -> Result<usize> {
    let sql = "SELECT traced_entries.id, traced, request, about || ' ' || rule || ' ' || reason FROM traced_entries \
               JOIN traced_tasks ON traced_tasks.id = traced WHERE (?1 IS NULL OR session = ?1)";
    let rows = store::all(conn, sql, [session], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    })?;
    let mut gone = 0;
    for (id, traced, request, content) in rows {
        let has = |content: &str| filter.text.as_ref().is_none_or(|text| holds(content, text));
        if has(&request) || has(&content) {
            gone += conn.prepare_cached("DELETE FROM traced_entries WHERE id = ?1")?.execute([id])?;
        }
        if has(&request) {
            conn.prepare_cached("DELETE FROM traced_tasks WHERE id = ?1")?.execute([traced])?;
        }
    }
    Ok(gone)
}
