//! Taking a call back: the plugin that made it is asked, under the same key and with the same arguments. The host keeps no
//! copy of anything itself and never guesses what a call did.

use foehn_plugin_sdk::wire::{self, Part, ReplyKind, op};
use foehn_ports::{CancellationToken, ToolRequest};
use foehn_protocol::Undone;

use crate::call::{Call, Ended};
use crate::reply;
use crate::set::PluginSet;

/// Why a call was not taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// The tool cannot, in its own words.
    #[error("{0}")]
    Unsupported(String),
    #[error("`{tool}` cannot run: {reason}")]
    Unavailable { tool: String, reason: String },
    #[error("`{tool}` failed: {reason}")]
    Failed { tool: String, reason: String },
}

impl PluginSet {
    /// Takes back what a call did; `None` when it had left nothing. With `preview` nothing is done, where nothing could be.
    pub async fn undo(&self, request: &ToolRequest, preview: bool) -> Result<Option<Undone>, UndoError> {
        let name = || request.spec.name.clone();
        let unavailable = |reason| UndoError::Unavailable { tool: name(), reason };
        let failed = |reason| UndoError::Failed { tool: name(), reason };
        let tool = self.resolve(request).await.map_err(unavailable)?;
        let (op, grant) = if preview { (op::UNDO_PREVIEW, tool.classify) } else { (op::UNDO, tool.execute) };
        let head = self.head(request, &tool, grant, request.timeout);
        let call = Call {
            op,
            head: &head,
            body: request.arguments.as_bytes(),
            grant,
            timeout: request.timeout,
            cancel: CancellationToken::new(),
            progress: None,
            may_change: !preview,
        };
        match self.run(&tool.plugin, call).await {
            Ended::Replied { reply, .. } if reply.kind == ReplyKind::Unsupported => {
                Err(UndoError::Unsupported(reply.message))
            }
            Ended::Replied { reply, .. } => undone(reply).map_err(failed),
            Ended::Crashed(how) => Err(failed(format!("plugin `{}` {how}", tool.plugin.name))),
            Ended::Unavailable(why) => Err(unavailable(why)),
            Ended::Forced { .. } | Ended::NotBegun(_) => {
                Err(failed(format!("no answer within {}", reply::duration(request.timeout))))
            }
        }
    }
}

fn undone(reply: wire::Reply) -> Result<Option<Undone>, String> {
    if reply.kind != ReplyKind::Ok {
        return Err(reply.message);
    }
    let Some(Part::Json { value }) = reply.parts.into_iter().next() else { return Ok(None) };
    let wire::Undone { restored, left, notes } =
        serde_json::from_value(value).map_err(|error| format!("its answer cannot be read: {error}"))?;
    Ok(Some(Undone { restored, left, notes }))
}
