//! The address and the key of a model; missing settings are reported before any call.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};
use url::Url;

use crate::model_options::{Api, Manner};
use sextant_base::failure::{Failure, FailureKind};

/// A provider of models: its name, its own address and its key. Each stands in the file of its dialect, and
/// `src/model/dialect.rs` lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider(pub(crate) &'static ProviderFacts);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProviderFacts {
    /// The name in a configuration.
    pub(crate) name: &'static str,
    /// Other spellings of the name.
    pub(crate) aliases: &'static [&'static str],
    /// The provider's own address, if it has one.
    pub(crate) home: Option<&'static str>,
    /// The path of the API at a server that is given without a path.
    pub(crate) api_path: &'static str,
    /// The variable in which the provider's own documentation keeps the key.
    pub(crate) key_variable: Option<&'static str>,
    /// True if other servers that speak the dialect want a key too.
    pub(crate) always_needs_key: bool,
}

impl Provider {
    pub fn name(self) -> &'static str {
        self.0.name
    }
}

/// The connection to one model. Unknown names are refused, so that a misspelt one is not silently without effect.
#[derive(Clone, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct RemoteConfig {
    pub provider: Provider,
    /// The model's name as the provider writes it.
    pub model: String,
    /// Needed for `openai_compatible`; elsewhere it replaces the provider's own address.
    #[serde(default)]
    pub base_url: Option<String>,
    #[serde(default)]
    pub api_key: Option<String>,
    /// The environment variable to take the key from.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Seconds without a byte after which a call is given up, 1 or more; the wait for the first byte counts too.
    #[serde(default = "RemoteConfig::default_stall_seconds")]
    pub stall_seconds: u64,
    /// Seconds after which a question is given up in any case, its attempts together, 1 or more.
    #[serde(default = "RemoteConfig::default_total_seconds")]
    pub total_seconds: u64,
    /// Attempts in all while nothing of the answer has come, 1 or more.
    #[serde(default = "RemoteConfig::default_max_attempts")]
    pub max_attempts: u32,
    /// Tokens that one answer may have; a model that thinks aloud first spends them on that too. Without it as many as
    /// whole files need, and never more than half of the model's context.
    #[serde(default)]
    pub max_tokens: Option<u32>,
    /// The style of the talk: its options stand beside the others.
    #[serde(skip)]
    pub manner: Manner,
}

impl<'de> Deserialize<'de> for RemoteConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (manner, reach): (Map<String, Value>, Map<String, Value>) = Map::deserialize(deserializer)?
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .partition(|(name, _)| Manner::OPTIONS.contains(&name.as_str()));
        let mut config = Self::deserialize(Value::Object(reach)).map_err(de::Error::custom)?;
        config.manner = serde_json::from_value(Value::Object(manner)).map_err(de::Error::custom)?;
        Ok(config)
    }
}

impl RemoteConfig {
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key: None,
            api_key_env: None,
            stall_seconds: Self::default_stall_seconds(),
            total_seconds: Self::default_total_seconds(),
            max_attempts: Self::default_max_attempts(),
            max_tokens: None,
            manner: Manner::default(),
        }
    }

    fn default_stall_seconds() -> u64 {
        60
    }

    /// A slow model on this machine writes the longest answer in half of it.
    fn default_total_seconds() -> u64 {
        3600
    }

    fn default_max_attempts() -> u32 {
        4
    }
}

impl fmt::Debug for RemoteConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteConfig")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("base_url", &self.base_url.as_deref().map(shown))
            .field("api_key", &self.api_key.as_ref().map(|_| "(hidden)"))
            .field("api_key_env", &self.api_key_env)
            .field("stall_seconds", &self.stall_seconds)
            .field("total_seconds", &self.total_seconds)
            .field("max_attempts", &self.max_attempts)
            .field("max_tokens", &self.max_tokens)
            .field("manner", &self.manner)
            .finish()
    }
}

/// A configuration that has been checked.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: Provider,
    pub model: String,
    /// Its path ends in `/`.
    pub base_url: String,
    /// The address as it may be shown: no user, no query.
    pub shown: String,
    pub key: Option<ApiKey>,
    /// True if the server runs on this machine; it is then reached past any proxy.
    pub local: bool,
    pub tls: bool,
    /// True if this is the provider's own address.
    pub home: bool,
    pub api: Api,
}

/// A key that cannot be printed by accident.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Removes the key from a text that somebody else wrote.
    pub fn hide_in(&self, text: &str) -> String {
        text.replace(&self.0, "(key)")
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(hidden)")
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({} {} at {})", self.provider.name(), self.model, self.shown)
    }
}

/// Checks a configuration. `env` looks up an environment variable. The provider's usual variable is asked only for the
/// provider's own address: its key must not go to another server unless the user sets that.
pub fn resolve(config: &RemoteConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Endpoint, Failure> {
    let provider = config.provider;
    let model = config.model.trim().to_owned();
    if model.is_empty() {
        return Err(wrong("no model is named", "set `model` under `[model]`"));
    }
    let least = config.stall_seconds.min(config.total_seconds).min(config.max_attempts.into());
    if least.min(config.max_tokens.unwrap_or(1).into()) == 0 {
        let names = "`stall_seconds`, `total_seconds`, `max_attempts` and `max_tokens`";
        return Err(wrong(format!("{names} must be 1 or more"), "or leave them out"));
    }
    config.manner.check(provider)?;
    let given = config.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
    let url = match (given, provider.0.home) {
        (Some(given), _) => parse(given, provider)?,
        (None, Some(home)) => parse(home, provider)?,
        (None, None) => {
            return Err(wrong(
                format!("`{}` has no address of its own", provider.name()),
                "set `base_url`, for example http://127.0.0.1:8080/v1",
            ));
        }
    };
    let key = key(config, given.is_some(), env)?;
    let local = match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(url::Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    };
    let tls = url.scheme() == "https";
    let home = given.is_none() && provider.0.home.is_some();
    let (shown, api) = (shown(url.as_str()), config.manner.api.unwrap_or_default());
    Ok(Endpoint { provider, model, shown, base_url: url.into(), key, local, tls, home, api })
}

fn key(
    config: &RemoteConfig,
    elsewhere: bool,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ApiKey>, Failure> {
    let provider = config.provider;
    let clean = |key: String| Some(key.trim().to_owned()).filter(|key| !key.is_empty());
    let found = match (config.api_key.clone().and_then(clean), &config.api_key_env) {
        (Some(key), _) => Some(key),
        (None, Some(name)) => Some(env(name).and_then(clean).ok_or_else(|| {
            wrong(format!("the environment variable {name} holds no key"), "set it, or take `api_key_env` out")
        })?),
        (None, None) if elsewhere => None,
        (None, None) => provider.0.key_variable.and_then(env).and_then(clean),
    };
    match (&found, provider.0.key_variable) {
        (None, Some(variable)) if !elsewhere => {
            Err(wrong(format!("there is no key for {}", provider.name()), format!("set {variable} or `api_key_env`")))
        }
        (None, Some(_)) if provider.0.always_needs_key => {
            Err(wrong(format!("there is no key for {}", provider.name()), "set `api_key_env` or `api_key`"))
        }
        (Some(key), _) if !key.bytes().all(|b| b.is_ascii_graphic()) => {
            Err(wrong("the key holds blanks or characters beyond ASCII", "copy it again"))
        }
        _ => Ok(found.map(ApiKey)),
    }
}

fn parse(text: &str, provider: Provider) -> Result<Url, Failure> {
    let hint = "write it as http://127.0.0.1:8080/v1 or https://…";
    let mut url = Url::parse(text).map_err(|e| wrong(format!("`base_url` is not a URL: {e}"), hint))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("`base_url` must begin with http:// or https://", hint));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("`base_url` holds a user name or password", "use `api_key_env` for secrets"));
    }
    let path = match url.path().trim_end_matches('/') {
        // The address of a server rather than of its API.
        "" => provider.0.api_path.to_owned(),
        path => format!("{}/", path.trim_end_matches("/chat/completions").trim_end_matches("/responses")),
    };
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// Scheme, host, port and path.
fn shown(url: &str) -> String {
    let Ok(mut url) = Url::parse(url) else { return "(not a URL)".to_owned() };
    url.set_query(None);
    // Both fail only for a URL that can have neither.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    String::from(url).trim_end_matches('/').to_owned()
}

pub(crate) fn wrong(message: impl Into<String>, hint: impl Into<sextant_base::hint::Hint>) -> Failure {
    Failure::new(FailureKind::Config, message, hint)
}

#[cfg(test)]
mod tests;
