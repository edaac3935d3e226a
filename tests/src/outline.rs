//! Events and envelopes as short lines: ids numbered as they come, without times and tokens.

use serde_json::Value;

/// The whole stream of a run, for one comparison.
pub(crate) fn outline(events: &[Value]) -> String {
    let mut names = Vec::new();
    let mut lines: Vec<String> = events.iter().map(|event| line(event, &mut names)).collect();
    // Calls that run beside each other end in any order.
    for ended in lines.chunk_by_mut(|one, other| one.starts_with("end ") && other.starts_with("end ")) {
        ended.sort();
    }
    lines.join("\n")
}

/// How a note begins that tells of the machine the tests run on, as a container without control groups, and not of the call.
pub const OF_THE_SYSTEM: &str = "not fully confined on this system";

/// The envelope as short lines: what became of it, then one line for each problem and note.
pub fn brief(envelope: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    if envelope["ok"] == true {
        lines.push(format!("ok {}", envelope["result"]));
    } else {
        let error = &envelope["error"];
        let (code, executed, retryable) = (text(&error["code"]), &error["executed"], &error["retryable"]);
        lines.push(format!("{code} executed={executed} retryable={retryable}: {}", text(&error["message"])));
        for problem in error["problems"].as_array().into_iter().flatten() {
            let mut line = format!("  {} {}", text(&problem["path"]), text(&problem["code"]));
            for key in ["expected", "got", "suggestion"] {
                if let Some(said) = problem[key].as_str() {
                    line.push_str(&format!(" | {key}: {said}"));
                }
            }
            lines.push(line);
        }
    }
    let notes = envelope["notes"].as_array().into_iter().flatten().map(text);
    lines.extend(notes.filter(|note| !note.starts_with(OF_THE_SYSTEM)).map(|note| format!("  note {note}")));
    lines.join("\n")
}

fn line(event: &Value, names: &mut Vec<String>) -> String {
    let word = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    let mut call = |key: &str| {
        let name = word(key);
        let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        });
        format!("#{}", place + 1)
    };
    match word("type").as_str() {
        "session_started" => {
            let (stand_in, resumed) = (mark(event, "stand_in"), mark(event, "resumed"));
            let (agent, provider, model) = (word("agent"), word("provider"), word("model"));
            format!("session {agent} {provider}/{model} tools={}{stand_in}{resumed}", event["tools"])
        }
        "turn_started" => format!("turn {} {}", event["turn"], event["prompt"]),
        "step_started" => format!("step {}", event["step"]),
        "text_delta" => format!("text {}", event["text"]),
        "reasoning_delta" => format!("reasoning {}", event["text"]),
        "retrying" => format!("retrying {}: {}", event["attempt"], word("reason")),
        "assistant_message" => format!("answer {} calls={}", event["text"], event["calls"]),
        "approval_requested" => {
            let operations = names_of(&event["operations"], Some("name"));
            format!("ask {} {} [{operations}] ({})", call("call"), word("tool"), word("rule"))
        }
        "approval_resolved" => format!("resolved {} {} by {}", call("call"), word("decision"), word("by")),
        "call_started" => {
            let operations = names_of(&event["operations"], None);
            let (call, tool) = (call("call"), word("tool"));
            format!("start {call} {tool} {} [{operations}] ({})", word("arguments"), word("rule"))
        }
        "call_progress" => format!("progress {} {}", call("call"), word("text")),
        "call_finished" => format!("end {} {} {}", call("call"), word("tool"), result(event)),
        "notice" => format!("notice {}: {}", word("level"), word("text")),
        "turn_done" => {
            let reason = event["reason"].as_str().map_or_else(String::new, |reason| format!(" ({reason})"));
            let (steps, calls) = (&event["steps"], &event["calls"]);
            format!("done {} {} steps={steps} calls={calls}{reason}", word("status"), event["text"])
        }
        _ => event.to_string(),
    }
}

fn result(event: &Value) -> String {
    if event["ok"] == true {
        return "ok".to_owned();
    }
    let envelope: Value = event["envelope"]
        .as_str()
        .map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or_else(|_| Value::from("not JSON")));
    let message = envelope["error"]["message"].as_str().unwrap_or_default();
    format!("{} executed={}: {message}", event["code"].as_str().unwrap_or_default(), event["executed"])
}

fn mark(event: &Value, key: &str) -> String {
    if event[key] == true { format!(" {key}") } else { String::new() }
}

fn names_of(list: &Value, key: Option<&str>) -> String {
    let name = |entry: &Value| key.map_or(entry, |key| &entry[key]).as_str().unwrap_or_default().to_owned();
    list.as_array().into_iter().flatten().map(name).collect::<Vec<_>>().join(", ")
}
