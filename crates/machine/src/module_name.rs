//! What the names of a memory socket and its bank say of the channel. Boards name
//! sockets as they like: only names that say the channel are understood. The number
//! of a socket is not taken for one, because it does not tell how many sockets share
//! a channel (`PROC 1 DIMM 3`, `Node0_Dimm1`).

/// A channel as a name gives it. Equal values are one channel.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChannelName {
    /// What the channel belongs to, and the channel: `P0`, `A` of `P0 CHANNEL A`.
    Of(String, String),
    /// The letter of `DIMM_A1` alone: the channel on some boards, on others the
    /// processor.
    Letter(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// A processor, a node or a controller, by its number.
    Place,
    Channel,
    /// A socket or a bank, by its number: says nothing of the channel.
    Socket,
    /// One letter.
    Letter,
    Number,
    Other,
}

/// Words of names, longer ones before those that they begin with. From what dmidecode
/// prints on boards of AMD, ASRock Rack, Dell, Gigabyte, HPE, Huawei, Inspur, Intel,
/// Lenovo, Supermicro and Tyan.
const WORDS: [(&str, Class); 15] = [
    ("CONTROLLER", Class::Place),
    ("CHANNEL", Class::Channel),
    ("SOCKET", Class::Place),
    ("CHAN", Class::Channel),
    ("PROC", Class::Place),
    ("NODE", Class::Place),
    ("DIMM", Class::Socket),
    ("SLOT", Class::Socket),
    ("BANK", Class::Socket),
    ("CPU", Class::Place),
    ("IMC", Class::Place),
    ("MCU", Class::Place),
    ("MC", Class::Place),
    ("CH", Class::Channel),
    ("P", Class::Place),
];

type Token = (Class, String);

/// The channel of a module by the names of its bank and its socket; `None` where they
/// do not say it.
pub(crate) fn read_channel(bank: &str, locator: &str) -> Option<ChannelName> {
    let [bank, locator] = [tokens(bank), tokens(locator)];
    by_channel_word(&bank, &locator)
        .or_else(|| by_channel_word(&locator, &bank))
        .or_else(|| by_channel_and_dimm_number(&locator))
        .or_else(|| by_letter(&locator))
}

/// `P0 CHANNEL A`, `P0_Node0_Channel0_Dimm0`, `P2-CH-H`, `Controller0-ChannelA-DIMM0`.
fn by_channel_word(name: &[Token], other: &[Token]) -> Option<ChannelName> {
    let at = name.iter().position(|(class, _)| *class == Class::Channel)?;
    let (class, channel) = name.get(at + 1)?;
    if !matches!(class, Class::Letter | Class::Number) {
        return None;
    }
    let place = place(&name[..at]);
    let place = if place.is_empty() { self::place(other) } else { place };
    Some(ChannelName::Of(place, channel.clone()))
}

/// `CPU0_C1D0`: channel and socket by number.
fn by_channel_and_dimm_number(name: &[Token]) -> Option<ChannelName> {
    use Class::{Letter, Number};
    let [before @ .., (Letter, c), (Number, channel), (Letter, d), (Number, _)] = name else {
        return None;
    };
    (c == "C" && d == "D").then(|| ChannelName::Of(place(before), channel.clone()))
}

/// `CPU0_DIMM_A1`, `P1-DIMMB2`, `DIMM_P0_A0`, `CPU0_A0`: the letter is the channel
/// where the processor is named beside it. `DIMM_A1`, `A1`: it may be either.
fn by_letter(name: &[Token]) -> Option<ChannelName> {
    use Class::{Letter, Number, Place};
    let rest: Vec<&Token> = name.iter().filter(|(class, _)| *class != Class::Socket).collect();
    match rest.as_slice() {
        [(Place, _), (Number, place), (Letter, channel)]
        | [(Place, _), (Number, place), (Letter, channel), (Number, _)] => {
            Some(ChannelName::Of(place.clone(), channel.clone()))
        }
        [(Letter, channel)] | [(Letter, channel), (Number, _)] => {
            Some(ChannelName::Letter(channel.clone()))
        }
        _ => None,
    }
}

/// What a channel belongs to: all words with a number but those of sockets and banks.
fn place(name: &[Token]) -> String {
    let pairs = name.windows(2).filter(|pair| {
        pair[1].0 == Class::Number && matches!(pair[0].0, Class::Place | Class::Other)
    });
    let pairs: Vec<String> = pairs.map(|pair| format!("{}{}", pair[0].1, pair[1].1)).collect();
    pairs.join(" ")
}

/// Runs of letters and of digits, in capitals; a letter that follows a known word
/// without a space (`DIMMA1`, `ChannelB`) stands by itself.
fn tokens(name: &str) -> Vec<Token> {
    let name = name.to_ascii_uppercase();
    let mut tokens = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let digits = first.is_ascii_digit();
            let end = rest.find(|c: char| c.is_ascii_digit() != digits).unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            if digits {
                tokens.push((Class::Number, run.to_string()));
            } else {
                tokens.extend(words(run));
            }
            rest = after;
        }
    }
    tokens
}

fn words(run: &str) -> Vec<Token> {
    for (word, class) in WORDS {
        match run.strip_prefix(word) {
            Some("") => return vec![(class, run.into())],
            Some(letter) if word.len() > 1 && letter.len() == 1 => {
                return vec![(class, word.into()), (Class::Letter, letter.into())];
            }
            _ => {}
        }
    }
    let class = if run.len() == 1 { Class::Letter } else { Class::Other };
    vec![(class, run.into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(place: &str, channel: &str) -> Option<ChannelName> {
        Some(ChannelName::Of(place.into(), channel.into()))
    }

    /// Names as they stand in the output of dmidecode that people have published.
    #[test]
    fn names_of_boards() {
        for (bank, locator, channel) in [
            ("P0 CHANNEL A", "DIMM 1", of("P0", "A")),
            ("P0_Node0_Channel0_Dimm1", "DIMMA2", of("P0 NODE0", "0")),
            ("P2-CH-H", "P2-DimmH1", of("P2", "H")),
            ("SOCKET 1 CHANNEL 3 DIMM 0", "DIMM130 J12", of("SOCKET1", "3")),
            ("NODE 1", "CPU1_DIMM_A1", of("1", "A")),
            ("P0_Node0_Channel0_Dimm0", "P1-DIMMB2", of("P0 NODE0", "0")),
            ("Not Specified", "P1-DIMMB2", of("1", "B")),
            ("", "DIMM_P0_A0", of("0", "A")),
            ("", "CPU1_F0", of("1", "F")),
            ("", "CPU0_C1D0", of("CPU0", "1")),
            ("BANK 0", "Controller1-ChannelA-DIMM0", of("CONTROLLER1", "A")),
            ("BANK 2", "ChannelB-DIMM0", of("", "B")),
            ("Node 1", "ChannelB-DIMM0", of("NODE1", "B")),
            ("", "MB/P0/MCU1/CH0/D1", of("P0 MCU1", "0")),
            ("", "A1", Some(ChannelName::Letter("A".into()))),
            ("Not Specified", "DIMM_B12", Some(ChannelName::Letter("B".into()))),
            ("Node0_Dimm1", "Node0_Dimm1", None),
            ("", "PROC 1 DIMM 3", None),
            ("", "PROC 1 DIMM 12 A", None),
            ("", "DIMM 0", None),
            ("BANK 0", "DIMM0", None),
            ("CHANNEL", "CHANNEL DIMM", None),
            ("", "", None),
            ("", "\u{e9}\u{1f600}", None),
        ] {
            assert_eq!(read_channel(bank, locator), channel, "{bank} / {locator}");
        }
    }
}
