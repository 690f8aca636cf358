// SPDX-License-Identifier: MIT OR Apache-2.0
//! What an agent of an older version does not have is not asked of it.

use super::*;

#[test]
fn an_agent_undoes_what_harms_its_host_alone_and_says_why() {
    let (agent, mut far) = Agent::far();
    far.watch(&["eth1".to_owned()]).unwrap();
    made(&mut far, "harmless");
    let change = made(&mut far, "harmful");
    let end = Instant::now() + PATIENCE;
    let why = loop {
        assert!(Instant::now() < end, "no alarm");
        match far.alarm().unwrap() {
            Some(why) => break why,
            None => thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(why, "the kernel reported x");
    assert_eq!(far.alarm().unwrap(), None, "said once");
    let values = ["harmless", "harmful"].map(|knob| agent.model.value(knob));
    assert_eq!(values, ["old", "old"]);
    let kept = far.keep(change).unwrap_err();
    assert_eq!(kept.to_string(), "change 2 is undone");
    assert!(matches!(far.undo(change), Ok(End::WasUndone)));
    drop(far);
    let (ending, model) = agent.ended();
    assert!(ending.undone.is_empty(), "{ending:?}");
    assert_eq!(model.said(), ["watch eth1", "undo 2", "undo 1", "undo 2"]);
}

#[test]
fn an_agent_that_has_no_guards_is_not_asked() {
    let (input, mut answers) = io::pipe().unwrap();
    let (mut requests, output) = io::pipe().unwrap();
    let thread = thread::spawn(move || {
        let hello = Hello {
            capabilities: Vec::new(),
            ..hello()
        };
        let greeting = lines::text(&Greeting { hello }).unwrap();
        let done = lines::text(&Answered {
            id: 1,
            answer: Answer::Done,
        })
        .unwrap();
        answers.write_all((greeting + &done).as_bytes()).unwrap();
        let mut asked = String::new();
        Read::read_to_string(&mut requests, &mut asked).unwrap();
        asked.lines().count()
    });
    let mut far = Far::over(input, output, Terms::default()).unwrap();
    far.watch(&["eth1".to_owned()]).unwrap();
    assert_eq!(far.alarm().unwrap(), None);
    drop(far);
    assert_eq!(thread.join().unwrap(), 1, "only the begin");
}

const PATIENCE: Duration = Duration::from_secs(30);

fn key(knob: &str) -> Key {
    Key {
        knob: knob.to_owned(),
        place: Place::Host,
    }
}

#[test]
fn the_largest_value_of_a_far_host_is_known_here() {
    let (agent, mut far) = Agent::far();
    assert_eq!(far.most(&key("ring")).unwrap().as_deref(), Some("4096 512"));
    assert_eq!(far.most(&key("a")).unwrap(), None);
    let why = far.most(&key("unreadable")).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(far.read(&key("a")).unwrap(), "old", "it answers as before");
    drop(far);
    agent.ended();
}

/// It would take the request for the end of the connection.
#[test]
fn an_agent_that_does_not_announce_largest_values_is_not_asked_for_one() {
    let (input, mut requests) = io::pipe().unwrap();
    let (mut answers, output) = io::pipe().unwrap();
    let says = [greeted(hello()), answered(1, Answer::Done)].concat();
    requests.write_all(&says).unwrap();
    let mut far = Far::over(input, output, Terms::default()).unwrap();
    assert_eq!(far.most(&key("ring")).unwrap(), None);
    drop(far);
    let mut asked = String::new();
    answers.read_to_string(&mut asked).unwrap();
    assert!(
        asked.contains("begin") && !asked.contains("most"),
        "{asked}"
    );
}

#[test]
fn a_largest_value_that_is_no_number_is_refused() {
    let can = Hello {
        capabilities: vec!["most".to_owned()],
        ..hello()
    };
    let begin = [greeted(can), answered(1, Answer::Done)].concat();
    let most = |text: &str| Answer::Most(Some(text.to_owned()));
    for (answer, is_taken) in [
        (most("4096"), true),
        (most("ff,ffffffff"), true),
        (most("4096'; reboot; '"), false),
        (most("\u{1b}[2J"), false),
        (most(""), false),
        (Answer::Value("4096".to_owned()), false),
        (Answer::Undone, false),
    ] {
        let says = [begin.clone(), answered(2, answer.clone())].concat();
        let mut far = hostile(&says, Terms::default()).unwrap();
        let most = far.most(&key("ring"));
        assert_eq!(most.is_ok(), is_taken, "{answer:?}: {most:?}");
        if let Err(why) = most {
            assert_eq!(why.to_string(), "unexpected answer");
        }
    }
}
