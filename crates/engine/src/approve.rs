//! Gets a yes for what policy asks: from a standing grant, from the operator's word beforehand, or from a person. With
//! nobody to ask it is a no, at once and clearly said.

use foehn_policy::Ruling;
use foehn_ports::GrantKey;
use foehn_protocol::{
    Approval, ApprovalId, Decision, Entry, ErrorCode, EventBody, Operation, Risk, ToolResult,
};

use crate::calls::{CallRunner, Stop};
use crate::prepare::Ready;
use crate::results::Refusal;

/// Who decided, in the journal.
const USER: &str = "user";
const NOBODY: &str = "nobody there to ask";
const INTERRUPT: &str = "interrupted before an answer";

/// A call that may not run.
pub(crate) struct Declined {
    pub(crate) result: ToolResult,
    pub(crate) stop: Option<Stop>,
}

impl CallRunner<'_> {
    /// Adds to the rule of the call who said yes.
    pub(crate) async fn authorise(&mut self, ready: &mut Ready<'_>) -> Result<(), Box<Declined>> {
        if ready.is_allowed() {
            return Ok(());
        }
        let keys = grant_keys(&self.host.profile.name, ready);
        if let Some(keys) = &keys
            && keys.iter().all(|key| self.host.gate.granted(key))
        {
            ready.ruling.verdict.rule.push_str("; allowed by a standing grant");
            return Ok(());
        }
        if let Some(by) = self.host.gate.approves_everything() {
            self.record(ready, Decision::Once, by);
            ready.ruling.verdict.rule.push_str(&format!("; approved by {by}"));
            return Ok(());
        }
        let rule = &ready.ruling.verdict.rule;
        if !self.host.gate.attended() {
            self.record(ready, Decision::No, NOBODY);
            self.state.declined_unattended = true;
            let message = format!(
                "Not run: it needs an approval ({rule}) and nobody is there to give it. Do not try again; say what \
                 you would have done."
            );
            return Err(declined(ready, &message));
        }
        self.ask(ready, keys).await
    }

    async fn ask(&mut self, ready: &mut Ready<'_>, keys: Option<Vec<GrantKey>>) -> Result<(), Box<Declined>> {
        let id = ApprovalId(format!("approve-{}", ready.call.id));
        let spec = &ready.request.spec;
        let approval = Approval {
            id: id.clone(),
            call: ready.call.id.clone(),
            tool: spec.name.clone(),
            plugin: spec.plugin.clone(),
            risk: ready.risk,
            operations: ready.ruling.operations.clone(),
            arguments: ready.request.arguments.clone(),
            preview: ready.preview.clone(),
            rule: ready.ruling.verdict.rule.clone(),
            always: keys.as_deref().map(|keys| scope(keys, ready.tool())),
        };
        self.host.emit(self.turn, EventBody::ApprovalRequested(approval));
        let answer = self.control.answer(&id).await;
        let (decision, by) = match (answer, &keys) {
            // "Always" was not on offer, so it can only mean this once.
            (Some(Decision::Always), None) => (Decision::Once, USER),
            (Some(decision), _) => (decision, USER),
            (None, _) => (Decision::No, INTERRUPT),
        };
        self.host.emit(
            self.turn,
            EventBody::ApprovalResolved {
                approval: id,
                call: ready.call.id.clone(),
                decision,
                by: by.to_owned(),
            },
        );
        self.record(ready, decision, by);
        if answer.is_none() {
            let result = Stop::Cancelled.result(ready.call, ready.tool());
            return Err(Box::new(Declined { result, stop: Some(Stop::Cancelled) }));
        }
        match decision {
            Decision::Once => ready.ruling.verdict.rule.push_str("; approved once by the user"),
            Decision::Always => {
                keys.into_iter().flatten().for_each(|key| self.host.gate.grant(key));
                ready.ruling.verdict.rule.push_str("; approved from now on by the user");
            }
            Decision::No => {
                let message = "Not run: the user said no. Do not repeat this call; ask what to do instead.";
                return Err(declined(ready, message));
            }
        }
        Ok(())
    }

    fn record(&self, ready: &Ready<'_>, decision: Decision, by: &str) {
        self.host.journal.append(Entry::Approval {
            turn: self.turn,
            call: ready.call.id.clone(),
            decision,
            by: by.to_owned(),
        });
    }
}

fn declined(ready: &Ready<'_>, message: &str) -> Box<Declined> {
    let refusal = Refusal { notes: &ready.notes, ..Refusal::new(ErrorCode::Declined, message) };
    Box::new(Declined { result: refusal.result(ready.call, ready.tool()), stop: None })
}

/// What a standing grant of this call covers: this agent, this tool and each operation in question. `None` when the
/// call is too dangerous for one. Grants cover the operation by its name, except for running programs: there the name
/// alone would open every program, so its target or else the very arguments belong to it.
fn grant_keys(agent: &str, ready: &Ready<'_>) -> Option<Vec<GrantKey>> {
    let Ruling { operations, .. } = &ready.ruling;
    if operations.iter().any(|operation| operation.risk.effective() == Risk::Destructive) {
        return None;
    }
    let key = |operation: &Operation| {
        let name = &operation.name;
        let operation = match (operation.risk, &operation.target) {
            (Risk::Execute, Some(target)) => format!("{name} {target}"),
            (Risk::Execute, None) => format!("{name} {}", ready.request.arguments),
            _ => name.clone(),
        };
        GrantKey { agent: agent.to_owned(), tool: ready.tool().to_owned(), operation }
    };
    Some(operations.iter().map(key).collect())
}

fn scope(keys: &[GrantKey], tool: &str) -> String {
    let operations: Vec<String> = keys.iter().map(|key| format!("`{}`", key.operation)).collect();
    let agent = keys.first().map(|key| key.agent.as_str()).unwrap_or_default();
    format!("{} of tool `{tool}` for agent `{agent}`", operations.join(" and "))
}
