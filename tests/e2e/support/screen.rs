//! What a user sees: the cells that Neovim draws for a terminal of 80 columns and 24 lines.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nvim_rs::Value;
use tokio::sync::Notify;

pub const COLUMNS: usize = 80;
pub const LINES: usize = 24;

/// Generous: real servers start cold on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A grid that follows Neovim's `redraw` events (`:help ui-linegrid`). Cheap to share.
#[derive(Clone, Default)]
pub struct Screen {
    rows: Arc<Mutex<Vec<Vec<Cell>>>>,
    /// The groups of each highlight, the topmost last (`:help ui-hlstate`).
    groups: Arc<Mutex<HashMap<u64, Vec<String>>>>,
    drawn: Arc<Notify>,
}

#[derive(Clone)]
struct Cell {
    text: String,
    highlight: u64,
}

impl Cell {
    fn blank() -> Self {
        Self { text: " ".to_owned(), highlight: 0 }
    }
}

fn number(value: Option<&Value>) -> usize {
    value.and_then(Value::as_i64).and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
}

impl Screen {
    /// Takes one `redraw` notification.
    pub fn draw(&self, batches: &[Value]) {
        for batch in batches.iter().filter_map(Value::as_array) {
            let name = batch.first().and_then(Value::as_str).unwrap_or_default();
            for event in batch.iter().skip(1).filter_map(Value::as_array) {
                self.take(name, event);
            }
        }
        self.drawn.notify_waiters();
    }

    fn take(&self, name: &str, event: &[Value]) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |index: usize| number(event.get(index));
        match name {
            "hl_attr_define" => self.define(at(0) as u64, event.get(3).and_then(Value::as_array)),
            "grid_resize" => *rows = vec![vec![Cell::blank(); at(1)]; at(2)],
            "grid_clear" => rows.iter_mut().flatten().for_each(|cell| *cell = Cell::blank()),
            "grid_line" => line(&mut rows, at(1), at(2), event.get(3).and_then(Value::as_array)),
            "grid_scroll" => {
                let by = event.get(5).and_then(Value::as_i64).unwrap_or(0);
                scroll(&mut rows, at(1), at(2), at(3), at(4), by);
            }
            _ => {}
        }
    }

    fn define(&self, id: u64, parts: Option<&Vec<Value>>) {
        let of = |part: &Value| {
            let fields = part.as_map()?;
            let field = |name: &str| fields.iter().find(|(key, _)| key.as_str() == Some(name))?.1.as_str();
            (field("kind") == Some("syntax")).then(|| field("hi_name").unwrap_or_default().to_owned())
        };
        let names = parts.into_iter().flatten().filter_map(of).collect();
        self.groups.lock().unwrap_or_else(PoisonError::into_inner).insert(id, names);
    }

    /// The coloured parts of texts, a line each: `row Group "text"`. A group that links to another has the other's name.
    /// Without the last row, which is that of Neovim's messages.
    pub fn coloured(&self) -> String {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let own = |cell: &Cell| groups.get(&cell.highlight)?.last();
        let mut out = String::new();
        for (row, cells) in rows.iter().enumerate().take(rows.len().saturating_sub(1)) {
            for run in cells.chunk_by(|one, other| own(one) == own(other)) {
                let text: String = run.iter().map(|cell| cell.text.as_str()).collect();
                if let Some(group) = own(&run[0]) {
                    let _ = writeln!(out, "{} {group} {:?}", row + 1, text.trim_end());
                }
            }
        }
        out
    }

    /// All of the screen, a line each, without the blanks at their ends.
    pub fn text(&self) -> String {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.iter().fold(String::new(), |mut out, row| {
            let text: String = row.iter().map(|cell| cell.text.as_str()).collect();
            let _ = writeln!(out, "{}", text.trim_end());
            out
        })
    }

    /// Waits until this stands on the screen.
    pub async fn shows(&self, text: &str) {
        self.until(text, |screen| screen.contains(text)).await;
    }

    /// Waits until this stands on the screen no more.
    pub async fn hides(&self, text: &str) {
        self.until(text, |screen| !screen.contains(text)).await;
    }

    /// Waits until this holds of the screen.
    pub async fn until(&self, what: &str, holds: impl Fn(&str) -> bool) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let drawn = self.drawn.notified();
            tokio::pin!(drawn);
            drawn.as_mut().enable();
            let text = self.text();
            if holds(&text) {
                return;
            }
            assert!(!text.contains("Press ENTER"), "a prompt is up:\n{text}");
            let waited = tokio::time::timeout_at(deadline, drawn).await;
            assert!(waited.is_ok(), "{what}: the screen stays\n{}", self.text());
        }
    }
}

/// Cells are `[text, highlight?, repeat?]`.
fn line(rows: &mut [Vec<Cell>], row: usize, column: usize, cells: Option<&Vec<Value>>) {
    let Some(row) = rows.get_mut(row) else { return };
    let (mut at, mut highlight) = (column, 0);
    for cell in cells.into_iter().flatten().filter_map(Value::as_array) {
        let text = cell.first().and_then(Value::as_str).unwrap_or_default();
        highlight = cell.get(1).and_then(Value::as_u64).unwrap_or(highlight);
        let times = if cell.len() > 2 { number(cell.get(2)) } else { 1 };
        for _ in 0..times {
            if let Some(place) = row.get_mut(at) {
                *place = Cell { text: text.to_owned(), highlight };
            }
            at += 1;
        }
    }
}

/// Moves a region up by so many rows, or down where the number is negative.
fn scroll(rows: &mut [Vec<Cell>], top: usize, bottom: usize, left: usize, right: usize, by: i64) {
    let before = rows.to_vec();
    for (index, row) in rows.iter_mut().enumerate().take(bottom).skip(top) {
        let from = i64::try_from(index).unwrap_or(0) + by;
        let Ok(from) = usize::try_from(from) else { continue };
        if (top..bottom).contains(&from) {
            row[left..right].clone_from_slice(&before[from][left..right]);
        }
    }
}
