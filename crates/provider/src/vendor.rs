//! The one module (with its parts for histories and transport) that knows the client library, rig's provider layer: its decoders read
//! the replies of every dialect, and it writes the requests of Anthropic and Gemini.
//!
//! Around each of its wires stands a [`Tapped`] one of ours, which sends our own body for chat completions (the
//! library's goes through parsed JSON and would lose digits and duplicate keys), keeps keys out of addresses, and reads
//! along the raw frames for what the library drops: arguments verbatim, usage, finish, error objects. Transport is
//! ours too. None of the library's agents, tools or memory is used, and its model catalogue (3 ms to parse) only by
//! the two dialects whose requests need it.

#![allow(clippy::result_large_err, reason = "the size of the library's error type is not ours to choose")]

mod history;
mod transport;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use foehn_ports::{ModelErrorKind, ModelRequest};
use foehn_protocol::{Finish, Usage};
use futures_util::StreamExt;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use rig_core::Model;
use rig_core::catalog::Catalog;
use rig_core::completion::options::{Mapping, OptionFields, OptionMap};
use rig_core::completion::{Accepts, CompletionRequest, FinishReason, ReplayTarget};
use rig_core::error::{EncodeError, ProviderError};
use rig_core::http_client::Request as WireRequest;
use rig_core::http_client::framing::Framing;
use rig_core::message::{Api, AssistantContent};
use rig_core::operation::Completion;
use rig_core::providers::anthropic::wire::{AnthropicConfig, Messages, ToolInputStreaming};
use rig_core::providers::gemini::GeminiConfig;
use rig_core::providers::gemini::completion::GenerateContent;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::providers::openai::wire::{Chat, Dialect as ChatDialect, Quirks as ChatQuirks};
use rig_core::streaming::{Item, PartKind, StreamEvent};
use rig_core::wire::document::{Reassemble, Serves};
use rig_core::wire::{Body, Decoder, Descriptor, Encoded, Flow, Mode, Out, Wire, WireEvent, WireFrame};
use secrecy::{ExposeSecret, SecretString};

use self::transport::{LineTransport, carried, failure};
use crate::answer::{Assembly, Ending, Event};
use crate::chat;
use crate::errors::{Failure, Scene};
use crate::http::{Endpoint, Line};
use crate::quirks::{Dialect, ProviderInfo};
use crate::tap::Tap;

/// One model of one vendor, ready to be asked.
#[derive(Debug)]
pub(crate) struct Vendor {
    wire: VendorWire,
    line: Line,
    key: Option<SecretString>,
    url: String,
    model: String,
    origin: String,
    info: &'static ProviderInfo,
}

#[derive(Clone, Debug)]
enum VendorWire {
    Chat(Box<Chat>),
    Anthropic(Box<Messages>),
    Gemini(GenerateContent),
}

/// A request in the form that goes out, made once for all attempts.
pub(crate) enum Prepared {
    Chat(Arc<Outgoing>),
    Library { request: Box<CompletionRequest>, context: u64 },
}

/// A whole HTTP request of ours.
pub(crate) struct Outgoing {
    url: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// How a request is asked: the settings that a request may leave open are already filled in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub(crate) streaming: bool,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_output_tokens: Option<u64>,
}

impl Vendor {
    pub(crate) fn new(
        info: &'static ProviderInfo,
        endpoint: Endpoint,
        line: Line,
        key: Option<SecretString>,
        model: &str,
    ) -> Self {
        let (wire, url) = match info.dialect {
            Dialect::Anthropic => {
                let base = endpoint.path_without(&["/v1/messages", "/messages", "/v1"]);
                let url = endpoint.at(&base).url.to_string();
                let wire = Messages {
                    provider: AnthropicConfig::new("").with_base_url(&url),
                    model: model.to_owned(),
                    default_max_tokens: info.quirks.default_max_output,
                    prompt_caching: false,
                    static_prefix_cache_ttl: None,
                    strict_tools: false,
                    tool_input_streaming: ToolInputStreaming::Off,
                };
                (VendorWire::Anthropic(Box::new(wire)), url)
            }
            Dialect::Gemini => {
                let base = endpoint.path_without(&["/v1beta/models", "/v1beta", "/v1"]);
                let url = endpoint.at(&base).url.to_string();
                let config = GeminiConfig::new("").with_base_url(url.as_str());
                (VendorWire::Gemini(GenerateContent::new(config, model)), url)
            }
            Dialect::Chat | Dialect::None => {
                let base = endpoint.path_without(&["/chat/completions"]);
                let base = if base.is_empty() { "/v1".to_owned() } else { base };
                let url = endpoint.at(&format!("{base}/chat/completions")).url.to_string();
                (VendorWire::Chat(Box::new(chat_wire(info.name, model))), url)
            }
        };
        if !matches!(wire, VendorWire::Chat(_)) {
            thread::spawn(|| Catalog::builtin().iter().next().is_some());
        }
        Self { wire, line, key, url, model: model.to_owned(), origin: format!("{}/{model}", info.name), info }
    }

    pub(crate) fn prepare(&self, request: &ModelRequest, asking: Asking) -> Result<Prepared, Failure> {
        if !matches!(self.wire, VendorWire::Chat(_)) {
            let (library, context) = history::request(request, &self.origin, asking)?;
            return Ok(Prepared::Library { request: Box::new(library), context });
        }
        let frame = chat::Frame {
            model: &self.model,
            origin: &self.origin,
            quirks: &self.info.quirks,
            streaming: asking.streaming,
            temperature: asking.temperature,
            max_output_tokens: asking.max_output_tokens,
        };
        let body = chat::body(request, &frame)
            .map_err(|error| Failure::protocol(format!("the request cannot be written: {error}")))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &self.key {
            headers.insert(AUTHORIZATION, secret(&format!("Bearer {}", key.expose_secret()))?);
        }
        Ok(Prepared::Chat(Arc::new(Outgoing { url: self.url.clone(), headers, body })))
    }

    /// Asks once; every event goes into `assembly` as it arrives.
    pub(crate) async fn ask(
        &self,
        prepared: &Prepared,
        asking: Asking,
        assembly: &mut Assembly<'_>,
    ) -> Result<Ending, Failure> {
        match (&self.wire, prepared) {
            (VendorWire::Chat(wire), Prepared::Chat(outgoing)) => {
                let tapped = self.tapped((**wire).clone(), asking, Some(Arc::clone(outgoing)));
                let tap = Arc::clone(&tapped.tap);
                // The body is ours already; the library only wants to see some request.
                let placeholder = CompletionRequest::new("-");
                self.read(tapped, placeholder, assembly).await?;
                let tap = std::mem::take(&mut *tap.lock().unwrap_or_else(PoisonError::into_inner));
                Ok(tap.ending())
            }
            (VendorWire::Anthropic(wire), Prepared::Library { request, context }) => {
                let tapped = self.tapped((**wire).clone(), asking, None);
                self.read_library(tapped, (**request).clone(), *context, assembly).await
            }
            (VendorWire::Gemini(wire), Prepared::Library { request, context }) => {
                let tapped = self.tapped(wire.clone(), asking, None);
                self.read_library(tapped, (**request).clone(), *context, assembly).await
            }
            _ => Err(Failure::protocol("the request was prepared for another dialect")),
        }
    }

    fn tapped<W>(&self, wire: W, asking: Asking, outgoing: Option<Arc<Outgoing>>) -> Tapped<W> {
        Tapped {
            wire,
            dialect: self.info.dialect,
            streaming: asking.streaming,
            outgoing,
            key: self.key.clone(),
            scene: Arc::clone(&self.line.scene),
            tap: Arc::new(Mutex::new(Tap::default())),
        }
    }

    async fn read<W>(
        &self,
        wire: Tapped<W>,
        request: CompletionRequest,
        assembly: &mut Assembly<'_>,
    ) -> Result<rig_core::streaming::CompletionStream, Failure>
    where
        W: Wire<Op = Completion, Payload = Encoded, Frame = WireFrame> + Sync,
    {
        let scene = &self.line.scene;
        let model = Model::new(wire, LineTransport(self.line.clone()));
        let mut stream = model.stream(request).map_err(|error| failure(&error, scene))?;
        while let Some(item) = stream.next().await {
            if let Item::Event(event) = item.map_err(|error| failure(&error, scene))?
                && let Some(event) = translated(event)
            {
                assembly.take(event)?;
            }
        }
        Ok(stream)
    }

    async fn read_library<W>(
        &self,
        wire: Tapped<W>,
        request: CompletionRequest,
        context: u64,
        assembly: &mut Assembly<'_>,
    ) -> Result<Ending, Failure>
    where
        W: Wire<Op = Completion, Payload = Encoded, Frame = WireFrame> + Sync,
    {
        let tap = Arc::clone(&wire.tap);
        let stream = self.read(wire, request, assembly).await?;
        let response = stream.finish().await.map_err(|error| failure(&error, &self.line.scene))?;
        let usage = Usage {
            input_tokens: response.usage.input_tokens,
            output_tokens: response.usage.output_tokens,
            cached_tokens: response.usage.cached_input_tokens,
        };
        let finish = match response.finish_reason() {
            Some(FinishReason::Stop) => Finish::Stop,
            Some(FinishReason::Length) => Finish::Length,
            Some(FinishReason::ToolCalls) => Finish::ToolCalls,
            Some(FinishReason::ContentFilter) => Finish::Filtered,
            _ => Finish::Other,
        };
        let verbatim_arguments =
            std::mem::take(&mut tap.lock().unwrap_or_else(PoisonError::into_inner).verbatim_arguments);
        let native = history::native(response.choice, response.origin, context);
        Ok(Ending { finish, usage, native, verbatim_arguments })
    }
}

/// A wire of the library with our hands on both ends.
#[derive(Clone)]
struct Tapped<W> {
    wire: W,
    dialect: Dialect,
    streaming: bool,
    /// Sent instead of what the wire would write.
    outgoing: Option<Arc<Outgoing>>,
    key: Option<SecretString>,
    scene: Arc<Scene>,
    tap: Arc<Mutex<Tap>>,
}

impl<W> Wire for Tapped<W>
where
    W: Wire<Op = Completion, Payload = Encoded, Frame = WireFrame> + Sync,
{
    type Op = Completion;
    type Payload = Encoded;
    type Frame = WireFrame;
    type Decoder<'id> = TappedDecoder<W::Decoder<'id>>;
    type Reassembler = Forget;

    fn describe(&self) -> Descriptor<'_> {
        // With a body of ours the wire's own rules about history are not asked, and neither is the catalogue.
        if self.outgoing.is_some() {
            Descriptor::new("chat").replay(&AsWritten)
        } else {
            self.wire.describe()
        }
    }

    fn encode(&self, request: CompletionRequest, mode: Mode) -> Result<Encoded, EncodeError> {
        let mode = if self.streaming { mode } else { Mode::Unary };
        let Some(outgoing) = &self.outgoing else {
            return keyed(self.wire.encode(request, mode)?, self.key.as_ref());
        };
        let mut builder = WireRequest::post(outgoing.url.as_str());
        if let Some(headers) = builder.headers_mut() {
            headers.clone_from(&outgoing.headers);
        }
        let request = builder.body(Body::Bytes(outgoing.body.clone()))?;
        let framing = if self.streaming { Framing::Sse } else { Framing::Whole };
        Ok(Encoded::new(request, framing))
    }

    fn decoder<'id>(&self) -> Self::Decoder<'id> {
        TappedDecoder {
            decoder: self.wire.decoder(),
            dialect: self.dialect,
            scene: Arc::clone(&self.scene),
            tap: Arc::clone(&self.tap),
        }
    }
}

struct TappedDecoder<D> {
    decoder: D,
    dialect: Dialect,
    scene: Arc<Scene>,
    tap: Arc<Mutex<Tap>>,
}

enum TappedEvent<E> {
    /// The server said that it failed.
    Failed(Failure),
    Decoded(E),
}

impl<'id, D> Decoder<'id, Completion, WireFrame> for TappedDecoder<D>
where
    D: Decoder<'id, Completion, WireFrame>,
{
    type Event = TappedEvent<D::Event>;

    fn classify(&self, frame: WireFrame) -> WireEvent<Self::Event> {
        let text = frame.as_str();
        let read = self.tap.lock().unwrap_or_else(PoisonError::into_inner).read(self.dialect, &text);
        if let Some(error) = read.error {
            return WireEvent::Known(TappedEvent::Failed(Failure::of_error_object(&error, &self.scene)));
        }
        let frame = match read.rewritten {
            Some(rewritten) => WireFrame::Text(rewritten),
            None => frame,
        };
        self.decoder.classify(frame).map(TappedEvent::Decoded)
    }

    fn decode(&mut self, event: Self::Event, out: Out<'id, Completion>) -> Result<Flow, ProviderError> {
        match event {
            TappedEvent::Failed(failure) => Err(carried(failure)),
            TappedEvent::Decoded(event) => self.decoder.decode(event, out),
        }
    }

    fn eof(&mut self, out: Out<'id, Completion>) -> Result<Flow, ProviderError> {
        self.decoder.eof(out)
    }
}

/// Rebuilds no document: everything needed is read as it passes.
#[derive(Default)]
struct Forget;

impl Reassemble<WireFrame> for Forget {
    fn absorb(&mut self, _frame: &WireFrame) {}

    fn finish(self) -> serde_json::Value {
        serde_json::Value::Null
    }
}

impl Serves<Completion> for Forget {}

/// A target that changes nothing of the history, since there is none to change.
#[derive(Debug)]
struct AsWritten;

impl ReplayTarget for AsWritten {
    fn api(&self) -> Api {
        Api::from_static("chat")
    }

    fn provider(&self) -> &str {
        "chat"
    }

    fn model(&self) -> &str {
        "chat"
    }

    fn accepts(&self, _model: &str) -> Accepts {
        Accepts::ALL
    }

    fn map_options(&self, _request: &CompletionRequest, _fields: OptionFields<'_>) -> OptionMap {
        let nothing = || Mapping::Nothing;
        OptionMap {
            reasoning: nothing(),
            cache: nothing(),
            service_tier: nothing(),
            verbosity: nothing(),
            parallel_tool_calls: nothing(),
            top_p: nothing(),
            seed: nothing(),
            stop: nothing(),
        }
    }
}

fn chat_wire(name: &'static str, model: &str) -> Chat {
    let mut quirks = ChatQuirks::openai();
    // An answer that ends properly without saying why is an answer.
    quirks.done_without_finish_reason = true;
    let dialect = ChatDialect::gateway(name, "", "").with_quirks(quirks);
    Chat::new(OpenAIConfig::with_key(&dialect, ""), model)
}

/// Puts the key into a header of a request that was written without one, and takes the empty one out of the address.
fn keyed(mut encoded: Encoded, key: Option<&SecretString>) -> Result<Encoded, EncodeError> {
    let address = encoded.request.uri().to_string();
    if let Some(bare) = address.strip_suffix("?key=").or_else(|| address.strip_suffix("&key=")) {
        *encoded.request.uri_mut() =
            bare.parse().map_err(|_| EncodeError::request("the address cannot be read"))?;
    }
    if let Some(key) = key {
        let name =
            if encoded.request.headers().contains_key("x-api-key") { "x-api-key" } else { "x-goog-api-key" };
        let value = secret(key.expose_secret()).map_err(|failure| EncodeError::request(failure.message))?;
        encoded.request.headers_mut().insert(name, value);
    } else {
        encoded.request.headers_mut().remove("x-api-key");
    }
    Ok(encoded)
}

fn secret(text: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::from_str(text).map_err(|_| {
        Failure::new(ModelErrorKind::Auth, "the API key holds a character that cannot be sent; copy it again")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

fn translated(event: StreamEvent) -> Option<Event> {
    Some(match event {
        StreamEvent::Start { part, kind: PartKind::ToolCall, name } => {
            Event::CallStarted { part: part.index(), name: name.map(String::from).unwrap_or_default() }
        }
        StreamEvent::Text { text, .. } => Event::Text(text),
        StreamEvent::Reasoning { text, .. } => Event::Reasoning(text),
        StreamEvent::Arguments { part, json } => Event::Arguments { part: part.index(), json },
        StreamEvent::End { part, content: AssistantContent::ToolCall(call) } => Event::CallEnded {
            part: part.index(),
            name: call.function.name.as_str().to_owned(),
            provider_id: call.id.provider().map(|id| id.as_str().to_owned()),
        },
        StreamEvent::Start { .. } | StreamEvent::End { .. } => return None,
    })
}
