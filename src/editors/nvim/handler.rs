//! What Neovim sends: pieces of answers at once, commands as tasks of their own.
//!
//! nvim-rs runs notifications one after another, so nothing here may wait.

use std::sync::Arc;

use async_trait::async_trait;
use nvim_rs::{Handler, Neovim, Value};

use crate::editors::nvim::channel::Writer;
use crate::editors::nvim::door::Door;

#[derive(Clone)]
pub(super) struct Incoming {
    pub(super) door: Arc<Door>,
}

#[async_trait]
impl Handler for Incoming {
    type Writer = Writer;

    async fn handle_request(&self, name: String, _args: Vec<Value>, _nvim: Neovim<Writer>) -> Result<Value, Value> {
        // Nothing of ours asks by request: Neovim would wait for the answer with its main loop.
        Err(Value::from(format!("sextant answers notifications only, not {name}")))
    }

    async fn handle_notify(&self, name: String, args: Vec<Value>, nvim: Neovim<Writer>) {
        if name == "reply" {
            if let Some(channel) = self.door.channel() {
                channel.take_piece(&args);
            }
            return;
        }
        let json = args.first().and_then(Value::as_str).unwrap_or("{}").to_owned();
        let door = Arc::clone(&self.door);
        tokio::spawn(async move { door.take(&name, &json, nvim).await });
    }
}
