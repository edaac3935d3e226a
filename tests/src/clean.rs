//! Replaces what differs from run to run, so that whole texts can be compared.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

/// Pattern and what stands in its place, in this order.
const CHANGING: &[(&str, &str)] = &[
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[ID]"),
    (r"\b[0-9a-f]{64}\b", "[HASH]"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:[PORT]"),
    (r"\b(pid|process) \d+", "$1 [PID]"),
    (r"\b\d+\.\d s\b", "[TIME] s"),
    (r"\b\d+ ms\b", "[TIME] ms"),
    (r"(\.foehn/output/[a-z-]+)-\d+-[0-9a-f]+\.txt", "$1-[ID].txt"),
];

static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let compile = |(pattern, stands_in): &(&str, &'static str)| {
        (Regex::new(pattern).expect("a pattern of this file"), *stands_in)
    };
    CHANGING.iter().map(compile).collect()
});

/// The text without the test's folder, ids, ports and times.
pub(crate) fn clean(text: &str, root: &Path) -> String {
    let mut cleaned = text.replace(&*root.to_string_lossy(), "[ROOT]");
    for (pattern, stands_in) in PATTERNS.iter() {
        cleaned = pattern.replace_all(&cleaned, *stands_in).into_owned();
    }
    cleaned
}
