//! The record: what was planned, what was measured, what was not and why, as
//! JSON Lines. It is the narrow waist of the project: measuring writes it, and
//! models and reports read nothing else.
//!
//! A record is a [`Header`], then [`Line`]s in the order in which things
//! happened: cases, samples, absences, warnings. `docs/record-format.md`
//! describes every field.

mod absent;
mod case;
mod check;
mod command;
mod contradiction;
mod coordinates;
mod counter;
mod cpu_distance;
mod device_coordinates;
mod disturbance;
mod environment;
mod estimate;
mod exchange;
mod experiment;
mod frame_reader;
mod frame_writer;
mod header;
mod line;
mod listed_record;
mod messages;
mod pages_in_turn;
mod profile;
mod profile_reader;
mod program_profile;
mod reader;
mod record;
mod sample;
mod sample_totals;
mod scrub;
mod seal;
mod size_screen;
mod state_folder;
mod summary;
mod transfer;
mod workload_run;
mod writer;

pub use absent::{Absence, Absent, Reason, ReasonCode};
pub use case::{Actor, Case, Chase, Compute, PAUSED_BYTES, Pages, Pinning, Stream};
pub use check::{Check, Standing};
pub use command::{
    Better, Command, CommandInputs, CommandPlacement, CommandProgram, CommandRun, Metric, Pressure,
    StreamsAlone,
};
pub use contradiction::History;
pub use coordinates::{
    Affinity, ChaseWalk, CommandCoordinates, Coordinates, ExchangeCoordinates, HybridCoordinates,
    HybridPoint, LatencyCoordinates, LatencyLoad, LinkCoordinates, MixCoordinates, PageSplit,
    PairCoordinates, Roof, RoofCoordinates, RoofPurpose, SCREENING_ROUNDS, ScalingCoordinates,
    SharingCoordinates, Stage, TransferKind, Way, WorkloadCoordinates,
};
pub use counter::{RunCount, TriedCounter, counted_ratio, counted_share};
pub use cpu_distance::{CpuDistance, MovedCores};
pub use device_coordinates::{
    DeviceCoordinates, DeviceStreamCoordinates, TransferBeside, TransferCoordinates,
};
pub use disturbance::{Disturbance, disturbances_of_threads, is_disturbing};
pub use environment::{Cgroup, Cpu, Environment, Firmware};
pub use estimate::{Estimate, Median, Outcome};
pub use exchange::{Exchange, HandOver};
pub use experiment::{Experiment, Grid, Rounds};
pub use header::{Executor, Header, Inputs, SCHEMA, Simulation, Suite, Versions};
pub use line::{Appended, Finished, Line, Resumed, Warning};
pub use listed_record::{ListedRecord, RecordState, list_record, list_records};
pub use messages::{
    MessageDirection, MessageSample, Messages, NetworkCoordinates, NetworkInputs, WithoutCopy,
};
pub use pages_in_turn::pages_in_turn;
pub use profile::{
    AccessShares, ClassShare, ClassShares, CountedQuantity, CounterCheck, PROFILE_SCHEMA,
    PairShare, Profile, ProfileCounter, ProfileFigures, ProfileLook, ProfiledInitiator,
    ProfiledProgram, ProgramEnd,
};
pub use profile_reader::{MAX_PROFILE_BYTES, ProfileError, read_profile};
pub use program_profile::{
    AnyProfile, KeptLines, LoadLeftOut, PROGRAM_SCHEMA, PressureRuns, ProgramParts, ProgramProfile,
    read_any_profile, read_program_profile,
};
pub use reader::{MAX_LINE_BYTES, ReadError, read_header, read_record, read_record_with};
pub use record::{FileEnd, Record};
pub use sample::{
    ActorSample, PLACED_FRACTION, PageNodes, PageSizes, Proof, ProofMethod, SHARE_TOLERANCE,
    Sample, ThreadSample, TrafficMethod,
};
pub use sample_totals::SampleTotals;
pub use scrub::{Private, Removed, ScrubError, scrub_record};
pub use seal::{Seal, Sealing};
pub use size_screen::{SizeRatio, SizeScreen};
pub use state_folder::{NoRecord, host_name, newest_record, record_name, state_folder};
pub use summary::{
    Aggregate, CaseSummary, Part, RunSummary, Work, estimate_runs, round_values, run_figures,
    summarize, summarize_case, summarize_runs,
};
pub use transfer::{DeviceInputs, Transfer, TransferSample};
pub use workload_run::{
    ArrayPlacement, ResultCheck, Workload, WorkloadArray, WorkloadPhase, WorkloadRun, are_verified,
};
pub use writer::{RecordWriter, WriteError};
