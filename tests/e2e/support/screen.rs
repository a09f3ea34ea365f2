//! What a user sees: the cells that Neovim draws for a terminal of 80 columns and 24 lines.

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
    rows: Arc<Mutex<Vec<Vec<String>>>>,
    drawn: Arc<Notify>,
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
            "grid_resize" => *rows = vec![vec![" ".to_owned(); at(1)]; at(2)],
            "grid_clear" => rows.iter_mut().flatten().for_each(|cell| " ".clone_into(cell)),
            "grid_line" => line(&mut rows, at(1), at(2), event.get(3).and_then(Value::as_array)),
            "grid_scroll" => {
                let by = event.get(5).and_then(Value::as_i64).unwrap_or(0);
                scroll(&mut rows, at(1), at(2), at(3), at(4), by);
            }
            _ => {}
        }
    }

    /// All of the screen, a line each, without the blanks at their ends.
    pub fn text(&self) -> String {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.iter().fold(String::new(), |mut out, row| {
            let _ = writeln!(out, "{}", row.concat().trim_end());
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

    async fn until(&self, what: &str, holds: impl Fn(&str) -> bool) {
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
fn line(rows: &mut [Vec<String>], row: usize, column: usize, cells: Option<&Vec<Value>>) {
    let Some(row) = rows.get_mut(row) else { return };
    let mut at = column;
    for cell in cells.into_iter().flatten().filter_map(Value::as_array) {
        let text = cell.first().and_then(Value::as_str).unwrap_or_default();
        let times = if cell.len() > 2 { number(cell.get(2)) } else { 1 };
        for _ in 0..times {
            if let Some(place) = row.get_mut(at) {
                text.clone_into(place);
            }
            at += 1;
        }
    }
}

/// Moves a region up by so many rows, or down where the number is negative.
fn scroll(rows: &mut [Vec<String>], top: usize, bottom: usize, left: usize, right: usize, by: i64) {
    let before = rows.to_vec();
    for (index, row) in rows.iter_mut().enumerate().take(bottom).skip(top) {
        let from = i64::try_from(index).unwrap_or(0) + by;
        let Ok(from) = usize::try_from(from) else { continue };
        if (top..bottom).contains(&from) {
            row[left..right].clone_from_slice(&before[from][left..right]);
        }
    }
}
