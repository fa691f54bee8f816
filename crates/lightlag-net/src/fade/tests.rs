use super::*;

const FADE: RainFade = RainFade { mean: -0.5, deviation: 1.2, correlation_time: Duration::from_secs(5_000) };

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
fn modcods_match_the_standard() {
    let table = [
        ("QPSK 1/4", 0.490, -2.35),
        ("QPSK 1/2", 0.989, 1.00),
        ("QPSK 3/4", 1.487, 4.03),
        ("8PSK 3/5", 1.780, 5.50),
        ("8PSK 3/4", 2.228, 7.91),
        ("16APSK 3/4", 2.967, 10.21),
        ("32APSK 3/4", 3.703, 12.73),
        ("32APSK 9/10", 4.453, 16.05),
    ];
    assert_eq!(DVB_S2.map(|modcod| (modcod.name, modcod.bits_per_symbol, modcod.threshold)), table);
    assert!(
        DVB_S2.is_sorted_by(|low, high| low.bits_per_symbol < high.bits_per_symbol && low.threshold < high.threshold)
    );
    // No code carries more than Shannon's limit at its threshold.
    for modcod in DVB_S2 {
        let limit = libm::log2(1.0 + libm::pow(10.0, modcod.threshold / 10.0));
        assert!(modcod.bits_per_symbol < limit, "{}: {limit}", modcod.name);
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
    let fast = RainFade { mean: 1.5, deviation: 0.5, correlation_time: Duration::from_secs(20) };
    let usual = link(fast, 15.0);
    assert!(lost_share(&usual, 20_000) > 0.01, "{}", lost_share(&usual, 20_000));
    let at_once = AdaptiveLink { loop_delay: Duration::ZERO, ..usual };
    assert_eq!(lost_share(&at_once, 20_000), 0.0, "no frame is lost without a delay of the control loop");
    let careful = AdaptiveLink { margin: Decibels::new(3.0).unwrap(), ..usual };
    assert!(lost_share(&careful, 20_000) < lost_share(&usual, 20_000) / 4.0);
    // Rain is slow: with 1 dB hardly anything is lost, most of it while the lowest MODCOD is used without a margin.
    let rain = lost_share(&link(RainFade { mean: 1.0, ..FADE }, 15.0), 2_000_000);
    assert!(rain < 1e-3, "{rain}");
}

#[test]
fn the_transmitter_reacts_one_loop_delay_later() {
    let usual = link(RainFade { mean: 1.5, deviation: 0.5, correlation_time: Duration::from_secs(100) }, 15.0);
    let late = phases(&usual, 1_000);
    let at_once = phases(&AdaptiveLink { loop_delay: Duration::ZERO, ..usual }, 1_000);
    let changes = |table: &[Phase]| {
        let rates = table.windows(2).filter(|pair| pair[0].rate != pair[1].rate);
        rates.map(|pair| (pair[1].from, pair[1].rate)).collect::<Vec<_>>()
    };
    let (late, at_once) = (changes(&late), changes(&at_once));
    assert!(late.len() > 10, "{late:?}");
    let delayed: Vec<_> = at_once.iter().map(|(from, rate)| (*from + usual.loop_delay, *rate)).collect();
    assert_eq!(late, delayed[..late.len()]);
}
