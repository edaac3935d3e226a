//! Finds a table in a tool's result: rows of a number and what it belongs to, whether the tool wrote text or JSON.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) label: String,
}

/// A result as the host wraps it.
pub(super) struct Result<'a> {
    pub(super) ok: bool,
    pub(super) value: Value,
    /// What went wrong.
    pub(super) message: String,
    pub(super) notes: Vec<String>,
    raw: &'a str,
}

impl<'a> Result<'a> {
    pub(super) fn read(content: &'a str, is_error: bool) -> Self {
        let envelope: Value = serde_json::from_str(content).unwrap_or(Value::Null);
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
        let notes = envelope.get("notes").and_then(Value::as_array).into_iter().flatten();
        let error = envelope.get("error");
        Self {
            ok: envelope.get("ok").and_then(Value::as_bool).unwrap_or(!is_error),
            value: match envelope.get("result") {
                Some(result) => result.clone(),
                None if envelope.get("ok").is_some() || envelope.is_null() => Value::Null,
                None => envelope.clone(),
            },
            message: text(error.and_then(|error| error.get("message"))),
            notes: notes.filter_map(Value::as_str).map(str::to_owned).collect(),
            raw: content,
        }
    }

    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        match &self.value {
            Value::Null => self.raw.to_owned(),
            Value::String(text) => text.clone(),
            Value::Object(object) => {
                let told =
                    ["content", "text", "output", "stdout"].iter().find_map(|key| object.get(*key)?.as_str());
                told.map_or_else(|| pretty(&self.value), str::to_owned)
            }
            value => pretty(value),
        }
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        match &self.value {
            Value::Object(_) | Value::Array(_) => {
                let mut rows = Vec::new();
                from_json(&self.value, &mut rows);
                if rows.is_empty() { from_text(&self.text()) } else { rows }
            }
            _ => from_text(&self.text()),
        }
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}

fn from_json(value: &Value, rows: &mut Vec<Row>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| from_json(value, rows)),
        Value::Object(object) => {
            let label = ["path", "name", "file"].iter().find_map(|key| object.get(*key)?.as_str());
            let number = ["size", "bytes", "length", "lines", "count"]
                .iter()
                .find_map(|key| object.get(*key)?.as_u64());
            match (label, number) {
                (Some(label), Some(number)) => rows.push(Row { number, label: label.to_owned() }),
                _ => object.values().for_each(|value| from_json(value, rows)),
            }
        }
        _ => {}
    }
}

/// Lines with a tab are rows where there are any; else a number and something like a path.
fn from_text(text: &str) -> Vec<Row> {
    let tabbed: Vec<Row> = text.lines().filter_map(|line| row(&mut line.split('\t'))).collect();
    if !tabbed.is_empty() {
        return tabbed;
    }
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let (first, rest) = line.split_once(char::is_whitespace)?;
            let (front, last) = line.rsplit_once(char::is_whitespace)?;
            let found = [(first, rest), (last, front)].into_iter().find_map(|(number, label)| {
                Some(Row { number: amount(number)?, label: label.trim().to_owned() })
            })?;
            found.label.contains(['.', '/']).then_some(found)
        })
        .collect()
}

fn row(cells: &mut dyn Iterator<Item = &str>) -> Option<Row> {
    let (mut number, mut label) = (None, None);
    for cell in cells.map(str::trim).filter(|cell| !cell.is_empty()) {
        match amount(cell) {
            Some(amount) if number.is_none() => number = Some(amount),
            _ => label = label.or(Some(cell)),
        }
    }
    Some(Row { number: number?, label: label?.to_owned() })
}

/// `1234`, `1,234`, `12 KB`, `3.5MiB`.
fn amount(text: &str) -> Option<u64> {
    let digits = text.len()
        - text.trim_start_matches(|letter: char| letter.is_ascii_digit() || ",._".contains(letter)).len();
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.replace([',', '_'], "").parse().ok()?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" | "byte" | "bytes" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        _ => return None,
    };
    Some((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: &[(u64, &str)]) {
        let rows = Result::read(content, false).rows();
        let rows: Vec<(u64, &str)> = rows.iter().map(|row| (row.number, row.label.as_str())).collect();
        assert_eq!(rows, expected, "{content}");
    }

    #[test]
    fn tables_are_found_in_text_and_json() {
        check(
            "{\"ok\":true,\"result\":\"3 files, 1 folder\\n12\\ta.rs\\ndir\\tsrc/\\n7\\tsrc/b c.rs\\n\"}",
            &[(12, "a.rs"), (7, "src/b c.rs")],
        );
        check(
            "{\"ok\":true,\"result\":{\"files\":[{\"path\":\"a\",\"size\":5},{\"path\":\"b\",\"size\":6}]}}",
            &[(5, "a"), (6, "b")],
        );
        check("total 9\n1,024 a.rs\n b.rs 3KiB\n", &[(1024, "a.rs"), (3072, "b.rs")]);
        check("a.rs\t1.5 MB\n", &[(1_500_000, "a.rs")]);
        check("{\"ok\":true,\"result\":\"nothing here\"}", &[]);
        check("[{\"name\":\"x\",\"lines\":3}]", &[(3, "x")]);
    }
}
