//! Tests with valid and invalid files.

use super::*;

fn read(format: TraceFormat, text: &str) -> Result<Paths, String> {
    Paths::read(format, 2, text.as_bytes()).map_err(|error| error.to_string())
}

fn csv(text: &str) -> Result<Paths, String> {
    read(TraceFormat::Csv, text)
}

fn fix(seconds: f64, x: f64, y: f64, z: f64) -> Fix {
    Fix { at: Instant::ZERO + Duration::from_secs_f64(seconds), place: Vector::new(x, y, z) }
}

fn names(paths: &Paths) -> Vec<&str> {
    paths.nodes().iter().map(|path| path.node.as_str()).collect()
}

#[test]
fn rows_of_nodes_may_alternate() {
    let paths = csv("node,time_s,x_m,y_m,z\r\nb,0,1,2,3\r\na,0.5,4,5,6\r\nb,2.5,7,8,9\r\n").unwrap();
    assert_eq!(names(&paths), ["b", "a"]);
    assert_eq!(paths.named("b").unwrap().fixes(), [fix(0.0, 1.0, 2.0, 3.0), fix(2.5, 7.0, 8.0, 9.0)]);
    assert_eq!(paths.named("a").unwrap().fixes(), [fix(0.5, 4.0, 5.0, 6.0)]);
    assert_eq!(paths.bounds(), (Vector::new(1.0, 2.0, 3.0), Vector::new(7.0, 8.0, 9.0)));
}

#[test]
fn numbered_nodes_are_in_the_order_of_their_numbers() {
    let paths = csv("time,node,x,y,z\n0,10,0,0,0\n0,9,0,0,0\n0,1,0,0,0\n0,2,0,0,0\n0,3,0,0,0\n0,4,0,0,0\n0,5,0,0,0\n0,6,0,0,0\n0,7,0,0,0\n0,8,0,0,0\n").unwrap();
    assert_eq!(names(&paths), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
}

#[test]
fn places_on_the_earth_become_local_at_the_first() {
    let paths = csv("time,node,lat,lon,alt\n0,a,45,9,100\n1,a,45.001,9,110\n0,b,45,9.001,100\n").unwrap();
    let (a, b) = (paths.named("a").unwrap().fixes(), paths.named("b").unwrap().fixes());
    assert!(a[0].place.length() < 1e-6);
    // 0.001° of latitude at 45° is 111.13 m, of longitude 78.85 m; the Earth falls away by 1 mm.
    assert!(a[1].place.distance(Vector::new(0.0, 111.13, 10.0)) < 0.01, "{:?}", a[1]);
    assert!(b[0].place.distance(Vector::new(78.85, 0.0, 0.0)) < 0.01, "{:?}", b[0]);
}

#[test]
fn wrong_rows_are_reported_with_their_line() {
    let cases = [
        ("", "line 1: the file is empty"),
        ("time,node,x,y,z\n", "line 1: there is no row"),
        ("time,node,x,y\n0,a,1,1\n", "line 1: the column z is missing"),
        ("time,node\n0,a\n", "line 1: the column x is missing"),
        ("node,x,y,z\na,1,1,1\n", "line 1: the column time is missing"),
        ("time,x,y,z\n0,1,1,1\n", "line 1: the column node is missing"),
        ("time,node,lat,lon\n0,a,1,1\n", "line 1: the column alt is missing"),
        ("time,node,x,y,z,lat\n0,a,1,1,1,1\n", "line 1: x, y, z cannot be combined with lat, lon, alt"),
        ("time,node,x,y,z,x_m\n0,a,1,1,1,1\n", "line 1: the column x_m is duplicated"),
        ("time,node,x,y,z,w\n0,a,1,1,1,1\n", "line 1: \"w\" is not a column"),
        ("time,node,x,y,z\n0,a,1,1\n", "line 2: 4 fields where the header has 5"),
        ("time,node,x,y,z\n0,a,1,1,1,1,1,1,1,1\n", "line 2: 10 fields where the header has 5"),
        ("time,node,x,y,z\n0,a,1,1,nan\n", "line 2: z: \"nan\" is not a number"),
        ("time,node,x,y,z\n0,a,1,1,\n", "line 2: z: \"\" is not a number"),
        ("time,node,x,y,z\n0,a,inf,1,1\n", "line 2: x: \"inf\" is not a number"),
        ("time,node,x,y,z\n0,a,1,2e9,1\n", "line 2: y: 2e9 is farther than 1000000000 m"),
        ("time,node,x,y,z\n0,,1,1,1\n", "line 2: node: the name is empty"),
        ("time,node,x,y,z\n-1,a,1,1,1\n", "line 2: time: -1 is negative"),
        ("time,node,x,y,z\n1e9,a,1,1,1\n", "line 2: time: 1e9 is above 1728000 s"),
        (
            "time,node,x,y,z\n1,a,1,1,1\n0,b,1,1,1\n0.5,a,1,1,1\n",
            "line 4: the time of node a decreases from 1 s to 0.5 s",
        ),
        ("time,node,x,y,z\n1,a,1,1,1\n1,a,2,1,1\n", "line 3: node a has two positions at 1 s"),
        ("time,node,x,y,z\n0,0,1,1,1\n0,1,1,1,1\n0,3,1,1,1\n", "line 4: there is a node 3 but no node 2"),
        ("time,node,x,y,z\n0,2,1,1,1\n", "line 2: there is a node 2 but no node 1"),
        ("time,node,x,y,z\n0,1,1,1,1\n0,01,1,1,1\n", "line 3: there is a node 01 but no node 2"),
        ("time,node,lat,lon,alt\n0,a,91,1,1\n", "line 2: lat: 91 is not from -90 to 90 degrees"),
        ("time,node,lat,lon,alt\n0,a,1,1,2e8\n", "line 2: alt: 2e8 is not from -100000000 to 100000000 m"),
        ("time,node,lat,lon,alt\n0,a,1,181,1\n", "line 2: lon: 181 is not from -180 to 180 degrees"),
        ("time,node,x,y,z\n0,a,1,1,1\n1,a,1,1", "line 3: the last line has no newline"),
    ];
    for (text, message) in cases {
        let error = csv(text).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
    let error = Paths::read(TraceFormat::Csv, 2, b"time,node,x,y,z\n0,\xff,1,1,1\n").unwrap_err();
    assert_eq!(error.to_string(), "line 2: is not text in UTF-8");
}

#[test]
fn a_line_by_bonnmotion_is_a_node() {
    let paths = read(TraceFormat::BonnMotion, "# two nodes\n0 1 2 5.5 3 4 5.5 3 4 9 3 4\n1 7 8\n").unwrap();
    assert_eq!(names(&paths), ["0", "1"]);
    let expected = [fix(0.0, 1.0, 2.0, 0.0), fix(5.5, 3.0, 4.0, 0.0), fix(9.0, 3.0, 4.0, 0.0)];
    assert_eq!(paths.nodes()[0].track.fixes(), expected);
    let solid = Paths::read(TraceFormat::BonnMotion, 3, b"0 1 2 3 5.5 4 5 6\n").unwrap();
    assert_eq!(solid.nodes()[0].track.fixes(), [fix(0.0, 1.0, 2.0, 3.0), fix(5.5, 4.0, 5.0, 6.0)]);
}

#[test]
fn wrong_lines_by_bonnmotion_are_reported() {
    let cases = [
        ("", "line 1: the file has no node"),
        ("# none\n", "line 1: the file has no node"),
        ("0 1 2\n\n", "line 2: node 1 has no position"),
        ("0 1 2 3\n", "line 1: 4 numbers are not a sequence of time x y; did you mean dimension = 3?"),
        ("0 1 2 3 4\n", "line 1: 5 numbers are not a sequence of time x y"),
        ("0 1 x\n", "line 1: y: \"x\" is not a number"),
        ("0 1 2 NaN 1 2\n", "line 1: time: \"NaN\" is not a number"),
        ("2 1 2 1 1 2\n", "line 1: the time of node 0 decreases from 2 s to 1 s"),
        ("2 1 2 2 1 3\n", "line 1: node 0 has two positions at 2 s"),
        ("0 1 2", "line 1: the last line has no newline"),
    ];
    for (text, message) in cases {
        let error = read(TraceFormat::BonnMotion, text).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn a_script_of_setdest_is_flown() {
    let script = "#\n# nodes: 2\n#\n$node_(0) set X_ 10.0\n$node_(0) set Y_ 20.0\n$node_(0) set Z_ 5.0\n\
        $node_(1) set X_ 0\n$node_(1) set Y_ 0\n$god_ set-dist 0 1 2\n\
        $ns_ at 2.0 \"$node_(0) setdest 40 20 10.0\"\n\
        $ns_ at 3.0 \"$node_(0) setdest 20 60 5.0\"\n\
        $ns_ at 3.5 \"$god_ set-dist 0 1 1\"\n\
        $ns_ at 14 \"$node_(0) setdest 0 0 0.0\"\n\
        $ns_ at 1.0 \"$node_(1) setdest 3 4 1.0\"\n\
        $ns_ at 4.0 \"$node_(1) setdest 3 4 0.0\"\n";
    let paths = read(TraceFormat::Ns2, script).unwrap();
    // After a second at 10 m/s node 0 is at (20, 20) and turns; 40 m at 5 m/s end at 11 s.
    let expected = [
        fix(0.0, 10.0, 20.0, 5.0),
        fix(2.0, 10.0, 20.0, 5.0),
        fix(3.0, 20.0, 20.0, 5.0),
        fix(11.0, 20.0, 60.0, 5.0),
        fix(14.0, 20.0, 60.0, 5.0),
    ];
    assert_eq!(paths.nodes()[0].track.fixes(), expected);
    // Three of five metres, then stopped.
    let [.., last] = paths.nodes()[1].track.fixes() else { panic!() };
    assert!(
        last.at == Instant::ZERO + Duration::from_secs(4) && last.place.distance(Vector::new(1.8, 2.4, 0.0)) < 1e-12
    );
}

#[test]
fn a_script_is_read_in_every_form_that_tcl_has_for_it() {
    let plain = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 5.0 \"$node_(0) setdest 4 6 2.5\"\n";
    let expected = read(TraceFormat::Ns2, plain).unwrap();
    assert_eq!(expected.left_out(), 0);
    let forms = [
        "$ns at 5.0 \"$node_(0) setdest 4 6 2.5\"\r\n$node_(0) set X_ 1\r\n$node_(0) set Y_ 2\r\n",
        "$node_(0) set Y_ \"2.0\"; # start\n$node_(0) set X_ {1e0};\n$ns_ at 5 { $node_(0) setdest 4.0 6.0 25e-1 }\n",
        "${node_(0)} set X_ 1 ;# a comment; with setdest\n  ${node_(0)} set Y_ 2\n\t$sim at 5.0 \"$node_(0)   setdest 4 6 2.5\" ;\n",
        "$n(0) set X_ 1\n$n(0) set Y_ 2\n$ns_ at 5.0 {$n(0) setdest 4 6 2.5}\n",
    ];
    for text in forms {
        let paths = read(TraceFormat::Ns2, text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(paths, expected, "{text:?}");
    }
}

#[test]
fn lines_that_move_no_node_are_left_out_and_counted() {
    let script = "# setdest -v 1 -n 2\nset val(nn) 2\nset x 10\nset val(t) 2.0\nproc done {} {\n  puts \"end\"\n}\n\
        $node_(0) set X_ $x\n$node_(0) set Y_ 10\n$god_ set-dist 0 1 1\n$node_(0) label \"a\"\n\
        $ns_ at $val(t) \"$node_(0) setdest 20 10 2\"\n$ns_ at 5.0 \"$god_ set-dist 0 1 2\"\n$ns_ at 0.0 \"$g(0) start\"\n";
    let paths = read(TraceFormat::Ns2, script).unwrap();
    assert_eq!(paths.left_out(), 10);
    assert_eq!(
        paths.nodes()[0].track.fixes(),
        [fix(0.0, 10.0, 10.0, 0.0), fix(2.0, 10.0, 10.0, 0.0), fix(7.0, 20.0, 10.0, 0.0)]
    );
}

#[test]
fn commands_apply_in_the_order_of_their_times() {
    let script = "$ns_ at 4 \"$node_(0) setdest 0 0 1\"\n$ns_ at 1 \"$node_(0) setdest 10 0 1\"\n\
        $node_(0) set X_ 0\n$node_(0) set Y_ 0\n$ns_ at 6 \"$node_(0) set X_ 100\"\n";
    let paths = read(TraceFormat::Ns2, script).unwrap();
    let nanosecond_before_6_s = fix(5.999_999_999, 1.000_000_001, 0.0, 0.0);
    let [.., a, b, c] = paths.nodes()[0].track.fixes() else { panic!() };
    assert_eq!((a, c), (&fix(4.0, 3.0, 0.0, 0.0), &fix(6.0, 100.0, 0.0, 0.0)));
    assert!(b.at == nanosecond_before_6_s.at && b.place.distance(nanosecond_before_6_s.place) < 1e-6, "{b:?}");
}

#[test]
fn wrong_lines_of_a_script_are_reported() {
    let start = "$node_(0) set X_ 1\n$node_(0) set Y_ 1\n";
    let cases = [
        ("", "line 1: the script places no node"),
        ("$node_(0) set Y_ 1\n", "line 1: node 0 has no X_"),
        ("$node_(0) set X_ one\n", "line 1: X_: \"one\" is not a number"),
        ("$node_(0) set W_ 1\n", "line 1: the script places no node"),
        ("set val(nn) 5\n", "line 1: the script places no node"),
        ("$node_($i) set X_ 1\n", "line 1: \"$node_($i) set X_ 1\" is not a valid line"),
        ("$node_(0) set X_ $x\n", "line 1: $x is not a variable that is set to a number; write the number"),
        ("set x 1\nset x [expr 2]\n$node_(0) set X_ $x\n", "line 3: $x is not a variable"),
        ("for {set i 0} {$i < 2} {incr i} {\n$node_(0) set X_ 1\n}\n", "line 2: \"$node_(0) set X_ 1\" is in a block"),
        ("$a(0) set X_ 1\n$b(0) set Y_ 1\n", "line 2: $b and $a are different arrays of nodes"),
        ("$node_(0) setdest 1 2 3\n", "line 1: node 0 has no time for setdest"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1\n", "line 1: \"$ns_ at 1"),
        ("$node_(a) set X_ 1\n", "line 1: \"$node_(a) set X_ 1\" is not a valid line"),
        ("$node_(0) set X_ 1\n$node_(0) set X_ 2\n", "line 2: X_ of node 0 is set twice"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1 1\"\n", "line 1: node 0 has no X_"),
        (
            "$node_(1) set X_ 1\n$node_(1) set Y_ 1\n$node_(3) set X_ 1\n$node_(3) set Y_ 1\n",
            "line 3: there is a node 3",
        ),
    ];
    for (text, message) in cases {
        let error = read(TraceFormat::Ns2, text).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
    let cases = [
        ("$ns_ at 1 \"$node_(0) setdest 1 1\"\n", "line 3: \"$ns_ at 1"),
        ("$ns_ at 1 $node_(0) setdest 1 1 1\n", "line 3: \"$ns_ at 1"),
        ("$ns_ at x \"$node_(0) setdest 1 1 1\"\n", "line 3: time: \"x\" is not a number"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1 -1\"\n", "line 3: speed: -1 is negative"),
        ("$ns_ at 1 \"$node_(0) setdest 1 1 nan\"\n", "line 3: speed: \"nan\" is not a number"),
        ("$ns_ at 2 \"$node_(0) setdest 1 1 1\"\n$node_(0) set X_ 2\n", "line 4: X_ of node 0 is set twice"),
    ];
    for (text, message) in cases {
        let error = read(TraceFormat::Ns2, &format!("{start}{text}")).unwrap_err();
        assert!(error.starts_with(message), "{text:?}: {error}");
    }
}

#[test]
fn doubts_name_the_node() {
    let paths = csv("time,node,x,y,z\n0,a,0,0,0\n2,a,100,0,0\n20,a,100,0,0\n0,b,0,0,0\n60,b,1,0,0\n").unwrap();
    let doubts: Vec<String> =
        paths.doubts(Duration::from_secs(60), Some(30.0)).iter().map(ToString::to_string).collect();
    let expected = [
        "node a flies at 50.0 m/s starting at 0 s, faster than 30 m/s",
        "the path of node a ends at 20 s, before the run of 60 s; it stays at its last position",
    ];
    assert_eq!(doubts, expected);
    assert_eq!(paths.doubts(Duration::from_secs(10), None), []);
}
