//! Tables 5.2 to 5.5 and A.3 to A.6: classes and alphas of printed matrices. A pair is
//! judged by the best of its rows, be they builds of STREAM or devices.

use nearfar_machine::{Machine, TheoreticalMaximum, TransferDirection};
use nearfar_model::Class;

use crate::error::{ReproduceError, contradiction};
use crate::printed::Printed;
use crate::printed_table::{PrintedOf, PrintedTable, PrintedValue};
use crate::row::{Comparison, Room, Row};

use super::KEY;
use super::alphas::{gamma, phi};
use super::facts::{Cbench, CbenchRow, Facts, Quantity};
use super::machines::{Measured, class_set, transfer_set};
use super::reason::{SPLIT_CLASS, UNPRINTED_PAIR, UNPRINTED_PAIR_AND_START, reason_of};

/// The tables of classes and after each the matrix that it was made from.
pub(super) fn rows(
    facts: &Facts,
    matrices: &[&Cbench],
    measured: &Measured,
) -> Result<Vec<Row>, ReproduceError> {
    let mut rows = Vec::new();
    for of_table in matrices.chunk_by(|a, b| a.classes_table == b.classes_table) {
        for matrix in of_table {
            let maximum = match matrix.quantity {
                Quantity::Memory => gamma(facts)?,
                Quantity::Download | Quantity::Readback => phi(facts)?,
            };
            let machine = &measured.machines.find(&matrix.machine)?.machine;
            rows.extend(Compared::new(facts, matrix, machine, maximum)?.rows()?);
        }
        rows.extend(of_table.iter().flat_map(|matrix| inputs(matrix)));
    }
    Ok(rows)
}

fn inputs(matrix: &Cbench) -> Vec<Row> {
    let Cbench { machine, quantity, matrix_table, unit, classes_table, .. } = matrix;
    let why = format!("an input of table {classes_table}");
    let mut rows = Vec::new();
    for CbenchRow { variant, values } in &matrix.rows {
        for ((from, to), &value) in matrix.columns.iter().zip(values) {
            let item = format!(
                "table {matrix_table}, {machine}, {quantity}, {variant}, from node {from} to node {to}, \
                 {unit}"
            );
            rows.push(Row::given(item, value, &why));
        }
    }
    rows
}

/// A printed table of classes beside the classes of its matrix.
struct Compared<'a> {
    facts: &'a Facts,
    matrix: &'a Cbench,
    machine: &'a Machine,
    maximum: TheoreticalMaximum,
    ours: Vec<Found>,
}

/// A class of ours: what those of memory and of copies have in common. Bytes/s.
struct Found {
    max: f64,
    min: f64,
    /// CPU node and memory node of its fastest pair.
    fastest: Option<(u32, u32)>,
}

#[derive(Clone, Copy)]
struct PrintedClass {
    class: usize,
    max: Printed,
    alpha: Printed,
}

impl<'a> Compared<'a> {
    fn new(
        facts: &'a Facts,
        matrix: &'a Cbench,
        machine: &'a Machine,
        maximum: TheoreticalMaximum,
    ) -> Result<Self, ReproduceError> {
        let ours = classes_of(matrix, machine, &[])?;
        Ok(Self { facts, matrix, machine, maximum, ours })
    }

    fn printed(&self) -> impl Iterator<Item = PrintedClass> + '_ {
        let Cbench { max, alpha, class_decimals, alpha_decimals, .. } = self.matrix;
        max.iter().zip(alpha).enumerate().map(|(class, (&max, &alpha))| PrintedClass {
            class,
            max: Printed { value: max, decimals: *class_decimals },
            alpha: Printed { value: alpha, decimals: *alpha_decimals },
        })
    }

    /// A maximum in the unit of the table.
    fn in_unit(&self, bytes_per_s: f64) -> f64 {
        bytes_per_s / self.matrix.unit.bytes_per_s()
    }

    /// The theoretical maximum in the unit of the table.
    fn whole(&self) -> f64 {
        self.in_unit(self.maximum.bytes_per_s)
    }

    /// Our class that a printed one is set beside: the one whose maximum is nearest, by
    /// ratio. Where both find the same classes that is the one of the same number.
    fn nearest(&self, printed: PrintedClass) -> Option<&Found> {
        let distance = |class: &Found| (self.in_unit(class.max) / printed.max.value).ln().abs();
        self.ours.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    fn rows(&self) -> Result<Vec<Row>, ReproduceError> {
        let matrix_rounding =
            Printed { value: 0.0, decimals: self.matrix.matrix_decimals }.half_unit();
        let unprinted_pair = self.unprinted_pairs_explain()?;
        let mut rows = vec![self.number_of_classes()];
        for printed in self.printed() {
            let class = self.nearest(printed);
            let is_unprinted = unprinted_pair && self.is_above_printed(printed);
            let holds = |why: &str| match why {
                UNPRINTED_PAIR => is_unprinted,
                UNPRINTED_PAIR_AND_START => is_unprinted && self.breaks_its_own_rule(),
                SPLIT_CLASS => self.is_inside_a_class(printed),
                _ => false,
            };
            let row = |what: &str, printed: Printed, ours: Option<f64>, input_rounding: f64| {
                let item = self.item(what);
                let (room, reason) = (Room::Rounding(input_rounding), reason_of(&item, holds));
                Comparison { item, printed, ours, room, reason }.judge()
            };
            let number = printed.class;
            rows.push(row(
                &format!("class {number}, maximum, {}", self.matrix.unit),
                printed.max,
                class.map(|class| self.in_unit(class.max)),
                matrix_rounding,
            ));
            rows.push(row(
                &format!("class {number}, alpha"),
                printed.alpha,
                class.map(|class| class.max / self.maximum.bytes_per_s),
                matrix_rounding / self.whole(),
            ));
        }
        Ok(rows)
    }

    /// Rows of maxima set printed classes beside the nearest of ours, so that a class too many
    /// would not show there.
    fn number_of_classes(&self) -> Row {
        let item = self.item("number of classes");
        let (printed, ours) = (self.matrix.max.len(), self.ours.len());
        let split = self.printed().filter(|&printed| self.is_inside_a_class(printed)).count();
        let reason = reason_of(&item, |why| why == SPLIT_CLASS && ours + split == printed);
        let printed = Printed { value: as_float(printed), decimals: 0 };
        Comparison { reason, ..Comparison::of(item, printed, Some(as_float(ours))) }.judge()
    }

    fn item(&self, what: &str) -> String {
        let Cbench { classes_table, machine, quantity, .. } = self.matrix;
        format!("table {classes_table}, {machine}, {quantity}, {what}")
    }

    /// The value that the thesis made both a printed maximum and its alpha from, as far
    /// as their rounding tells; `None` when no value gives both.
    fn unrounded(&self, printed: PrintedClass) -> Option<f64> {
        let (low, high) = printed.max.bounds();
        let (alpha_low, alpha_high) = printed.alpha.bounds();
        let low = low.max(alpha_low * self.whole());
        let high = high.min(alpha_high * self.whole());
        (low <= high).then(|| f64::midpoint(low, high))
    }

    /// Whether no printed pair can be the one that both values were made from, and the
    /// pair that was is faster than the printed ones.
    fn is_above_printed(&self, printed: PrintedClass) -> bool {
        let ours = self.nearest(printed).map(|class| self.in_unit(class.max));
        self.unrounded(printed)
            .zip(ours)
            .is_some_and(|(value, ours)| value > ours && !self.gives(ours, printed))
    }

    /// Whether a value, in the unit of the table, is printed as this maximum and alpha.
    fn gives(&self, value: f64, printed: PrintedClass) -> bool {
        printed.max.is_rounded(value) && printed.alpha.is_rounded(value / self.whole())
    }

    /// Whether all printed maxima and alphas are ours once those that the printed pairs
    /// cannot have given stand in pairs that are not printed.
    fn unprinted_pairs_explain(&self) -> Result<bool, ReproduceError> {
        let mut added: Vec<PrintedValue<'_>> = Vec::new();
        // One device stands for all of them.
        let row = match self.matrix.quantity {
            Quantity::Memory => "not printed",
            _ => self.matrix.rows.first().map_or("", |row| &row.variant),
        };
        for printed in self.printed().filter(|&printed| self.is_above_printed(printed)) {
            let (Some(value), Some((cpu_node, memory_node))) =
                (self.unrounded(printed), self.unprinted_twin(printed, &added))
            else {
                return Ok(false);
            };
            added.push(PrintedValue { row, cpu_node, memory_node, value });
        }
        let with_them = classes_of(self.matrix, self.machine, &added)?;
        Ok(self.printed().all(|printed| {
            with_them.iter().any(|class| self.gives(self.in_unit(class.max), printed))
        }))
    }

    /// A pair that is not printed and as far apart, by the firmware's distances, as the
    /// fastest printed pair of the class.
    fn unprinted_twin(
        &self,
        printed: PrintedClass,
        taken: &[PrintedValue<'_>],
    ) -> Option<(u32, u32)> {
        let (from, to) = self.nearest(printed)?.fastest?;
        let distance = self.machine.distance(from, to)?;
        let nodes = || self.machine.nodes.iter().map(|node| node.os_index);
        nodes().flat_map(|from| nodes().map(move |to| (from, to))).find(|&(from, to)| {
            self.machine.distance(from, to) == Some(distance)
                && !self.matrix.columns.contains(&(from, to))
                && !taken.iter().any(|pair| (pair.cpu_node, pair.memory_node) == (from, to))
        })
    }

    /// Whether the printed classes break the thesis's own rule at both ends: the two
    /// fastest are nearer than it asks, and the slowest is wider.
    fn breaks_its_own_rule(&self) -> bool {
        let least_of = |max: f64| max * (1.0 - self.facts.class_span);
        let max = &self.matrix.max;
        let (Some(&fastest), Some(&second), Some(&last)) = (max.first(), max.get(1), max.last())
        else {
            return false;
        };
        let slowest = self.ours.last().map(|class| self.in_unit(class.min));
        second >= least_of(fastest) && slowest.is_some_and(|slowest| slowest < least_of(last))
    }

    /// Whether a printed class lies inside one of ours, and within the thesis's own span
    /// of the printed class before it.
    fn is_inside_a_class(&self, printed: PrintedClass) -> bool {
        let Some(before) = printed.class.checked_sub(1).and_then(|i| self.matrix.max.get(i)) else {
            return false;
        };
        let inside = self.unrounded(printed).is_some_and(|value| {
            self.ours
                .iter()
                .any(|class| (self.in_unit(class.min)..=self.in_unit(class.max)).contains(&value))
        });
        inside && printed.max.value >= before * (1.0 - self.facts.class_span)
    }
}

fn as_float(count: usize) -> f64 {
    count as f64
}

/// The classes of a matrix and of pairs that are added to it.
fn classes_of<'a>(
    matrix: &'a Cbench,
    machine: &Machine,
    added: &[PrintedValue<'a>],
) -> Result<Vec<Found>, ReproduceError> {
    let mut values = added.to_vec();
    for CbenchRow { variant: row, values: of_row } in &matrix.rows {
        let places = matrix.columns.iter().zip(of_row);
        values.extend(places.map(|(&(cpu_node, memory_node), &value)| PrintedValue {
            row,
            cpu_node,
            memory_node,
            value,
        }));
    }
    let of = match matrix.quantity {
        Quantity::Memory => PrintedOf::Kernel(&matrix.kernel),
        Quantity::Download => PrintedOf::Copies(TransferDirection::ToDevice),
        Quantity::Readback => PrintedOf::Copies(TransferDirection::ToHost),
    };
    let printed = PrintedTable {
        title: format!("{KEY}, table {}", matrix.matrix_table),
        machine,
        of,
        bytes_per_s: matrix.unit.bytes_per_s(),
        values,
    };
    if !matches!(of, PrintedOf::Kernel(_)) {
        let classes = transfer_set(&printed)?;
        return Ok(found(classes, |pair| (pair.best, pair.cpu_node, pair.memory_node)));
    }
    let record = printed.record().map_err(|what| contradiction(KEY, what))?;
    let classes = class_set(&record, &matrix.kernel, None)?.classes;
    Ok(found(classes, |pair| (pair.best, pair.cpu_node, pair.memory_node)))
}

fn found<Pair>(
    classes: Vec<Class<Pair>>,
    place: impl Fn(&Pair) -> (f64, Option<u32>, u32),
) -> Vec<Found> {
    let fastest = |pairs: &[Pair]| pairs.iter().map(&place).max_by(|a, b| a.0.total_cmp(&b.0));
    let found = |class: Class<Pair>| Found {
        max: class.max,
        min: class.min,
        fastest: fastest(&class.pairs).and_then(|(_, from, to)| Some((from?, to))),
    };
    classes.into_iter().map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{PaperFacts, PaperFile};

    /// All our maxima, also those beside which no printed one stands.
    #[test]
    fn the_printed_matrices_have_these_classes_and_no_others() {
        let facts = PaperFile::<Facts>::parse(Facts::FILE).unwrap().facts;
        let measured = facts.measure().unwrap();
        let found: Vec<Vec<f64>> = facts
            .cbench
            .iter()
            .map(|matrix| {
                let machine = &measured.machines.find(&matrix.machine).unwrap().machine;
                let set = classes_of(matrix, machine, &[]).unwrap();
                let unit = matrix.unit.bytes_per_s();
                set.iter().map(|class| (class.max / unit * 1e4).round() / 1e4).collect()
            })
            .collect();
        let expected: [&[f64]; 6] = [
            &[6395.0, 3915.0, 2181.0],
            &[5.8503, 5.3202, 2.3481],
            &[6.58, 5.3182, 2.3109],
            &[7796.0, 5549.0, 3916.0, 3240.0],
            &[2.8925, 2.3139],
            &[3.3547, 2.2944],
        ];
        assert_eq!(found, expected);
    }
}
