//! Writes one direction: messages are queued at once and written in order, on a thread of its own.

use std::collections::VecDeque;
use std::io::Write;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde::Serialize;

use sextant_diagnostics::server::content_length;

enum Queued {
    Message(Vec<u8>),
    Part { bytes: Vec<u8>, last: bool },
    Close,
}

/// The queue for messages. No call waits; messages that can no longer be written are dropped.
#[derive(Clone, Debug)]
pub(super) struct Outlet(Sender<Queued>);

impl Outlet {
    /// Starts the writer; `done` is signalled when it writes nothing more.
    pub(super) fn start(name: &str, out: impl Write + Send + 'static) -> std::io::Result<(Self, Receiver<()>)> {
        let (sender, queue) = mpsc::channel();
        let (done, ended) = mpsc::channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || {
            write(out, &queue);
            let _ = done.send(());
        })?;
        Ok((Self(sender), ended))
    }

    /// A message with its header.
    pub(super) fn raw(&self, bytes: Vec<u8>) {
        let _ = self.0.send(Queued::Message(bytes));
    }

    pub(super) fn part(&self, bytes: Vec<u8>, last: bool) {
        let _ = self.0.send(Queued::Part { bytes, last });
    }

    /// A message of Sextant's own.
    pub(super) fn json(&self, message: &impl Serialize) {
        // Every message here can be JSON: its keys are strings.
        self.raw(content_length::encode(&serde_json::to_vec(message).unwrap_or_default()));
    }

    /// Closes the queue; everything before this is still written.
    pub(super) fn close(&self) {
        let _ = self.0.send(Queued::Close);
    }
}

fn write(mut out: impl Write, queue: &Receiver<Queued>) {
    let mut held = VecDeque::new();
    let mut inside = false;
    while let Ok(queued) = queue.recv() {
        let written = match queued {
            Queued::Message(bytes) if inside => {
                held.push_back(bytes);
                Ok(())
            }
            Queued::Message(bytes) => out.write_all(&bytes),
            Queued::Part { bytes, last } => {
                inside = !last;
                let mut written = out.write_all(&bytes);
                while let Some(bytes) = if last { held.pop_front() } else { None } {
                    written = written.and_then(|()| out.write_all(&bytes));
                }
                written
            }
            Queued::Close => return,
        };
        if written.and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use sextant_base::lock::lock;

    #[derive(Clone, Default)]
    struct ProxyState(Arc<Mutex<Vec<u8>>>);

    impl Write for ProxyState {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            lock(&self.0).extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nothing_is_written_into_a_message_that_goes_through_in_parts() {
        let out = ProxyState::default();
        let (outlet, done) = Outlet::start("test", out.clone()).unwrap();
        outlet.part(b"<a".to_vec(), false);
        outlet.raw(b"[1]".to_vec());
        outlet.part(b"b".to_vec(), false);
        outlet.raw(b"[2]".to_vec());
        outlet.part(b"c>".to_vec(), true);
        outlet.raw(b"[3]".to_vec());
        outlet.close();
        done.recv().unwrap();
        assert_eq!(String::from_utf8(lock(&out.0).clone()).unwrap(), "<abc>[1][2][3]");
    }
}
