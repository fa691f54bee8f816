//! Scenarios with paths of nodes from files, and with groups that follow leaders.

use lightlag_core::{Duration, Instant};
use lightlag_mobility::Vector;
use lightlag_scenario::parse_toml;
use std::path::{Path, PathBuf};

/// Writes a file with these contents to a directory of this test, and returns its path.
fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("flights");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file
}

/// Returns the positions of all nodes of the first medium after the given number of seconds, or the errors.
fn places(text: &str, seconds: f64) -> Result<Vec<Vector>, String> {
    let joined = |errors: Vec<_>| errors.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n");
    let network = parse_toml(text, &[]).map_err(joined)?.expand().map_err(joined)?;
    let at = Instant::ZERO + Duration::from_secs_f64(seconds);
    Ok(network.media[0].motions().map(|motion| motion.clone().position(at)).collect())
}

fn swarm(nodes: u32, mobility: &str, rest: &str) -> String {
    format!(
        "seed = 1\nduration = \"10 s\"\n[topology]\nkind = \"swarm\"\nnodes = {nodes}\nflows = 1\n\
         mobility = {{ {mobility} }}\n{rest}"
    )
}

#[test]
fn nodes_of_a_swarm_take_the_paths_of_a_file_in_its_order() {
    let rows = "time,node,x,y,z\n0,1,0,0,10\n10,1,100,0,10\n0,2,0,50,10\n10,2,0,50,60\n";
    let file = file("two.csv", rows);
    let mobility = format!("model = \"trace\", file = {:?}", file.display().to_string());
    let expected = [Vector::new(50.0, 0.0, 10.0), Vector::new(0.0, 50.0, 35.0)];
    assert_eq!(places(&swarm(2, &mobility, ""), 5.0).unwrap(), expected);
    let error = places(&swarm(3, &mobility, ""), 5.0).unwrap_err();
    assert!(
        error.contains("topology.mobility.file") && error.contains("has no path for \"uav3\"; it has 2"),
        "{error}"
    );
    let single = format!("{mobility}, node = \"2\"");
    assert_eq!(places(&swarm(2, &single, ""), 5.0).unwrap(), [expected[1]; 2]);
}

#[test]
fn a_wrong_file_is_reported_once_with_its_line() {
    let file = file("wrong.csv", "time,node,x,y,z\n0,1,0,0,10\n0,1,100,0,10\n");
    let mobility = format!("model = \"trace\", file = {:?}", file.display().to_string());
    let error = places(&swarm(2, &mobility, ""), 5.0).unwrap_err();
    assert!(
        error.contains("wrong.csv: line 3: node 1 has two positions at 0 s") && error.lines().count() == 1,
        "{error}"
    );
    let error = places(&swarm(2, "model = \"trace\", file = \"nowhere.csv\"", ""), 5.0).unwrap_err();
    assert!(error.contains("nowhere.csv: cannot be read"), "{error}");
}

#[test]
fn members_follow_a_leader_that_is_listed_or_in_the_swarm() {
    let leader = "[[nodes]]\nname = \"leader\"\nat = [\"200 m\", \"200 m\", \"50 m\"]\n\
        mobility = { model = \"gauss-markov\", speed_min = \"10 m/s\", speed_max = \"20 m/s\" }\n";
    let text = swarm(4, "model = \"group\", leader = \"leader\", radius = \"5 m\"", leader);
    for seconds in [0.0, 3.3, 9.9] {
        let positions = places(&text, seconds).unwrap();
        let (leader, members) = positions.split_last().unwrap();
        assert_eq!(members.len(), 4);
        assert!(members.iter().all(|member| member.distance(*leader) < 5.0 + 1e-5), "{positions:?} at {seconds} s");
    }
    let member = "[[nodes]]\nname = \"wing\"\nmobility = { model = \"group\", leader = \"uav2\", radius = \"5 m\" }\n";
    let text = swarm(2, "model = \"random-waypoint\"", member);
    for seconds in [0.0, 3.3, 9.9] {
        let places = places(&text, seconds).unwrap();
        assert!(places[2].distance(places[1]) < 5.0 + 1e-5, "{places:?} at {seconds} s");
    }
}

#[test]
fn a_group_without_a_leader_is_rejected() {
    let error = places(&swarm(2, "model = \"group\", leader = \"eagle\"", ""), 0.0).unwrap_err();
    assert!(error.contains("topology.mobility.leader") && error.contains("no node is called \"eagle\""), "{error}");
    let error = places(&swarm(2, "model = \"group\", leader = \"uav1\"", ""), 0.0).unwrap_err();
    assert!(error.contains("uav1 would follow itself"), "{error}");
}
