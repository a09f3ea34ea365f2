//! Serves a session on a port of this machine: the Host, the Origin and the token are checked before anything else.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use http_body_util::Full;
use hyper::HeaderMap;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, HeaderValue, ORIGIN};
use hyper::{Request, Response, StatusCode};
use jsonrpsee::server::HttpBody;
use tokio::net::TcpListener;
use tower::Service;

use crate::waiting_peers;
use sextant_base::access_token;

/// The guard: only the names of this machine may come in, no page of a browser, with the token.
#[derive(Clone, Debug)]
pub(super) struct PortGuard {
    hosts: Arc<[String; 2]>,
    token: Arc<str>,
}

/// A free port.
///
/// # Errors
/// There is no free port.
pub(super) fn listen() -> io::Result<(TcpListener, SocketAddr)> {
    let listener = waiting_peers::listen(0)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

impl PortGuard {
    pub(super) fn new(address: SocketAddr, token: &str) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", address.port()));
        Self { hosts: Arc::new(hosts), token: token.into() }
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// The reason why a request is refused, by its head alone.
    fn refusal(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        let one = |name| {
            let mut values = headers.get_all(name).iter();
            let first = values.next().and_then(|value| value.to_str().ok());
            if values.next().is_some() { None } else { first }
        };
        // A foreign name that leads to this machine belongs to a page of another site.
        if !one(HOST).is_some_and(|host| self.hosts.iter().any(|known| known == host)) {
            return Some((StatusCode::FORBIDDEN, "this host is not served here"));
        }
        if headers.contains_key(ORIGIN) {
            return Some((StatusCode::FORBIDDEN, "no page of a browser is served here"));
        }
        let given = one(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !access_token::same(given, &self.token) {
            return Some((StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN"));
        }
        None
    }
}

/// Asks the guard before the service of a connection.
#[derive(Clone)]
pub(super) struct Guarded<S> {
    pub(super) guard: PortGuard,
    pub(super) inner: S,
}

impl<S> Service<Request<Incoming>> for Guarded<S>
where
    S: Service<Request<Incoming>, Response = Response<HttpBody>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        if let Some((status, why)) = self.guard.refusal(request.headers()) {
            tracing::warn!(why, "a connection to the port was refused");
            let mut answer = Response::new(HttpBody::new(Full::new(Bytes::from_static(why.as_bytes()))));
            *answer.status_mut() = status;
            // A refused connection keeps no place.
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return Box::pin(std::future::ready(Ok(answer)));
        }
        Box::pin(self.inner.call(request))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn who_lacks_the_token_or_comes_from_a_page_is_turned_away() {
        let guard = PortGuard::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)), "secret");
        let refused = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in pairs {
                headers.append(*name, value.parse().unwrap());
            }
            guard.refusal(&headers).map(|(status, _)| status.as_u16())
        };
        let (host, token) = (("host", "127.0.0.1:4000"), ("authorization", "Bearer secret"));
        assert_eq!(refused(&[host, token]), None);
        assert_eq!(refused(&[("host", "localhost:4000"), token]), None);
        assert_eq!(refused(&[host]), Some(401));
        for wrong in ["Bearer secre", "Bearer secret2", "bearer secret", "secret", ""] {
            assert_eq!(refused(&[host, ("authorization", wrong)]), Some(401), "{wrong}");
        }
        assert_eq!(refused(&[host, token, token]), Some(401), "which of two counts is not guessed");
        for wrong in ["evil.example", "evil.example:4000", "127.0.0.1", "127.0.0.1:4001", "localhost:4000.evil", ""] {
            assert_eq!(refused(&[("host", wrong), token]), Some(403), "{wrong}");
        }
        assert_eq!(refused(&[token]), Some(403));
        assert_eq!(refused(&[host, ("host", "evil.example"), token]), Some(403));
        for origin in ["http://evil.example", "null", "http://127.0.0.1:4000"] {
            assert_eq!(refused(&[host, token, ("origin", origin)]), Some(403), "{origin}");
        }
    }
}
