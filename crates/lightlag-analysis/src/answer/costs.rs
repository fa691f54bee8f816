//! Costs of the best candidate: retransmissions, queueing delay and unfairness that others avoid.
//!
//! A cost is material if it reaches a threshold and another candidate has at most half of it:
//!
//! | cost | threshold |
//! |---|---|
//! | retransmitted segments | 5 % of all segments |
//! | mean queueing delay at the bottleneck | 20 % of the minimum round-trip time |
//! | unfairness, 1 minus Jain's index | 0.1 |
//!
//! The thresholds are choices of this crate. At 5 % a sender needs 1.05 transmissions per segment. A delay of 20 % of
//! the round-trip time is what other users of the path notice, whatever its length.

use super::gaps::by_how_much;
use crate::comparison::{Candidates, Comparison};
use crate::measures::{MEASURES, Measure};
use crate::numbers::{fixed, number};
use crate::ranking::{Gap, Ranking, Rival, comparisons, confidence_of_each};
use crate::words::listed;

/// Minimum ratio of a cost to the cost of another candidate.
const TIMES: f64 = 2.0;
/// Minimum goodput of a candidate that is named because it costs less, as a fraction of the best; one that cannot be
/// distinguished from the best may have less.
const NEAR: f64 = 0.9;

/// A kind of cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Retransmissions,
    Queueing,
    Unfairness,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Retransmissions, Self::Queueing, Self::Unfairness];

    fn measure(self) -> &'static Measure {
        let column = match self {
            Self::Retransmissions => "retransmitted_share",
            Self::Queueing => "queueing_mean_s",
            Self::Unfairness => "jain",
        };
        MEASURES.iter().find(|measure| measure.column == column).unwrap_or(&MEASURES[0])
    }

    /// Returns the cost of a mean of the metric; smaller is better.
    fn burden(self, mean: f64) -> f64 {
        if self == Self::Unfairness { 1.0 - mean } else { mean }
    }

    /// Returns the minimum of a material cost; infinite if it cannot be assessed.
    fn threshold(self, min_rtt_s: Option<f64>) -> f64 {
        match self {
            Self::Retransmissions => 0.05,
            Self::Queueing => min_rtt_s.map_or(f64::INFINITY, |rtt| 0.2 * rtt),
            Self::Unfairness => 0.1,
        }
    }

    /// Returns a mean of the metric in words.
    fn amount(self, mean: f64) -> String {
        match self {
            Self::Retransmissions => format!("{} %", number(100.0 * mean, 2)),
            Self::Queueing => format!("{} ms", number(1000.0 * mean, 3)),
            Self::Unfairness => fixed(mean, 2),
        }
    }

    /// Returns a mean as it follows "with".
    fn attribute(self, mean: f64) -> String {
        let amount = self.amount(mean);
        match self {
            Self::Retransmissions => format!("{amount} retransmitted"),
            Self::Queueing => format!("a queueing delay of {amount}"),
            Self::Unfairness => format!("a Jain index of {amount}"),
        }
    }
}

/// A candidate with a smaller cost.
#[derive(Clone, Debug)]
struct Cheaper {
    name: String,
    mean: f64,
    /// Whether the difference is significant, or there is a single run of each.
    is_clear: bool,
}

/// A material cost of the best candidate.
#[derive(Clone, Debug)]
struct Cost {
    kind: Kind,
    /// Mean of the metric.
    mean: f64,
    /// Minimum round-trip time of the path in seconds.
    min_rtt_s: Option<f64>,
    cheaper: Cheaper,
}

impl Cost {
    /// Returns the cost as it follows the name of the candidate, up to the comparison with others.
    fn clause(&self, up_to: &str) -> String {
        let amount = self.kind.amount(self.mean);
        match (self.kind, self.min_rtt_s) {
            (Kind::Retransmissions, _) => format!("retransmits {up_to}{amount} of its segments"),
            (Kind::Queueing, Some(rtt)) => {
                let share = number(100.0 * self.mean / rtt, 2);
                format!("adds a mean queueing delay of {up_to}{amount}, {share} % of the minimum RTT")
            }
            (Kind::Queueing, None) => format!("adds a mean queueing delay of {up_to}{amount}"),
            (Kind::Unfairness, _) if up_to.is_empty() => format!("shares unevenly, with a Jain index of {amount}"),
            (Kind::Unfairness, _) => format!("shares unevenly, with a Jain index down to {amount}"),
        }
    }

    /// Returns the cost of the cheaper candidate: `cubic: 0.3 %`.
    fn other(&self) -> String {
        let Cheaper { name, mean, is_clear } = &self.cheaper;
        let doubt = if *is_clear { "" } else { "; not significant" };
        format!("{name}: {}{doubt}", self.kind.amount(*mean))
    }

    fn burden(&self) -> f64 {
        self.kind.burden(self.mean)
    }
}

/// A candidate that costs less than the best and has almost as much goodput, or cannot be distinguished from it.
#[derive(Clone, Debug)]
struct Alternative {
    name: String,
    /// Its goodput compared with the best.
    gap: Gap,
    /// Its means of the metrics in which the best has material costs.
    means: Vec<(Kind, f64)>,
}

/// Material costs of the best candidate of a ranking.
#[derive(Clone, Debug)]
pub(super) struct Costs {
    best: String,
    costs: Vec<Cost>,
    alternative: Option<Alternative>,
}

/// The candidates' values of a metric that is a cost.
struct Field {
    kind: Kind,
    rivals: Vec<Rival>,
    /// Minimum round-trip time of each candidate.
    min_rtts_s: Vec<Option<f64>>,
    /// Confidence of each interval.
    confidence: f64,
}

impl Field {
    fn of(comparison: &Comparison, candidates: Candidates, kind: Kind) -> Option<Self> {
        let measure = kind.measure();
        comparison.measures.iter().any(|column| column == measure.column).then(|| {
            let rivals = comparison.rivals(candidates, measure);
            let min_rtts_s = (0..rivals.len()).map(|at| comparison.min_rtt_s(candidates, at)).collect();
            let confidence = confidence_of_each(comparisons(&rivals), comparison.joint_confidence(measure));
            Self { kind, rivals, min_rtts_s, confidence }
        })
    }

    fn find(&self, name: &str) -> Option<(&Rival, Option<f64>)> {
        let at = self.rivals.iter().position(|rival| rival.name == name && !rival.values.is_empty())?;
        Some((&self.rivals[at], self.min_rtts_s[at]))
    }

    /// Returns true if the cost of `name` reaches the threshold.
    fn is_high(&self, name: &str) -> bool {
        self.find(name).is_some_and(|(rival, rtt)| self.kind.burden(rival.mean()) >= self.kind.threshold(rtt))
    }

    /// Returns `other` if it has at most half of the cost of `name`.
    fn cheaper(&self, name: &str, other: &str) -> Result<Option<Cheaper>, String> {
        let (Some((own, _)), Some((rival, _))) = (self.find(name), self.find(other)) else { return Ok(None) };
        let mean = rival.mean();
        if TIMES * self.kind.burden(mean) > self.kind.burden(own.mean()) || !own.meets(rival) {
            return Ok(None);
        }
        let gap = Gap::between(own, rival, self.confidence)?;
        let is_single = gap.pairs == 1 && !gap.is_fixed;
        Ok(Some(Cheaper { name: other.to_owned(), mean, is_clear: gap.is_clear() || is_single }))
    }
}

impl Costs {
    /// Returns the material costs of the best candidate by goodput.
    ///
    /// # Errors
    /// A confidence that is not between 0 and 1.
    pub(super) fn of(comparison: &Comparison, candidates: Candidates, ranking: &Ranking) -> Result<Self, String> {
        let best = &ranking.best().name;
        let fields: Vec<Field> = Kind::ALL.iter().filter_map(|kind| Field::of(comparison, candidates, *kind)).collect();
        let alternative = alternative(&fields, ranking)?;
        let mut costs = Vec::new();
        for field in fields.iter().filter(|field| field.is_high(best)) {
            let others = ranking.rivals[1..].iter().map(|rival| field.cheaper(best, &rival.name));
            let cheaper: Vec<Cheaper> = others.filter_map(Result::transpose).collect::<Result<_, _>>()?;
            let named = alternative.as_ref().map(|one: &Alternative| one.name.as_str());
            let chosen = cheaper.iter().find(|one| one.is_clear && named == Some(one.name.as_str()));
            let chosen = chosen.or_else(|| cheaper.iter().find(|one| one.is_clear)).or(cheaper.first());
            let Some((own, min_rtt_s)) = field.find(best) else { continue };
            costs.extend(chosen.map(|one| Cost {
                kind: field.kind,
                mean: own.mean(),
                min_rtt_s,
                cheaper: one.clone(),
            }));
        }
        Ok(Self { best: best.clone(), costs, alternative })
    }

    /// Returns the costs in a sentence; `None` without material costs.
    pub(super) fn sentence(&self) -> Option<String> {
        let named = self.alternative.as_ref().map(|one| one.name.as_str());
        let clause = |cost: &Cost| {
            // The next sentence has the values of the alternative.
            let is_told = cost.cheaper.is_clear && named == Some(cost.cheaper.name.as_str());
            let other = if is_told { String::new() } else { format!(" ({})", cost.other()) };
            format!("{}{other}", cost.clause(""))
        };
        let clauses: Vec<String> = self.costs.iter().map(clause).collect();
        (!clauses.is_empty()).then(|| format!("{} {}.", self.best, listed(&clauses)))
    }

    /// Returns a sentence about a candidate that costs less and has almost as much goodput.
    pub(super) fn alternative(&self) -> Option<String> {
        let Alternative { name, gap, means } = self.alternative.as_ref()?;
        let goodput = by_how_much(gap, &gap.other, " goodput");
        let level = if gap.is_clear() || gap.pairs == 1 { "" } else { " and cannot be distinguished" };
        let with: Vec<String> = means.iter().map(|(kind, mean)| kind.attribute(*mean)).collect();
        Some(format!("{name} costs less{level}: {goodput}, with {}.", listed(&with)))
    }

    /// Returns the costs of one candidate at several points, in a sentence with the highest costs; `None` without
    /// material costs. `described` are the points in words.
    pub(super) fn at_points(points: &[(&Self, String)]) -> Option<String> {
        let (first, _) = points.first()?;
        let count = points.iter().filter(|(costs, _)| !costs.costs.is_empty()).count();
        let clause = |kind: &Kind| {
            let own = points.iter().flat_map(|(costs, place)| costs.costs.iter().map(move |cost| (cost, place)));
            let mut own: Vec<(&Cost, &String)> = own.filter(|(cost, _)| cost.kind == *kind).collect();
            own.sort_by(|a, b| b.0.burden().total_cmp(&a.0.burden()));
            let up_to = if own.len() > 1 { "up to " } else { "" };
            own.first().map(|(cost, place)| format!("{} ({place}; {})", cost.clause(up_to), cost.other()))
        };
        let clauses: Vec<String> = Kind::ALL.iter().filter_map(clause).collect();
        let at = if count == 1 { "1 of these points".to_owned() } else { format!("{count} of these points") };
        (!clauses.is_empty()).then(|| format!("{} has a cost at {at}: it {}.", first.best, listed(&clauses)))
    }
}

/// Returns the candidate with the highest goodput among those that avoid a material cost of the best, have none that the
/// best avoids, and have almost as much goodput or cannot be distinguished from the best.
fn alternative(fields: &[Field], ranking: &Ranking) -> Result<Option<Alternative>, String> {
    let best = ranking.best();
    for (rival, gap) in ranking.rivals[1..].iter().zip(&ranking.gaps) {
        let is_level = gap.pairs > 1 && !gap.is_fixed && !gap.is_clear();
        if !is_level && rival.mean() < NEAR * best.mean() {
            continue;
        }
        let (mut avoids, mut adds, mut means) = (false, false, Vec::new());
        for field in fields {
            let cheaper = field.cheaper(&best.name, &rival.name)?;
            if field.is_high(&best.name) {
                avoids |= cheaper.is_some_and(|one| one.is_clear);
                means.extend(field.find(&rival.name).map(|(own, _)| (field.kind, own.mean())));
            }
            adds |= field.is_high(&rival.name) && field.cheaper(&rival.name, &best.name)?.is_some();
        }
        if avoids && !adds {
            let gap = ranking.gap(rival, best)?;
            return Ok(Some(Alternative { name: rival.name.clone(), gap, means }));
        }
    }
    Ok(None)
}
