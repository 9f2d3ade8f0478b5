//! What the program promises to other programs, generated from the types that it prints:
//! `docs/schema`, and the tables of fields in documents. `make docs` writes what is stale.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use nearfar_document::{
    AdvisedDevice, AdvisedPlacement, ArrangedInstances, Comparison, DoctorChecks, DryRun,
    EndedInstances, KernelList, MachineList, MeasuredRecord, ModelResult, ModelsOfRecord,
    PredictedAccesses, ProgramRuns, RecordDoctor, RecordList, Report, ReproducedPapers,
    ScrubbedRecord, ShownRecord, Topology, TopologyExport, WorkloadList, csv_row_schema,
};
use nearfar_fleet::{FleetComparison, FleetDrift, MachineSummary, Manifest, Verdict};
use nearfar_model::{
    Classes, CurveAnswer, Devices, Distribution, Exchanges, FlowPrediction, FlowSummary, Hybrid,
    HybridAnswers, Latency, Network, PlacedPrograms, ProgramAnswer, Roofline, Sharing,
    SplitAnswers, Strategy, WhatIf, Workloads,
};
use nearfar_place::{FileList, MovedProcess, ProcessList, RunReport};
use nearfar_record::{Line, Profile, ProgramProfile, Seal};
use nearfar_workloads::{DeviceWorkloadReport, WorkloadReport};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use crate::field_tables::{column_list, column_table, field_table, place_table, renewed};
use crate::schema_text::{required, schema_text};

type Generate = fn() -> Value;

/// Every format with what is printed in it.
const FORMATS: [(&str, Generate); 55] = [
    ("nearfar.advise/3", schema::<AdvisedPlacement>),
    ("nearfar.advise-device/3", schema::<AdvisedDevice>),
    ("nearfar.characterize/1", schema::<MeasuredRecord>),
    ("nearfar.classes/2", of_record::<Classes>),
    ("nearfar.compare/2", schema::<Comparison>),
    ("nearfar.device-workload/1", schema::<DeviceWorkloadReport>),
    ("nearfar.devices/2", of_record::<Devices>),
    ("nearfar.distribution/2", of_record::<Distribution>),
    ("nearfar.doctor/1", schema::<DoctorChecks>),
    ("nearfar.dry-run/1", schema::<DryRun>),
    ("nearfar.exchange/1", of_record::<Exchanges>),
    ("nearfar.files/1", schema::<FileList>),
    ("nearfar.fleet-compare/1", schema::<FleetComparison>),
    ("nearfar.fleet-drift/1", schema::<FleetDrift>),
    ("nearfar.fleet-manifest/1", schema::<Manifest>),
    ("nearfar.flow/2", of_record::<FlowSummary>),
    ("nearfar.hybrid/2", of_record::<Hybrid>),
    ("nearfar.instances/1", schema::<ArrangedInstances>),
    ("nearfar.kernels/1", schema::<KernelList>),
    ("nearfar.latency/2", of_record::<Latency>),
    ("nearfar.list/1", schema::<RecordList>),
    ("nearfar.machines/1", schema::<MachineList>),
    ("nearfar.machine-summary/1", schema::<MachineSummary>),
    ("nearfar.model/1", schema::<ModelsOfRecord>),
    ("nearfar.move/1", schema::<MovedProcess>),
    ("nearfar.network/1", of_record::<Network>),
    ("nearfar.placed-workloads/1", of_record::<Workloads>),
    ("nearfar.predict/2", schema::<PredictedAccesses>),
    ("nearfar.predict-curve/1", of_record::<CurveAnswer>),
    ("nearfar.predict-flow/2", of_record::<FlowPrediction>),
    ("nearfar.predict-hybrid/2", of_record::<HybridAnswers>),
    ("nearfar.predict-program/1", of_record::<ProgramAnswer>),
    ("nearfar.predict-roofline/2", of_record::<PlacedPrograms>),
    ("nearfar.predict-sharing/2", of_record::<SplitAnswers>),
    ("nearfar.predict-what-if/1", of_record::<WhatIf>),
    ("nearfar.profile/1", schema::<Profile>),
    ("nearfar.program/1", schema::<ProgramProfile>),
    ("nearfar.ps/1", schema::<ProcessList>),
    ("nearfar.record/2", sealed_line),
    ("nearfar.record-doctor/3", schema::<RecordDoctor>),
    ("nearfar.record-scrub/1", schema::<ScrubbedRecord>),
    ("nearfar.report/1", schema::<Report>),
    ("nearfar.reproduce/1", schema::<ReproducedPapers>),
    ("nearfar.roofline/2", of_record::<Roofline>),
    ("nearfar.run/2", schema::<RunReport>),
    ("nearfar.run-instances/1", schema::<EndedInstances>),
    ("nearfar.sensitivity/4", schema::<ProgramRuns>),
    ("nearfar.sharing/2", of_record::<Sharing>),
    ("nearfar.show/3", schema::<ShownRecord>),
    ("nearfar.strategy/2", of_record::<Strategy>),
    ("nearfar.topo/2", schema::<Topology>),
    ("nearfar.topology-export/1", schema::<TopologyExport>),
    ("nearfar.verdict/1", schema::<Verdict>),
    ("nearfar.workload/1", schema::<WorkloadReport>),
    ("nearfar.workloads/1", schema::<WorkloadList>),
];

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().with_transform(tidy).into_generator()
}

fn schema<T: JsonSchema>() -> Value {
    generator().into_root_schema_for::<T>().to_value()
}

/// What is told of a record is described by what it is.
fn of_record<T: JsonSchema>() -> Value {
    let mut of_both = schema::<ModelResult<T>>();
    of_both["description"] = schema::<T>()["description"].take();
    of_both
}

/// A line of a record is what it holds and its seal.
fn sealed_line() -> Value {
    let mut generator = generator();
    let seal = generator.subschema_for::<Seal>();
    let mut line = generator.into_root_schema_for::<Line>().to_value();
    for kind in line["oneOf"].as_array_mut().unwrap() {
        kind["properties"]["seal"] = seal.clone().to_value();
        kind["required"].as_array_mut().unwrap().push("seal".into());
    }
    line
}

/// Objects are closed, descriptions are lines, and of numbers their kind counts, not their width.
fn tidy(schema: &mut Schema) {
    transform_subschemas(&mut tidy, schema);
    for of_rust in ["format", "default"] {
        schema.remove(of_rust);
    }
    if let Some(Value::String(lines)) = schema.get_mut("description") {
        *lines = lines.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if schema.get("properties").is_none() {
        return;
    }
    let variants = if schema.get("anyOf").is_some() { "anyOf" } else { "oneOf" };
    let Some(Value::Array(variants)) = schema.get_mut(variants) else {
        schema.insert("additionalProperties".into(), false.into());
        return;
    };
    // A variant does not see the properties beside it.
    for variant in variants {
        variant.as_object_mut().unwrap().remove("additionalProperties");
    }
    schema.insert("unevaluatedProperties".into(), false.into());
}

/// The schema of a format, which says its own name.
fn contract(format: &str, schema: Generate) -> Value {
    let mut schema = schema();
    let description = schema["description"].as_str().unwrap().to_string();
    schema["$id"] = format.into();
    schema["title"] = description.split([';', ':', '.']).next().unwrap().into();
    for of_format in ["/properties/schema", "/$defs/Header/properties/schema"] {
        if let Some(name) = schema.pointer_mut(of_format) {
            *name = json!({"description": "Name and version of this format.", "const": format});
        }
    }
    schema
}

pub fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").canonicalize().unwrap()
}

/// Documents are these texts; where they are asked to, they become so.
fn hold(texts: BTreeMap<PathBuf, String>) {
    let is_stale =
        |(path, text): &(PathBuf, String)| fs::read(path).ok() != Some(text.clone().into());
    let stale: Vec<(PathBuf, String)> = texts.into_iter().filter(is_stale).collect();
    if env::var_os("UPDATE_DOCS").is_some() {
        stale.into_iter().for_each(|(path, text)| fs::write(path, text).unwrap());
    } else {
        let stale: Vec<PathBuf> = stale.into_iter().map(|(path, _)| path).collect();
        assert!(stale.is_empty(), "stale, and written anew by `make docs`: {stale:#?}");
    }
}

#[test]
fn schemas_are_those_of_the_types() {
    let folder = docs().join("schema");
    let texts = FORMATS.map(|(format, schema)| {
        let name = format!("{}.json", format.replace('/', "-"));
        (folder.join(name), schema_text(&contract(format, schema)))
    });
    let texts = BTreeMap::from(texts);
    let there = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let of_nothing: Vec<PathBuf> = there.filter(|path| !texts.contains_key(path)).collect();
    if env::var_os("UPDATE_DOCS").is_some() {
        of_nothing.iter().for_each(|path| fs::remove_file(path).unwrap());
    } else {
        assert!(of_nothing.is_empty(), "nothing is printed in these formats: {of_nothing:#?}");
    }
    hold(texts);
}

/// The help names the schema of what `--json` prints.
#[test]
fn schemas_that_the_help_names_are_there() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let parts = fs::read_dir(source.join("args")).unwrap().map(|file| file.unwrap().path());
    let mut named = 0;
    for path in parts.chain([source.join("args.rs")]) {
        let text = fs::read_to_string(&path).unwrap();
        for after in text.split("nearfar.").skip(1) {
            let Some((name, _)) = after.split_once(".json") else { continue };
            if name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-') {
                let schema = docs().join(format!("schema/nearfar.{name}.json"));
                assert!(schema.exists(), "{} names {schema:?}", path.display());
                named += 1;
            }
        }
    }
    assert!(named > 5, "{named}");
}

#[test]
fn tables_of_fields_are_those_of_the_types() {
    let record = contract("nearfar.record/2", sealed_line);
    let row = csv_row_schema(generator()).to_value();
    let renew = |name: &str, table: &dyn Fn(&str) -> String| {
        let path = docs().join(name);
        let text = renewed(&fs::read_to_string(&path).unwrap(), table);
        (path, text)
    };
    let lines = renew("record-format.md", &|words| field_table(&record, words));
    for kind in record["oneOf"].as_array().unwrap() {
        let marker = format!("<!-- fields of {}:", required(kind).next().unwrap());
        assert!(lines.1.contains(&marker), "no table: {marker}");
    }
    let columns = renew("csv-columns.md", &|words| match words {
        "places" => place_table(&record, &row),
        words => column_table(&row, words),
    });
    let names = column_list(&record, &row);
    let rows = columns.1.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, names.lines().count(), "each column is in one table");
    let list = docs().join("../crates/document/src/csv/columns.txt");
    hold(BTreeMap::from([lines, columns, (list, names)]));
}
