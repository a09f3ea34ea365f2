//! Receives Neovim's notifications: pieces of answers at once, commands one after another.
//!
//! nvim-rs runs notifications one after another, so nothing here may wait. Commands go into a queue of their own, or
//! two that come together could change places.

use std::sync::Arc;

use async_trait::async_trait;
use nvim_rs::{Handler, Neovim, Value};
use tokio::sync::mpsc;

use crate::door::NvimDoor;
use crate::lua_channel::ChannelWriter;

struct Order {
    name: String,
    json: String,
    nvim: Neovim<ChannelWriter>,
}

#[derive(Clone)]
pub(super) struct NvimMessages {
    door: Arc<NvimDoor>,
    orders: mpsc::UnboundedSender<Order>,
}

impl NvimMessages {
    /// Starts the task that carries out the commands in the order in which they were given.
    pub(super) fn new(door: Arc<NvimDoor>) -> Self {
        let (orders, mut queue) = mpsc::unbounded_channel::<Order>();
        let to = Arc::clone(&door);
        tokio::spawn(async move {
            while let Some(Order { name, json, nvim }) = queue.recv().await {
                let door = Arc::clone(&to);
                // The command runs in a task of its own, so that a panic costs only this command.
                if let Err(error) = tokio::spawn(async move { door.take(&name, &json, nvim).await }).await {
                    tracing::error!(%error, "a command ended in a panic");
                }
            }
        });
        Self { door, orders }
    }
}

#[async_trait]
impl Handler for NvimMessages {
    type Writer = ChannelWriter;

    async fn handle_request(
        &self,
        name: String,
        _args: Vec<Value>,
        _nvim: Neovim<ChannelWriter>,
    ) -> Result<Value, Value> {
        // The Lua layer never asks by request: Neovim would wait for the answer with its main loop.
        Err(Value::from(format!("sextant answers notifications only, not {name}")))
    }

    async fn handle_notify(&self, name: String, args: Vec<Value>, nvim: Neovim<ChannelWriter>) {
        if name == "reply" {
            if let Some(channel) = self.door.channel() {
                channel.take_piece(&args);
            }
            return;
        }
        let json = args.first().and_then(Value::as_str).unwrap_or("{}").to_owned();
        // The receiver of the queue is gone only while the process ends.
        let _ = self.orders.send(Order { name, json, nvim });
    }
}
