//! Limits the cost of one client to a session: sizes, connections, requests a second, subscriptions.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jsonrpsee::server::middleware::rpc::{Batch, MethodResponse, Notification, Request, RpcServiceT};
use jsonrpsee::server::{BatchRequestConfig, PingConfig, ServerConfig};
use jsonrpsee::types::ErrorObjectOwned;

use crate::json_values;
use crate::rpc::rpc_failure::{self, CallError};
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::lock::lock;

/// Bytes of a request: a file's new text has to fit.
pub(super) const REQUEST: u32 = 16 << 20;
/// Bytes of an answer or an event.
pub(super) const RESPONSE: u32 = 32 << 20;
pub(super) const CONNECTIONS: u32 = 128;
const SUBSCRIPTIONS: u32 = 8;
/// Events that wait for a slow reader. Further events stay in the stream, which resynchronises a reader that falls
/// behind.
const WAITING: u32 = 64;
/// Requests at once, and a second, of one connection.
const BURST: f64 = 2000.0;
const A_SECOND: f64 = 1000.0;

pub(super) fn config() -> ServerConfig {
    ServerConfig::builder()
        .max_request_body_size(REQUEST)
        .max_response_body_size(RESPONSE)
        .max_connections(CONNECTIONS)
        .max_subscriptions_per_connection(SUBSCRIPTIONS)
        .set_message_buffer_capacity(WAITING)
        .set_batch_request_config(BatchRequestConfig::Disabled)
        // The socket of a peer that hangs must not stay for ever.
        .enable_ws_ping(
            PingConfig::new().ping_interval(Duration::from_secs(30)).inactive_limit(Duration::from_secs(300)),
        )
        .build()
}

/// The number of requests that a connection may still make: refilled with time.
#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * A_SECOND).min(BURST);
        self.at = now;
        if self.left < 1.0 {
            return false;
        }
        self.left -= 1.0;
        true
    }
}

/// The requests that one connection may still make, over all its methods.
#[derive(Clone, Debug)]
pub(super) struct Rate(Arc<Mutex<Bucket>>);

impl Default for Rate {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Bucket { left: BURST, at: Instant::now() })))
    }
}

/// Holds the requests of one connection against its rate.
#[derive(Clone, Debug)]
pub(super) struct Rated<S> {
    inner: S,
    rate: Rate,
}

impl<S> Rated<S> {
    pub(super) fn new(inner: S, rate: Rate) -> Self {
        Self { inner, rate }
    }
}

impl<S> RpcServiceT for Rated<S>
where
    S: RpcServiceT<MethodResponse = MethodResponse> + Send + Sync,
{
    type MethodResponse = MethodResponse;
    type NotificationResponse = S::NotificationResponse;
    type BatchResponse = S::BatchResponse;

    fn call<'a>(&self, request: Request<'a>) -> impl Future<Output = Self::MethodResponse> + Send + 'a {
        let is_large = request.params().as_str().is_some_and(|given| json_values::are_too_many(given.as_bytes()));
        let refused =
            if !lock(&self.rate.0).take(Instant::now()) { Some(too_many()) } else { is_large.then(too_many_values) };
        let (id, method) = (request.id().into_owned(), request.method_name().to_owned());
        let called = refused.map_or_else(|| Ok(self.inner.call(request)), Err);
        async move {
            match called {
                Ok(called) => {
                    let answer = called.await;
                    let error = answer.as_error_code();
                    match error.and_then(|code| rpc_failure::of_protocol(&method, code, answer.as_json().get())) {
                        Some(error) => MethodResponse::error(id, error),
                        None => answer,
                    }
                }
                Err(refused) => MethodResponse::error(id, ErrorObjectOwned::from(CallError::from(refused))),
            }
        }
    }

    fn batch<'a>(&self, batch: Batch<'a>) -> impl Future<Output = Self::BatchResponse> + Send + 'a {
        self.inner.batch(batch)
    }

    fn notification<'a>(
        &self,
        notification: Notification<'a>,
    ) -> impl Future<Output = Self::NotificationResponse> + Send + 'a {
        self.inner.notification(notification)
    }
}

fn too_many() -> Failure {
    let message = format!("more than {A_SECOND} requests a second");
    Failure::new(FailureKind::Limit, message, "wait a moment, then go on more slowly")
}

fn too_many_values() -> Failure {
    let message = json_values::limit();
    Failure::new(FailureKind::Limit, message, "make several calls of it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_much_waits_and_no_longer() {
        let start = Instant::now();
        let mut bucket = Bucket { left: BURST, at: start };
        let taken = (0..5000).filter(|_| bucket.take(start)).count();
        assert_eq!(taken, 2000);
        let later = start + Duration::from_millis(100);
        assert_eq!((0..5000).filter(|_| bucket.take(later)).count(), 100);
        let much_later = start + Duration::from_secs(3600);
        assert_eq!((0..5000).filter(|_| bucket.take(much_later)).count(), 2000, "never more than a burst");
    }
}
