//! Groups: members that follow a leader, each at a varying offset from it.
//!
//! Reference point group mobility, Hong, Gerla, Pei and Chiang, *A group mobility model for ad hoc wireless networks*,
//! MSWiM 1999. A member's position is the leader's position plus an offset. The offset moves at a constant speed within a
//! ball around the leader, in straight lines between random positions that are uniformly distributed. A member that
//! would leave the area slides along the wall.

use crate::model::{Model, Refusal, in_area};
use crate::walk::{Walk, WalkStart};
use crate::{Area, Mobility, Motion, Piece, Vector};
use lightlag_core::params::{Described, Setting};
use lightlag_core::{Instant, RandomStream, Unit};

/// The parameters of a group member.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Name of the leader.
    pub leader: String,
    /// Maximum distance from the leader, in metres.
    pub radius: f64,
    /// Speed relative to the leader, in metres per second. With zero the group keeps its formation.
    pub speed: f64,
    /// The leader's own motion; filled in after the scenario is read.
    pub led: Option<Box<Leader>>,
}

/// The motion of a leader.
#[derive(Clone, PartialEq, Debug)]
pub struct Leader {
    /// The leader's mobility model.
    pub mobility: Mobility,
    /// The leader's start position, as given to [`Motion::new`].
    pub place: Option<Vector>,
    /// The area in which the leader moves.
    pub area: Area,
}

impl Default for Group {
    fn default() -> Self {
        Self { leader: String::new(), radius: 20.0, speed: 2.0, led: None }
    }
}

impl Described for Group {
    const ABOUT: &'static str = "A node follows `leader` within `radius`, and moves around it at `speed`: it flies \
                                 straight from one position, drawn uniformly in a ball around the leader, to the next. \
                                 With speed 0 it keeps its initial offset. At the walls of the area members slide \
                                 along. (Reference point group mobility, Hong et al., MSWiM 1999)";

    fn settings() -> Vec<Setting<Self>> {
        vec![
            Setting::text("leader", |c: &mut Self| &mut c.leader, "the name of a node")
                .about("Name of the leader.")
                .required("write the name of the leader"),
            Setting::quantity("radius", |c: &mut Self| &mut c.radius, Unit::Metre, 0.001, 1e6)
                .about("Maximum distance from the leader, in metres."),
            Setting::quantity("speed", |c: &mut Self| &mut c.speed, Unit::MetrePerSecond, 0.0, 10_000.0)
                .about("Speed relative to the leader, in metres per second. Zero keeps a formation."),
        ]
    }
}

/// The state of a group member.
#[derive(Clone, Debug)]
pub struct Member {
    leader: Box<Motion>,
    offset: Piece,
    radius: f64,
    /// Whether the area is flat, so that the ball is a disc.
    flat: bool,
    speed: f64,
    area: Area,
    random: RandomStream,
}

/// Minimum distance of the next goal in metres; nearer goals are drawn again.
const NEAR: f64 = 1e-6;

/// Returns a random position in a ball around the origin, uniformly distributed; in a horizontal disc if `flat` is
/// true.
fn in_ball(random: &mut RandomStream, radius: f64, flat: bool) -> Vector {
    loop {
        let mut draw = || 2.0 * random.uniform() - 1.0;
        let point = Vector::new(draw(), draw(), if flat { 0.0 } else { draw() });
        if point.square() <= 1.0 {
            return point * radius;
        }
    }
}

impl Member {
    fn wander(&mut self, from: Instant, position: Vector) {
        if self.speed == 0.0 {
            self.offset = Piece::rest(from, Instant::MAX, position);
            return;
        }
        let goal = loop {
            let goal = in_ball(&mut self.random, self.radius, self.flat);
            if goal.distance(position) >= NEAR {
                break goal;
            }
        };
        self.offset = Piece::flight(from, position, goal, self.speed);
    }

    fn joined(&mut self, from: Instant) -> Piece {
        if from >= self.offset.until {
            let place = self.offset.position(self.offset.until);
            self.wander(from, place);
        }
        self.leader.piece(from).carrying(&self.offset).within(self.area)
    }
}

impl Model for Group {
    type Walk = Member;

    fn check(&self, area: &Area, position: Option<Vector>) -> Result<(), Refusal> {
        let Some(led) = &self.led else {
            return Err(Refusal::of("leader", format!("no node is called {:?}", self.leader)));
        };
        if let Mobility::Group(group) = &led.mobility {
            let message = format!("{} follows {} itself; name {1} as the leader", self.leader, group.leader);
            return Err(Refusal::of("leader", message));
        }
        if let (Some(here), Some(there)) = (position, led.place) {
            let distance = here.distance(there);
            if distance > self.radius {
                let (radius, leader) = (self.radius, &self.leader);
                let message = format!("the start is {distance} m from {leader}; start within the radius of {radius} m");
                return Err(Refusal::place(message));
            }
        }
        led.mobility.check(&led.area, led.place)?;
        in_area(area, position)
    }

    fn start(&self, start: WalkStart<'_>) -> (Member, Piece) {
        let led = self.led.as_ref().expect("a checked group has a leader");
        let mut leader = Motion::new(&led.mobility, &led.area, led.place, start.seed, &self.leader);
        let centre = leader.position(Instant::ZERO);
        let mut random = start.random;
        let flat = start.area.size().z == 0.0;
        let offset = match start.place {
            Some(place) => place - centre,
            None => in_ball(&mut random, self.radius, flat),
        };
        let rest = Piece::rest(Instant::ZERO, Instant::ZERO, offset);
        let (radius, speed, area) = (self.radius, self.speed, *start.area);
        let mut member = Member { leader: Box::new(leader), offset: rest, radius, flat, speed, area, random };
        let piece = member.joined(Instant::ZERO);
        (member, piece)
    }
}

impl Walk for Member {
    fn next(&mut self, last: &Piece) -> Piece {
        self.joined(last.until)
    }

    fn max_speed(&self) -> f64 {
        self.leader.max_speed() + self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{GaussMarkov, Static};

    fn area() -> Area {
        Area::new(Vector::ZERO, Vector::new(400.0, 400.0, 100.0)).unwrap()
    }

    fn led(mobility: Mobility, position: Option<Vector>) -> Group {
        Group {
            leader: "leader".to_owned(),
            led: Some(Box::new(Leader { mobility, place: position, area: area() })),
            ..Group::default()
        }
    }

    #[test]
    fn without_a_speed_a_formation_is_unchanged() {
        let mobility = Mobility::GaussMarkov(GaussMarkov::calm(10.0, 10.0));
        let (position, offset) = (Vector::new(200.0, 200.0, 50.0), Vector::new(3.0, -4.0, 5.0));
        let mut leader = Motion::new(&mobility, &area(), Some(position), 7, "leader");
        let group = Mobility::Group(Group { speed: 0.0, ..led(mobility, Some(position)) });
        let mut member = Motion::new(&group, &area(), Some(position + offset), 7, "member");
        for tenth in 0..100 {
            let time = Instant::ZERO + lightlag_core::Duration::from_millis(100 * tenth);
            let expected = area().clamp(leader.position(time) + offset);
            assert!(member.position(time).distance(expected) < 1e-9, "at {time}");
        }
    }

    #[test]
    fn members_fill_the_ball() {
        let position = Vector::new(200.0, 200.0, 50.0);
        let group = Mobility::Group(led(Mobility::Static(Static), Some(position)));
        let distances: Vec<f64> = (0..2_000)
            .map(|seed| Motion::new(&group, &area(), None, seed, "member").position(Instant::ZERO).distance(position))
            .collect();
        // In a ball of radius 20 the mean distance from the middle is 15, with a deviation of 3.9.
        let mean = distances.iter().sum::<f64>() / 2_000.0;
        assert!((mean - 15.0).abs() < 0.35, "{mean}");
    }

    #[test]
    fn a_member_needs_a_leader_near_by() {
        let refusal = |group: &Group, place| group.check(&area(), place).unwrap_err().to_string();
        let lost = Group { leader: "b".to_owned(), ..Group::default() };
        assert_eq!(refusal(&lost, None), "leader: no node is called \"b\"");
        let nested = led(Mobility::Group(lost), None);
        assert_eq!(refusal(&nested, None), "leader: leader follows b itself; name b as the leader");
        let far = led(Mobility::Static(Static), Some(Vector::ZERO));
        let message = refusal(&far, Some(Vector::new(30.0, 40.0, 0.0)));
        assert_eq!(message, "the start is 50 m from leader; start within the radius of 20 m");
    }
}
