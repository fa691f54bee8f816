use super::*;

const FADE: RainFade =
    RainFade { mean: -0.5, deviation: 1.2, correlation_time: Duration::from_secs(5_000), offset: Decibels::ZERO };

fn link(fade: RainFade, clear_sky: f64) -> AdaptiveLink {
    let decibels = |value| Decibels::new(value).unwrap();
    AdaptiveLink {
        fade,
        clear_sky: decibels(clear_sky),
        symbol_rate: SymbolRate::from_baud(20_000_000).unwrap(),
        margin: decibels(1.0),
        hysteresis: decibels(0.3),
        loop_delay: Duration::from_millis(600),
        step: Duration::from_millis(100),
        modcods: DVB_S2.into(),
        power_control: None,
        frames: None,
    }
}

fn stream() -> RandomStream {
    RandomStream::new(1, "fade")
}

fn phases(link: &AdaptiveLink, seconds: u64) -> Vec<Phase> {
    link.phases(Duration::from_millis(250), Duration::from_secs(seconds), stream())
}

/// Returns the mean and the variance of a series, and its autocorrelation at this lag.
fn moments(series: &[f64], lag: usize) -> (f64, f64, f64) {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let variance = series.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    let pairs = series.iter().zip(&series[lag..]);
    let covariance = pairs.map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>() / (n - lag as f64);
    (mean, variance, covariance / variance)
}

#[test]
fn the_series_has_its_mean_its_variance_and_its_correlation_time() {
    // Steps of half a correlation time, 2·10⁵ of them: 10⁵ correlation times T.
    let steps = 200_000;
    let step = Duration::from_secs(2_500);
    let series: Vec<f64> = FADE.attenuations(step, stream()).take(steps).map(libm::log).collect();
    let (mean, variance, correlation) = moments(&series, 2);
    // With ρ = e^(−1/2): the mean of n steps has the variance σ²/n · (1 + ρ)/(1 − ρ), the variance 2σ⁴/n · (1 + ρ²)/(1
    // − ρ²), and the autocorrelation at T by Bartlett's formula 1/n · ((1 + ρ²)(1 − ρ⁴)/(1 − ρ²) − 4ρ⁴). 99 %: 2.576 of
    // each.
    let (n, rho, square) = (steps as f64, libm::exp(-0.5), 1.44_f64);
    let of_mean = square / n * (1.0 + rho) / (1.0 - rho);
    let of_variance = 2.0 * square * square / n * (1.0 + rho * rho) / (1.0 - rho * rho);
    let (two, four) = (rho * rho, libm::pow(rho, 4.0));
    let of_correlation = ((1.0 + two) * (1.0 - four) / (1.0 - two) - 4.0 * four) / n;
    let within = |what: &str, ours: f64, stated: f64, variance: f64| {
        let interval = 2.576 * libm::sqrt(variance);
        assert!((ours - stated).abs() < interval, "{what}: {ours} against {stated} ± {interval}");
    };
    within("mean", mean, -0.5, of_mean);
    within("variance", variance, square, of_variance);
    within("autocorrelation after a correlation time", correlation, libm::exp(-1.0), of_correlation);
}

#[test]
fn the_discretisation_is_exact() {
    // The autocorrelation after the same time does not depend on the step.
    for (seconds, lag) in [(500_u64, 10), (1_000, 5), (5_000, 1)] {
        let series = FADE.attenuations(Duration::from_secs(seconds), stream()).take(400_000).map(libm::log);
        let (_, variance, correlation) = moments(&series.collect::<Vec<_>>(), lag);
        assert!((variance - 1.44).abs() < 0.05, "{seconds} s: {variance}");
        assert!((correlation - libm::exp(-1.0)).abs() < 0.015, "{seconds} s: {correlation}");
    }
}

#[test]
fn a_modcod_needs_its_threshold_and_the_margin() {
    let link = link(FADE, 20.0);
    for (number, modcod) in DVB_S2.iter().enumerate().skip(1) {
        let need = modcod.threshold + 1.0;
        assert_eq!(link.choose(need, Sending::With(number)), Sending::With(number), "{}", modcod.name);
        assert_eq!(link.choose(need - 0.01, Sending::With(number)), Sending::With(number - 1), "{}", modcod.name);
        // A higher MODCOD than the current one also requires the hysteresis.
        assert_eq!(link.choose(need + 0.29, Sending::With(number - 1)), Sending::With(number - 1));
        assert_eq!(link.choose(need + 0.31, Sending::With(number - 1)), Sending::With(number));
    }
    // The lowest is used down to its threshold.
    assert_eq!(link.choose(-2.35, Sending::With(3)), Sending::With(0));
    assert_eq!(link.choose(-2.36, Sending::With(0)), Sending::Silent);
}

#[test]
fn rates_follow_the_weather() {
    // Hardly any rain: 20 MBd of 32APSK 3/4 all the time.
    let clear = link(RainFade { mean: -20.0, ..FADE }, 15.0);
    let table = phases(&clear, 3_600);
    let [only] = table.as_slice() else { panic!("{:?}", table) };
    assert_eq!((only.rate.as_bps(), only.is_up, only.loses), (74_060_000, true, false));
    // Rain of 18 dB, hardly moving: nothing gets through.
    let storm = link(RainFade { mean: libm::log(18.0), deviation: 1e-6, ..FADE }, 15.0);
    let table = phases(&storm, 3_600);
    assert!(table.iter().all(|phase| !phase.is_up), "{:?}", table);
    // In between all rates are from the table, and each is used.
    let table = phases(&link(RainFade { mean: 1.0, ..FADE }, 15.0), 2_000_000);
    let rates: std::collections::BTreeSet<u64> = table.iter().map(|phase| phase.rate.as_bps()).collect();
    let known: Vec<u64> = DVB_S2[..7].iter().map(|modcod| (modcod.bits_per_symbol * 2e7 + 0.5) as u64).collect();
    assert_eq!(rates.into_iter().collect::<Vec<_>>(), known);
}

/// Returns the fraction of the time in which frames are lost.
fn lost_share(link: &AdaptiveLink, seconds: u64) -> f64 {
    let table = phases(link, seconds);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let lost = table
        .iter()
        .enumerate()
        .filter(|(_, phase)| phase.loses)
        .map(|(at, phase)| table.get(at + 1).map_or(end, |next| next.from).since(phase.from).as_secs_f64());
    lost.sum::<f64>() / seconds as f64
}

#[test]
fn a_fade_that_outruns_the_margin_loses_frames() {
    // Attenuation of some dB that changes within seconds: much faster than rain, to see the loop at work.
    let fast = RainFade { mean: 1.5, deviation: 0.5, correlation_time: Duration::from_secs(20), ..FADE };
    let usual = link(fast, 15.0);
    assert!(lost_share(&usual, 20_000) > 0.01, "{}", lost_share(&usual, 20_000));
    let at_once = AdaptiveLink { loop_delay: Duration::ZERO, ..usual.clone() };
    assert_eq!(lost_share(&at_once, 20_000), 0.0, "no frame is lost without a delay of the control loop");
    let careful = AdaptiveLink { margin: Decibels::new(3.0).unwrap(), ..usual.clone() };
    assert!(lost_share(&careful, 20_000) < lost_share(&usual, 20_000) / 4.0);
    // Rain is slow: with 1 dB hardly anything is lost, most of it while the lowest MODCOD is used without a margin.
    let rain = lost_share(&link(RainFade { mean: 1.0, ..FADE }, 15.0), 2_000_000);
    assert!(rain < 1e-3, "{rain}");
}

#[test]
fn the_transmitter_reacts_one_loop_delay_later() {
    let usual = link(RainFade { mean: 1.5, deviation: 0.5, correlation_time: Duration::from_secs(100), ..FADE }, 15.0);
    let late = phases(&usual, 1_000);
    let at_once = phases(&AdaptiveLink { loop_delay: Duration::ZERO, ..usual.clone() }, 1_000);
    let changes = |table: &[Phase]| {
        let rates = table.windows(2).filter(|pair| pair[0].rate != pair[1].rate);
        rates.map(|pair| (pair[1].from, pair[1].rate)).collect::<Vec<_>>()
    };
    let (late, at_once) = (changes(&late), changes(&at_once));
    assert!(late.len() > 10, "{late:?}");
    let delayed: Vec<_> = at_once.iter().map(|(from, rate)| (*from + usual.loop_delay, *rate)).collect();
    assert_eq!(late, delayed[..late.len()]);
}

/// Returns the fraction of the time in which nothing is sent.
fn down_share(link: &AdaptiveLink, seconds: u64) -> f64 {
    let table = phases(link, seconds);
    let end = Instant::ZERO + Duration::from_secs(seconds);
    let ends = table.iter().skip(1).map(|phase| phase.from).chain([end]);
    let down = table.iter().zip(ends).filter(|(phase, _)| !phase.is_up);
    down.map(|(phase, until)| until.since(phase.from).as_secs_f64()).sum::<f64>() / seconds as f64
}

fn decibels(value: f64) -> Decibels {
    Decibels::new(value).unwrap()
}

#[test]
fn outages_last_for_the_computed_share_of_the_time() {
    // Correlation times of 20 s, 10⁴ of them: the share p has a standard deviation of about √(2p(1 − p)/10⁴), below
    // 0.006. Three of them.
    let fast = RainFade { mean: 2.0, deviation: 0.6, correlation_time: Duration::from_secs(20), ..FADE };
    let plain = AdaptiveLink { loop_delay: Duration::ZERO, ..link(fast, 10.0) };
    let offset = AdaptiveLink { fade: RainFade { offset: decibels(2.0), ..fast }, ..plain.clone() };
    let control = PowerControl { range: decibels(3.0), delay: Duration::ZERO };
    let controlled = AdaptiveLink { power_control: Some(control), ..plain.clone() };
    for (what, link) in [("plain", &plain), ("offset", &offset), ("power control", &controlled)] {
        let (ours, expected) = (down_share(link, 200_000), link.outage_fraction());
        assert!((ours - expected).abs() < 0.018, "{what}: {ours} against {expected}");
    }
    // P(A > 12.35 dB) = Q((ln 12.35 − 2)/0.6) = Q(0.856).
    assert!((plain.outage_fraction() - 0.196).abs() < 0.001, "{}", plain.outage_fraction());
    assert!(offset.outage_fraction() < plain.outage_fraction() && controlled.outage_fraction() < 0.13);
    // A ratio below every MODCOD is an outage all the time.
    assert_eq!(link(FADE, -5.0).outage_fraction(), 1.0);
    assert_eq!(down_share(&link(FADE, -5.0), 100), 1.0);
}

#[test]
fn it_rains_only_above_the_offset() {
    // P_rain = Q((ln offset − m)/σ): an offset of e^(m + σ) leaves rain for Q(1) = 15.87 % of the time. Independent samples,
    // 99 %: 2.576 √(p (1 − p)/n) = 0.0021.
    let offset = decibels(libm::exp(-0.5 + 1.2));
    let rain = RainFade { offset, ..FADE };
    let n = 200_000;
    let wet = rain.attenuations(Duration::from_secs(100_000), stream()).take(n).filter(|loss| *loss > 0.0).count();
    assert!((wet as f64 / n as f64 - 0.158_66).abs() < 0.0022, "{wet} of {n}");
    assert!(rain.attenuations(Duration::from_secs(5_000), stream()).take(1_000).all(|loss| loss >= 0.0));
}

#[test]
fn power_control_compensates_the_attenuation_of_one_delay_earlier() {
    let control = PowerControl { range: decibels(6.0), delay: Duration::from_millis(250) };
    let mut compensation = Compensation::new(control, Duration::from_millis(100));
    // 250 ms are three steps. The first attenuation lasted since before the start.
    let rest: Vec<f64> = [1.0, 2.0, 4.0, 9.0, 9.0, 9.0, 9.0, 1.0].map(|loss| compensation.rest(loss)).to_vec();
    assert_eq!(rest, [0.0, 1.0, 3.0, 8.0, 7.0, 5.0, 3.0, -5.0]);
    // Without a delay attenuations within the range do not change the rate.
    let control = PowerControl { range: decibels(30.0), delay: Duration::ZERO };
    let steady = AdaptiveLink { power_control: Some(control), ..link(FADE, 15.0) };
    assert_eq!(phases(&steady, 100_000).len(), 1);
    assert!(phases(&link(FADE, 15.0), 100_000).len() > 1);
}
