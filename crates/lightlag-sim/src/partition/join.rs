//! Splits a world into partitions, and joins the partitions into a world.

use crate::border::mailbox::Mailbox;
use crate::border::partitioning::Partitioning;
use crate::border::{Border, BorderSide, Outlet, WholeNetwork};
use crate::hosts::endpoints::number_of_sender;
use crate::hosts::socket::Task;
use crate::ids::{FlowIndex, UdpIndex};
use crate::partition::Partition;
use crate::partition::completion_log::CompletionLog;
use crate::partition::merge::Tables;
use crate::scheduler::{Agenda, ScheduledEvent};
use crate::tap::Silent;
use crate::world::World;
use lightlag_net::LinkId;
use std::sync::Arc;

/// Returns all parts of the world that may have events.
fn parts<B>(world: &World<Silent, B>) -> impl Iterator<Item = ScheduledEvent> + use<B> {
    let links = (0..world.fabric.hops.len() as u32).map(|link| ScheduledEvent::Link(LinkId(link)));
    let datagrams = (0..world.hosts.datagrams.len() as u32).map(UdpIndex).map(ScheduledEvent::Datagrams);
    let hosts = world.hosts.ids().map(ScheduledEvent::Connection).chain(datagrams);
    links.chain(hosts).chain([ScheduledEvent::Sampler, ScheduledEvent::Epoch])
}

fn empty_agenda<B: Border>(world: &World<Silent, B>) -> Agenda {
    Agenda::new(world.parts())
}

/// Returns the partition with this index, made from a complete world that has not handled any event.
pub(crate) fn part(
    world: World<Silent>,
    number: u16,
    cut: &Arc<Partitioning>,
    mail: &Arc<Mailbox>,
) -> World<Silent, BorderSide> {
    let sampler = world.agenda.number(ScheduledEvent::Sampler);
    let next_sample = world.agenda.armed(ScheduledEvent::Sampler).filter(|_| world.recorder.samples_queues());
    let mut part = BorderSide::new(number, cut.clone(), mail.clone(), (sampler, next_sample));
    let mut agenda = empty_agenda(&world);
    for due in parts(&world) {
        let is_here = match due {
            ScheduledEvent::Connection(at) => cut.endpoint(at) == number,
            ScheduledEvent::Datagrams(flow) => cut.datagrams(flow)[0] == number,
            _ => true,
        };
        if let Some(time) = world.agenda.armed(due).filter(|_| is_here) {
            agenda.arm(due, time);
        }
    }
    let outlets = cut.links().filter(|on| cut.link(*on)[0] == number && cut.stands(*on) == number);
    part.outlets = outlets.map(|on| Outlet { on, handed: 0 }).collect();
    let World { fabric, mut hosts, media, clerks, recorder, tap, ip_header, ttl, sent, received, expired, .. } = world;
    hosts.quic.arena_mut().set_partition(number, cut.partitions());
    World { agenda, fabric, hosts, media, clerks, recorder, tap, border: part, ip_header, ttl, sent, received, expired }
}

/// Joins the worlds of all partitions into a complete world. Must be called between two rounds.
pub(crate) fn whole(mut worlds: Vec<Partition>, ledger: CompletionLog, tables: Tables) -> World<Silent> {
    let cut = worlds[0].border.cut.clone();
    // Links have received all offers of the last round.
    worlds.iter_mut().for_each(|world| {
        world.take_in(true);
        world.forget_far_halves();
    });
    let mut agenda = empty_agenda(&worlds[0]);
    for due in parts(&worlds[0]) {
        let owner = match due {
            ScheduledEvent::Link(on) => cut.stands(on),
            ScheduledEvent::Connection(at) => cut.endpoint(at),
            ScheduledEvent::Datagrams(flow) => cut.datagrams(flow)[0],
            _ => 0,
        };
        if let Some(time) = worlds[usize::from(owner)].agenda.armed(due) {
            agenda.arm(due, time);
        }
    }
    let mut worlds = worlds.drain(..).map(|world| *world);
    let first = worlds.next().expect("there are partitions");
    let World { mut fabric, mut hosts, clerks, mut recorder, tap, ip_header, ttl, .. } = first;
    let World { mut sent, mut received, mut expired, .. } = first;
    let mut arenas = Vec::new();
    for (number, mut other) in (1..).zip(worlds) {
        let is_its = |owner: u16| owner == number;
        for link in (0..fabric.hops.len()).filter(|link| is_its(cut.stands(LinkId(*link as u32)))) {
            std::mem::swap(&mut fabric.hops[link], &mut other.fabric.hops[link]);
        }
        let theirs = &mut other.hosts;
        for index in 0..hosts.datagrams.len() {
            let [sender, receiver] = cut.datagrams(UdpIndex(index as u32));
            if is_its(sender) {
                std::mem::swap(&mut hosts.datagrams.senders[index], &mut theirs.datagrams.senders[index]);
            }
            if is_its(receiver) {
                std::mem::swap(&mut hosts.datagrams.receivers[index], &mut theirs.datagrams.receivers[index]);
            }
        }
        for relay in 0..hosts.relays.len() {
            if is_its(cut.endpoint(hosts.relays[relay].entry)) {
                std::mem::swap(&mut hosts.relays[relay], &mut theirs.relays[relay]);
            }
        }
        for index in 0..hosts.collectors.len() {
            if is_its(cut.endpoint(hosts.numbers.sender(hosts.collectors[index].flow()))) {
                std::mem::swap(&mut hosts.collectors[index], &mut theirs.collectors[index]);
            }
        }
        for index in 0..hosts.dialogues.len() {
            if is_its(cut.endpoint(hosts.numbers.sender(hosts.dialogues[index].flow()))) {
                std::mem::swap(&mut hosts.dialogues[index], &mut theirs.dialogues[index]);
            }
        }
        let its_ends = hosts.ids().filter(|at| is_its(cut.endpoint(*at)));
        hosts.shared.take_from(&mut theirs.shared, its_ends);
        for endpoint in hosts.ids().filter(|at| is_its(cut.endpoint(*at))) {
            hosts.swap(theirs, endpoint);
        }
        let its_senders = hosts.ids().filter(|at| is_its(cut.endpoint(*at)));
        let its_senders = its_senders.filter(|at| hosts.port(*at).role.sends()).map(number_of_sender);
        recorder.join(&other.recorder, its_senders);
        arenas.push(std::mem::take(other.hosts.quic.arena_mut()));
        sent += other.sent;
        received += other.received;
        expired += other.expired;
    }
    hosts.quic.arena_mut().join(arenas);
    let CompletionLog { outcomes, endings, open_transfers, awaited } = ledger;
    for (flow, is_awaited) in (0..).map(FlowIndex).zip(awaited) {
        if !is_awaited && hosts.awaits(flow) {
            let receiver = hosts.numbers.receiver(flow);
            hosts.port_mut(receiver).task = Task::Idle;
        }
    }
    (hosts.outcomes, hosts.endings, hosts.open_transfers) = (outcomes, endings, open_transfers);
    (recorder.trace, recorder.queue, recorder.drops, recorder.acks) =
        (tables.trace, tables.queue, tables.drops, tables.acks);
    let media = None;
    World {
        agenda,
        fabric,
        hosts,
        media,
        clerks,
        recorder,
        tap,
        border: WholeNetwork,
        ip_header,
        ttl,
        sent,
        received,
        expired,
    }
}
