//! Makes the model that a configuration means.

use std::sync::Arc;

use serde_json::Value;

use crate::cli::prompts;
use sextant_base::failure::{Failure, FailureKind};
use sextant_base::hint::{Hint, HintCode};
use sextant_model::endpoint::RemoteConfig;
use sextant_model::offline::OfflineModel;
use sextant_model::remote::RemoteModel;
use sextant_model::step::Model;

/// Makes the model of a `model` table: `{"provider": "offline"}`, nothing at all, or a remote one.
pub(super) fn make(given: &Value) -> Result<Arc<dyn Model>, Failure> {
    let offline =
        given.is_null() || given["provider"] == "offline" || given.as_object().is_some_and(|map| map.is_empty());
    if offline {
        return Ok(Arc::new(OfflineModel));
    }
    let config: RemoteConfig = serde_json::from_value(given.clone()).map_err(|error| {
        Failure::new(
            FailureKind::Config,
            format!("the option `model` cannot be used: {error}"),
            Hint::from("it takes provider, model, and for a server of your own base_url").and(HintCode::Models),
        )
    })?;
    prompts::load()?;
    Ok(Arc::new(RemoteModel::new(&config)?))
}
