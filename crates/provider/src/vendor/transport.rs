//! Our connection as a transport of the library: frames in, and failures both ways in our own words.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use foehn_ports::ModelErrorKind;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use rig_core::ProviderResponseError;
use rig_core::driver::{Exchange, Opened, Opening, Transport};
use rig_core::error::ProviderError;
use rig_core::http_client::Error as WireError;
use rig_core::http_client::framing::{Framing, SseFramer};
use rig_core::wire::{Body, Encoded, Wire, WireFrame};

use crate::errors::{Failure, Scene};
use crate::http::{Line, Reply};
use crate::tap::is_last;

/// How long the end of a body is waited for once the answer is complete.
const END_OF_BODY: Duration = Duration::from_millis(50);

/// A line of a stream that has not ended by then never will.
const LONGEST_FRAME: usize = 8 * 1024 * 1024;

/// Our connection as a transport of the library.
#[derive(Clone)]
pub(super) struct LineTransport(pub(super) Line);

impl<W> Transport<W> for LineTransport
where
    W: Wire<Payload = Encoded, Frame = WireFrame>,
{
    fn send(&self, payload: Encoded, _exchange: Exchange) -> Opening<WireFrame> {
        let line = self.0.clone();
        Opening::new(async move {
            let framing = payload.framing;
            let (parts, body) = payload.request.into_parts();
            let Body::Bytes(body) = body else {
                return Err(ProviderError::Response("a form is no question to a model".to_owned()));
            };
            let reply = line.post(&parts.uri.to_string(), parts.headers, body).await.map_err(carried)?;
            let frames = frames(reply, framing).await.map_err(carried)?;
            Ok(Opened::new(frames.map(|frame| frame.map_err(carried))))
        })
    }
}

/// The frames of a reply. A server that was asked for a stream and sends one JSON document gives one frame.
async fn frames(
    mut reply: Reply,
    framing: Framing,
) -> Result<BoxStream<'static, Result<WireFrame, Failure>>, Failure> {
    let declared = reply.content_type();
    if declared == "text/html" {
        return Err(Failure::protocol(format!(
            "{} answers with a web page; check `base_url`",
            reply.place()
        )));
    }
    if framing != Framing::Sse || declared.contains("json") {
        let body = reply.whole().await?;
        let whole = futures_util::stream::iter([Ok(WireFrame::from_bytes(body))]);
        return Ok(whole.boxed());
    }
    let reading = (reply, SseFramer::new(), VecDeque::<String>::new());
    let frames = futures_util::stream::try_unfold(reading, |(mut reply, mut framer, mut ready)| async move {
        loop {
            if let Some(data) = ready.pop_front() {
                if is_last(&data) {
                    // Only a body that was read to its end leaves its connection to the next request.
                    let end = async { while let Ok(Some(_)) = reply.chunk().await {} };
                    let _ = tokio::time::timeout(END_OF_BODY, end).await;
                }
                return Ok(Some((WireFrame::Text(data), (reply, framer, ready))));
            }
            let Some(chunk) = reply.chunk().await? else { return Ok(None) };
            // An event without data is a sign of life and nothing else.
            ready.extend(framer.push(&chunk).map(|event| event.data).filter(|data| !data.trim().is_empty()));
            if framer.pending() > LONGEST_FRAME {
                return Err(Failure::protocol(format!(
                    "a line of the answer is longer than {LONGEST_FRAME} bytes"
                )));
            }
        }
    });
    Ok(frames.boxed())
}

/// Sends a failure of ours through the library.
pub(super) fn carried(failure: Failure) -> ProviderError {
    ProviderError::Http(Arc::new(WireError::Instance(Box::new(failure))))
}

/// And takes it out again; the library's own failures get our words.
pub(super) fn failure(error: &ProviderError, scene: &Scene) -> Failure {
    match error {
        ProviderError::Http(inner) => match &**inner {
            WireError::Instance(instance) => instance
                .downcast_ref::<Failure>()
                .cloned()
                .unwrap_or_else(|| Failure::new(ModelErrorKind::Transport, instance.to_string())),
            other => Failure::new(ModelErrorKind::Transport, other.to_string()),
        },
        ProviderError::Truncated => Failure::truncated(),
        ProviderError::Json(error) => Failure::protocol(format!(
            "the server sent something that is not the JSON it should be ({error})"
        )),
        ProviderError::ProviderResponse(ProviderResponseError { body, .. }) => {
            let said = serde_json::from_str(body).unwrap_or_else(|_| serde_json::Value::String(body.clone()));
            Failure::of_error_object(&said, scene)
        }
        ProviderError::Request(error) => Failure::protocol(format!("the request cannot be written: {error}")),
        other => Failure::protocol(format!("the server's answer cannot be read: {other}")),
    }
}
