//! A model behind a network connection: the vendor's wire, retries around it, and ids, origin and masking on top.

use std::fmt;
use std::sync::atomic::AtomicBool;

use foehn_ports::{BoxFuture, DeltaSink, Model, ModelError, ModelIdentity, ModelRequest, ModelResponse};
use foehn_protocol::AssistantMessage;
use secrecy::ExposeSecret;

use crate::answer::Assembly;
use crate::errors::{Failure, Scene};
use crate::http::{Endpoint, Line, LineSettings};
use crate::ids::Ids;
use crate::mask::Mask;
use crate::quirks::ProviderInfo;
use crate::retry::{self, Policy};
use crate::settings::Settings;
use crate::vendor::{Asking, Vendor};

pub(crate) struct Remote {
    identity: ModelIdentity,
    vendor: Vendor,
    policy: Policy,
    defaults: Asking,
    mask: Mask,
}

impl Remote {
    pub(crate) fn open(settings: &Settings, info: &'static ProviderInfo) -> Result<Self, ModelError> {
        let model = settings.model(info)?;
        let base =
            settings.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty()).or(info.base_url);
        let base = base.ok_or_else(|| {
            settings.refusal(format!(
                "provider `{}` needs the address of a server; set `base_url`, for example http://127.0.0.1:8080/v1",
                info.name
            ))
        })?;
        let endpoint = Endpoint::parse(base).map_err(|problem| settings.refusal(problem))?;
        let key = settings.key(info)?;
        let mask = Mask::new(key.iter().map(|key| key.expose_secret()).chain(endpoint.password()));
        let scene = Scene {
            place: endpoint.place(),
            model: model.clone(),
            key_source: settings.key_source(info),
            has_key: key.is_some(),
        };
        let line = LineSettings { idle: settings.timeout, connect: settings.connect_timeout };
        let line = Line::open(&endpoint, line, scene);
        Ok(Self {
            identity: ModelIdentity { provider: info.name.to_owned(), model: model.clone(), stand_in: false },
            vendor: Vendor::new(info, endpoint, line, key, &model),
            policy: Policy::new(settings.max_retries),
            defaults: Asking {
                streaming: settings.streaming,
                temperature: settings.temperature,
                max_output_tokens: settings.max_output_tokens,
            },
            mask,
        })
    }

    #[cfg(test)]
    pub(crate) fn with_first_wait(mut self, first_wait: std::time::Duration) -> Self {
        self.policy.first_wait = first_wait;
        self
    }

    async fn answer(&self, request: &ModelRequest, deltas: DeltaSink<'_>) -> Result<ModelResponse, Failure> {
        let asking = Asking {
            temperature: request.temperature.or(self.defaults.temperature),
            max_output_tokens: request.max_output_tokens.or(self.defaults.max_output_tokens),
            ..self.defaults
        };
        let prepared = self.vendor.prepare(request, asking)?;
        let handed_out = AtomicBool::new(false);
        let masked = |delta| {
            deltas(match delta {
                foehn_ports::Delta::Retrying { attempt, wait_ms, reason } => {
                    foehn_ports::Delta::Retrying { attempt, wait_ms, reason: self.mask.clean(&reason) }
                }
                shown => shown,
            });
        };
        retry::run(self.policy, &masked, &handed_out, || async {
            let mut assembly = Assembly::new(deltas, &handed_out);
            let ending = self.vendor.ask(&prepared, asking, &mut assembly).await?;
            let answer = assembly.finish(&ending, &mut Ids::after(&request.messages));
            let message = AssistantMessage {
                text: answer.text,
                reasoning: answer.reasoning,
                calls: answer.calls,
                native: ending.native,
                origin: self.identity.origin(),
            };
            Ok(ModelResponse { message, finish: ending.finish, usage: ending.usage })
        })
        .await
    }
}

impl Model for Remote {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn respond<'a>(
        &'a self,
        request: &'a ModelRequest,
        deltas: DeltaSink<'a>,
    ) -> BoxFuture<'a, Result<ModelResponse, ModelError>> {
        Box::pin(async move {
            self.answer(request, deltas).await.map_err(|failure| failure.told(&self.identity, &self.mask))
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Remote").field("identity", &self.identity).finish_non_exhaustive()
    }
}
