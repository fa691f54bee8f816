//! /proc/sys/net/ipv4 as the configuration of TCP, with the names and meanings of Linux (ip-sysctl.rst).
//!
//! A missing file leaves the behaviour of the profile `linux`: kernels differ in their settings.

use lightlag_control::congestion::{Choice, cubic};
use lightlag_core::{Bytes, Duration};
use lightlag_host::{FastOpen, Keys, SendBuffer, Stack, SynCookies};
use lightlag_tcp::config::{ChallengeAcks, Config, IdleRestart, KeepAliveConfig, Scheme, TimerGranularity};
use lightlag_tcp::ecn::{AccecnOption, EcnMode};
use std::fs;
use std::path::Path;

/// The directory of the kernel's settings.
pub const FOLDER: &str = "/proc/sys/net/ipv4";

/// Reads the settings in this directory, and applies them to everything that the stack opens later. No setting holds
/// the number of ticks per second, so it is an argument: `timers`.
pub fn apply(folder: &Path, timers: TimerGranularity, stack: &mut Stack) -> Result<(), String> {
    let settings = Settings { folder };
    let (mut config, connecting) = settings.config()?;
    config.timer_granularity = timers;
    stack.set_tcp(config, connecting);
    stack.set_keep_alive_timing(settings.keep_alive()?);
    if let Some([_, initial, most]) = settings.three("tcp_wmem")? {
        stack.set_send_buffer(SendBuffer { initial: Bytes(initial), most: Bytes(most) });
    }
    if let Some(bytes) = settings.number("tcp_notsent_lowat")? {
        stack.set_not_sent_limit(Bytes(bytes));
    }
    if let Some(choice) = settings.number("tcp_syncookies")? {
        stack.set_syn_cookies(match choice {
            0 => SynCookies::Never,
            1 => SynCookies::Crowded,
            _ => SynCookies::Always,
        });
    }
    if let Some(segments) = settings.number("tcp_min_tso_segs")? {
        stack.set_least_burst(segments.max(1));
    }
    apply_fast_open(folder, stack)
}

/// Applies the settings of fast open, which also hold for open sockets.
pub fn apply_fast_open(folder: &Path, stack: &mut Stack) -> Result<(), String> {
    let settings = Settings { folder };
    let mut fast_open = FastOpen { keys: settings.keys("tcp_fastopen_key")?, ..FastOpen::default() };
    if let Some(bits) = settings.bits("tcp_fastopen")? {
        let has = |bit| bits & bit != 0;
        // TFO_CLIENT_ENABLE, TFO_SERVER_ENABLE, TFO_CLIENT_NO_COOKIE, TFO_SERVER_COOKIE_NOT_REQD, TFO_SERVER_WO_SOCKOPT1.
        (fast_open.client, fast_open.server) = (has(0x1), has(0x2));
        (fast_open.client_without_cookie, fast_open.server_without_cookie) = (has(0x4), has(0x200));
        fast_open.all_listeners = has(0x400);
    }
    if let Some(seconds) = settings.number("tcp_fastopen_blackhole_timeout_sec")? {
        fast_open.rest = Duration::from_secs(seconds);
    }
    stack.set_fast_open(fast_open);
    Ok(())
}

/// The settings in the files of a directory.
struct Settings<'a> {
    folder: &'a Path,
}

impl Settings<'_> {
    fn text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok().map(|text| text.trim().to_owned())
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse::<i64>().map_err(|_| self.complain(name, &text, "a whole number"))?;
        // -1 and the like: Linux takes the number by its bits or rejects it.
        Ok(u64::try_from(number).ok())
    }

    /// A number whose bits have meanings: decimal, or with the prefix 0x.
    fn bits(&self, name: &str) -> Result<Option<u64>, String> {
        match self.text(name).as_deref().and_then(|text| text.strip_prefix("0x").map(str::to_owned)) {
            Some(digits) => {
                let number = u64::from_str_radix(&digits, 16);
                number.map(Some).map_err(|_| self.complain(name, &digits, "a whole number in base 16"))
            }
            None => self.number(name),
        }
    }

    /// Keys of four words in base 16 each, joined by `-`, with `,` between two keys. An unset key is empty.
    fn keys(&self, name: &str) -> Result<Option<Keys>, String> {
        let Some(text) = self.text(name).filter(|text| !text.is_empty()) else { return Ok(None) };
        let word = |word: &str| u32::from_str_radix(word, 16).map(u32::to_le_bytes);
        let words: Result<Vec<_>, _> = text.split([',', '-']).map(word).collect();
        let keys = words.ok().and_then(|words| Keys::from_bytes(&words.concat()));
        keys.map(Some).ok_or_else(|| self.complain(name, &text, "a key such as 00000000-00000000-00000000-00000000"))
    }

    fn switch(&self, name: &str, into: &mut bool) -> Result<(), String> {
        if let Some(number) = self.number(name)? {
            *into = number != 0;
        }
        Ok(())
    }

    fn small(&self, name: &str, into: &mut u8) -> Result<(), String> {
        if let Some(number) = self.number(name)? {
            *into = number.min(u64::from(u8::MAX)) as u8;
        }
        Ok(())
    }

    fn three(&self, name: &str) -> Result<Option<[u64; 3]>, String> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let numbers: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
        let three = numbers.ok().and_then(|numbers| <[u64; 3]>::try_from(numbers).ok());
        three.map(Some).ok_or_else(|| self.complain(name, &text, "three whole numbers"))
    }

    fn complain(&self, name: &str, text: &str, wanted: &str) -> String {
        format!("{}: {text:?} is not {wanted}", self.folder.join(name).display())
    }

    /// The configuration, and the ECN that connecting sockets request (tcp_ecn = 2 only answers).
    fn config(&self) -> Result<(Config, EcnMode), String> {
        let mut config = lightlag_tcp::Profile::Linux.config();
        // The MTU of the device decides.
        config.mss = u16::MAX;
        self.switch("tcp_timestamps", &mut config.timestamps)?;
        self.switch("tcp_sack", &mut config.sack)?;
        self.switch("tcp_dsack", &mut config.dsack)?;
        self.switch("tcp_window_scaling", &mut config.window_scaling)?;
        self.switch("tcp_frto", &mut config.frto)?;
        self.recovery(&mut config)?;
        if self.number("tcp_slow_start_after_idle")? == Some(0) {
            config.idle_restart = IdleRestart::Off;
        }
        if let Some([_, initial, most]) = self.three("tcp_rmem")? {
            // Half of a buffer is payload (tcp_win_from_space with the initial scaling ratio of a socket).
            let initial = initial / 2;
            config.receive_buffer = Bytes((most / 2).max(initial));
            config.receive_buffer_initial = Some(Bytes(initial));
        }
        if let Some(name) = self.text("tcp_congestion_control") {
            config.congestion = congestion(&name)
                .ok_or_else(|| self.complain("tcp_congestion_control", &name, "a congestion control known here"))?;
        }
        self.times(&mut config)?;
        config.accecn_option = match self.number("tcp_ecn_option")? {
            Some(0) => AccecnOption::Off,
            Some(1) => AccecnOption::Sparse,
            _ => AccecnOption::Always,
        };
        let ecn = self.number("tcp_ecn")?.unwrap_or(2);
        // 3 requests AccECN and accepts it, 4 accepts it and requests RFC 3168, 5 only accepts it.
        let connecting = match ecn {
            1 | 4 => EcnMode::Classic,
            3 => EcnMode::Accecn,
            _ => EcnMode::Off,
        };
        config.ecn = match ecn {
            0 => EcnMode::Off,
            1 | 2 => EcnMode::Classic,
            _ => EcnMode::Accecn,
        };
        Ok((config, connecting))
    }

    fn keep_alive(&self) -> Result<KeepAliveConfig, String> {
        let seconds = |name| Ok::<_, String>(self.number(name)?.map(Duration::from_secs));
        let usual = KeepAliveConfig::default();
        Ok(KeepAliveConfig {
            idle: seconds("tcp_keepalive_time")?.unwrap_or(usual.idle),
            interval: seconds("tcp_keepalive_intvl")?.unwrap_or(usual.interval),
            probes: self.number("tcp_keepalive_probes")?.map_or(usual.probes, |probes| probes as u16),
        })
    }

    fn recovery(&self, config: &mut Config) -> Result<(), String> {
        if let Some(bits) = self.number("tcp_recovery")? {
            config.recovery = if bits & 1 == 0 { Scheme::Sack } else { Scheme::Rack };
        }
        if let Some(mode) = self.number("tcp_early_retrans")? {
            // 3 and 4 use tail loss probes.
            config.tlp = mode >= 3;
        }
        Ok(())
    }

    fn times(&self, config: &mut Config) -> Result<(), String> {
        self.small("tcp_syn_retries", &mut config.syn_retries)?;
        self.small("tcp_syn_linear_timeouts", &mut config.syn_linear_timeouts)?;
        self.small("tcp_retries2", &mut config.retries)?;
        if let Some(seconds) = self.number("tcp_fin_timeout")? {
            config.fin_wait = Some(Duration::from_secs(seconds));
        }
        if let Some(millis) = self.number("tcp_invalid_ratelimit")? {
            let limit = ChallengeAcks { count: 1, every: Duration::from_millis(millis) };
            config.challenge_acks = (millis > 0).then_some(limit);
        }
        if let Some(micros) = self.number("tcp_rto_min_us")? {
            config.rto.min = Duration::from_micros(micros);
            config.rto.variance_floor = config.rto.min;
        }
        if let Some(millis) = self.number("tcp_rto_max_ms")? {
            config.rto.max = Duration::from_millis(millis);
        }
        Ok(())
    }
}

/// Number of times that the kernel's memory of servers was flushed (`ip tcp_metrics flush`), as noted here by the
/// runner of scripts.
pub fn flushes(folder: &Path) -> u64 {
    fs::metadata(folder.join("tcp_metrics_flushed")).map_or(0, |file| file.len())
}

/// A congestion control by its name in Linux.
pub fn congestion(name: &str) -> Option<Choice> {
    match name {
        // It repairs losses like NewReno, which has its own name here.
        "reno" => "newreno".parse().ok(),
        // The kernel's code, not the RFC, and as it was before 6.14, when most scripts were written.
        "cubic" => {
            let mut config = cubic::Config::of(cubic::CubicVariant::Linux);
            config.hystart.late_rounds = true;
            Some(Choice::Cubic(config))
        }
        _ => name.parse().ok(),
    }
}

/// The Linux name of a congestion control.
pub fn congestion_name(choice: &Choice) -> &'static str {
    match choice.name() {
        "newreno" => "reno",
        name => name,
    }
}
