//! Rules about what a tool may do and who is behind a call: questions that the host answers, never the model.

use foehn_protocol::{FileAccess, Risk};

use super::super::words::{any_word, of_name};
use super::super::{Found, Rule, Severity, Tool};
use crate::kinds::Kinds;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "risk-undeclared",
        severity: Severity::Error,
        title: "A tool declares its risk",
        reason: "Without one it counts as destructive: every call is asked about, and people learn to say yes.",
        bad: r#"{"risk": "undefined"}"#,
        good: r#"{"risk": "read_only"}"#,
        check: risk_undeclared,
    },
    Rule {
        id: "risk-understated",
        severity: Severity::Error,
        title: "The risk is no lower than the name says",
        reason: "Rules and approvals go by the risk: a deletion that calls itself read-only runs unasked.",
        bad: r#"{"name": "delete_note", "description": "Delete one stored note for good.", "risk": "read_only"}"#,
        good: r#"{"name": "delete_note", "description": "Delete one stored note for good.", "risk": "destructive"}"#,
        check: risk_understated,
    },
    Rule {
        id: "risk-overstated",
        severity: Severity::Warning,
        title: "What only reads is not declared destructive",
        reason: "Each needless question makes the next needed one more likely to be waved through.",
        bad: r#"{"name": "read_note", "risk": "destructive"}"#,
        good: r#"{"name": "read_note", "risk": "read_only"}"#,
        check: risk_overstated,
    },
    Rule {
        id: "capability-above-risk",
        severity: Severity::Error,
        title: "No capability goes beyond the risk",
        reason: "The sandbox follows the risk: what a read-only tool asks for beyond reading fails in the middle of a call.",
        bad: r#"{"risk": "read_only", "capabilities": {"files": "write"}}"#,
        good: r#"{"risk": "read_only", "capabilities": {"files": "read"}}"#,
        check: capability_above_risk,
    },
    Rule {
        id: "operation-undescribed",
        severity: Severity::Warning,
        title: "Every operation is named and described",
        reason: "Permissions are written in operations; who writes them has only this text to go by.",
        bad: r#"{"operations": [{"name": "read"}]}"#,
        good: r#"{"operations": [{"name": "read", "description": "Read one note."}]}"#,
        check: operation_undescribed,
    },
    Rule {
        id: "polling-undeclared",
        severity: Severity::Warning,
        title: "A tool that is asked again and again says so",
        reason: "The host takes equal calls for a loop and stops them, unless the tool is made for polling.",
        bad: r#"{"name": "poll_job", "description": "Tell how far a job has come by now."}"#,
        good: r#"{"name": "poll_job", "description": "Tell how far a job has come by now.", "polling": true}"#,
        check: polling_undeclared,
    },
    Rule {
        id: "identity-argument",
        severity: Severity::Error,
        title: "No argument says who is calling",
        reason: "The model writes the arguments, so it would choose whom it acts for. The host knows the caller and gives it \
                 to the tool.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["tenant"], "properties": {
                   "tenant": {"type": "string", "maxLength": 80, "description": "Whose notes to read."}}}}"#,
        good: r#"{"requires_caller": true}"#,
        check: identity_argument,
    },
    Rule {
        id: "secret-argument",
        severity: Severity::Error,
        title: "No argument is a secret",
        reason: "Arguments are in the model's context, the journal and on screens. A secret belongs into the tool's \
                 configuration.",
        bad: r#"{"schema": {"type": "object", "additionalProperties": false, "required": ["api_key"], "properties": {
                   "api_key": {"type": "string", "maxLength": 80, "description": "What the service of notes asks for."}}}}"#,
        good: "{}",
        check: secret_argument,
    },
];

fn risk_undeclared(tool: &Tool<'_>, found: &mut Found) {
    if tool.spec.risk == Risk::Undefined {
        found.add(
            "",
            "no risk is declared, so each call counts as destructive; declare what a call can do at most",
        );
    }
}

/// Verbs that begin a name, and the least risk that each stands for.
const VERBS: &[(Risk, &[&str])] = &[
    (
        Risk::Destructive,
        &[
            "delete",
            "destroy",
            "drop",
            "erase",
            "kill",
            "overwrite",
            "purge",
            "remove",
            "reset",
            "truncate",
            "wipe",
        ],
    ),
    (Risk::Execute, &["exec", "execute", "launch", "run", "spawn"]),
    (
        Risk::Write,
        &[
            "add", "append", "copy", "create", "edit", "insert", "install", "make", "modify", "move",
            "patch", "post", "publish", "put", "rename", "save", "send", "set", "store", "update", "upload",
            "write",
        ],
    ),
];

/// Verbs of reading.
const READING: &[&str] =
    &["count", "describe", "find", "get", "list", "lookup", "read", "scan", "search", "show", "view"];

fn risk_understated(tool: &Tool<'_>, found: &mut Found) {
    /// Verbs that mean the same wherever they stand in a name: `file_delete`.
    const ANYWHERE: &[&str] = &["delete", "destroy", "erase", "purge", "remove", "wipe"];
    let words = of_name(&tool.spec.name);
    let Some(first) = words.first().map(String::as_str) else { return };
    let later =
        words.iter().map(String::as_str).filter(|word| ANYWHERE.contains(word) && !READING.contains(&first));
    for verb in later.chain([first]) {
        for (least, verbs) in VERBS {
            if verbs.contains(&verb) && tool.spec.risk.effective() < *least {
                let (least, declared) = (least.word(), tool.spec.risk.word());
                found.add(
                    "",
                    format!("`{verb}` is at least {least}, declared is {declared}; raise the risk or rename the tool"),
                );
            }
        }
    }
}

fn risk_overstated(tool: &Tool<'_>, found: &mut Found) {
    let is_reading = of_name(&tool.spec.name).first().is_some_and(|verb| READING.contains(&verb.as_str()));
    if is_reading && tool.spec.risk == Risk::Destructive {
        found
            .add("", "by its name it only reads, declared is destructive; lower the risk or rename the tool");
    }
}

fn capability_above_risk(tool: &Tool<'_>, found: &mut Found) {
    let (risk, capabilities) = (tool.spec.risk, tool.spec.capabilities);
    let beyond = if capabilities.files == FileAccess::Write && risk < Risk::Write {
        "writing files"
    } else if capabilities.programs && risk < Risk::Execute {
        "running programs"
    } else {
        return;
    };
    found.add(
        "",
        format!(
            "it asks for {beyond}, but is declared {}; raise the risk or drop the capability",
            risk.word()
        ),
    );
}

fn operation_undescribed(tool: &Tool<'_>, found: &mut Found) {
    // The one operation of a tool without a description has none either, which is told once.
    let own = |name: &str| name == tool.spec.name && tool.spec.description.trim().is_empty();
    for operation in tool.spec.operations.iter().filter(|operation| !own(&operation.name)) {
        if operation.name.trim().is_empty() || operation.description.trim().is_empty() {
            found.add("", format!("the operation `{}` has no description; say what it does", operation.name));
        }
    }
}

fn polling_undeclared(tool: &Tool<'_>, found: &mut Found) {
    if !tool.spec.polling
        && any_word(&tool.spec.name, &["await", "poll", "progress", "status", "wait"]).is_some()
    {
        found
            .add("", "by its name it is asked again until something changes; declare it as made for polling");
    }
}

fn identity_argument(tool: &Tool<'_>, found: &mut Found) {
    const IDENTITIES: &[&str] = &[
        "account_id",
        "acting_user",
        "actor",
        "actor_id",
        "admin",
        "as_user",
        "caller",
        "caller_id",
        "customer_id",
        "impersonate",
        "is_admin",
        "on_behalf_of",
        "org_id",
        "organization_id",
        "permission",
        "permissions",
        "principal",
        "role",
        "roles",
        "tenant",
        "tenant_id",
        "user",
        "user_id",
        "user_name",
        "user_role",
        "username",
        "whoami",
    ];
    for argument in tool.named() {
        let name = argument.words().join("_");
        if IDENTITIES.contains(&name.as_str()) {
            found.add(
                &argument.at,
                "a model would choose for whom it acts; take the caller from the host, or name whom the call is about",
            );
        }
    }
}

fn secret_argument(tool: &Tool<'_>, found: &mut Found) {
    const SECRETS: &[&str] = &[
        "access_key",
        "access_token",
        "api_key",
        "apikey",
        "api_token",
        "auth_token",
        "authorization",
        "bearer",
        "bearer_token",
        "client_secret",
        "credential",
        "credentials",
        "passphrase",
        "passwd",
        "password",
        "pin",
        "private_key",
        "secret",
        "secret_key",
        "token",
    ];
    for argument in tool.named() {
        let words = argument.words();
        let tails =
            [words.join("_"), words.iter().rev().take(2).rev().cloned().collect::<Vec<_>>().join("_")];
        let last = words.last().map(String::as_str).unwrap_or_default();
        let named = tails.iter().any(|tail| SECRETS.contains(&tail.as_str()))
            || matches!(last, "password" | "passwd" | "secret" | "passphrase" | "credentials");
        if named && argument.kinds.has(Kinds::STRING) {
            found.add(
                &argument.at,
                "a secret would pass through the model and the journal; put it into the configuration",
            );
        }
    }
}
