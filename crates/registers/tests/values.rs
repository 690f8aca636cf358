// SPDX-License-Identifier: MIT OR Apache-2.0
//! What register values mean, from figures that boards really showed.
#![forbid(unsafe_code)]

use linerate_registers::{
    self, Ability, Decoded, Pause, Reading, Undecodable, Unit, agreed, decode, readings,
    registers_of_dump,
};

fn of(map: &str, name: &str, value: u64) -> Decoded {
    let map = linerate_registers::map(map).unwrap_or_else(|| panic!("no map {map}"));
    decode(map, name, value, None).unwrap_or_else(|error| panic!("{error}"))
}

fn enet(name: &str, value: u64) -> Decoded {
    of("nxp-enet", name, value)
}

fn mii(name: &str, value: u64) -> Decoded {
    of("mii", name, value)
}

/// `name = value: meaning` of every field, switches that are off left out.
fn lines_of(decoded: &Decoded) -> Vec<String> {
    let set = decoded.fields.iter().filter(|f| f.value != 0);
    set.map(|f| {
        let meaning = f.meaning.as_deref().unwrap_or("-");
        format!("{} = {}: {meaning}", f.name, f.value)
    })
    .collect()
}

#[test]
fn every_map_is_right() {
    let mut maps = Vec::new();
    for (file, text) in linerate_registers::EMBEDDED.unpack() {
        match linerate_registers::parse(file, &text) {
            Ok(map) => maps.push((file, map)),
            Err(mistakes) => panic!("{mistakes:?}"),
        }
    }
    let together = linerate_registers::check_together(maps.iter().map(|(file, map)| (*file, map)));
    assert_eq!(together, []);
    assert_eq!(
        linerate_registers::maps().len(),
        linerate_registers::EMBEDDED.names().count()
    );
}

#[test]
fn an_address_beside_the_type_of_pause_frames() {
    let high = enet("PAUR", 0x0405_8808);
    let value = |name: &str| high.field(name).map(|field| field.value);
    assert_eq!(value("PADDR2"), Some(0x0405));
    assert_eq!(value("TYPE"), Some(0x8808));
}

#[test]
fn a_receive_control_before_and_after_pause() {
    let after = enet("ENET_RCR", 0x05ee_0264);
    assert_eq!(
        lines_of(&after),
        [
            "MAX_FL = 1518: 1518 bytes",
            "RMII_10T = 1: 10 Mbit/s",
            "RGMII_EN = 1: RGMII",
            "FCE = 1: pause frames are obeyed",
            "MII_MODE = 1: MII, RMII or RGMII",
        ]
    );
    let before = enet("FEC_R_CNTRL", 0x05ee_0244);
    let differs = |f: &&linerate_registers::DecodedField| after.field(&f.name) != Some(*f);
    let different: Vec<_> = before.fields.iter().filter(differs).collect();
    assert_eq!(different.len(), 1);
    assert_eq!((different[0].name.as_str(), different[0].value), ("FCE", 0));
    let meaning = different[0].meaning.as_deref();
    assert_eq!(meaning, Some("pause frames are not obeyed"));
}

#[test]
fn thresholds_are_bytes_and_pause_is_time() {
    let rsem = enet("RSEM", 0x84);
    let threshold = rsem.field("RX_SECTION_EMPTY").unwrap();
    assert_eq!(threshold.meaning.as_deref(), Some("1056 bytes"));
    let quantity = threshold.quantity.unwrap();
    assert_eq!((quantity.value, quantity.unit), (1056, Unit::Bytes));

    let map = linerate_registers::map("nxp-enet").unwrap();
    let opd = decode(map, "OPD", 0x0001_fff0, Some(100_000_000)).unwrap();
    let pause = opd.field("PAUSE_DUR").unwrap();
    let words = "65520 × 512 bit times = 335 ms at 100 Mbit/s";
    assert_eq!(pause.meaning.as_deref(), Some(words));
    let quantity = pause.quantity.unwrap();
    assert_eq!(
        (quantity.value, quantity.unit),
        (335_462_400, Unit::Nanoseconds)
    );
    assert_eq!(
        opd.field("OPCODE").unwrap().meaning.as_deref(),
        Some("pause")
    );
}

#[test]
fn a_zero_threshold_is_not_zero_bytes() {
    let meaning = |name, field: &str| enet(name, 0).field(field).unwrap().meaning.clone();
    let sent = meaning("RSEM", "RX_SECTION_EMPTY");
    assert_eq!(
        sent.as_deref(),
        Some("no pause frame is sent automatically")
    );
    let full = meaning("RSFL", "RX_SECTION_FULL");
    assert_eq!(full.as_deref(), Some("store and forward"));
    let raem = enet("RAEM", 3);
    let remark = "RX_ALMOST_EMPTY is 3, below the minimum, 4";
    assert!(raem.remarks.iter().any(|r| r == remark), "{raem:?}");
}

#[test]
fn the_statistics_have_sixteen_bits() {
    for (name, value) in [
        ("ENET_IEEE_T_FDXFC", 0x0d6c),
        ("ENET_IEEE_T_FDXFC", 0xf544),
        ("ENET_IEEE_R_MACERR", 0),
    ] {
        let counter = enet(name, value);
        let quantity = counter.fields[0].quantity.unwrap();
        assert_eq!((quantity.value, quantity.unit), (value, Unit::Frames));
        assert_eq!(counter.fields[0].bits.largest(), 0xffff);
    }
    let strange = enet("IEEE_T_FDXFC", 0x0001_0000);
    let remark = "bits are set that the map does not describe: 16";
    assert_eq!(strange.remarks, [remark]);
    let bytes = enet("RMON_R_OCTETS", 0xffff_fffe);
    assert_eq!(bytes.fields[0].meaning.as_deref(), Some("4294967294 bytes"));
}

#[test]
fn remarks_tell_a_reset_reserved_bits_and_a_dead_device() {
    let remarks = |name, value| enet(name, value).remarks.join("; ");
    assert!(remarks("RCR", 0x05ee_0001).contains("value after a reset"));
    assert!(remarks("RCR", 0x05ee_0c80).contains("reserved bits are set: 11:10, 7"));
    assert!(remarks("RCR", 0xffff_ffff).contains("the device is off"));
    assert!(!remarks("IALR", 0xffff_ffff).contains("the device is off"));
    let absent = mii("BMCR", 0xffff).remarks.join("; ");
    assert!(absent.contains("no PHY answers"), "{absent}");
}

#[test]
fn an_unknown_name_finds_the_nearest() {
    let map = linerate_registers::map("nxp-enet").unwrap();
    let nearest = |name: &str| match decode(map, name, 0, None) {
        Err(Undecodable::Unknown { nearest, .. }) => nearest,
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(nearest("ENET_IEE_T_FDXFC")[0], "IEEE_T_FDXFC");
    assert_eq!(nearest("RCRR")[0], "RCR");
    assert_eq!(nearest("zebra_crossing"), Vec::<String>::new());
    assert_eq!(nearest(""), Vec::<String>::new());
    let error = decode(map, "RSFX", 0, None).unwrap_err().to_string();
    assert!(
        error.starts_with("nxp-enet has no register `RSFX`: RSFL"),
        "{error}"
    );
    let wide = decode(map, "RCR", 1 << 32, None).unwrap_err().to_string();
    assert_eq!(
        wide,
        "0x100000000 does not fit into `RCR`, which has 32 bits"
    );
}

#[test]
fn a_number_is_an_offset() {
    assert_eq!(enet("0x84", 0).name, "RCR");
    assert_eq!(mii("4", 0).name, "ANAR");
    assert_eq!(mii("MII_ADVERTISE", 0).name, "ANAR");
}

#[test]
fn a_dump_among_prose_is_recognised() {
    let text = "then I looked:\nroot@board:~# peek ENET_RCR\nENET_RCR:0x02188084 =0x05ee0264\n\
                ----bandwidth 200\nENET_IEEE_T_FDXFC:0x02188270 =0x00000d6c\n\
                ENET_IEEE_R_MACERR:0x021882d8 =0x00000000\nbw=50;\n";
    let known: Vec<_> = readings(text)
        .filter_map(|r| Some((linerate_registers::recognise(&r)?.1.name.as_str(), r.value)))
        .collect();
    let expected = [
        ("RCR", 0x05ee_0264),
        ("IEEE_T_FDXFC", 0x0d6c),
        ("IEEE_R_MACERR", 0),
    ];
    assert_eq!(known, expected);
    let elsewhere = Reading {
        name: "RCR".to_owned(),
        address: Some(0x1000_0084),
        value: 0,
    };
    assert_eq!(linerate_registers::recognise(&elsewhere), None);
}

/// Linux' `linkmode_resolve_pause` says the same of all sixteen.
#[test]
fn pause_resolves_as_the_standard_says() {
    let pause = |tx, rx| Pause { tx, rx };
    let [off, receive, transmit, both] = [
        pause(false, false),
        pause(false, true),
        pause(true, false),
        pause(true, true),
    ];
    // Rows: our (PAUSE, ASM_DIR); columns: the partner's, in the order 00 01 10 11.
    let table = [
        ((false, false), [off, off, off, off]),
        ((false, true), [off, off, off, transmit]),
        ((true, false), [off, off, both, both]),
        ((true, true), [off, receive, both, both]),
    ];
    let ability = |(pause, asymmetric)| Ability { pause, asymmetric };
    for (local, row) in table {
        let partners = [(false, false), (false, true), (true, false), (true, true)];
        for (partner, expected) in partners.into_iter().zip(row) {
            let resolved = ability(local).with(ability(partner));
            assert_eq!(resolved, expected, "{local:?} {partner:?}");
        }
    }
}

#[test]
fn two_ends_agree() {
    let phy = [
        mii("ANAR", 0x0de1),
        mii("ANLPAR", 0xc5e1),
        mii("GBCR", 0x0200),
        mii("GBSR", 0x3800),
    ];
    let expected = [
        "best common mode: 1000BASE-T full duplex",
        "pause: both directions",
    ];
    assert_eq!(agreed(&phy), expected);
    let none = [mii("ANAR", 0x01e1), mii("ANLPAR", 0x45e1)];
    let up_to_100 = "best common mode up to 100 Mbit/s: 100BASE-TX full duplex; ";
    assert!(
        agreed(&none)[0].starts_with(up_to_100),
        "{:?}",
        agreed(&none)
    );
    assert!(agreed(&none)[1].starts_with("pause: off"));
    assert!(agreed(&[mii("ANAR", 0x0de1), mii("ANLPAR", 0)])[0].contains("not negotiated"));
    assert_eq!(agreed(&[mii("ANAR", 0x0de1)]), Vec::<String>::new());
}

#[test]
fn a_blob_is_read_as_its_driver_lays_it_out() {
    let map = linerate_registers::map("nxp-enet").unwrap();
    let mut words = vec![0; 0x1000];
    words[0x84 / 4] = 0x05ee_0264;
    words[0x270 / 4] = 0xf544;
    let found = registers_of_dump(map, 2, &words).unwrap();
    let value = |name| found.iter().find(|(r, _)| r.name == name).map(|(_, v)| *v);
    assert_eq!(value("RCR"), Some(0x05ee_0264));
    assert_eq!(value("IEEE_T_FDXFC"), Some(0xf544));
    assert_eq!(value("IEEE_R_MACERR"), Some(0));
    assert_eq!(value("FTRL"), None, "the driver leaves it out: no zero");
    assert_eq!(registers_of_dump(map, 1, &words), None, "another layout");
    let short = registers_of_dump(map, 2, &words[..0x100 / 4]).unwrap();
    assert!(short.iter().all(|(r, _)| r.offset < 0x100));
}

#[test]
fn the_dump_of_an_intel_device_is_read_as_ethtool_prints_it() {
    let text = "MAC Registers\n-------------\n\
                0x00008: STATUS      (Device status register)    0x00280693\n      \
                Duplex:                                full\n\
                0x00170: FCTTV       (Flow ctrl tx timer)        0x0000FFFF\n\
                0x02168: FCRTH       (Flow ctrl rx high)         0x0000F5F0\n";
    let decoded: Vec<Decoded> = readings(text)
        .map(|r| of("igb", &r.name, r.value))
        .collect();
    let meaning = |at: usize, field: &str| decoded[at].field(field).unwrap().meaning.clone();
    assert_eq!(decoded.len(), 3);
    assert_eq!(meaning(0, "SPEED").as_deref(), Some("1000 Mbit/s"));
    assert_eq!(
        meaning(0, "TXOFF").as_deref(),
        Some("paused by the partner")
    );
    let pause = "65535 × 512 bit times = 33.6 ms at 1 Gbit/s";
    assert_eq!(meaning(1, "TTV").as_deref(), Some(pause));
    assert_eq!(meaning(2, "RTH").as_deref(), Some("62960 bytes"));
}

#[test]
fn queues_of_other_chips_have_their_sizes_in_bytes() {
    let queue = of("dwmac4", "MTL_RXQ0_OP_MODE", 0x03f1_c4a0);
    let meaning = |field: &str| queue.field(field).unwrap().meaning.clone();
    assert_eq!(meaning("RQS").as_deref(), Some("16384 bytes"));
    assert_eq!(meaning("RFA").as_deref(), Some("full less 3 KiB"));
    assert_eq!(meaning("RFD").as_deref(), Some("full less 4.5 KiB"));
    assert_eq!(
        meaning("EHFC").as_deref(),
        Some("the queue causes pause frames")
    );
    let buffer = of("macb", "GEM_DMACFG", 0x0018_0f10);
    let meaning = buffer.field("RXBS").unwrap().meaning.clone();
    assert_eq!(meaning.as_deref(), Some("1536 bytes"));
}

#[test]
fn a_blob_of_words_and_one_of_a_certain_length() {
    let value = |map: &str, version, words: &[u32], name: &str| {
        let found = registers_of_dump(linerate_registers::map(map).unwrap(), version, words)?;
        found.iter().find(|(r, _)| r.name == name).map(|(_, v)| *v)
    };
    let mut words = vec![0; 739];
    words[28] = 0xffff;
    words[58] = 7;
    assert_eq!(value("igb", 0x0100_1533, &words, "FCTTV"), Some(0xffff));
    assert_eq!(value("igb", 0x0100_1533, &words, "MPC"), Some(7));
    assert_eq!(
        value("igb", 0x0200_1533, &words, "FCTTV"),
        None,
        "a later layout"
    );

    // One driver, two generations: the length tells.
    let blob = |bytes: usize| vec![0x0000_0006; bytes / 4];
    let driver: Vec<&str> = linerate_registers::of_driver("stmmac")
        .map(|m| m.name.as_str())
        .collect();
    assert_eq!(driver, ["dwmac1000", "dwmac4"]);
    assert_eq!(value("dwmac1000", 0, &blob(0x1060), "FLOW_CTRL"), Some(6));
    assert_eq!(value("dwmac4", 0, &blob(0x1060), "RX_FLOW_CTRL"), None);
    assert_eq!(value("dwmac4", 0, &blob(0x116c), "RX_FLOW_CTRL"), Some(6));
    let queue = value("dwmac4", 0, &blob(0x116c), "MTL_Q0_RX_OP_MODE");
    assert_eq!(queue, None, "the driver leaves it out");
    let copied = value("dwmac4", 0, &blob(0x116c), "DEBUG");
    assert_eq!(copied, None, "the driver copies other registers over it");
}
