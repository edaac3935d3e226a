//! Which model answers when nobody has said so.

use foehn_tests::World;

/// The provider in force and where it comes from.
#[track_caller]
fn check(world: World, expected: (&str, &str)) {
    let run = world.foehn(&["config", "show", "--json"]).expect_code(0);
    let rows = run.events();
    let row = rows.iter().find(|row| row["key"] == "provider").expect("a row for the provider");
    let shown = (row["value"].as_str().unwrap_or_default(), row["origin"].as_str().unwrap_or_default());
    assert_eq!(shown, expected);
}

#[test]
fn a_key_at_hand_chooses_its_provider() {
    check(World::with_plugins(&[]), ("\"offline\"", "default"));
    let mistral = || World::with_plugins(&[]).env("MISTRAL_API_KEY", "sk-made-up-1");
    check(mistral(), ("\"mistral\"", "environment variable MISTRAL_API_KEY"));
    let both = mistral().env("ANTHROPIC_API_KEY", "sk-made-up-2");
    check(both, ("\"mistral\"", "environment variable MISTRAL_API_KEY"));
    check(World::with_plugins(&[]).env("OPENAI_API_KEY", " "), ("\"offline\"", "default"));
}

#[test]
fn whoever_chooses_is_obeyed() {
    let key = || World::with_plugins(&[]).env("MISTRAL_API_KEY", "sk-made-up-1");
    check(key().env("FOEHN_PROVIDER", "offline"), ("\"offline\"", "environment variable FOEHN_PROVIDER"));
    let configured = key();
    let config = configured.path("config/foehn/foehn.toml");
    configured.write("config/foehn/foehn.toml", "provider = \"anthropic\"\n");
    check(configured, ("\"anthropic\"", &format!("{}:1", config.display())));
    check(key().env("FOEHN_OFFLINE_SCRIPT", "script.toml"), ("\"offline\"", "default"));
}
