//! Asks the person at the terminal about plugins that nobody has accepted yet (`[plugins] trust = "prompt"`).
//!
//! Only the hash that was shown is accepted, and only a clear yes counts: nothing of a plugin has run before it.

use anyhow::Result;
use foehn_plugin_host::{PluginSet, PluginState, Trust, TrustMode};
use foehn_protocol::Decision;
use foehn_terminal::{Lines, Reply, parse_reply};

use crate::output::remark;
use crate::setup::Setup;

/// Does nothing under the other modes of trust, or when there is nothing to ask about.
pub(crate) async fn ask(setup: &Setup, plugins: &PluginSet, lines: &mut Lines) -> Result<()> {
    let settings = setup.plugin_settings()?;
    if settings.trust != TrustMode::Prompt {
        return Ok(());
    }
    let mut accepted = false;
    for listed in plugins.listing() {
        let PluginState::NotTrusted { hash } = &listed.state else { continue };
        remark(&format!(
            "? plugin `{}` is new or has changed, and has not run yet\n  | file {}\n  | hash {hash}\n  trust it? yes or no:",
            listed.name,
            listed.file.display()
        ));
        if is_yes(lines).await {
            Trust::open(&settings.state_dir).accept_hash(&listed.name, hash)?;
            accepted = true;
        }
    }
    if accepted {
        plugins.reload().await;
    }
    Ok(())
}

async fn is_yes(lines: &mut Lines) -> bool {
    loop {
        match lines.next().await.as_deref().map(|line| parse_reply(line, false)) {
            None => return false,
            Some(Reply::Decided(decision)) => return decision != Decision::No,
            Some(Reply::Unclear) => remark("  yes or no:"),
        }
    }
}
