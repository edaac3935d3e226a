//! Keys, references, and the agent that gets them.

use foehn_config::{Environment, ExposeSecret, SystemMessage};
use insta::assert_snapshot;

use crate::{Place, USER, project, user};

#[test]
fn secrets_are_never_shown() {
    let content = r#"
api_key = "sk-plain"
base_url = "https://user:sk-url@example.com/v1?key=sk-query"
[agents.default.tools.mail]
password = "sk-password"
server = { env = "MAIL_SERVER" }
accounts = [{ user = "me", auth_token = "sk-token" }]
url = "imap://me:sk-imap@example.com"
max_tokens = 5
"#;
    let place = Place::new(&[(USER, content)]);
    let shown = place.check();
    assert_snapshot!(shown, @r#"
    agents.default.tools.mail.accounts = [{ auth_token = ********, user = "me" }]  (/home/.config/foehn/foehn.toml:7)
    agents.default.tools.mail.max_tokens = 5  (/home/.config/foehn/foehn.toml:9)
    agents.default.tools.mail.password = ********  (/home/.config/foehn/foehn.toml:5)
    agents.default.tools.mail.server = { env = "MAIL_SERVER" }  (/home/.config/foehn/foehn.toml:6)
    agents.default.tools.mail.url = "imap://********@example.com"  (/home/.config/foehn/foehn.toml:8)
    api_key = "********"  (/home/.config/foehn/foehn.toml:2)
    base_url = "https://********@example.com/v1?********"  (/home/.config/foehn/foehn.toml:3)
    "#);
    assert!(!shown.contains("sk-"));
    let debug = format!("{:?}", place.load().unwrap());
    assert!(!debug.contains("sk-"), "{debug}");
    let broken = user("api_key = \"sk-secret\nmodel = 'x'");
    assert!(!broken.contains("sk-"), "{broken}");
    assert!(!project("api_key = 77777").contains("7777"));
}

#[test]
fn a_key_comes_from_the_settings_then_from_the_providers_variable() {
    let key = |settings: &str, variables: &[(&str, &str)]| {
        let mut place =
            Place::new(&[(USER, settings), ("home/.config/foehn/key", "sk-file\r\n"), ("home/empty", "")]);
        for (name, value) in variables {
            place = place.variable(name, value);
        }
        // A `.env` of the folder is none of our business.
        place.write("project/.env", b"MISTRAL_API_KEY=sk-dotenv\nFOEHN_MODEL=evil\n");
        let loaded = place.load().unwrap();
        let agent = loaded.agent("default").unwrap();
        let found = loaded.api_key(&agent, &["MISTRAL_API_KEY", "OTHER_API_KEY"]);
        place.short(&match found {
            Ok(Some(key)) => format!("{:?} from {}", key.value.expose_secret(), key.source),
            Ok(None) => "none".to_owned(),
            Err(error) => error.to_string(),
        })
    };
    let results = [
        key("", &[]),
        key("", &[("MISTRAL_API_KEY", "sk-env\n")]),
        key("", &[("MISTRAL_API_KEY", ""), ("OTHER_API_KEY", "sk-other")]),
        key("\napi_key = 'sk-set'", &[("MISTRAL_API_KEY", "sk-env")]),
        key("api_key = { env = 'MY_KEY' }", &[("MY_KEY", "sk-mine"), ("MISTRAL_API_KEY", "sk-env")]),
        key("api_key = { env = 'MY_KEY' }", &[("MY_KEY", ""), ("MISTRAL_API_KEY", "sk-env")]),
        key("api_key = { file = 'key' }", &[]),
        key("api_key = { file = '~/.config/foehn/key' }", &[("FOEHN_API_KEY", "sk-variable")]),
        key("api_key = { file = '~/missing' }", &[]),
        key("api_key = { file = '~/empty' }", &[]),
        key("api_key = { file = '~' }", &[]),
        key("api_key = 'sk-top'\n[agents.default]\nprovider = 'mistral'", &[]),
        key("api_key = 'sk-top'\n[agents.default]\nbase_url = 'http://other'", &[]),
        key("api_key = 'sk-top'\n[agents.default]\napi_key = 'sk-own'", &[]),
    ];
    assert_snapshot!(results.join("\n"), @r#"
    none
    "sk-env" from environment variable MISTRAL_API_KEY
    "sk-other" from environment variable OTHER_API_KEY
    "sk-set" from `api_key` (/home/.config/foehn/foehn.toml:2)
    "sk-mine" from `api_key` (/home/.config/foehn/foehn.toml:1)
    `api_key` refers to the environment variable `MY_KEY`, which is not set or is empty
    "sk-file" from `api_key` (/home/.config/foehn/foehn.toml:1)
    "sk-variable" from `api_key` (environment variable FOEHN_API_KEY)
    `api_key` refers to the file /home/missing, which cannot be read: No such file or directory (os error 2)
    `api_key` refers to the file /home/empty, which is empty
    `api_key` refers to the file /home/, which is not a regular file
    none
    none
    "sk-own" from `agents.default.api_key` (/home/.config/foehn/foehn.toml:3)
    "#);
}

#[test]
fn an_agent_takes_from_the_top_what_it_does_not_set() {
    let content = r#"
provider = "mistral"
model = "devstral-latest"
temperature = 0.1
[agents.helper]
model = "small"
system_message = "Be brief."
[agents.other]
provider = "openai"
system_message_file = "other.md"
[agents.other.tools.mail]
allow = ["read"]
password = { env = "MAIL_PASSWORD" }
port = 993
"#;
    let place = Place::new(&[(USER, content)]).variable("MAIL_PASSWORD", "sk-mail");
    let loaded = place.load().unwrap();
    let line = |name: &str| {
        let agent = loaded.agent(name).unwrap();
        let model = loaded.model(&agent).unwrap();
        let (temperature, message) = (agent.temperature, &agent.system_message);
        place.short(&format!("{name}: {} {model:?} {temperature:?} {message:?}", agent.provider))
    };
    assert_snapshot!([line("default"), line("helper"), line("other")].join("\n"), @r#"
    default: mistral Some("devstral-latest") Some(0.1) File { path: "/project/foehn.md", optional: true }
    helper: mistral Some("small") Some(0.1) Text("Be brief.")
    other: openai None Some(0.1) File { path: "/project/other.md", optional: false }
    "#);
    assert_snapshot!(loaded.agent("helpr").unwrap_err(), @"there is no agent `helpr`; did you mean `helper`?");

    let agent = loaded.agent("other").unwrap();
    let (config, secrets) = agent.tool_config("mail", &loaded.environment).unwrap();
    assert_eq!(serde_json::Value::Object(config), serde_json::json!({"password": "sk-mail", "port": 993}));
    assert_eq!(secrets.len(), 1);
    assert_eq!(agent.tools["mail"].allow, Some(vec!["read".to_owned()]));
    let missing = agent.tool_config("mail", &Environment::default()).unwrap_err();
    assert_snapshot!(missing, @"`agents.other.tools.mail.password` refers to the environment variable `MAIL_PASSWORD`, which is not set or is empty");
    assert_eq!(
        loaded.agent("default").unwrap().system_message,
        SystemMessage::File { path: place.path("project/foehn.md"), optional: true }
    );
}
