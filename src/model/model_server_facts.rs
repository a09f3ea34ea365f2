//! Asks a model's server for the model's facts: once, within two seconds, and optional if the server is silent.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::abilities::ReportedAbilities;
use crate::dialect;
use crate::endpoint::{Endpoint, Provider};

/// The time of all requests together.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time within which a large model is read from a slow disk.
const LOADING: Duration = Duration::from_secs(300);
/// Bytes of an answer that are read; the longest lists of models have some hundred thousand.
const ANSWER_BYTES: usize = 4 << 20;
/// Tokens below which a number is not the context of a model in use, and above which it is not believed.
const CONTEXTS: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// Asks the servers that report their models. The table covers the providers' own addresses.
pub(crate) async fn ask(web: &Client, endpoint: &Endpoint) -> ReportedAbilities {
    let asked = async {
        match endpoint.provider {
            Provider::OLLAMA => ollama(web, endpoint).await,
            Provider::COMPATIBLE => openai(web, endpoint).await,
            Provider::OPENAI if !endpoint.home => openai(web, endpoint).await,
            _ => ReportedAbilities::default(),
        }
    };
    let facts = timeout(PATIENCE, asked).await.unwrap_or_default();
    tracing::debug!(?facts, "the model's facts from its server");
    facts
}

/// The context of the loaded model replaces the model's largest: Ollama's OpenAI API gives it no other.
async fn ollama(web: &Client, endpoint: &Endpoint) -> ReportedAbilities {
    let name = json!({"model": endpoint.model});
    let show = async { fetch(web.post(root(endpoint, "api/show")?).body(name.to_string()), endpoint).await };
    let loaded = async { fetch(web.get(root(endpoint, "api/ps")?), endpoint).await };
    let (show, loaded) = tokio::join!(show, loaded);
    of_ollama(&endpoint.model, &show.unwrap_or_default(), &loaded.unwrap_or_default())
}

fn of_ollama(model: &str, show: &Value, loaded: &Value) -> ReportedAbilities {
    let tagged = if model.contains(':') { model.to_owned() } else { format!("{model}:latest") };
    let running = loaded["models"].as_array().into_iter().flatten().find(|entry| {
        [&entry["model"], &entry["name"]].into_iter().any(|name| *name == model || *name == tagged.as_str())
    });
    let now = running.and_then(|entry| tokens(&entry["context_length"]));
    let parameters = show["parameters"].as_str().unwrap_or_default().lines();
    let set = parameters.filter_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse::<u64>().ok()).next();
    let set = set.filter(|count| CONTEXTS.contains(count)).and_then(|count| usize::try_from(count).ok());
    ReportedAbilities {
        context: now.or(set),
        size: billions(show["details"]["parameter_size"].as_str().unwrap_or_default()),
    }
}

/// The list of models has it for vLLM, OpenRouter, Groq, Mistral and LM Studio; llama.cpp has its own page.
async fn openai(web: &Client, endpoint: &Endpoint) -> ReportedAbilities {
    let list = match at(endpoint, "models") {
        Some(url) => fetch(web.get(url), endpoint).await.unwrap_or_default(),
        None => Value::Null,
    };
    let mut facts = of_list(&endpoint.model, &list);
    if endpoint.local && facts.context.is_none() {
        let props = async { fetch(web.get(root(endpoint, "props")?), endpoint).await };
        facts.context = tokens(&props.await.unwrap_or_default()["default_generation_settings"]["n_ctx"]);
    }
    facts
}

fn of_list(model: &str, list: &Value) -> ReportedAbilities {
    let entries = list["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = entries.iter().find(|entry| entry["id"] == model);
    // llama.cpp serves one model under any requested name.
    let only = match entries {
        [one] if one["owned_by"] == "llamacpp" => Some(one),
        _ => None,
    };
    let Some(entry) = named.or(only) else { return ReportedAbilities::default() };
    let names = ["max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length"];
    let size = entry["meta"]["n_params"].as_f64().filter(|count| *count >= 1e6).map(|count| count / 1e9);
    ReportedAbilities { context: names.iter().find_map(|name| tokens(&entry[*name])), size }
}

fn tokens(value: &Value) -> Option<usize> {
    value.as_u64().filter(|count| CONTEXTS.contains(count)).and_then(|count| usize::try_from(count).ok())
}

/// `7.6B`, `494.03M`.
fn billions(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let (number, unit) = match (text.strip_suffix('b'), text.strip_suffix('m')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 0.001),
        (None, None) => return None,
    };
    number.trim().parse::<f64>().ok().filter(|count| count.is_finite() && *count > 0.0).map(|count| count * unit)
}

/// A call without a prompt loads the model and sets how long it stays. Nobody waits for the answer.
pub(crate) async fn keep_loaded(web: &Client, endpoint: &Endpoint, time: &str) {
    let Some(url) = root(endpoint, "api/generate") else { return };
    // A bare number means seconds, and must not be a text.
    let time = time.trim().parse::<i64>().map_or_else(|_| Value::from(time.trim()), Value::from);
    let body = json!({"model": endpoint.model, "keep_alive": time});
    if timeout(LOADING, fetch(web.post(url).body(body.to_string()), endpoint)).await.ok().flatten().is_none() {
        tracing::debug!("the model's server did not take `keep_alive`");
    }
}

/// A page of the API.
fn at(endpoint: &Endpoint, path: &str) -> Option<Url> {
    let mut url = Url::parse(&endpoint.base_url).ok()?;
    let whole = format!("{}{path}", url.path());
    url.set_path(&whole);
    Some(url)
}

/// A page of the server beside its OpenAI API.
fn root(endpoint: &Endpoint, path: &str) -> Option<Url> {
    let mut url = Url::parse(&endpoint.base_url).ok()?;
    let base = url.path().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    url.set_path(&format!("{base}/{path}"));
    Some(url)
}

async fn fetch(request: RequestBuilder, endpoint: &Endpoint) -> Option<Value> {
    let mut response = request.headers(dialect::headers(endpoint).ok()?).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > ANSWER_BYTES {
            return None;
        }
    }
    serde_json::from_slice(&body).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_s_own_words_are_read() {
        let list = json!({"data": [{"id": "other", "max_model_len": 1024}, {"id": "m", "max_model_len": 32768}]});
        assert_eq!(of_list("m", &list), ReportedAbilities { context: Some(32_768), size: None });
        let llama = json!({"data": [{"id": "/m.gguf", "owned_by": "llamacpp", "meta": {"n_params": 1.54e9, "n_ctx_train": 32768}}]});
        assert_eq!(of_list("whatever", &llama), ReportedAbilities { context: None, size: Some(1.54) });
        assert_eq!(of_list("m", &json!({"data": [{"id": "n", "context_length": 8192}]})), ReportedAbilities::default());
        for broken in
            [json!(7), json!({"data": {}}), json!({"data": [7]}), json!({"data": [{"id": "m", "max_model_len": -1}]})]
        {
            assert_eq!(of_list("m", &broken), ReportedAbilities::default());
        }
        let show =
            json!({"details": {"parameter_size": "7.6B"}, "parameters": "stop \"x\"\nnum_ctx                16384"});
        let have = |context| ReportedAbilities { context: Some(context), size: Some(7.6) };
        assert_eq!(of_ollama("q", &show, &Value::Null), have(16_384));
        let loaded = json!({"models": [{"name": "q:latest", "model": "q:latest", "context_length": 4096}]});
        assert_eq!(of_ollama("q", &show, &loaded), have(4096), "the running context");
        assert!(billions("494.03M").is_some_and(|size| (0.494..0.495).contains(&size)));
        assert_eq!((billions("?"), billions("inf b"), billions("-3b")), (None, None, None));
    }
}
