//! What is advised, in words and a table.

use std::collections::BTreeMap;

use nearfar_advise::{
    AdvisingModel, Candidate, CandidateKind, LEAST_GAIN, LEAST_GAIN_WITHOUT_LOSS, Launcher,
    LauncherForm, MOST_TOLERANCE, Pattern, Room,
};
use nearfar_machine::MemoryPolicy;
use nearfar_model::{FlowTrust, Inapplicable};
use nearfar_units::Quantity;

use super::advise::{
    AdviceProfile, AdvisedCandidate, AdvisedPlacement, AdvisedUse, NodeAccess, TakenFigure,
};
use super::advised_rate::{factor, figure, gain_words, given_words, rate_words};
use super::figures::{count, no_room_words};
use super::flow::{part_words, percents};
use super::run::verification_part;
use super::who::Who;
use crate::answer::{Answer, Part, Shown};
use crate::table::{Cell, Column, Table};
use crate::terminal::paragraph::folded;

/// Columns for a command, with room for what stands around it: longer ones go on in the next line, as
/// a shell reads them.
const COMMAND_WIDTH: usize = 72;

/// A placement with what it gives by use.
struct Row {
    name: String,
    /// Of its threads.
    nodes: String,
    /// How many others cannot be told from it.
    alike: usize,
    /// The largest of its figures, GB/s.
    rate: f64,
    cells: BTreeMap<usize, String>,
}

/// A launcher's words, and what they cannot express as comments.
pub(super) fn form_answer(form: &LauncherForm) -> Answer {
    let texts = form.texts.iter().map(|text| Part::Lines(format!("{text}\n")));
    let lacks = form.lacks.iter().map(|lack| {
        let lines = folded(lack.split(' '), COMMAND_WIDTH);
        Part::Lines(lines.iter().map(|line| format!("# {line}\n")).collect())
    });
    Answer::default().and_all(Shown::Always, texts.chain(lacks))
}

impl AdvisedPlacement {
    /// For people: all uses beside each other, and for each what to do.
    pub fn answer(&self) -> Answer {
        let mut answer = self.measured.answer();
        if let Some(profile) = &self.profile {
            answer = answer.and_all(Shown::Always, profile.parts());
        }
        if let Some(node) = self.only_node {
            answer = answer.and_says(format!(
                "Pages can lie on one memory node, node {node}: there is nothing to choose."
            ));
        }
        if let Some(Room::TooSmall { node, needed_bytes, usable_bytes }) = self.only_node_room {
            let fits = no_room_words(node, needed_bytes, usable_bytes);
            answer = answer.and_says(format!("The data {fits}"));
        }
        if !self.uses.is_empty() {
            answer = answer.and_says(self.question()).and_gap();
            answer = answer.and_table(self.table(), usize::MAX).and_says(self.left_out());
            answer = answer.and_gap();
            for of_use in &self.uses {
                answer = answer.and_all(Shown::Always, self.parts(of_use));
            }
            if self.uses.len() > 1 {
                answer =
                    answer.and_says("Not sure which? `nearfar sensitivity -- CMD` measures both.");
            }
            answer = answer.and_gap();
            let cautions = self.cautions().into_iter().map(|it| Part::words("- ", it));
            answer = answer.and_all(Shown::Always, cautions);
        }
        if let Some(why) = &self.not_verified {
            let words = Part::words("- ", format!("Nothing was compared: {why}."));
            answer = answer.and(Shown::Always, words);
        }
        if let Some(verification) = &self.verification {
            answer = answer.and(Shown::Always, verification_part(verification));
        }
        answer
    }

    /// What is recommended in a launcher's words, and what it cannot express as comments.
    pub fn launcher_answer(&self, launcher: Launcher) -> Answer {
        let mut answer = Answer::default();
        if let Some(node) = self.only_node {
            let words = format!("pages can lie on node {node} alone: there is nothing to say");
            answer = answer.and(Shown::Always, Part::words("# ", words));
        }
        for (place, of_use) in self.uses.iter().enumerate() {
            if self.uses.len() > 1 {
                if place > 0 {
                    answer = answer.and_gap();
                }
                let words = Part::words("# ", use_words(of_use.pattern));
                answer = answer.and(Shown::Always, words);
            }
            let Some(form) = of_use.forms.iter().find(|form| form.launcher == launcher) else {
                answer = answer.and(Shown::Always, Part::words("# ", "nothing to apply"));
                continue;
            };
            answer = answer.and_answer(form_answer(form));
        }
        answer
    }

    /// The demand, and what is open.
    fn question(&self) -> String {
        let demand = &self.demand;
        let all = self.uses.iter().flat_map(|it| &it.candidates);
        let threads =
            all.map(|it| it.candidate.team.workers.iter().map(|it| it.threads).sum()).max();
        let threads: u32 = threads.or(demand.threads).unwrap_or(1);
        let on = match &demand.initiators {
            Some(initiators) => {
                format!(" on {}", self.measured.who.all_cpus(initiators.iter().copied()))
            }
            None if demand.threads.is_none() => ", one on each core".into(),
            None => String::new(),
        };
        let size = demand
            .working_set_bytes
            .map_or_else(String::new, |bytes| format!(", {} of data", nearfar_units::Bytes(bytes)));
        let loads = demand
            .load_share
            .map_or_else(String::new, |share| format!(", {} of its bytes loaded", percents(share)));
        let program =
            format!("A program with {}{on}{size}{loads}", count(threads as usize, "thread"));
        match self.uses.as_slice() {
            [only] => format!("{program}, {}.", use_words(only.pattern)),
            _ => format!("{program}. The best placement depends on how its threads use its data."),
        }
    }

    /// All uses beside each other, a row for each placement.
    fn table(&self) -> Table {
        let mut rows: Vec<Row> = Vec::new();
        for (column, of_use) in self.uses.iter().enumerate() {
            for (place, it) in of_use.candidates.iter().enumerate() {
                let (name, nodes) = (self.name(of_use, it), self.nodes(it));
                let is_best = of_use.recommended == Some(place);
                let cell = figure(&it.candidate, of_use.measured_default(), is_best);
                let rate = it.candidate.predicted.value.in_unit();
                let is_known = |row: &Row| row.name == name && row.nodes == nodes;
                let row = rows.iter().position(is_known).unwrap_or_else(|| {
                    rows.push(Row { name, nodes, alike: 0, rate, cells: BTreeMap::new() });
                    rows.len() - 1
                });
                if let Some(row) = rows.get_mut(row) {
                    row.rate = row.rate.max(rate);
                    row.alike = row.alike.max(it.candidate.ties.len());
                    row.cells.entry(column).or_insert(cell);
                }
            }
        }
        rows.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        let has_nodes = rows.iter().any(|row| row.nodes != rows[0].nodes);
        let mut columns = vec![Column::words("placement")];
        columns.extend(has_nodes.then(|| Column::words("threads near")));
        let used = |of_use: &AdvisedUse| match of_use.pattern {
            Pattern::Private | Pattern::Regular => "own part",
            Pattern::Shared | Pattern::Irregular => "any part",
        };
        columns.extend(self.uses.iter().map(used).map(Column::words));
        let line = |row: &Row| {
            let name = match row.alike {
                0 => row.name.clone(),
                alike => format!("{} ({alike} alike)", row.name),
            };
            let nodes = has_nodes.then(|| Cell::text(&row.nodes));
            let cells = (0..self.uses.len()).map(|column| match row.cells.get(&column) {
                Some(words) => Cell::text(words),
                None => Cell::Empty,
            });
            std::iter::once(Cell::text(name)).chain(nodes).chain(cells).collect()
        };
        let kernel = self.uses.first().map_or("", |it| it.basis.kernel.as_str());
        Table::new(
            format!("GB/s of {kernel}, threads x the slowest thread; * recommended"),
            columns,
            rows.iter().map(line),
        )
    }

    /// The nodes of the CPUs that threads run on.
    fn nodes(&self, it: &AdvisedCandidate) -> String {
        let initiators = it.candidate.team.workers.iter().map(|it| it.initiator);
        self.measured.who.nodes(initiators)
    }

    /// How much the table leaves out.
    fn left_out(&self) -> String {
        match self.uses.iter().map(|it| it.not_shown).max().unwrap_or(0) {
            0 => String::new(),
            left => format!("{}: --full.", count(left, "more placement")),
        }
    }

    /// A placement for people; rows of several uses with one name are one.
    fn name(&self, of_use: &AdvisedUse, it: &AdvisedCandidate) -> String {
        use CandidateKind::{ByInitiator, FirstTouch, Interleave, Local, OneNode, Weighted};
        let candidate = &it.candidate;
        let is_default_node = |default: &AdvisedCandidate| {
            let ratio = candidate.predicted.value / default.candidate.predicted.value;
            default.candidate.is_default
                && default.candidate.kind == FirstTouch
                && (ratio - 1.0).abs() <= MOST_TOLERANCE
        };
        let mut defaults = self.uses.iter().flat_map(|it| &it.candidates);
        let policy = candidate.policies.first();
        let name = match candidate.kind {
            FirstTouch if of_use.basis.is_default_seen => "as it was seen".into(),
            FirstTouch => "all first touched by one thread".to_string(),
            Local if candidate.needs_change => "each thread writes its part first".into(),
            Local => "own node of each thread".into(),
            OneNode if defaults.any(is_default_node) => "all first touched by one thread".into(),
            ByInitiator => "weights for each node's own threads".into(),
            // The command has them.
            Weighted => {
                let nodes = policy.and_then(MemoryPolicy::nodes).unwrap_or_default();
                format!("weights on nodes {nodes}")
            }
            OneNode | Interleave => policy.map_or_else(String::new, ToString::to_string),
        };
        if matches!(candidate.room, Room::TooSmall { .. }) { name + " (no room)" } else { name }
    }

    /// What to do for one use, with the command that does it.
    fn parts(&self, of_use: &AdvisedUse) -> Vec<Part> {
        let heading = if self.uses.len() > 1 {
            format!("{}: ", use_words(of_use.pattern))
        } else {
            String::new()
        };
        let mut parts = vec![Part::words("", format!("{heading}{}", self.recommendation(of_use)))];
        let commands = of_use.best().into_iter().flat_map(|it| &it.commands);
        parts.extend(commands.map(|command| command_part(command)));
        parts.extend(self.beside(of_use).into_iter().map(|it| Part::words("  ", it)));
        parts
    }

    fn recommendation(&self, of_use: &AdvisedUse) -> String {
        let who = &self.measured.who;
        let has_default = of_use.candidates.iter().any(|it| it.candidate.is_default);
        let Some(best) = of_use.best().map(|it| &it.candidate) else {
            return "the data does not fit on this machine.".into();
        };
        let rate = given_words(best);
        let limit = limit_words(best, who);
        if best.is_default {
            let what = match best.kind {
                CandidateKind::Local => "pin the threads, each on its own node",
                _ => "keep the default",
            };
            let least =
                of_use.basis.trust.as_ref().map_or(LEAST_GAIN, |it| it.least_difference_share);
            let nothing = match best.model {
                AdvisingModel::Hybrid => "Of these two memories nothing",
                AdvisingModel::Flow | AdvisingModel::Pairs => "Nothing",
            };
            return format!("{what}: {rate}{limit}. {nothing} gains {}.", percents(least));
        }
        if has_default {
            return format!("{rate}, {}{limit}.", gain_words(best, of_use.measured_default()));
        }
        format!("by default the data does not fit; here it does: {rate}{limit}.")
    }

    /// What a use could have beside what is recommended.
    fn beside(&self, of_use: &AdvisedUse) -> Vec<String> {
        let mut said = Vec::new();
        let best = of_use.best().map(|it| &it.candidate);
        if let (true, Some(own), Some(best)) = (of_use.is_below_own_parts, &of_use.own_parts, best)
        {
            said.push(format!(
                "Own parts would reach {}, {}: a change to the program.",
                rate_words(own),
                factor(own.value / best.predicted.value - 1.0)
            ));
        }
        let is_better = |it: &&AdvisedCandidate| {
            let gains = it.candidate.gain.zip(best.and_then(|best| best.gain));
            it.candidate.is_claimed && gains.is_some_and(|(own, best)| own > best)
        };
        let mut better = of_use.candidates.iter().filter(is_better);
        let no_room = better.find(|it| matches!(it.candidate.room, Room::TooSmall { .. }));
        if let Some(better) = no_room
            && let Room::TooSmall { node, needed_bytes, usable_bytes } = better.candidate.room
        {
            said.push(format!(
                "{} by {} {}",
                given_words(&better.candidate),
                self.name(of_use, better).trim_end_matches(" (no room)"),
                no_room_words(node, needed_bytes, usable_bytes)
            ));
        }
        if of_use.best().is_some_and(|it| it.commands.len() > 1) {
            said.push("Each command is for the processes on its CPUs.".into());
        }
        said
    }

    /// What to know of all figures.
    fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let Some(basis) = self.uses.first().map(|it| &it.basis) else { return cautions };
        match (&basis.trust, &basis.without_flow) {
            (Some(trust), _) => {
                cautions.push(trust_words(trust, "Gains"));
                let mut candidates = self.uses.iter().flat_map(|it| &it.candidates);
                let is_open = candidates.any(|it| it.candidate.is_open);
                cautions.extend(is_open.then(|| OPEN_RANGE.into()));
                if trust.least_difference_share > LEAST_GAIN {
                    cautions.push(agreed_words());
                }
            }
            (None, Some(without)) => cautions.push(format!(
                "By pairs alone: each range is from links and controllers that carry no more \
                 than one pair to ones that never limit {}",
                why_not_narrower(without)
            )),
            (None, None) if self.demand.load_share.is_none() => cautions.push(
                "By the hybrid model of the two memories, for loads alone: --load-share says what else a \
                 program does."
                    .into(),
            ),
            (None, None) => cautions.push(
                "By the hybrid model of the two memories, for this share of loads."
                    .into(),
            ),
        }
        if let Some((asked, known)) = self.demand.load_share.zip(basis.kernel_load_share)
            && basis.model != AdvisingModel::Hybrid
            && (asked - known).abs() > 0.1
        {
            cautions.push(format!(
                "{} of this kernel's bytes are loaded, the nearest in the record; of the program's \
                 {}.",
                percents(known),
                percents(asked)
            ));
        }
        if !basis.unmeasured_nodes.is_empty() {
            let nodes: Vec<String> = basis.unmeasured_nodes.iter().map(u32::to_string).collect();
            cautions.push(format!(
                "Not measured, so not advised: node{} {}.",
                if nodes.len() == 1 { "" } else { "s" },
                nodes.join(", ")
            ));
        }
        let best = || self.uses.iter().filter_map(AdvisedUse::best);
        if best().any(|it| it.candidate.room == Room::Unknown) {
            cautions.push(if self.demand.working_set_bytes.is_some() {
                "Whether the data fits is not known: the size of a node is not.".into()
            } else {
                "Whether the data fits is not known: give --working-set.".into()
            });
        }
        if self.uses.iter().any(|it| it.pattern == Pattern::Irregular) {
            cautions.push(
                "Accesses in no order move fewer bytes than these streams: trust the order, not the \
                 height."
                    .into(),
            );
        }
        cautions
    }
}

/// How threads use the data, for people.
fn use_words(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::Private => "each thread its own part (OpenMP static loops, MPI)",
        Pattern::Regular => "each thread its own part, all written first by one",
        Pattern::Shared => "any thread any part (hash tables, graphs)",
        Pattern::Irregular => "any thread any part, in no order",
    }
}

/// What applies a placement, which goes on in further lines as a shell reads them.
pub(super) fn command_part(command: &str) -> Part {
    let lines = folded(command.split(' '), COMMAND_WIDTH);
    Part::Lines(format!("  -> {}\n", lines.join(" \\\n     ")))
}

/// `, limited by ..`; nothing where the model does not say.
fn limit_words(candidate: &Candidate, who: &Who) -> String {
    match (&candidate.limit, candidate.model) {
        (Some(part), _) => format!(", limited by {}", part_words(part, who)),
        (None, AdvisingModel::Flow) => ", latency-bound".into(),
        (None, AdvisingModel::Hybrid | AdvisingModel::Pairs) => String::new(),
    }
}

const OPEN_RANGE: &str =
    "A range goes up to what the record leaves possible: no case fills what limits there.";

/// When a gain is claimed that is smaller than the mean error of the model allows.
fn agreed_words() -> String {
    format!(
        "A smaller gain counts where the fits that the record leaves possible gain {} on average, and none \
         of them loses {}; or {}, and none loses anything.",
        percents(LEAST_GAIN),
        percents(MOST_TOLERANCE),
        percents(LEAST_GAIN_WITHOUT_LOSS)
    )
}

/// How sure the flow model is of its figures; `what` is what it cannot tell when it is small.
pub(super) fn trust_words(trust: &FlowTrust, what: &str) -> String {
    format!(
        "± is the flow model's error; its mean is {}, on {}. {what} below {} are not significant.",
        percents(trust.model_error),
        trust.judged_by,
        percents(trust.least_difference_share)
    )
}

/// Why there is no flow model, and what makes one.
pub(super) fn why_not_narrower(without: &Inapplicable) -> String {
    let more = without.remedy.as_ref();
    let more = more.map_or_else(String::new, |it| format!(" Narrower after `{it}`."));
    format!("({}).{more}", without.why)
}

impl AdviceProfile {
    fn parts(&self) -> Vec<Part> {
        let words = |taken: &TakenFigure| match taken {
            TakenFigure::Threads => "threads",
            TakenFigure::WorkingSetBytes => "the size of its data",
            TakenFigure::LoadShare => "its share of loads",
            TakenFigure::Accesses => "where its accesses go without advice",
        };
        let taken: Vec<&str> = self.taken.iter().map(words).collect();
        let what = if taken.is_empty() { "nothing".into() } else { taken.join(", ") };
        let said = format!("From the profile of {} on {}: {what}.", self.program, self.host);
        let mut parts = vec![Part::words("", said)];
        if !self.accesses.is_empty() {
            let share = |it: &NodeAccess| format!("node {} {}", it.memory_node, percents(it.share));
            let shares: Vec<String> = self.accesses.iter().map(share).collect();
            let said = format!("Its accesses went to {}.", shares.join(", "));
            parts.push(Part::words("  ", said));
        }
        if let Some(counted) = self.uneven_local_share {
            let said = format!(
                "Its pages are used unevenly: {} of its lines came from near memory, which is used \
                 for the default. Interleaving spreads hot and cold pages alike.",
                percents(counted)
            );
            parts.push(Part::words("  ", said));
        }
        parts.extend(self.unknown.iter().map(|it| Part::words("  ", it)));
        parts
    }
}
