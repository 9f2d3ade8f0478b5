//! What records mean. One file per model, pure functions from a record to
//! figures; nothing here knows how a number was measured or how it is shown.

mod access_prediction;
mod best_pairs;
mod chases;
mod class_notes;
mod class_rule;
mod classes;
mod comparison;
mod core_moves;
mod cores;
mod data_access;
mod device_classes;
mod devices;
mod distribution;
mod evidence;
mod exchange;
mod flow;
mod hidden_level;
mod histogram;
mod hybrid;
mod hybrid_points;
mod inapplicable;
mod latency;
mod links;
mod mapping;
mod memory_attributes;
mod memory_limit;
mod mixes;
mod model_kind;
mod near_far;
mod network;
mod normal;
mod pair_groups;
mod pairs;
mod place;
mod profiled_demand;
mod profiled_program;
mod program;
mod record_figures;
mod roofline;
mod roofs;
mod samples_by_case;
mod scaling;
mod sensitivity;
mod sharing;
mod sharing_grid;
mod shortfall;
mod strategy;
mod transfer_loss;
mod transfer_time;
mod transfers;
mod twin_cell;
mod twin_comparison;
mod twin_rule;
mod twins;
mod unmeasured;
mod unsteadiness;
mod what_if;
mod workloads;

pub use access_prediction::{
    AccessAnswer, AccessPrediction, AlphaKind, ClassAlphas, MappedProcesses, MappingOutcome,
    ProgramAccess,
};
pub use best_pairs::{BestPair, BestPairs, best_pairs};
pub use chases::{AccessTime, ChaseFigures, Translation, chases, idle_matrix};
pub use class_notes::{ClassAbove, ClassNote, DisturbedPair, FewerThreads, LeftOut};
pub use class_rule::{ClassRule, ThreadChoice};
pub use classes::{Class, ClassFigure, ClassPair, ClassSet, Classes, NoClasses, classes};
pub use comparison::{
    CaseStanding, CommonShift, ComparedCase, ComparedFigures, ComparedGroup, ComparedPart,
    ComparedRecord, ComparedRole, EnvironmentDifference, FEWEST_COMPARED_ROUNDS, GroupComparison,
    LARGEST_FLOOR, PRACTICAL_FLOOR, Quantity, RecordComparison, RoleThreads, UncomparedCase,
    Verdict, case_medians, compare, environment_differences, environment_settings,
};
pub use cores::beside;
pub use data_access::{DataAccess, DataAccessError, data_access};
pub use device_classes::{
    DeviceClassNote, DeviceClassRule, DeviceClasses, DeviceLeftOut, DevicePair, JudgedDevices,
    device_classes,
};
pub use devices::{Devices, devices};
pub use distribution::{
    AffinityEffect, CaseDistribution, Distribution, ENOUGH_RUNS, KNEE, KernelDistribution, Knee,
    LEAST_DIP_P, MeanVerdict, ModeEvidence, RunDistribution, RunMode, RunModes, RunSpread,
    SpreadVerdict, ThreadAdvice, ThreadSettings, distribution,
};
pub use evidence::Evidence;
pub use exchange::{
    DeviatingPair, ExchangeLevel, Exchanges, GroupHandOver, HandOverFigures, LEVEL_SPAN, exchanges,
    hand_overs,
};
pub use flow::{
    FilledPart, Fitted, FittedFlow, Flow, FlowCase, FlowErrors, FlowEstimate, FlowKernel,
    FlowLayout, FlowLink, FlowParameter, FlowPart, FlowPlacement, FlowPrediction, FlowStream,
    FlowSummary, FlowTrust, InitiatorRate, InitiatorThreads, JudgedCases, JudgedErrors,
    KernelRatio, MachinePart, OneThread, PartCapacity, PlacementKind, PlacementLimit,
    PredictedStream, StreamError, first_cause, fit_flow, flow,
};
pub use hidden_level::{Between, HiddenLevel};
pub use histogram::Histogram;
pub use hybrid::{
    BestShares, Buffers, FEWEST_DRAWN_ROUNDS, GainOver, HeldOutErrors, HeldOutPoint, Hybrid,
    HybridAdvice, HybridAnswer, HybridAnswers, HybridCorner, HybridDrop, HybridGain, HybridLeftOut,
    HybridMemories, HybridOverlap, HybridPair, HybridPairAnswer, HybridPlacement, HybridPrediction,
    HybridShares, HybridSurfacePoint, NoGain, OverlapBounds, OverlapModel, OverlapPoint,
    OverlapValue, PlacementName, UNKNOWN_MARGIN, hybrid, page_weights,
};
pub use hybrid_points::{HybridFigures, hybrid_points};
pub use inapplicable::{
    Inapplicable, advising_command, command_on, measuring_command, modelling_command,
    resuming_command,
};
pub use latency::{
    CurveAnswer, CurveFamily, CurvePlace, CurveQuestion, FIRMWARE_ROOM, FactorSpan, FamilyLaw,
    FamilyShare, KNEE_DISTANCE, Latency, LatencyAdvice, LatencyKnee, LatencyLaw, LevelLatency,
    LoadedAccess, LoadedCurve, LoadedPoint, NumaFactor, PairLatency, STRAIGHT, ShareLaw,
    USABLE_RISE, fit_law, latency,
};
pub use links::{LinkFigures, links};
pub use mapping::{
    Mapping, MappingError, MappingPlace, PlaceKind, Reach, Target, mappings, reach_of_data,
    reach_of_devices, reach_of_nodes, reach_of_positions,
};
pub use memory_attributes::{
    MeasuredAttribute, MemoryAttributes, UnmeasuredAttribute, memory_attributes,
};
pub use memory_limit::{AboveLimit, MemoryLimit, memory_limit};
pub use mixes::{Mix, MixStream, mixes};
pub use model_kind::{Fit, FittedModel, ModelChoices, ModelKind, Unavailable};
pub use near_far::{NearFar, PairSpan, PairValue, RatioSpan, near_far_bandwidth, near_far_latency};
pub use network::{
    MessageFigures, NETWORK_CLASS_SPAN, Network, NetworkClass, NetworkClasses, NetworkPlace,
    PlacedLatency, WithoutCopyGain, largest_messages, messages, network,
};
pub use normal::{
    BandwidthVerdict, Envelope, HeldBandwidth, HeldLatency, HeldRatio, MARGIN, NormalVerdict,
    Normality, NotHeld, NotHeldFigure, PublishedMachine, RatioOf, ReadShare, normality,
};
pub use pair_groups::{PairBlock, PairGroup, pair_groups};
pub use pairs::{Cell, CpuGroupRow, Figure, Pairs, PlacedCell, pairs};
pub use place::Place;
pub use profiled_demand::{
    OtherInitiators, ProfiledDemand, SeenAccess, check_initiators, profiled_demand,
};
pub use profiled_program::{ProfiledPoint, class_shares, profiled_point};
pub use program::{
    Beside, BoundBy, BoundShares, DeclaredPhase, FittedProgram, MOST_COPIES, MemoryLaw, MemoryRun,
    PartEstimates, PlaceTime, ProgramAnswer, ProgramQuestion, ProgramRuns, RunsBeside,
    SolvedProgram, bound, declared_parts, fit_profile, fit_program, home_family, load_share,
    memory_runs, predict_program, pressure_runs, runs_beside, solve, time_at,
};
pub use record_figures::{CaseFigures, PlannedCase, RecordFigures};
pub use roofline::{
    AtRoofs, BandwidthRoof, Ceiling, Chart, Corner, Expected, GFLOP_RATES, HybridRoof,
    HybridStanding, INTENSITIES, IntensityKind, LEAST_OF_A_LIMIT, PROGRAMS, PhaseLimit, PhasePoint,
    PlacedProgram, PlacedPrograms, Placement, PlacementAdvice, Program, ProgramExpectation,
    ProgramPoint, ProgramShares, RefutingPoints, Ridge, RoofCommands, RoofErrors, RoofSort,
    RoofValidation, Roofline, RooflineAdvice, Standing, UnderRoof, ValidationPoint, roof_errors,
    roofline,
};
pub use roofs::{Attainable, RoofFigures, roofs};
pub use scaling::{RunStatistics, ScalingFigures, ScalingRuns, WidestRuns, scaling};
pub use sensitivity::{
    BestOfPair, BoundsStanding, CountedRuns, MemoryShare, NoPlacements, PlacedRuns,
    PlacementBounds, PlacementChoice, ProgramClass, ProgramSensitivity, ReferenceClasses, Relative,
    Sensitivity, command_placements, sensitivity,
};
pub use sharing::{
    AboveLone, Excess, Fairness, GridPlace, INTERPOLATION_ERROR, Law, LawFit, LoneCurve, LonePoint,
    Loss, MOST_LAW_ERROR, MeasuredCell, ProcessSplit, Residual, SharedCell, SharedGrid, Shares,
    Sharing, SplitAnswer, SplitAnswers, SplitQuestion, SplitRanking, SplitVerdict, Support,
    UnfittedGrid, WIDEST_GAP, WORTH_MEASURING, WhoLosesMore, WorkSharing, sharing,
};
pub use sharing_grid::{SharingCell, sharing_grid};
pub use shortfall::{Against, Shortfall};
pub use strategy::{
    Access, Basis, Expectation, LEAST_GAIN, LineCost, LineCosts, PARAMETERS, Parameter, Parameters,
    Strategy, StrategyAdvice, StrategyInitiator, StrategyTime, StrategyVerdict, strategy,
};
pub use transfer_loss::{TransferLoss, transfer_losses};
pub use transfer_time::{TransferLaw, TransferTime, transfer_times};
pub use transfers::{
    AloneFigures, BesideFigures, CopyPlace, TransferFigures, TransferPlace, copies_by_place,
    largest_copies, largest_transfers, transfers,
};
pub use twin_rule::{
    FEWEST_CELLS, FEWEST_ROUNDS, FLOOR, FLOOR_UNCONFIRMED, MOST_FINDINGS, NotCompared, SCORE,
    SCORE_OF_ONE,
};
pub use twins::{Twins, twins};
pub use unmeasured::{Unmeasured, WhyUnmeasured, unmeasured};
pub use unsteadiness::{UNSTEADY, Unsteadiness};
pub use what_if::{
    BandwidthOf, Because, Change, ChangeError, ChangedBandwidth, ChangedLatency, LatencyOf, Then,
    WhatIf, what_if,
};
pub use workloads::{
    ArrayAccess, PlacedWorkload, StrategyRuns, StrategyStatement, WorkloadOnNode,
    WorkloadStrategies, Workloads, workloads,
};
