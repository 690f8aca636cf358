// SPDX-License-Identifier: MIT OR Apache-2.0
//! Commands as they ran in the lab of a machine with two busy processors, by their `--json-stream` and a clock.

use Direction::{Down, Up};
use linerate_model::output::{Direction, Test};

use super::{Ahead, Forecast};

/// One command.
pub(in crate::cli) struct Recorded {
    /// Other tasks that wanted each processor when it began.
    pub(in crate::cli) runnable_per_cpu: f64,
    pub(in crate::cli) took_ms: u64,
    pub(in crate::cli) steps: &'static [Step],
}

/// When the step ended (ms since the command began), its name and direction, the requested and the offered rate in bit/s,
/// datagrams sent and lost. 0: none.
type Step = (u64, &'static str, Direction, u64, u64, u64, u64);

impl Recorded {
    /// How wrong the forecast of `plan` was at each step, as a share of the whole: `later` knows the time and returns the
    /// length of a step, and what followed it.
    pub(in crate::cli) fn errors(
        &self,
        plan: Ahead,
        mut later: impl FnMut(&Step, &Forecast, f64) -> (u64, Ahead),
    ) -> Vec<f64> {
        let all_s = self.took_ms as f64 / 1e3;
        let mut forecast = self.forecast();
        let mut now_s = 0.1;
        forecast.announce(now_s, plan, plan);
        let error = |step: &Step| {
            let (step_ms, after) = later(step, &forecast, now_s);
            forecast.step(now_s, step_ms, after);
            let left_s = forecast.left_s(now_s).unwrap();
            let error = (now_s + left_s - all_s).abs() / all_s;
            now_s = step.0 as f64 / 1e3;
            error
        };
        self.steps.iter().map(error).collect()
    }

    /// What it was announced with.
    pub(in crate::cli) fn forecast(&self) -> Forecast {
        Forecast::on(self.runnable_per_cpu)
    }

    /// How wrong an announcement was.
    pub(in crate::cli) fn announced(&self, seconds: f64) -> f64 {
        let all_s = self.took_ms as f64 / 1e3;
        (seconds - all_s).abs() / all_s
    }
}

/// The entry of a step.
pub(in crate::cli) fn test(step: &Step) -> Test {
    let (_, name, direction, requested, offered, sent, lost) = *step;
    let payload_bytes = if name == "udp-64B" { 64 } else { 1448 };
    Test {
        id: name.to_owned(),
        direction,
        payload_bytes,
        duration_s: (sent * u64::from(payload_bytes) * 8) as f64 / offered.max(1) as f64,
        requested_bits_per_second: (requested > 0).then_some(requested as f64),
        offered_bits_per_second: Some(offered as f64),
        sent_packets: Some(sent),
        lost_packets: Some(lost),
        valid: true,
        ..Test::default()
    }
}

/// `check --lab --quick`
pub(in crate::cli) const CHECK_QUICK: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 10042,
    steps: &[
        (573, "idle", Up, 0, 0, 0, 0),
        (1464, "tcp", Up, 0, 10376408503, 0, 0),
        (2308, "tcp", Down, 0, 8996782080, 0, 0),
        (3201, "tcp-both", Up, 0, 8887430583, 0, 0),
        (3888, "tcp-2-streams", Up, 0, 8489271296, 0, 0),
        (4508, "tcp-2-streams", Down, 0, 12496928768, 0, 0),
        (4867, "udp", Up, 9322374736, 3281824427, 42496, 0),
        (5212, "udp", Up, 9322374736, 3857626453, 49952, 0),
        (5720, "udp", Up, 3857626453, 3412183040, 88368, 0),
        (6044, "udp", Down, 11048017838, 4082510507, 52864, 0),
        (6397, "udp", Down, 11048017838, 4073861120, 52752, 0),
        (7091, "udp", Down, 4082510506, 3580537173, 92728, 1737),
        (7564, "udp", Down, 3678341965, 3252980267, 84245, 0),
        (7880, "udp-64B", Up, 0, 192566613, 56416, 0),
        (8209, "udp-64B", Up, 0, 187432960, 54912, 0),
        (8731, "udp-64B", Up, 192566613, 152801280, 89532, 0),
        (9057, "udp-64B", Down, 0, 184538453, 54064, 0),
        (9398, "udp-64B", Down, 0, 143305387, 41984, 0),
        (9878, "udp-64B", Down, 184538453, 155289600, 90990, 0),
    ],
};

/// The same again.
pub(in crate::cli) const CHECK_QUICK_AGAIN: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 11539,
    steps: &[
        (621, "idle", Up, 0, 0, 0, 0),
        (1515, "tcp", Up, 0, 6785784686, 0, 0),
        (2356, "tcp", Down, 0, 7193231360, 0, 0),
        (3282, "tcp-both", Up, 0, 7280113371, 0, 0),
        (3969, "tcp-2-streams", Up, 0, 16640901120, 0, 0),
        (4612, "tcp-2-streams", Down, 0, 12207521792, 0, 0),
        (4957, "udp", Up, 14905908277, 3988602880, 51648, 0),
        (5314, "udp", Up, 14905908277, 3748891307, 48544, 0),
        (5829, "udp", Up, 3988602880, 3355962027, 86912, 0),
        (6157, "udp", Down, 10986769612, 4317279573, 55904, 0),
        (6709, "udp", Down, 10986769612, 5513366187, 71392, 700),
        (7031, "udp", Down, 5513366186, 4444549120, 57552, 0),
        (7373, "udp", Down, 5513366186, 5264310187, 68167, 0),
        (8081, "udp", Down, 5264310186, 4708741547, 121946, 7206),
        (8550, "udp", Down, 4743143477, 3817314133, 98860, 0),
        (9112, "udp-64B", Up, 0, 241773227, 70832, 9859),
        (9418, "udp-64B", Up, 208121172, 162167467, 47510, 0),
        (9772, "udp-64B", Up, 208121172, 143291733, 41980, 0),
        (10285, "udp-64B", Up, 162167466, 137816747, 80752, 0),
        (10593, "udp-64B", Down, 0, 177766400, 52080, 0),
        (10912, "udp-64B", Down, 0, 142923093, 41872, 0),
        (11402, "udp-64B", Down, 177766400, 174175573, 102056, 0),
    ],
};

/// `check --lab`
pub(in crate::cli) const CHECK: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 28203,
    steps: &[
        (2216, "idle", Up, 0, 0, 0, 0),
        (4909, "tcp", Up, 0, 8283750400, 0, 0),
        (7545, "tcp", Down, 0, 7247337882, 0, 0),
        (10249, "tcp-both", Up, 0, 5663568691, 0, 0),
        (12433, "tcp-2-streams", Up, 0, 12885426176, 0, 0),
        (14579, "tcp-2-streams", Down, 0, 9782165504, 0, 0),
        (15335, "udp", Up, 11529559837, 4643237888, 200416, 0),
        (16069, "udp", Up, 11529559837, 3753216000, 162000, 0),
        (17590, "udp", Up, 4643237888, 3748582400, 323600, 6095),
        (18868, "udp", Up, 4551301777, 3254559552, 280953, 0),
        (19552, "udp", Down, 8802752576, 2601859072, 112304, 0),
        (20230, "udp", Down, 8802752576, 2201145344, 95008, 0),
        (21418, "udp", Down, 2601859072, 2246485120, 193930, 0),
        (22109, "udp-64B", Up, 0, 280313856, 273744, 0),
        (22789, "udp-64B", Up, 0, 123076608, 120192, 0),
        (24057, "udp-64B", Up, 280313856, 143856128, 280969, 0),
        (24732, "udp-64B", Down, 0, 285982720, 279280, 0),
        (25403, "udp-64B", Down, 0, 285343744, 278656, 0),
        (26828, "udp-64B", Down, 285982720, 176131072, 344006, 1147),
        (28020, "udp-64B", Down, 280320262, 183432704, 358267, 0),
    ],
};

/// `check --lab --quick` next to compilers and a task that spins on each of two processors.
pub(in crate::cli) const QUICK_BUSY: Recorded = Recorded {
    runnable_per_cpu: 2.7,
    took_ms: 14073,
    steps: &[
        (865, "idle", Up, 0, 0, 0, 0),
        (2193, "tcp", Up, 0, 3096295131, 0, 0),
        (3137, "tcp", Down, 0, 2909049417, 0, 0),
        (4144, "tcp-both", Up, 0, 3478276388, 0, 0),
        (4977, "tcp-2-streams", Up, 0, 7451181056, 0, 0),
        (5744, "tcp-2-streams", Down, 0, 5687476224, 0, 0),
        (6421, "udp", Up, 6683582796, 1569863680, 20328, 1130),
        (6876, "udp", Up, 1414447175, 345898240, 4479, 0),
        (7332, "udp", Up, 1414447175, 381345280, 4938, 0),
        (7952, "udp", Up, 381345280, 166230400, 4305, 0),
        (8409, "udp", Down, 4934124192, 1334476800, 17280, 0),
        (8864, "udp", Down, 4934124192, 1136776533, 14720, 0),
        (9476, "udp", Down, 1334476800, 404127146, 10466, 0),
        (10005, "udp-64B", Up, 0, 99833173, 29248, 0),
        (10553, "udp-64B", Up, 0, 111083520, 32544, 0),
        (11301, "udp-64B", Up, 111083520, 36974933, 21665, 0),
        (11873, "udp-64B", Down, 0, 117418666, 34400, 0),
        (12540, "udp-64B", Down, 0, 88582826, 25952, 0),
        (13228, "udp-64B", Down, 117418666, 25608533, 15005, 0),
    ],
};

/// The same with two such tasks on each.
pub(in crate::cli) const QUICK_BUSIER: Recorded = Recorded {
    runnable_per_cpu: 4.0,
    took_ms: 15570,
    steps: &[
        (910, "idle", Up, 0, 0, 0, 0),
        (2490, "tcp", Up, 0, 7322056411, 0, 0),
        (3464, "tcp", Down, 0, 2434194285, 0, 0),
        (4462, "tcp-both", Up, 0, 2619942034, 0, 0),
        (5297, "tcp-2-streams", Up, 0, 4672454656, 0, 0),
        (6103, "tcp-2-streams", Down, 0, 3804233728, 0, 0),
        (6699, "udp", Up, 6462162012, 892508586, 11557, 0),
        (7282, "udp", Up, 6462162012, 451776000, 5850, 0),
        (8170, "udp", Up, 892508586, 165882880, 4296, 0),
        (8738, "udp", Down, 3390845237, 585455360, 7581, 0),
        (9406, "udp", Down, 3390845237, 564372480, 7308, 0),
        (10218, "udp", Down, 585455360, 64986240, 1683, 0),
        (10870, "udp-64B", Up, 0, 53739520, 15744, 0),
        (11470, "udp-64B", Up, 0, 65044480, 19056, 0),
        (12238, "udp-64B", Up, 65044480, 32629760, 19119, 0),
        (12866, "udp-64B", Down, 0, 53357226, 15632, 0),
        (13598, "udp-64B", Down, 0, 39540053, 11584, 0),
        (14401, "udp-64B", Down, 53357226, 5983573, 3506, 0),
    ],
};

/// `check --lab` with one.
pub(in crate::cli) const FULL_BUSY: Recorded = Recorded {
    runnable_per_cpu: 3.7,
    took_ms: 31846,
    steps: &[
        (2478, "idle", Up, 0, 0, 0, 0),
        (5541, "tcp", Up, 0, 3261071360, 0, 0),
        (8303, "tcp", Down, 0, 3940968038, 0, 0),
        (11243, "tcp-both", Up, 0, 3092879769, 0, 0),
        (13522, "tcp-2-streams", Up, 0, 5982126080, 0, 0),
        (15712, "tcp-2-streams", Down, 0, 7115636736, 0, 0),
        (16526, "udp", Up, 5350003308, 2034196736, 87802, 0),
        (17418, "udp", Up, 5350003308, 2382064256, 102817, 0),
        (18881, "udp", Up, 2382064256, 542768320, 46855, 0),
        (19706, "udp", Down, 6392945382, 1010773504, 43628, 0),
        (20478, "udp", Down, 6392945382, 2457059072, 106054, 0),
        (21824, "udp", Down, 2457059072, 485080000, 41875, 0),
        (22822, "udp-64B", Up, 0, 68567040, 66960, 0),
        (23695, "udp-64B", Up, 0, 78036992, 76208, 0),
        (25250, "udp-64B", Up, 78036992, 25700352, 50196, 0),
        (26138, "udp-64B", Down, 0, 86818816, 84784, 0),
        (27274, "udp-64B", Down, 0, 94568448, 92352, 7100),
        (28208, "udp-64B", Down, 87298048, 42274816, 41284, 0),
        (29170, "udp-64B", Down, 87298048, 21663744, 21156, 0),
        (30658, "udp-64B", Down, 42274816, 15450112, 30176, 0),
    ],
};

/// The same with two.
pub(in crate::cli) const FULL_BUSIER: Recorded = Recorded {
    runnable_per_cpu: 3.9,
    took_ms: 33752,
    steps: &[
        (2527, "idle", Up, 0, 0, 0, 0),
        (5807, "tcp", Up, 0, 5975624908, 0, 0),
        (8559, "tcp", Down, 0, 3586968780, 0, 0),
        (11445, "tcp-both", Up, 0, 3948098355, 0, 0),
        (13835, "tcp-2-streams", Up, 0, 5100797952, 0, 0),
        (16143, "tcp-2-streams", Down, 0, 4774690816, 0, 0),
        (17050, "udp", Up, 5341241011, 1159048704, 50028, 0),
        (18036, "udp", Up, 5341241011, 1285453312, 55484, 0),
        (19611, "udp", Up, 1285453312, 202465152, 17478, 0),
        (20844, "udp", Down, 4240168963, 557769600, 24075, 5345),
        (21678, "udp", Down, 433936640, 101614848, 4386, 0),
        (22572, "udp", Down, 433936640, 68785792, 2969, 0),
        (23943, "udp", Down, 101614848, 83068864, 7171, 0),
        (24879, "udp-64B", Up, 0, 71221248, 69552, 0),
        (25711, "udp-64B", Up, 0, 65306624, 63776, 0),
        (27319, "udp-64B", Up, 71221248, 12013056, 23463, 0),
        (28555, "udp-64B", Down, 0, 94601216, 92384, 12672),
        (29572, "udp-64B", Down, 81625088, 10939392, 10683, 0),
        (30603, "udp-64B", Down, 81625088, 22447104, 21921, 0),
        (32098, "udp-64B", Down, 22447104, 5906432, 11536, 0),
    ],
};

/// `sweep --lab --from 500M --to 4000M --step 500M -t 500ms`: the sender reaches none of the highest rates.
pub(in crate::cli) const SWEEP: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 20122,
    steps: &[
        (1361, "udp-500M", Up, 500000000, 477214464, 20598, 0),
        (2030, "udp-500M", Down, 500000000, 448416640, 19355, 0),
        (2779, "udp-1000M", Up, 1000000000, 782754048, 33786, 0),
        (3444, "udp-1000M", Down, 1000000000, 910270720, 39290, 0),
        (4158, "udp-1500M", Up, 1500000000, 1500012160, 64745, 0),
        (4847, "udp-1500M", Down, 1500000000, 1379862912, 59559, 0),
        (5589, "udp-2000M", Up, 2000000000, 1061187072, 45804, 0),
        (6267, "udp-2000M", Down, 2000000000, 1836388352, 79264, 0),
        (6957, "udp-2500M", Up, 2500000000, 2500012544, 107908, 0),
        (7622, "udp-2500M", Down, 2500000000, 2233742720, 96415, 0),
        (8590, "udp-3000M", Up, 3000000000, 1834905600, 79200, 2063),
        (9281, "udp-3000M", Down, 3000000000, 2896092672, 125004, 0),
        (9966, "udp-3500M", Up, 3500000000, 3500012928, 151071, 0),
        (10649, "udp-3500M", Down, 3500000000, 3202489472, 138229, 0),
        (11385, "udp-4000M", Up, 4000000000, 3055766528, 131896, 0),
        (
            12251,
            "udp-4000M",
            Down,
            4000000000,
            3606238208,
            155656,
            1029,
        ),
        (12940, "udp-500M", Up, 500000000, 500011776, 21582, 0),
        (13694, "udp-500M", Down, 500000000, 391307520, 16890, 0),
        (14466, "udp-1000M", Up, 1000000000, 631049984, 27238, 0),
        (17162, "udp-448.417M", Down, 448416640, 370099533, 79873, 0),
        (19947, "udp-782.754M", Up, 782754048, 592994227, 127977, 0),
    ],
};

/// `sweep --lab --fault rate=70M:512K --from 20M --to 120M --step 20M -t 500ms`: its trials are real, its clock is
/// made: each step takes 0.19 s more than its test.
pub(in crate::cli) const KNEE: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 31430,
    steps: &[
        (1290, "udp-20M", Up, 20000000, 20017152, 864, 0),
        (1980, "udp-20M", Down, 20000000, 20017152, 864, 0),
        (2670, "udp-40M", Up, 40000000, 40011136, 1727, 0),
        (3360, "udp-40M", Down, 40000000, 40011136, 1727, 0),
        (4050, "udp-60M", Up, 60000000, 60005120, 2590, 0),
        (4740, "udp-60M", Down, 60000000, 60005120, 2590, 0),
        (5430, "udp-80M", Up, 80000000, 80022272, 3454, 179),
        (6120, "udp-80M", Down, 80000000, 80022272, 3454, 206),
        (6810, "udp-100M", Up, 100000000, 100016256, 4317, 1012),
        (7500, "udp-100M", Down, 100000000, 100016256, 4317, 1044),
        (8190, "udp-120M", Up, 120000000, 120010240, 5180, 1902),
        (8880, "udp-120M", Down, 120000000, 120010240, 5180, 1907),
        (9570, "udp-75.854M", Up, 75854082, 75875200, 3275, 0),
        (10260, "udp-75.229M", Down, 75228720, 75249664, 3248, 4),
        (10950, "udp-76.231M", Up, 76231427, 76245888, 3291, 45),
        (11639, "udp-75.229M", Down, 75228720, 75249664, 3248, 0),
        (12329, "udp-76.231M", Up, 76231427, 76245888, 3291, 4),
        (13019, "udp-75.229M", Down, 75228720, 75249664, 3248, 0),
        (15709, "udp-75.854M", Up, 75854082, 75856666, 16371, 1395),
        (16400, "udp-75.603M", Down, 75602954, 75620352, 3264, 70),
        (19090, "udp-75.479M", Up, 75478604, 75481344, 16290, 1834),
        (19780, "udp-75.603M", Down, 75602954, 68716288, 2966, 0),
        (22470, "udp-72.49M", Up, 72489651, 72492672, 15645, 913),
        (23160, "udp-75.603M", Down, 75602954, 74091264, 3198, 0),
        (25850, "udp-75.229M", Down, 75228720, 75231130, 16236, 1292),
        (28540, "udp-74.856M", Down, 74856337, 74295142, 16034, 969),
        (31230, "udp-71.892M", Down, 71892026, 71894938, 15516, 525),
    ],
};

/// The same again.
pub(in crate::cli) const KNEE_AGAIN: Recorded = Recorded {
    runnable_per_cpu: 0.0,
    took_ms: 32120,
    steps: &[
        (1290, "udp-20M", Up, 20000000, 20017152, 864, 0),
        (1980, "udp-20M", Down, 20000000, 20017152, 864, 0),
        (2670, "udp-40M", Up, 40000000, 40011136, 1727, 0),
        (3360, "udp-40M", Down, 40000000, 40011136, 1727, 0),
        (4050, "udp-60M", Up, 60000000, 60005120, 2590, 0),
        (4740, "udp-60M", Down, 60000000, 60005120, 2590, 0),
        (5430, "udp-80M", Up, 80000000, 80022272, 3454, 251),
        (6120, "udp-80M", Down, 80000000, 79952768, 3451, 379),
        (6810, "udp-100M", Up, 100000000, 100016256, 4317, 1064),
        (7500, "udp-100M", Down, 100000000, 100016256, 4317, 1044),
        (8190, "udp-120M", Up, 120000000, 100456448, 4336, 766),
        (8880, "udp-120M", Down, 120000000, 120010240, 5180, 1907),
        (9570, "udp-74.186M", Up, 74186450, 74207104, 3203, 0),
        (10260, "udp-71.214M", Down, 71214140, 70708736, 3052, 0),
        (10950, "udp-74.555M", Up, 74555499, 74577792, 3219, 0),
        (11639, "udp-71.568M", Down, 71568403, 71589120, 3090, 0),
        (12329, "udp-77.23M", Up, 77229786, 77242112, 3334, 48),
        (13019, "udp-74.519M", Down, 74519370, 68067584, 2938, 0),
        (13709, "udp-76.118M", Up, 76117899, 76130048, 3286, 0),
        (14399, "udp-74.519M", Down, 74519370, 71635456, 3092, 0),
        (15089, "udp-76.497M", Up, 76496556, 76500736, 3302, 25),
        (17779, "udp-71.635M", Down, 71635456, 71635456, 15460, 491),
        (18470, "udp-76.497M", Up, 76496556, 76500736, 3302, 232),
        (21160, "udp-71.281M", Down, 71280860, 71283302, 15384, 452),
        (23850, "udp-76.118M", Up, 76117899, 76120781, 16428, 1380),
        (26540, "udp-68.458M", Down, 68458137, 67298406, 14524, 0),
        (29230, "udp-75.741M", Up, 75741115, 75745459, 16347, 1389),
        (31920, "udp-72.742M", Up, 72741766, 72742886, 15699, 728),
    ],
};
