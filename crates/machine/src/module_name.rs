//! What the names of a memory socket and its bank say of the channel. Boards name
//! sockets as they like: only names that say the channel are understood. The number
//! of a socket is not taken for one, because it does not tell how many sockets share
//! a channel (`PROC 1 DIMM 3`, `Node0_Dimm1`), nor is the letter of `A1` alone, which
//! on Dell's boards is the processor.

/// A channel as names give it. Equal values are one channel, where one [`Rule`] has
/// read them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChannelName {
    /// The numbered words that the channel belongs to, the outermost first: `P` and 0
    /// of `P0 CHANNEL A`. May be empty.
    pub place: Vec<(Word, u32)>,
    /// The channel within the place.
    pub label: Label,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    Letter(char),
    Number(u32),
}

/// How a channel is read from a socket's names. A board's names follow one rule;
/// those of different rules are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// A word for a channel in the bank's name: `P0 CHANNEL A`.
    WordInBank,
    /// A word for a channel in the socket's name: `Controller0-ChannelA-DIMM0`.
    WordInSocket,
    /// `CPU0_C1D0`: channel and socket by number.
    ChannelAndSocket,
    /// The letter beside the processor: `CPU0_DIMM_A1`, `P1-DIMMB2`, `CPU0_A0`.
    LetterOfPackage,
    /// The letter of `DIMM_A1`: the channel on some boards, on others the processor.
    Letter,
}

/// A word of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Word {
    text: &'static str,
    class: Class,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// A processor, or the node that some boards call it.
    Package,
    /// A memory controller.
    Controller,
    Channel,
    /// A socket or a bank: its number says nothing of the channel.
    Socket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Word(Word),
    Letter(char),
    Number(u32),
    /// A word that is not known, or a number that is too long.
    Other,
}

const fn word(text: &'static str, class: Class) -> Word {
    Word { text, class }
}

/// Words of names, longer ones before those that they begin with. From what dmidecode
/// prints on boards of AMD, ASRock Rack, Dell, Gigabyte, HPE, Huawei, Inspur, Intel,
/// Lenovo, Supermicro and Tyan.
const WORDS: [Word; 15] = [
    word("CONTROLLER", Class::Controller),
    word("CHANNEL", Class::Channel),
    word("SOCKET", Class::Package),
    word("CHAN", Class::Channel),
    word("PROC", Class::Package),
    word("NODE", Class::Package),
    DIMM,
    word("SLOT", Class::Socket),
    word("BANK", Class::Socket),
    word("CPU", Class::Package),
    word("IMC", Class::Controller),
    word("MCU", Class::Controller),
    word("MC", Class::Controller),
    word("CH", Class::Channel),
    word("P", Class::Package),
];

const DIMM: Word = word("DIMM", Class::Socket);

impl Rule {
    /// All rules, the one that says most first.
    pub const ALL: [Self; 5] = [
        Self::WordInBank,
        Self::WordInSocket,
        Self::ChannelAndSocket,
        Self::LetterOfPackage,
        Self::Letter,
    ];

    /// The channel of a module by the names of its bank and its socket; `None` where
    /// they do not say it by this rule.
    pub fn read(self, bank: &str, locator: &str) -> Option<ChannelName> {
        let [bank, locator] = [tokens(bank), tokens(locator)];
        match self {
            Self::WordInBank => by_channel_word(&bank, &locator),
            Self::WordInSocket => by_channel_word(&locator, &bank),
            Self::ChannelAndSocket => by_channel_and_socket(&locator, &bank),
            Self::LetterOfPackage => by_letter_of_package(&locator),
            Self::Letter => by_letter(&locator, &bank),
        }
    }
}

impl ChannelName {
    /// The processor that it belongs to, where the outermost word is one.
    pub fn package(&self) -> Option<(Word, u32)> {
        self.place.first().copied().filter(|(word, _)| word.class == Class::Package)
    }

    /// Whether both are named by the same words and the same sort of label.
    pub fn is_like(&self, other: &Self) -> bool {
        let words = |name: &Self| name.place.iter().map(|(word, _)| *word).collect::<Vec<_>>();
        let lettered = |name: &Self| matches!(name.label, Label::Letter(_));
        words(self) == words(other) && lettered(self) == lettered(other)
    }
}

fn by_channel_word(name: &[Token], other: &[Token]) -> Option<ChannelName> {
    let is_channel =
        |token: &Token| matches!(token, Token::Word(Word { class: Class::Channel, .. }));
    let at = name.iter().position(is_channel)?;
    let after = name.get(at + 1..)?;
    if after.iter().any(is_channel) {
        return None;
    }
    let label = match after.first()? {
        Token::Letter(letter) => Label::Letter(*letter),
        Token::Number(number) => Label::Number(*number),
        Token::Word(_) | Token::Other => return None,
    };
    Some(ChannelName { place: place_of(name, other)?, label })
}

fn by_channel_and_socket(name: &[Token], other: &[Token]) -> Option<ChannelName> {
    use Token::{Letter, Number};
    let [before @ .., Letter('C'), Number(channel), Letter('D'), Number(_)] = name else {
        return None;
    };
    Some(ChannelName { place: place_of(before, other)?, label: Label::Number(*channel) })
}

fn by_letter_of_package(name: &[Token]) -> Option<ChannelName> {
    use Token::{Letter, Number};
    let is_socket = |token: &Token| matches!(token, Token::Word(Word { class: Class::Socket, .. }));
    let rest: Vec<Token> = name.iter().filter(|token| !is_socket(token)).copied().collect();
    let (Token::Word(word), Number(number), letter) = (match rest.as_slice() {
        [word, number, Letter(letter)] | [word, number, Letter(letter), Number(_)] => {
            (*word, *number, *letter)
        }
        _ => return None,
    }) else {
        return None;
    };
    (word.class == Class::Package)
        .then(|| ChannelName { place: vec![(word, number)], label: Label::Letter(letter) })
}

fn by_letter(name: &[Token], bank: &[Token]) -> Option<ChannelName> {
    let (Token::Word(DIMM), letter) = (match name {
        [word, Token::Letter(letter)] | [word, Token::Letter(letter), Token::Number(_)] => {
            (*word, *letter)
        }
        _ => return None,
    }) else {
        return None;
    };
    Some(ChannelName { place: place(bank)?, label: Label::Letter(letter) })
}

/// What a channel belongs to by its own name, after what the other name adds where
/// the own one names no processor.
fn place_of(own: &[Token], other: &[Token]) -> Option<Vec<(Word, u32)>> {
    let own = place(own)?;
    if own.first().is_some_and(|(word, _)| word.class == Class::Package) {
        return Some(own);
    }
    let mut whole = place(other)?;
    whole.extend(own);
    Some(whole)
}

/// The words of a name with a number, but those of channels, sockets and banks;
/// `None` where a number follows a word that is not known, which may be a place.
fn place(name: &[Token]) -> Option<Vec<(Word, u32)>> {
    let mut place = Vec::new();
    for pair in name.windows(2) {
        match *pair {
            [Token::Word(word), Token::Number(number)]
                if matches!(word.class, Class::Package | Class::Controller) =>
            {
                place.push((word, number));
            }
            [Token::Other, Token::Number(_)] => return None,
            _ => {}
        }
    }
    Some(place)
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
                tokens.push(run.parse().map_or(Token::Other, Token::Number));
            } else {
                tokens.extend(words(run));
            }
            rest = after;
        }
    }
    tokens
}

fn words(run: &str) -> Vec<Token> {
    let one_letter = |text: &str| {
        let mut letters = text.chars();
        letters.next().filter(|_| letters.next().is_none())
    };
    for word in WORDS {
        match run.strip_prefix(word.text) {
            Some("") => return vec![Token::Word(word)],
            Some(rest) if word.text.len() > 1 => {
                if let Some(letter) = one_letter(rest) {
                    return vec![Token::Word(word), Token::Letter(letter)];
                }
            }
            _ => {}
        }
    }
    vec![one_letter(run).map_or(Token::Other, Token::Letter)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `P0 NODE0/A` of a rule: the place's words with their numbers, and the label.
    fn read(bank: &str, locator: &str) -> Option<(Rule, String)> {
        Rule::ALL.into_iter().find_map(|rule| {
            let name = rule.read(bank, locator)?;
            let place: Vec<String> =
                name.place.iter().map(|(word, number)| format!("{}{number}", word.text)).collect();
            let label = match name.label {
                Label::Letter(letter) => letter.to_string(),
                Label::Number(number) => number.to_string(),
            };
            Some((rule, format!("{}/{label}", place.join(" "))))
        })
    }

    /// Names as they stand in the output of dmidecode that people have published.
    #[test]
    fn names_of_boards() {
        use Rule::{ChannelAndSocket, Letter, LetterOfPackage, WordInBank, WordInSocket};
        for (bank, locator, rule, channel) in [
            ("P0 CHANNEL A", "DIMM 1", WordInBank, "P0/A"),
            ("P0_Node0_Channel0_Dimm1", "DIMMA2", WordInBank, "P0 NODE0/0"),
            ("P2-CH-H", "P2-DimmH1", WordInBank, "P2/H"),
            ("SOCKET 1 CHANNEL 3 DIMM 0", "DIMM130 J12", WordInBank, "SOCKET1/3"),
            ("CH 00", "CPU 01", WordInBank, "CPU1/0"),
            ("NODE 1", "CPU1_DIMM_A1", LetterOfPackage, "CPU1/A"),
            ("P0_Node0_Channel0_Dimm0", "P1-DIMMB2", WordInBank, "P0 NODE0/0"),
            ("Not Specified", "P1-DIMMB2", LetterOfPackage, "P1/B"),
            ("", "DIMM_P0_A0", LetterOfPackage, "P0/A"),
            ("", "CPU1_F0", LetterOfPackage, "CPU1/F"),
            ("", "CPU0_C1D0", ChannelAndSocket, "CPU0/1"),
            ("BANK 0", "Controller1-ChannelA-DIMM0", WordInSocket, "CONTROLLER1/A"),
            ("CPU 1", "Controller1-ChannelA-DIMM0", WordInSocket, "CPU1 CONTROLLER1/A"),
            ("BANK 2", "ChannelB-DIMM0", WordInSocket, "/B"),
            ("Node 1", "ChannelB-DIMM0", WordInSocket, "NODE1/B"),
            ("", "MB/P0/MCU1/CH0/D1", WordInSocket, "P0 MCU1/0"),
            ("Not Specified", "DIMM_B12", Letter, "/B"),
            ("NODE 1", "DIMM_B12", Letter, "NODE1/B"),
        ] {
            assert_eq!(read(bank, locator), Some((rule, channel.into())), "{bank} / {locator}");
        }
    }

    #[test]
    fn names_that_do_not_say_the_channel() {
        for (bank, locator) in [
            ("", "A1"),
            ("", "SLOT A1"),
            ("Node0_Dimm1", "Node0_Dimm1"),
            ("", "PROC 1 DIMM 3"),
            ("", "PROC 1 DIMM 12 A"),
            ("", "DIMM 0"),
            ("BANK 0", "DIMM0"),
            ("CHANNEL", "CHANNEL DIMM"),
            ("CHANNEL A CHANNEL B", "DIMM 1"),
            ("RISER 2 CHANNEL A", "DIMM 1"),
            ("CHANNEL 99999999999", "DIMM 1"),
            ("", "MC0_A1"),
            ("", ""),
            ("", "\u{e9}\u{1f600}"),
        ] {
            assert_eq!(read(bank, locator), None, "{bank} / {locator}");
        }
    }

    #[test]
    fn names_of_other_words_are_not_like() {
        let name = |bank: &str| Rule::WordInBank.read(bank, "DIMM 1").unwrap();
        assert!(name("P0 CHANNEL A").is_like(&name("P1 CHANNEL B")));
        assert!(!name("P0 CHANNEL A").is_like(&name("CPU0 CHANNEL A")));
        assert!(!name("P0 CHANNEL A").is_like(&name("P0 CHANNEL 1")));
        assert_eq!(name("P0 CH 0"), name("P00 CHANNEL 00"));
    }
}
