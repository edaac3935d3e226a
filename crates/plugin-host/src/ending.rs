//! The end of a session: what lasting tools keep running for it ends with it. The plugin is asked, so that its programs may end
//! in good order; a plugin that does not do it loses its whole process.

use std::time::Duration;

use foehn_plugin_sdk::wire::{CallHead, Part, ReplyKind, SessionEnd, SessionEnded, op};
use foehn_protocol::SessionId;
use tokio_util::sync::CancellationToken;

use crate::call::{Call, Ended};
use crate::plugin::Plugin;
use crate::set::PluginSet;

/// Longer than programs get between being asked to end and being killed.
const LIMIT: Duration = Duration::from_secs(10);

/// What became of all that was kept running for a session, one line for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionEnding {
    pub ended: Vec<String>,
    /// By the operator's word it runs on, until the host ends.
    pub kept: Vec<String>,
}

impl PluginSet {
    /// To be called when a session is over. With `host_ends` nothing is kept, whatever the operator said. Starts nothing: it
    /// costs no time where no lasting tool was called.
    pub async fn end_session(&self, agent: &str, session: &SessionId, host_ends: bool) -> SessionEnding {
        let mut ending = SessionEnding::default();
        let registry = self.registry();
        let plugins = registry.slots.iter().filter_map(|slot| slot.plugin.as_ref().ok());
        for plugin in plugins.filter(|plugin| plugin.keeps_something()) {
            let head = CallHead {
                agent: agent.to_owned(),
                session: session.to_string(),
                log_level: plugin.log.level(),
                ..CallHead::default()
            };
            match self.ask_to_end(plugin, &head, SessionEnd { host_ends }).await {
                Ok(SessionEnded { ended, kept }) => {
                    ending.ended.extend(ended);
                    ending.kept.extend(kept);
                }
                Err(reason) => {
                    plugin.pool(plugin.lasting_grant()).clear().await;
                    let name = &plugin.name;
                    ending.ended.push(format!("all that plugin `{name}` kept running, by force: {reason}"));
                }
            }
        }
        ending
    }

    async fn ask_to_end(
        &self,
        plugin: &Plugin,
        head: &CallHead,
        end: SessionEnd,
    ) -> Result<SessionEnded, String> {
        let call = Call {
            op: op::END_SESSION,
            head,
            body: &serde_json::to_vec(&end).map_err(|error| error.to_string())?,
            grant: plugin.lasting_grant(),
            timeout: LIMIT,
            cancel: CancellationToken::new(),
            progress: None,
            may_change: true,
        };
        let reply = match self.run(plugin, call).await {
            Ended::Replied { reply, .. } => reply,
            Ended::Crashed(how) => return Err(format!("it {how}")),
            Ended::Unavailable(why) => return Err(why),
            Ended::NotBegun(_) | Ended::Forced { .. } => {
                return Err("it did not answer".to_owned());
            }
        };
        if reply.kind != ReplyKind::Ok {
            return Err(reply.message);
        }
        let Some(Part::Json { value }) = reply.parts.into_iter().next() else {
            return Err("its answer cannot be read".to_owned());
        };
        serde_json::from_value(value).map_err(|error| format!("its answer cannot be read: {error}"))
    }
}
