//! The example as an author tests a plugin: calls on a host in memory, and the contract.

use foehn_plugin_sdk::wire::{Part, Reply, ReplyKind};
use foehn_plugin_testkit::{TestHost, Value, accepted, assert_contract, call, json};
use rooms::foehn_plugin;

/// One call by a person, as text: what it gave, or why it failed.
#[track_caller]
fn ask(host: &TestHost, caller: &str, tool: &str, arguments: Value) -> String {
    let reply = call(foehn_plugin(), tool, arguments).caller(caller, "terminal").run_on(host);
    if reply.kind == ReplyKind::Ok { reply.text() } else { reply.message }
}

fn booking(room: &str, start: &str, minutes: u16) -> Value {
    json!({
        "room_id": room, "date": "2026-03-02", "start_time": start, "duration_minutes": minutes, "title": "Plan",
    })
}

fn wish(start: &str, seats: u8, equipment: Value) -> Value {
    json!({"date": "2026-03-02", "start_time": start, "seats": seats, "equipment": equipment})
}

#[test]
fn a_room_is_found_booked_listed_and_given_back() {
    let host = TestHost::new();
    let ann = |tool: &str, arguments: Value| ask(&host, "ann", tool, arguments);
    let projector = || wish("09:30", 5, json!(["Projector"]));
    assert_eq!(
        ann("find_rooms", projector()),
        "birch: 8 seats, Projector, Whiteboard\nmaple: 20 seats, Projector, Whiteboard, VideoCall"
    );
    assert_eq!(
        ann("book_room", booking("birch", "09:30", 45)),
        "Booked birch on 2026-03-02 at 09:30-10:15. The booking is birch-2026-03-02-0930."
    );
    assert_eq!(ann("find_rooms", projector()), "maple: 20 seats, Projector, Whiteboard, VideoCall");
    assert_eq!(ann("my_bookings", json!({})), "birch-2026-03-02-0930: Plan on 2026-03-02 at 09:30-10:15");
    assert_eq!(ann("my_bookings", json!({"from_date": "2026-03-03"})), "Nothing is booked.");
    let id = json!({"booking_id": "birch-2026-03-02-0930"});
    assert_eq!(ann("cancel_booking", id.clone()), "Cancelled birch-2026-03-02-0930.");
    assert_eq!(ann("cancel_booking", id), "there is no booking `birch-2026-03-02-0930`");
    assert_eq!(host.state().len(), 0);
}

#[test]
fn what_is_taken_is_told_with_what_is_free() {
    let host = TestHost::new();
    ask(&host, "ann", "book_room", booking("alder", "09:00", 60));
    let book = |caller: &str, start: &str| ask(&host, caller, "book_room", booking("alder", start, 30));
    assert_eq!(
        book("ben", "09:45"),
        "alder is taken on 2026-03-02 at 09:00-10:00 by somebody else; free at 09:45-10:15: birch, cedar, maple"
    );
    assert_eq!(
        book("ann", "08:45"),
        "alder is taken on 2026-03-02 at 09:00-10:00 by your own booking alder-2026-03-02-0900; free at \
         08:45-09:15: birch, cedar, maple"
    );
    assert_eq!(
        book("ben", "10:00"),
        "Booked alder on 2026-03-02 at 10:00-10:30. The booking is alder-2026-03-02-1000."
    );
}

#[test]
fn nobody_acts_for_another() {
    let host = TestHost::new();
    ask(&host, "ann", "book_room", booking("alder", "09:00", 60));
    let id = json!({"booking_id": "alder-2026-03-02-0900"});
    assert_eq!(
        call(foehn_plugin(), "cancel_booking", id).caller("ben", "terminal").run_on(&host),
        Reply {
            executed: Some(false),
            ..Reply::error(ReplyKind::Unauthorized, "`alder-2026-03-02-0900` is somebody else's booking")
        }
    );
    assert_eq!(ask(&host, "ben", "my_bookings", json!({})), "Nothing is booked.");
    let unknown = call(foehn_plugin(), "my_bookings", json!({})).run_on(&host);
    assert_eq!((unknown.kind, unknown.executed), (ReplyKind::Unauthorized, Some(false)));
}

#[test]
fn what_cannot_be_is_a_failure_that_did_nothing() {
    let check = |tool: &str, arguments: Value, message: &str| {
        let reply = call(foehn_plugin(), tool, arguments).caller("ann", "terminal").run();
        let expected = Reply { executed: Some(false), ..Reply::error(ReplyKind::Failed, message) };
        assert_eq!(reply, expected);
    };
    let rooms = "there is no room `oak`; the rooms are: alder, birch, cedar, maple";
    check("book_room", booking("oak", "09:00", 60), rooms);
    let late = "a booking ends on its day: from 23:30 at most 30 minutes are left";
    check("book_room", booking("alder", "23:30", 60), late);
    let mut many = booking("alder", "09:00", 60);
    many["attendees"] = json!(9);
    check("book_room", many, "alder: 4 seats, Whiteboard: that does not fit 9 with []");
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let host = TestHost::new();
    for start in ["09:00", "10:00", "11:00"] {
        ask(&host, "ann", "book_room", booking("alder", start, 60));
    }
    let reply =
        call(foehn_plugin(), "my_bookings", json!({"limit": 1})).caller("ann", "terminal").run_on(&host);
    let one = Part::text("alder-2026-03-02-0900: Plan on 2026-03-02 at 09:00-10:00");
    assert_eq!(reply, Reply { notes: vec!["2 more are booked later".to_owned()], ..Reply::ok(vec![one]) });
}

#[test]
fn the_contract_refuses_what_the_plugin_should_not_see() {
    assert_contract!(foehn_plugin());
    let codes = |arguments: &str| -> Vec<String> {
        let problems = accepted(&foehn_plugin(), "book_room", arguments).err().unwrap_or_default();
        problems.into_iter().map(|problem| format!("{} {}", problem.path, problem.code)).collect()
    };
    let arguments = r#"{"room_id":"birch","date":"2026-03-02","start_time":"9:30 AM","duration_minutes":5,"title":"","user_id":"ben"}"#;
    assert_eq!(
        codes(arguments),
        [
            "/duration_minutes out_of_range",
            "/start_time bad_format",
            "/title bad_length",
            "/user_id unknown_argument"
        ]
    );
}
