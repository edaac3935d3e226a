//! A problem does not repeat a secret.

use serde_json::json;

use crate::check;

#[test]
fn values_of_secret_names_and_keys_are_masked() {
    let schema = json!({
        "type": "object",
        "properties": {
            "apiKey": {"type": "string", "maxLength": 3},
            "note": {"type": "integer"},
            "login": {"type": "string"},
            "max_tokens": {"type": "integer", "maximum": 10},
        },
        "additionalProperties": false,
    });
    check(
        &schema,
        &[
            (
                r#"{"apiKey":"hunter2","max_tokens":4000}"#,
                "! /apiKey bad_length | expected: at most 3 characters | got: \"[secret]\"\n\
                 ! /max_tokens out_of_range | expected: at most 10 | got: 4000",
            ),
            (
                r#"{"note":"ghp_0123456789abcdefghij"}"#,
                "! /note wrong_type | expected: integer | got: \"[secret]\" | hint: write it in digits without quotes, such as 6",
            ),
            (
                r#"{"login":{"user":"ada","password":"hunter2"}}"#,
                "! /login wrong_type | expected: string | got: {\"user\":\"ada\",\"password\":\"[secret]\"} | hint: send it as text, in quotes",
            ),
        ],
    );
}
