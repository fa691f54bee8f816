use super::*;

/// Spectral efficiencies printed in EN 302 307-1 V1.4.1 table 13: normal frames without pilots.
const TABLE_13: [(&str, f64); 28] = [
    ("QPSK 1/4", 0.490243),
    ("QPSK 1/3", 0.656448),
    ("QPSK 2/5", 0.789412),
    ("QPSK 1/2", 0.988858),
    ("QPSK 3/5", 1.188304),
    ("QPSK 2/3", 1.322253),
    ("QPSK 3/4", 1.487473),
    ("QPSK 4/5", 1.587196),
    ("QPSK 5/6", 1.654663),
    ("QPSK 8/9", 1.766451),
    ("QPSK 9/10", 1.788612),
    ("8PSK 3/5", 1.779991),
    ("8PSK 2/3", 1.980636),
    ("8PSK 3/4", 2.228124),
    ("8PSK 5/6", 2.478562),
    ("8PSK 8/9", 2.646012),
    ("8PSK 9/10", 2.679207),
    ("16APSK 2/3", 2.637201),
    ("16APSK 3/4", 2.966728),
    ("16APSK 4/5", 3.165623),
    ("16APSK 5/6", 3.300184),
    ("16APSK 8/9", 3.523143),
    ("16APSK 9/10", 3.567342),
    ("32APSK 3/4", 3.703295),
    ("32APSK 4/5", 3.951571),
    ("32APSK 5/6", 4.119540),
    ("32APSK 8/9", 4.397854),
    ("32APSK 9/10", 4.453027),
];

/// Spectral efficiencies printed in EN 302 307-2 table 20a. Version 1.1.1 has 3.289502 for 32APSK 2/3-L and 4.933701 for
/// 64APSK 5/6, with 32 parity bits more. For QPSK 2/9 0.434841 is printed, a frame of 90 · 361 symbols without pilots
/// and the header of VL-SNR frames; here (14,208 − 80)/33,282.
const TABLE_20A: [(&str, f64); 39] = [
    ("QPSK 2/9", 0.424494),
    ("QPSK 13/45", 0.567805),
    ("QPSK 9/20", 0.889135),
    ("QPSK 11/20", 1.088581),
    ("8APSK 5/9-L", 1.647211),
    ("8APSK 26/45-L", 1.713601),
    ("8PSK 23/36", 1.896173),
    ("8PSK 25/36", 2.062148),
    ("8PSK 13/18", 2.145136),
    ("16APSK 1/2-L", 1.972253),
    ("16APSK 8/15-L", 2.104850),
    ("16APSK 5/9-L", 2.193247),
    ("16APSK 26/45", 2.281645),
    ("16APSK 3/5", 2.370043),
    ("16APSK 3/5-L", 2.370043),
    ("16APSK 28/45", 2.458441),
    ("16APSK 23/36", 2.524739),
    ("16APSK 2/3-L", 2.635236),
    ("16APSK 25/36", 2.745734),
    ("16APSK 13/18", 2.856231),
    ("16APSK 7/9", 3.077225),
    ("16APSK 77/90", 3.386618),
    ("32APSK 2/3-L", 3.291954),
    ("32APSK 32/45", 3.510192),
    ("32APSK 11/15", 3.620536),
    ("32APSK 7/9", 3.841226),
    ("64APSK 32/45-L", 4.206428),
    ("64APSK 11/15", 4.338659),
    ("64APSK 7/9", 4.603122),
    ("64APSK 4/5", 4.735354),
    ("64APSK 5/6", 4.936639),
    ("128APSK 3/4", 5.163248),
    ("128APSK 7/9", 5.355556),
    ("256APSK 29/45-L", 5.065690),
    ("256APSK 2/3-L", 5.241514),
    ("256APSK 31/45-L", 5.417338),
    ("256APSK 32/45", 5.593162),
    ("256APSK 11/15-L", 5.768987),
    ("256APSK 3/4", 5.900855),
];

/// Efficiencies of frames with pilots, and of short frames, from a published calculator of DVB-S2 bit rates (ten
/// decimals).
const CALCULATED: [(ModcodTable, bool, &str, f64); 12] = [
    (ModcodTable::DvbS2, true, "QPSK 1/4", 0.478_577_009),
    (ModcodTable::DvbS2, true, "8PSK 3/5", 1.739_569_253),
    (ModcodTable::DvbS2, true, "16APSK 8/9", 3.439_530_145),
    (ModcodTable::DvbS2, true, "32APSK 9/10", 4.356_875_094),
    (ModcodTable::DvbS2Short, false, "QPSK 1/4", 0.365_323_565),
    (ModcodTable::DvbS2Short, false, "8PSK 8/9", 2.577_777_778),
    (ModcodTable::DvbS2Short, true, "16APSK 3/4", 2.761_633_428),
    (ModcodTable::DvbS2Short, true, "32APSK 8/9", 4.159_905_938),
    (ModcodTable::DvbS2xShort, false, "QPSK 11/45", 0.453_235_653),
    (ModcodTable::DvbS2xShort, false, "16APSK 3/5", 2.287_922_705),
    (ModcodTable::DvbS2xShort, true, "8PSK 26/45", 1.627_724_187),
    (ModcodTable::DvbS2xShort, true, "32APSK 32/45", 3.313_345_091),
];

fn efficiency_of(table: ModcodTable, pilots: bool, name: &str) -> f64 {
    let modcods = table.modcods(pilots);
    modcods.iter().find(|modcod| modcod.name == name).unwrap_or_else(|| panic!("no {name}")).bits_per_symbol
}

#[test]
fn the_frame_structure_gives_the_printed_efficiencies() {
    // Printed with six decimals.
    for (table, printed) in [(ModcodTable::DvbS2, &TABLE_13[..]), (ModcodTable::DvbS2x, &TABLE_20A[..])] {
        for (name, efficiency) in printed {
            let ours = efficiency_of(table, false, name);
            assert!((ours - efficiency).abs() < 1e-6, "{name}: {ours} against {efficiency}");
        }
    }
    for (table, pilots, name, efficiency) in CALCULATED {
        let ours = efficiency_of(table, pilots, name);
        assert!((ours - efficiency).abs() < 1e-6, "{name}: {ours} against {efficiency}");
    }
}

#[test]
fn tables_have_every_row() {
    let names = |table: ModcodTable| table.modcods(false).into_iter().map(|modcod| modcod.name).collect::<Vec<_>>();
    let printed: Vec<_> = TABLE_13.iter().chain(&TABLE_20A).map(|(name, _)| Cow::Borrowed(*name)).collect();
    assert_eq!(names(ModcodTable::DvbS2), printed[..28]);
    assert_eq!(names(ModcodTable::DvbS2x), printed);
    assert_eq!(names(ModcodTable::DvbS2Short).len(), 24);
    assert_eq!(names(ModcodTable::DvbS2xShort).len(), 24 + 17);
    let all: Vec<_> = printed.iter().cloned().chain(VL_SNR.map(|modcod| modcod.name)).collect();
    assert_eq!(names(ModcodTable::DvbS2xVlSnr), all);
    for table in ModcodTable::ALL {
        let mut sorted = names(table);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), names(table).len(), "{table:?} has a name twice");
    }
}

#[test]
fn no_modcod_exceeds_the_capacity_of_its_channel() {
    for table in ModcodTable::ALL {
        for modcod in table.modcods(false) {
            let limit = libm::log2(1.0 + libm::pow(10.0, modcod.threshold / 10.0));
            assert!(modcod.bits_per_symbol < limit, "{}: {limit}", modcod.name);
        }
    }
}

#[test]
fn the_default_is_a_part_of_table_13() {
    for modcod in DVB_S2 {
        let printed = ModcodTable::DvbS2.modcods(false).into_iter().find(|row| row.name == modcod.name).unwrap();
        assert_eq!(printed.frame, modcod.frame, "{}", modcod.name);
        assert_eq!(printed.threshold, modcod.threshold, "{}", modcod.name);
        assert!((printed.bits_per_symbol - modcod.bits_per_symbol).abs() <= 0.0005, "{}", modcod.name);
    }
    assert_eq!(first_out_of_order(&DVB_S2), None);
}

#[test]
fn the_frontier_drops_modcods_that_need_more_but_carry_less() {
    for table in ModcodTable::ALL {
        let all = table.modcods(false);
        let best = frontier(all.clone());
        assert_eq!(first_out_of_order(&best), None, "{table:?}");
        // At every ratio the best one of the table is on the frontier.
        for tenths in -40..250 {
            let ratio = f64::from(tenths) / 10.0;
            let most = |modcods: &[Modcod]| {
                let met = modcods.iter().filter(|modcod| modcod.threshold <= ratio);
                met.map(|modcod| modcod.bits_per_symbol).fold(0.0, f64::max)
            };
            assert_eq!(most(&all), most(&best), "{table:?} at {ratio} dB");
        }
    }
    // Table 13 in its printed order: QPSK 9/10 needs 6.42 dB and 8PSK 3/5 only 5.50 dB.
    assert_eq!(first_out_of_order(&ModcodTable::DvbS2.modcods(false)), Some(11));
    let dropped = |name: &str| frontier(ModcodTable::DvbS2.modcods(false)).iter().all(|modcod| modcod.name != name);
    assert!(dropped("QPSK 8/9") && dropped("8PSK 8/9") && !dropped("QPSK 9/10"));
}

/// Shortened and punctured bits of LDPC codes (EN 302 307-2 table 18a), by mode: bits of the FECFRAME, X_s, X_p, bits per
/// symbol, spreading factor, data symbols of the set, and parity bits of BCH.
const VL_SNR_CODES: [(&str, [u32; 7]); 9] = [
    ("QPSK 2/9", [64_800, 0, 3_240, 2, 1, 30_780, 192]),
    ("BPSK 1/5 medium", [32_400, 640, 980, 1, 1, 30_780, 180]),
    ("BPSK 11/45 medium", [32_400, 0, 1_620, 1, 1, 30_780, 180]),
    ("BPSK 1/3 medium", [32_400, 0, 1_620, 1, 1, 30_780, 180]),
    ("BPSK-S 1/5", [16_200, 560, 250, 1, 2, 30_780, 168]),
    ("BPSK-S 11/45", [16_200, 0, 810, 1, 2, 30_780, 168]),
    ("BPSK 1/5 short", [16_200, 0, 1_224, 1, 1, 14_976, 168]),
    ("BPSK 4/15 short", [16_200, 0, 1_224, 1, 1, 14_976, 168]),
    ("BPSK 1/3 short", [16_200, 0, 1_224, 1, 1, 14_976, 168]),
];

#[test]
fn vl_snr_frames_follow_from_shortening_puncturing_and_spreading() {
    let modcods = ModcodTable::DvbS2xVlSnr.modcods(false);
    for (name, [coded, shortened, punctured, bits, spreading, data, parity]) in VL_SNR_CODES {
        let modcod = modcods.iter().find(|modcod| modcod.name == name).unwrap();
        assert_eq!((coded - shortened - punctured) / bits * spreading, data, "{name}");
        let frame = modcod.frame.unwrap();
        // PLHEADER, VL-SNR header, data, pilots of 36 symbols every 16 slots, and additional pilots (18 · 34 + 3 · 36
        // symbols in set 1, 9 · 32 + 36 in set 2).
        let (pilots, additional) = if data == 30_780 { (22 * 36, 18 * 34 + 3 * 36) } else { (11 * 36, 9 * 32 + 36) };
        assert_eq!(frame.symbols, 90 + 900 + data + pilots + additional, "{name}");
        // K_ldpc = X_s + K_bch + parity is a multiple of 360, the size of a group of the code.
        assert_eq!((shortened + frame.data_bits + 80 + parity) % 360, 0, "{name}");
        assert!((modcod.bits_per_symbol - frame.efficiency()).abs() < 1e-12);
    }
}
