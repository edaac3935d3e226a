//! The connection to one endpoint: one client, kept alive, with a limit on silence and none on length.
//!
//! Redirects are not followed (a key must not travel to where a server points), loopback is never reached through a
//! proxy, and the system's certificates are read only for an `https` address, beside whatever else starts up.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use foehn_ports::ModelErrorKind;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};

use crate::errors::{Failure, Scene};

/// The largest body that is read where one whole body is expected.
const LARGEST_BODY: usize = 32 * 1024 * 1024;

/// Of a refused request's body, what is read for the message.
const LARGEST_REFUSAL: usize = 64 * 1024;

/// Where requests go, without the name and password that the address may have held.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) url: Url,
    basic: Option<(String, String)>,
}

/// The client of one endpoint, cheap to clone.
#[derive(Clone)]
pub(crate) struct Line {
    client: Arc<OnceLock<Result<Client, String>>>,
    settings: LineSettings,
    loopback: bool,
    secure: bool,
    basic: Option<(String, String)>,
    pub(crate) scene: Arc<Scene>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LineSettings {
    pub(crate) idle: Duration,
    pub(crate) connect: Duration,
}

/// A 200 whose body is still to be read.
pub(crate) struct Reply {
    pub(crate) response: Response,
    line: Line,
}

impl Endpoint {
    /// Reads a base URL. The error says what is wrong without the password.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut url = Url::parse(text.trim()).map_err(|error| {
            format!("`base_url` is not an address ({error}); it looks like https://host/v1")
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("`base_url` must begin with http:// or https:// and name a host".to_owned());
        }
        let basic = (!url.username().is_empty() || url.password().is_some())
            .then(|| (url.username().to_owned(), url.password().unwrap_or_default().to_owned()));
        // Neither fails for an address with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        Ok(Self { url, basic })
    }

    pub(crate) fn password(&self) -> Option<&str> {
        self.basic.as_ref().map(|(_, password)| password.as_str())
    }

    /// The same endpoint at another path; the query stays.
    pub(crate) fn at(mut self, path: &str) -> Self {
        self.url.set_path(path);
        self
    }

    /// The path without slashes at its end and without the first of `endings` that it ends in.
    pub(crate) fn path_without(&self, endings: &[&str]) -> String {
        let path = self.url.path().trim_end_matches('/');
        let cut = endings.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
        cut.trim_end_matches('/').to_owned()
    }

    /// For messages: no password, no query.
    pub(crate) fn place(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.to_string().trim_end_matches('/').to_owned()
    }

    fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl Line {
    pub(crate) fn open(endpoint: &Endpoint, settings: LineSettings, scene: Scene) -> Self {
        let line = Self {
            client: Arc::default(),
            settings,
            loopback: endpoint.is_loopback(),
            secure: endpoint.url.scheme() == "https",
            basic: endpoint.basic.clone(),
            scene: Arc::new(scene),
        };
        if line.secure {
            // Reading the system's certificates takes milliseconds; the first request waits for what is left of them.
            let early = line.clone();
            thread::spawn(move || {
                let _ = early.client();
            });
        }
        line
    }

    fn client(&self) -> Result<&Client, Failure> {
        let built = self.client.get_or_init(|| build(self.settings, self.loopback, self.secure));
        built.as_ref().map_err(|cause| {
            Failure::new(ModelErrorKind::Transport, format!("the HTTP client cannot start: {cause}"))
        })
    }

    pub(crate) async fn post(&self, url: &str, headers: HeaderMap, body: Vec<u8>) -> Result<Reply, Failure> {
        let mut request = self.client()?.post(url);
        if let (Some((name, password)), false) = (&self.basic, headers.contains_key(AUTHORIZATION)) {
            request = request.basic_auth(name, Some(password));
        }
        let sent = request.headers(headers).body(body).send().await;
        let response = sent.map_err(|error| self.transport(&error))?;
        let reply = Reply { response, line: self.clone() };
        if reply.response.status().as_u16() == 200 { Ok(reply) } else { Err(reply.refusal().await) }
    }

    pub(crate) fn transport(&self, error: &reqwest::Error) -> Failure {
        Failure::of_transport(error, self.settings.idle, self.settings.connect, &self.scene)
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Line").field("place", &self.scene.place).finish_non_exhaustive()
    }
}

impl Reply {
    pub(crate) fn place(&self) -> &str {
        &self.line.scene.place
    }

    /// The declared type of the body, in lower case, without parameters.
    pub(crate) fn content_type(&self) -> String {
        let declared = self.response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        declared.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The next piece of the body, `None` at its end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let chunk = self.response.chunk().await.map_err(|error| self.line.transport(&error))?;
        Ok(chunk.map(Vec::from))
    }

    pub(crate) async fn whole(&mut self) -> Result<Vec<u8>, Failure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_BODY {
                return Err(Failure::protocol(format!("the answer is larger than {LARGEST_BODY} bytes")));
            }
        }
        Ok(body)
    }

    async fn refusal(mut self) -> Failure {
        let mut body = Vec::new();
        // A body that breaks off still tells what it told so far.
        while let Ok(Some(chunk)) = self.response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_REFUSAL {
                body.truncate(LARGEST_REFUSAL);
                break;
            }
        }
        let headers = self.response.headers();
        let header = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let status = self.response.status().as_u16();
        Failure::of_reply(status, &header, &String::from_utf8_lossy(&body), &self.line.scene)
    }
}

fn build(settings: LineSettings, loopback: bool, secure: bool) -> Result<Client, String> {
    static PROVIDER: OnceLock<()> = OnceLock::new();
    PROVIDER.get_or_init(|| {
        // Another part of the process may have chosen first; then that choice stands.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut builder = Client::builder()
        .user_agent(concat!("foehn/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(settings.connect)
        .read_timeout(settings.idle)
        .no_gzip();
    if loopback {
        builder = builder.no_proxy();
    }
    if !secure {
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_without_its_password() {
        let endpoint = Endpoint::parse(" http://me:hunter22@h.example:8080/v1/?api-version=2 ").unwrap();
        assert_eq!(endpoint.place(), "http://h.example:8080/v1");
        assert_eq!(endpoint.password(), Some("hunter22"));
        assert_eq!(endpoint.path_without(&["/chat/completions"]), "/v1");
        assert_eq!(endpoint.at("/x").url.as_str(), "http://h.example:8080/x?api-version=2");
        for bad in ["", "localhost:8080", "ftp://h/v1", "/v1", "http://"] {
            let error = Endpoint::parse(bad).err().unwrap();
            assert!(error.contains("`base_url`"), "{bad}: {error}");
        }
    }

    #[test]
    fn loopback_is_known_in_each_spelling() {
        let rows = [
            ("http://localhost:1/v1", true),
            ("http://127.0.0.1/v1", true),
            ("http://[::1]:8080", true),
            ("https://api.example", false),
        ];
        for (url, expected) in rows {
            assert_eq!(Endpoint::parse(url).unwrap().is_loopback(), expected, "{url}");
        }
    }
}
