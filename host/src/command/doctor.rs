//! `foehn doctor`: what works on this machine and what does not, in a page.
//!
//! It really starts each plugin once, because "it is there" is not "it runs". It sends nothing to a model.

use std::sync::Arc;

use anyhow::Result;
use foehn_plugin_host::{Listed, PluginSet, PluginState};
use foehn_ports::Toolbox as _;
use foehn_sandbox::{Confinement, NetworkNamespace};
use foehn_terminal::ExitCode;
use serde_json::{Value, json};

use crate::agent_tools::AgentTools;
use crate::command::plugins::state_words;
use crate::output::{line, text, told};
use crate::setup::Setup;

/// One thing that was looked at.
struct Finding {
    subject: &'static str,
    verdict: Verdict,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    /// Works, but less well or less safely than it could.
    Lacking,
    Bad,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Lacking => "lacking",
            Self::Bad => "bad",
        }
    }
}

/// Exit code 1 when something is bad.
pub(crate) async fn run(setup: &Setup, as_json: bool) -> Result<ExitCode> {
    let mut findings = vec![version(), folder(setup)];
    findings.extend(sandbox(setup));
    findings.push(provider(setup));
    let plugins = Arc::new(PluginSet::load(setup.plugin_settings()?).await);
    findings.extend(check_plugins(setup, &plugins).await);
    let toolbox = setup.toolbox(&plugins)?;
    findings.push(tools(&toolbox));
    plugins.shutdown().await;
    findings.push(store(setup).await);
    let bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    if as_json {
        for finding in &findings {
            line(&as_value(finding))?;
        }
    } else {
        for finding in &findings {
            text(&format!("{:8} {:10} {}", finding.verdict.word(), finding.subject, finding.detail))?;
        }
    }
    Ok(u8::from(bad))
}

fn as_value(finding: &Finding) -> Value {
    json!({ "subject": finding.subject, "verdict": finding.verdict.word(), "detail": finding.detail })
}

fn good(subject: &'static str, detail: impl Into<String>) -> Finding {
    Finding { subject, verdict: Verdict::Good, detail: detail.into() }
}

fn bad(subject: &'static str, detail: impl Into<String>) -> Finding {
    Finding { subject, verdict: Verdict::Bad, detail: detail.into() }
}

fn version() -> Finding {
    good(
        "foehn",
        format!("{} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH),
    )
}

fn folder(setup: &Setup) -> Finding {
    let path = &setup.state_dir;
    let writable = std::fs::create_dir_all(path).and_then(|()| {
        let probe = path.join(".doctor");
        std::fs::write(&probe, b"")?;
        std::fs::remove_file(&probe)
    });
    match writable {
        Ok(()) => good("state", format!("{} can be written", path.display())),
        Err(error) => bad("state", format!("{} cannot be written: {error}", path.display())),
    }
}

fn sandbox(setup: &Setup) -> Vec<Finding> {
    let support = foehn_sandbox::support();
    let landlock =
        support.landlock_abi.map_or_else(|| "no Landlock".to_owned(), |abi| format!("Landlock {abi}"));
    let seccomp = if support.seccomp { "seccomp" } else { "no seccomp" };
    let required = setup.loaded.settings.sandbox.require;
    let lacking = if required { Verdict::Bad } else { Verdict::Lacking };
    let mut findings = vec![Finding {
        subject: "sandbox",
        verdict: if support.lacking.is_empty() { Verdict::Good } else { lacking },
        detail: format!("{landlock}, {seccomp}{}", if required { ", required" } else { "" }),
    }];
    findings.extend(support.lacking.into_iter().map(|detail| Finding {
        subject: "sandbox",
        verdict: lacking,
        detail,
    }));
    findings
}

fn provider(setup: &Setup) -> Finding {
    match setup.connect() {
        Ok(model) => {
            let identity = model.identity();
            let stand_in = if identity.stand_in {
                ", the offline stand-in: no key, no network, no real model"
            } else {
                ""
            };
            good("provider", format!("{}{stand_in}", identity.origin()))
        }
        Err(error) => bad("provider", told(&error)),
    }
}

async fn check_plugins(setup: &Setup, plugins: &PluginSet) -> Vec<Finding> {
    let mut findings = Vec::new();
    for listed in plugins.listing() {
        let name = &listed.name;
        let finding = match &listed.state {
            PluginState::Ready => match plugins.check(name).await {
                Ok(checked) => started(&listed, checked.confinement.as_ref()),
                Err(error) => bad("plugin", error),
            },
            state => {
                let (word, reason) = state_words(state);
                Finding {
                    subject: "plugin",
                    verdict: Verdict::Lacking,
                    detail: format!("{name}: {word}: {reason}"),
                }
            }
        };
        findings.push(finding);
    }
    if findings.is_empty() {
        findings.push(Finding {
            subject: "plugin",
            verdict: Verdict::Lacking,
            detail: format!("none in {}", setup.loaded.plugins_path().display()),
        });
    }
    findings.extend(plugins.warnings().into_iter().map(|detail| Finding {
        subject: "plugin",
        verdict: Verdict::Lacking,
        detail,
    }));
    findings
}

fn started(listed: &Listed, confinement: Option<&Confinement>) -> Finding {
    let tools = listed.manifest.as_ref().map_or(0, |manifest| manifest.tools.len());
    let (verdict, how) = match confinement {
        Some(confinement) if confinement.lacking.is_empty() => match &confinement.network {
            NetworkNamespace::Shared => (Verdict::Good, "confined".to_owned()),
            NetworkNamespace::Loopback => {
                (Verdict::Good, "confined, on a network of its own with nothing but loopback".to_owned())
            }
            NetworkNamespace::Empty => (Verdict::Good, "confined, on an empty network of its own".to_owned()),
            NetworkNamespace::Refused(why) => (
                Verdict::Lacking,
                format!(
                    "confined; its network is refused by system call alone, for this system gives it no network \
                     namespace ({why})"
                ),
            ),
        },
        Some(confinement) => {
            (Verdict::Lacking, format!("not fully confined: {}", confinement.lacking.join("; ")))
        }
        None => (Verdict::Lacking, "inside the host, not confined".to_owned()),
    };
    let plural = if tools == 1 { "" } else { "s" };
    Finding {
        subject: "plugin",
        verdict,
        detail: format!("{}: starts, {tools} tool{plural}, {how}", listed.name),
    }
}

fn tools(toolbox: &AgentTools) -> Finding {
    let tools = toolbox.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let unknown = toolbox.unknown();
    if !unknown.is_empty() {
        return bad("tools", format!("enabled but not there: {}", unknown.join(", ")));
    }
    good("tools", if names.is_empty() { "none".to_owned() } else { names.join(", ") })
}

async fn store(setup: &Setup) -> Finding {
    let opened = async {
        let store = setup.open_store()?;
        let sessions = store.sessions().await?;
        store.flush_and_close().await?;
        anyhow::Ok((store.path().to_owned(), sessions.len()))
    };
    match opened.await {
        Ok((path, sessions)) => good("store", format!("{} holds {sessions} sessions", path.display())),
        Err(error) => bad("store", told(&error)),
    }
}
