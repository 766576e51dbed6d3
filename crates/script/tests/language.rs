//! The language: values by hand, mistakes with their places, limits, and texts at random.

use penstock_script::{ACKNOWLEDGEMENT, At, Error, FUEL, Object, Program, Role, Value, field};

/// A scheme whose reaction point has these lines in `on_ack`, and those of the class before it.
fn text(class: &str, body: &str) -> String {
    let indented = |text: &str, by: usize| {
        let line = |line: &str| format!("{}{line}\n", " ".repeat(by));
        text.lines().map(line).collect::<String>()
    };
    let (class, body) = (indented(class, 8), indented(body, 12));
    format!(
        "import penstock\nimport math\n\nLIMIT = 1_000\n\n\nclass Mine(penstock.Scheme):\n    \
         parameters = {{\"k\": penstock.Parameter(\"count\", 3, 1, 9)}}\n\n    \
         class NotificationPoint(penstock.NotificationPoint):\n        def acknowledge(self, frame):\n            \
         return True\n\n    class ReactionPoint(penstock.ReactionPoint):\n{class}        def on_ack(self, ack):\n{body}"
    )
}

/// The line of the first one of the body.
fn first_line(class: &str) -> usize {
    16 + class.lines().count()
}

fn acknowledgement() -> Value {
    let numbers = [7_000_000, 3, 1500, 0, 20_000_000].map(Value::Int);
    let words = Value::Tuple([1, 2, 3, 4].map(Value::Int).into());
    let fields = numbers.into_iter().chain([Value::Bool(true), words, Value::Int(0)]);
    Value::Record(&ACKNOWLEDGEMENT, fields.collect())
}

fn run(class: &str, body: &str) -> Result<(Value, Object, u32), Error> {
    let program = Program::new(&text(class, body))?;
    let values = program.arrange(&[Value::Int(3)]);
    let mut object = program.make(Role::Reaction, &values, Value::Int(10_000_000_000))?;
    let method = program.method(Role::Reaction, "on_ack").expect("it is there");
    let answer = program.call(Role::Reaction, method, &mut object, &values, &[acknowledgement()])?;
    Ok((answer.value, object, answer.steps))
}

fn value(body: &str) -> Value {
    run("x = 5", body).unwrap_or_else(|error| panic!("{body}: {error:?}")).0
}

fn mistake(class: &str, body: &str) -> (usize, usize, String) {
    let error = run(class, body).expect_err(body);
    assert!(!error.hint.is_empty(), "{body}");
    (error.at.line.wrapping_sub(first_line(class)) + 1, error.at.column, error.message)
}

/// Each is what CPython 3.11 gives.
#[test]
fn expressions_have_the_values_of_python() {
    let cases: &[(&str, Value)] = &[
        ("return 1 + 2 * 3 - 4 // 3", Value::Int(6)),
        ("return -7 // 2, -7 % 3", Value::Tuple([-4, 2].map(Value::Int).into())),
        ("return -2 ** 2", Value::Int(-4)),
        ("return 2 ** 3 ** 2", Value::Int(512)),
        ("return 7 / 2", Value::Float(3.5)),
        ("return 1 << 3 | 5 & 4 ^ 1", Value::Int(13)),
        ("return 0xff + 0b11 + 1_000", Value::Int(1258)),
        ("return 1e3 + .5", Value::Float(1000.5)),
        ("return 1 < 2 < 3, 3 > 2 > 2", Value::Tuple([true, false].map(Value::Bool).into())),
        ("return not 1 or 4", Value::Int(4)),
        ("return 0 or None", Value::None),
        ("return 2 and 3", Value::Int(3)),
        ("return 1 if ack.marked else 2", Value::Int(1)),
        ("return ack.acked * ack.marked", Value::Int(1500)),
        ("return ack.word[1] + ack.word[-1]", Value::Int(6)),
        ("return min(3, 1, 2) + max(4, 5) + abs(-6)", Value::Int(12)),
        ("return int(-2.7), round(2.5), math.floor(-0.5)", Value::Tuple([-2, 2, -1].map(Value::Int).into())),
        ("return math.sqrt(16), float(3)", Value::Tuple([4.0, 3.0].map(Value::Float).into())),
        ("return self.p.k + self.x + LIMIT", Value::Int(1008)),
        ("return self.window is None and self.timeout is None and not self.limiting", Value::Bool(true)),
        ("return self.line == self.rate == 10_000_000_000", Value::Bool(true)),
        ("a = b = 2\na, b = b + 1, a\nreturn a * 10 + b", Value::Int(32)),
        (
            "n = 0\nfor i in range(5):\n    if i == 1: continue\n    if i == 4: break\n    n += i\nreturn n",
            Value::Int(5),
        ),
        ("n = 0\nfor i in range(10, 0, -3):\n    n = n * 10 + i\nreturn n", Value::Int(10_741)),
        ("n = 100\nwhile n > 7:\n    n //= 2\nreturn n", Value::Int(6)),
        (
            "if (n := ack.acked) > 1000 and n < 2000:\n    return n\nelif n:\n    return 1\nelse:\n    return 2",
            Value::Int(1500),
        ),
        ("a = 1; b = 2\nreturn (a +\n  b)  # a line that goes on", Value::Int(3)),
        ("pass", Value::None),
        ("return", Value::None),
        ("return True + True, ~5, +True", Value::Tuple([2, -6, 1].map(Value::Int).into())),
        ("return 5.5 // -2, 5.5 % -2", Value::Tuple([-3.0, -0.5].map(Value::Float).into())),
        ("return len((1, 2, 3)) + len(())", Value::Int(3)),
        ("return math.inf > 10 ** 30", Value::Bool(true)),
    ];
    for (body, wanted) in cases {
        assert_eq!(value(body), *wanted, "{body}");
    }
}

#[test]
fn fields_keep_their_values_and_the_places_where_they_were_set() {
    let class = "x, y = 1, 2\ndef helper(self, n):\n    self.y += n\n    return self.y\n";
    let (value, object, _) = run(class, "self.rate = self.helper(3) * self.helper(4)").unwrap();
    assert_eq!((value, object.field(field::RATE).0), (Value::None, &Value::Int(45)));
    assert_eq!(object.field(field::RATE).1, At { line: first_line(class), column: 13 });
    let made = "def __init__(self, p, line):\n    self.half, self.k = line // 2, p.k\n";
    assert_eq!(run(made, "return self.half + self.k").unwrap().0, Value::Int(5_000_000_003));
}

/// A point that the text does not have does nothing, and can be made.
#[test]
fn a_scheme_needs_no_class_of_a_point() {
    let program = Program::new("import penstock\nclass A(penstock.Scheme):\n    pass\n").unwrap();
    for role in Role::ALL {
        let object = program.make(role, &[], Value::Int(5)).unwrap();
        assert_eq!(object.field(field::WINDOW).0, &Value::None, "{role:?}");
    }
    let point = "    class CongestionPoint(penstock.CongestionPoint):\n        pass\n";
    let twice = format!("import penstock\nclass A(penstock.Scheme):\n{point}{point}");
    assert!(Program::new(&twice).unwrap_err().message.contains("a second CongestionPoint"));
}

#[test]
fn mistakes_have_their_line_and_column() {
    let cases: &[(&str, usize, usize, &str)] = &[
        ("return 1 +", 1, 23, "the end of the line"),
        ("x = 1\nreturn x y", 2, 22, "\"y\" stands where"),
        ("return nowhere", 1, 20, "the name nowhere has no value"),
        ("return x", 1, 20, "the name x has no value"),
        ("return self.z", 1, 20, "self.z is read, and never set"),
        ("return self.p.kk", 1, 27, "no parameter kk"),
        ("return ack.akced", 1, 24, "no field akced"),
        ("return ack.acked.octets", 1, 30, "a whole number has no field octets"),
        ("return 1 / (ack.lost * 0)", 1, 22, "a division by zero"),
        ("return None + 1", 1, 25, "no arithmetic with None"),
        ("return None < 1", 1, 25, "None and a whole number have no order"),
        ("return 2 ** 200", 1, 22, "beyond 2^127"),
        ("return 2.0 ** 0.5", 1, 24, "a power of numbers that are not whole"),
        ("return missing(1)", 1, 20, "there is no function missing"),
        ("return self.missing(1)", 1, 20, "ReactionPoint has no method missing"),
        ("a, b = 1, 2, 3", 1, 13, "3 values for 2 names"),
        ("if ack.marked:\nreturn 1", 2, 13, "a block is to stand here"),
        ("if 1:\n    a = 2\n  b = 3", 3, 15, "indented as no block above it"),
        ("return [1, 2]", 1, 20, "a list or a dictionary"),
        ("return \"a", 1, 20, "a text is not closed"),
        ("return (1", 1, 20, "\"(\" is not closed"),
        ("import os", 1, 13, "\"import\""),
        ("try:\n    pass", 1, 13, "\"try\""),
        ("for i in ack.word:\n    pass", 1, 19, "something else than a range"),
        ("break", 1, 13, "break stands in no loop"),
        ("1 = 2", 1, 13, "nothing can be assigned"),
        ("return ack.random", 1, 24, "random numbers are not asked for"),
        ("return ack.word[4]", 1, 28, "place 4 of 4 values"),
        ("if ack.lost:\n    a = 1\nreturn a", 3, 20, "the variable a is read before it is set"),
        ("return self.send(1, -1)", 1, 20, "a number of the signal is -1"),
        ("self.send(1, to=\"nowhere\")", 1, 13, "to is \"nowhere\""),
        ("return 12ab", 1, 20, "\"12ab\" is no number"),
        ("return 1 ? 2", 1, 22, "the sign \"?\""),
        ("\treturn 1", 1, 13, "a tab in front of a line"),
    ];
    for (body, line, column, message) in cases {
        let own = mistake("", body);
        assert_eq!((own.0, own.1), (*line, *column), "{body}: {}", own.2);
        assert!(own.2.contains(message), "{body}: {}", own.2);
    }
}

#[test]
fn a_text_that_is_no_scheme_is_refused() {
    let cases = [
        ("", "the text has no scheme"),
        ("class A(penstock.Scheme):\n    pass\n", "penstock is not imported"),
        ("import penstock\nclass A:\n    pass\n", "no class below penstock.Scheme"),
        ("import penstock\nclass A(penstock.Scheme):\n    ecn = 1\n", "ecn is 1"),
        ("import penstock\nclass A(penstock.Scheme):\n    speed = 1\n", "no setting speed"),
        ("import penstock\nclass A(penstock.Scheme):\n    signals = \"up\"\n", "\"up\" are not known"),
        ("import penstock\nclass A(penstock.Scheme):\n    signals = \"backward\"\n", "no method on_signal"),
        (
            "import penstock\nclass A(penstock.Scheme):\n    def on_ack(self, ack): pass\n",
            "a method of the scheme itself",
        ),
        ("import numpy\n", "the module numpy"),
        ("from math import sqrt\n", "\"from\""),
        ("def f():\n    pass\n", "a function outside"),
    ];
    for (text, message) in cases {
        let error = Program::new(text).expect_err(text);
        assert!(error.message.contains(message), "{text}: {}", error.message);
    }
    let point = |body: &str| {
        let text = format!("import penstock\nclass A(penstock.Scheme):\n    class {body}");
        Program::new(&text).expect_err(body).message
    };
    assert!(point("Point(penstock.ReactionPoint):\n        pass\n").contains("that of no point"));
    assert!(point("ReactionPoint(penstock.CongestionPoint):\n        pass\n").contains("no class below"));
    let method =
        |head: &str| point(&format!("ReactionPoint(penstock.ReactionPoint):\n        def {head}:\n            pass\n"));
    assert!(method("on_akc(self, ack)").contains("nobody calls on_akc"));
    assert!(method("on_ack(self)").contains("gets 1 arguments after self, not 0"));
    assert!(method("helper(x)").contains("the first argument of a method is self"));
    assert!(method("helper(self, x=1)").contains("a default or a type"));
}

/// What runs on is stopped, with the line that it is in.
#[test]
fn a_call_that_runs_on_is_stopped() {
    let own = mistake("", "n = 0\nwhile True:\n    n += 1");
    assert!(own.2.contains("has not returned") && (2..=3).contains(&own.0), "{own:?}");
    assert!(mistake("", "while 1: pass").2.contains("has not returned"));
    assert!(mistake("", "for i in range(10 ** 30): pass").2.contains("has not returned"));
    let class = "def helper(self, n):\n    return self.helper(n + 1)\n";
    assert!(mistake(class, "self.helper(0)").2.contains("call one another without an end"));
    let (_, _, steps) = run("", "for i in range(100): pass").unwrap();
    assert!((200..300).contains(&steps) && steps < FUEL, "{steps}");
}

#[test]
fn deep_texts_are_refused_and_do_not_fill_the_stack() {
    for body in [
        format!("return {}1{}", "(".repeat(3000), ")".repeat(3000)),
        format!("return {}1", "-".repeat(3000)),
        format!("return {}1", "not ".repeat(3000)),
        format!("return 1{}", " + 1".repeat(3000)),
        format!("return 1{}", " ** 1".repeat(3000)),
        format!("return 1{}", " if 1 else 1".repeat(2000)),
        format!("return ack{}", ".now".repeat(3000)),
        format!("return ack{}", "[0]".repeat(3000)),
        (0..300).fold(String::new(), |text, i| text + &" ".repeat(i) + "if 1:\n") + &" ".repeat(300) + "pass",
    ] {
        let own = mistake("", &body);
        assert!(["deeply", "too long", "are the most"].iter().any(|word| own.2.contains(word)), "{}", own.2);
    }
}

/// Texts that are cut, joined and changed at random are read, refused or run, and nothing else happens.
#[test]
fn no_text_makes_it_fail() {
    let whole = text(
        "x, y = 1, 2.5\ndef helper(self, n):\n    return n * self.x\ndef on_send(self, release):\n    self.x += release.octets",
        "for i in range(3):\n    self.y /= i + 1\nif ack.marked and self.helper(2) > 1:\n    self.rate = max(self.rate // 2, 1)\n\
         elif (n := ack.acked):\n    self.send(ack.flow, n, to=\"destination\")\nwhile self.x > 3:\n    self.x >>= 1",
    );
    let letters: Vec<char> = whole.chars().collect();
    let pieces: Vec<&str> = whole.split_inclusive([' ', '\n', '(', ')', '.', ',']).collect();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut draw = |below: usize| {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let (mut read, mut ran) = (0, 0);
    for round in 0..6000 {
        let changed = if round % 2 == 0 {
            let mut own = letters.clone();
            for _ in 0..=draw(3) {
                let at = draw(own.len());
                match draw(3) {
                    0 => {
                        own[at] = *['(', ')', ':', '\n', ' ', '0', '"', '.', '-', 'é', '=', ','].get(draw(12)).unwrap()
                    }
                    1 => drop(own.remove(at)),
                    _ => own.insert(at, letters[draw(letters.len())]),
                }
            }
            own.into_iter().collect::<String>()
        } else {
            let mut own = pieces.clone();
            for _ in 0..=draw(2) {
                let (from, to) = (draw(own.len()), draw(own.len()));
                own.swap(from, to);
            }
            own.concat()
        };
        let Ok(program) = Program::new(&changed) else { continue };
        read += 1;
        let values = program.arrange(&vec![Value::Int(3); program.parameters.len()]);
        let Ok(mut object) = program.make(Role::Reaction, &values, Value::Int(1_000_000)) else { continue };
        let Some(method) = program.method(Role::Reaction, "on_ack") else { continue };
        for _ in 0..3 {
            ran +=
                usize::from(program.call(Role::Reaction, method, &mut object, &values, &[acknowledgement()]).is_ok());
        }
    }
    assert!(read > 300 && ran > 300, "{read} of 6000 were read, and {ran} calls returned");
}
