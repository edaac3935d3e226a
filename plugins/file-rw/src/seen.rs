//! What a session has seen of a file, so that a whole-file write after somebody else's change is refused.
//!
//! Kept is a hash of the bytes, by session and real path, in the host's state: the tools of this plugin run in different
//! processes. A host that keeps no state loses this check and nothing else.

use foehn_plugin_sdk::prelude::*;

use crate::files::Place;

/// The record of one file in one session.
pub(crate) struct Seen<'a, C> {
    cx: &'a Cx<'a, C>,
    key: String,
}

impl<'a, C> Seen<'a, C> {
    pub(crate) fn new(cx: &'a Cx<'a, C>, place: &Place) -> Self {
        let real = place.root.shown(&place.real);
        Self { cx, key: format!("seen/{}/{}", cx.session(), real.display()) }
    }

    /// The session knows these bytes now.
    pub(crate) fn knows(&self, hash: &blake3::Hash) {
        logged(self.cx.state().put(&self.key, &hash.to_hex().as_str()));
    }

    /// The file is gone.
    pub(crate) fn forget(&self) {
        logged(self.cx.state().delete(&self.key));
    }

    /// What the session knows of these bytes.
    pub(crate) fn compare(&self, now: &blake3::Hash) -> Knowledge {
        match logged(self.cx.state().get::<String>(&self.key)).flatten() {
            None => Knowledge::NeverSeen,
            Some(known) if known == now.to_hex().as_str() => Knowledge::Current,
            Some(_) => Knowledge::Stale,
        }
    }
}

/// How a session's knowledge of a file stands to what the file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Knowledge {
    NeverSeen,
    Current,
    /// Somebody else has changed the file since.
    Stale,
}

fn logged<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            if error.kind() != ErrorKind::Unsupported {
                foehn_plugin_sdk::tracing::warn!("what was seen of a file is not kept: {error}");
            }
            None
        }
    }
}
