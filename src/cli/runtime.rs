//! Builds the runtime that a subcommand works in.

use sextant_base::failure::{Failure, FailureKind};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

/// Threads that carry out the work; most of it waits for servers and models.
const THREADS: usize = 2;
/// Bytes of the stack of each thread, of which only the used part takes memory. A resumed plan whose edit compiles a
/// query of tree-sitter needs 2 MB without optimization, the default of tokio.
const STACK: usize = 8 << 20;

/// # Errors
/// The system gives no threads.
pub(super) fn start() -> Result<Runtime, Failure> {
    let built = Builder::new_multi_thread().worker_threads(THREADS).thread_stack_size(STACK).enable_all().build();
    built.map_err(|error| Failure::new(FailureKind::Internal, format!("no runtime: {error}"), "close some programs"))
}

/// Waits for a signal that ends this process: an interrupt or a termination. Without it a server that is busy would
/// outlive a terminated process.
pub(super) async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
