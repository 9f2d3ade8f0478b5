//! The other machine that messages go to, and the adapter through which it is reached.

use std::path::Path;

use anyhow::{Context, bail};
use nearfar_machine::Machine;
use nearfar_measure::native::Peer;
use nearfar_network::{Ask, Connection, MessageWay, PeerName, Token, adapter_of};
use nearfar_record::{Experiment, Inputs, NetworkInputs};
use nearfar_sys::interface_addresses;

use crate::args::CharacterizeArguments;

/// The same inputs with the peer that was named and the adapter to it, where messages are measured.
///
/// # Errors
/// Where the token cannot be read. A peer that is not there or refuses is an absence.
pub fn with_network_here(
    arguments: &CharacterizeArguments,
    inputs: Inputs,
    machine: &Machine,
) -> anyhow::Result<Inputs> {
    if !inputs.experiments.contains(&Experiment::Network) {
        if arguments.peer.is_some() {
            bail!("--peer is for `--only network`, which is not measured");
        }
        return Ok(Inputs { network: None, ..inputs });
    }
    let network = match &arguments.peer {
        Some(peer) => reach(peer, &peer_of(arguments, peer)?, machine),
        None => NetworkInputs {
            absent: Some("no other machine was named (--peer HOST --token-file FILE)".into()),
            ..NetworkInputs::default()
        },
    };
    Ok(Inputs { network: Some(network), ..inputs })
}

/// Whom a record's messages go to; `None` where they go nowhere.
///
/// # Errors
/// Where another peer is named than the record's, or its token cannot be read.
pub fn peer(
    arguments: &CharacterizeArguments,
    network: Option<&NetworkInputs>,
) -> anyhow::Result<Option<Peer>> {
    let Some(network) = network.filter(|it| it.absent.is_none()) else { return Ok(None) };
    let Some(known) = &network.peer else { return Ok(None) };
    let known: PeerName = known.parse().context("the record's peer")?;
    if let Some(named) = arguments.peer.as_ref().filter(|named| **named != known) {
        bail!(
            "the record's messages go to {known}, not {named}: leave --peer out to go on, or begin a new record"
        );
    }
    peer_of(arguments, &known).map(Some)
}

fn peer_of(arguments: &CharacterizeArguments, name: &PeerName) -> anyhow::Result<Peer> {
    let Some(file) = &arguments.token_file else {
        bail!(
            "messages to {name} need its token: give --token-file FILE, the same as `nearfar serve` has there"
        );
    };
    let token = Token::read(file)?;
    // A name that is not known is told of when it is asked.
    Ok(Peer { addresses: name.addresses().unwrap_or_default(), token })
}

/// Asks the peer for one message, and finds the adapter that it went through.
fn reach(name: &PeerName, peer: &Peer, machine: &Machine) -> NetworkInputs {
    let mut inputs = NetworkInputs { peer: Some(name.to_string()), ..NetworkInputs::default() };
    if let Err(error) = name.addresses() {
        inputs.absent = Some(format!("{name} is not known: {error}"));
        return inputs;
    }
    let ask = Ask { way: MessageWay::RoundTrip, message_bytes: 8, total_bytes: 8, seconds: 10 };
    let asked = Connection::open(&peer.addresses, &peer.token, ask).and_then(|mut connection| {
        let mut back = [0; 8];
        connection.round_trip(b"nearfar?", &mut back)?;
        let ends = connection.ends()?;
        let zero_copy = connection.allow_zero_copy().is_ok();
        connection.finish(&back)?;
        Ok((ends, zero_copy))
    });
    match asked {
        Ok((ends, zero_copy)) => {
            let addresses = interface_addresses().unwrap_or_default();
            inputs.adapter = adapter_of(Path::new("/"), machine, &addresses, ends);
            inputs.zero_copy = zero_copy;
        }
        Err(error) => inputs.absent = Some(format!("{name}: {error}")),
    }
    inputs
}
