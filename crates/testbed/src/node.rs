//! A process of the testbed: reads frames with the kernel's time stamps, lets the node act, writes frames when they are due,
//! and sleeps in between.

use std::collections::VecDeque;
use std::io::{IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use penstock_scenario::Plan;
use penstock_schemes::{Instant, Scheme};
use penstock_sim::network::{NodeId, NodeKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};
use rustix::time::{ClockId, clock_gettime};

use crate::TestbedError;
use crate::agenda::Departure;
use crate::clock::Clock;
use crate::device::{Device, InterfaceDevice, Milestone, SwitchDevice, milestones};
use crate::frame::put_back;
use crate::lateness::Lateness;
use crate::record::{self, Record};
use crate::scheme_frames;

/// The longest frame that is read: Ethernet's longest with both tags, and room to see that one is too long.
const LONGEST: usize = 2048;

/// Frames that are read from one wire before the others have their turn.
const TURN: usize = 64;

/// The most wires of a node.
const WIRES: usize = 253;

/// Nanoseconds in a second.
const NS_PER_S: u64 = 1_000_000_000;

/// A packet socket's message with the parts of the header that the kernel has taken off (linux/if_packet.h).
const SOL_PACKET: i32 = 263;
const PACKET_AUXDATA: i32 = 8;
const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

/// A port for frames, in both directions.
#[derive(Debug)]
pub enum Wire {
    /// A packet socket.
    Packet(OwnedFd),
    /// A TAP: each read or write is a frame.
    Tap(OwnedFd),
}

impl Wire {
    fn fd(&self) -> &OwnedFd {
        match self {
            Self::Packet(fd) | Self::Tap(fd) => fd,
        }
    }
}

/// The settings of a process.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The machine's time at the start of the run, ns since 1970.
    pub origin_ns: u64,
    /// How many times slower the network's clock is.
    pub scale: u32,
    /// Whether the process runs with the priority of real time.
    pub real_time: bool,
}

/// The wires that come over a socket, opened by the process at its other end: a letter for each says its kind, `p` for a packet
/// socket and `t` for a TAP.
///
/// # Errors
/// If the socket fails, or if letters and wires do not agree.
pub fn wires(control: BorrowedFd<'_>) -> Result<Vec<Wire>, TestbedError> {
    let mut letters = [0; WIRES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(WIRES))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received =
        rustix::net::recvmsg(control, &mut [IoSliceMut::new(&mut letters)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)
            .map_err(|error| TestbedError::system("receive the wires", error))?;
    let fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fds: Vec<OwnedFd> = fds.flatten().collect();
    if fds.len() != received.bytes || fds.is_empty() {
        return Err(TestbedError::Wires { letters: received.bytes, wires: fds.len() });
    }
    let wire = |(letter, fd): (&u8, OwnedFd)| match letter {
        b't' => Wire::Tap(fd),
        _ => Wire::Packet(fd),
    };
    Ok(letters.iter().zip(fds).map(wire).collect())
}

/// Runs node `name` of a plan until its end, or until the other end of `control` is closed, and writes its records to `log`.
///
/// # Errors
/// If there is no such node, if the scheme has no form on the wire, or if a wire or the log fails.
pub fn run(
    plan: &Plan,
    name: &str,
    settings: &Settings,
    control: BorrowedFd<'_>,
    log: &mut dyn Write,
) -> Result<(), TestbedError> {
    let node = plan.node_names.iter().position(|own| own == name);
    let node = NodeId(node.ok_or_else(|| TestbedError::NoNode { name: name.to_owned() })? as u32);
    let wires = wires(control)?;
    let job = Job { plan, node, name, settings, wires, control, log };
    scheme_frames::visit(&plan.configs(), job).unwrap_or_else(|| Err(TestbedError::no_form(plan)))
}

struct Job<'a> {
    plan: &'a Plan,
    node: NodeId,
    name: &'a str,
    settings: &'a Settings,
    wires: Vec<Wire>,
    control: BorrowedFd<'a>,
    log: &'a mut dyn Write,
}

impl penstock_schemes::Visitor for Job<'_> {
    type Output = Result<(), TestbedError>;

    fn visit<S: Scheme>(self, configs: &[S::Config]) -> Self::Output {
        let (plan, node) = (self.plan, self.node);
        match plan.network.nodes[node.index()].kind {
            NodeKind::Switch => self.drive(SwitchDevice::<S>::new(plan, node, configs)),
            NodeKind::Host => self.drive(InterfaceDevice::<S>::new(plan, node, configs)),
        }
    }
}

/// The machine's time, ns since 1970: the clock of the kernel's time stamps.
fn machine_now() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    now.tv_sec as u64 * NS_PER_S + now.tv_nsec as u64
}

/// A frame that has been read.
struct Read {
    /// When the kernel received it; from a TAP, when it was read.
    ns: u64,
    port: usize,
    octets: Vec<u8>,
}

/// The counts of the loop.
#[derive(Default)]
struct Counts {
    sending: Lateness,
    reading: Lateness,
    unsent: u64,
    frames: u64,
}

impl Job<'_> {
    fn drive(self, mut device: impl Device) -> Result<(), TestbedError> {
        let clock = Clock::new(self.settings.origin_ns, self.settings.scale);
        let end = Instant::ZERO + self.plan.duration;
        let mut ahead: VecDeque<(Instant, Milestone)> = milestones(self.plan, self.node).into();
        let mut outgoing: Vec<VecDeque<Departure>> = self.wires.iter().map(|_| VecDeque::new()).collect();
        let mut counts = Counts::default();
        let mut failure = None;
        let mut buffer = vec![0; LONGEST];
        let mut interrupted = false;
        let mut now = clock.network(machine_now());
        loop {
            // The time comes first: a frame that is read after it may be younger, but no older one is left unread.
            let asked = clock.network(machine_now());
            let mut batch = Vec::new();
            for port in 0..self.wires.len() {
                self.read(port, &mut buffer, &mut batch)?;
            }
            let read_at = machine_now();
            batch.sort_by_key(|read: &Read| read.ns);
            let log = &mut *self.log;
            let mut write = |record: Record| {
                if failure.is_none() {
                    failure = record::write(log, &record).err();
                }
            };
            for read in batch {
                counts.reading.add(read_at.saturating_sub(read.ns));
                let at = clock.network(read.ns).max(now).min(end);
                reach(&mut device, &mut ahead, at, &mut write);
                now = at;
                device.receive(at, read.port, read.octets);
            }
            now = now.max(asked).min(end);
            reach(&mut device, &mut ahead, now, &mut write);
            device.advance(now);
            if let Some(error) = failure.take() {
                return Err(TestbedError::Log(error));
            }
            while let Some((port, departure)) = device.poll() {
                outgoing[port].push_back(departure);
            }
            for (port, waiting) in outgoing.iter_mut().enumerate() {
                self.write(port, waiting, &clock, &mut counts);
            }
            if now >= end || interrupted {
                break;
            }
            let due = outgoing.iter().filter_map(|waiting| Some(waiting.front()?.due));
            let next = ahead.front().map(|&(at, _)| at);
            let next = due.chain(next).chain([device.next_event(), end]).min().unwrap_or(end);
            interrupted = self.sleep(clock.machine(next))?;
        }
        let mut summary = device.end(now);
        summary.node = self.name.to_owned();
        summary.at = now.0;
        summary.interrupted = interrupted;
        summary.sending = counts.sending;
        summary.reading = counts.reading;
        summary.unsent = counts.unsent;
        summary.frames = counts.frames;
        summary.real_time = self.settings.real_time;
        record::write(self.log, &Record::End(Box::new(summary))).map_err(TestbedError::Log)?;
        self.log.flush().map_err(TestbedError::Log)
    }

    /// Reads the frames that wait at a wire, but no more than its turn.
    fn read(&self, port: usize, buffer: &mut [u8], batch: &mut Vec<Read>) -> Result<(), TestbedError> {
        for _ in 0..TURN {
            let read = match &self.wires[port] {
                Wire::Packet(fd) => receive(fd, buffer)?.map(|(ns, octets)| Read { ns, port, octets }),
                Wire::Tap(fd) => read_tap(fd, buffer)?.map(|octets| Read { ns: machine_now(), port, octets }),
            };
            match read {
                Some(read) => batch.push(read),
                None => break,
            }
        }
        Ok(())
    }

    /// Writes the frames that are due.
    fn write(&self, port: usize, waiting: &mut VecDeque<Departure>, clock: &Clock, counts: &mut Counts) {
        while let Some(first) = waiting.front() {
            let (due, now) = (clock.machine(first.due), machine_now());
            if due > now {
                break;
            }
            let Some(departure) = waiting.pop_front() else { break };
            let taken = match &self.wires[port] {
                Wire::Packet(fd) => rustix::net::send(fd, &departure.octets, SendFlags::DONTWAIT).is_ok(),
                Wire::Tap(fd) => rustix::io::write(fd, &departure.octets).is_ok(),
            };
            counts.unsent += u64::from(!taken);
            counts.frames += 1;
            counts.sending.add(now - due);
        }
    }

    /// Sleeps until the machine's time `until`, or until a frame comes. Whether the run is to end.
    fn sleep(&self, until: u64) -> Result<bool, TestbedError> {
        let wait = until.saturating_sub(machine_now());
        let timeout = Timespec { tv_sec: (wait / NS_PER_S) as i64, tv_nsec: (wait % NS_PER_S) as i64 };
        let mut fds: Vec<PollFd<'_>> = self.wires.iter().map(|wire| PollFd::new(wire.fd(), PollFlags::IN)).collect();
        fds.push(PollFd::new(&self.control, PollFlags::IN));
        match poll(&mut fds, Some(&timeout)) {
            // The other end is closed, or has said so: the run ends.
            Ok(_) => Ok(fds.last().is_some_and(|control| !control.revents().is_empty())),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(TestbedError::system("wait for frames", error)),
        }
    }
}

/// Handles the milestones up to `now`.
fn reach(
    device: &mut impl Device,
    ahead: &mut VecDeque<(Instant, Milestone)>,
    now: Instant,
    write: &mut impl FnMut(Record),
) {
    while ahead.front().is_some_and(|&(at, _)| at <= now)
        && let Some((at, milestone)) = ahead.pop_front()
    {
        device.reach(at, milestone, write);
    }
}

/// The next frame of a packet socket, with its 802.1Q tag and the time at which the kernel received it.
fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Result<Option<(u64, Vec<u8>)>, TestbedError> {
    let mut space = [0; 256];
    let mut slices = [IoSliceMut::new(buffer)];
    let received =
        recvmsg::<()>(fd.as_raw_fd(), &mut slices, Some(&mut space[..]), MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC);
    let received = match received {
        Ok(received) => received,
        Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR | nix::errno::Errno::ENETDOWN) => return Ok(None),
        Err(error) => return Err(TestbedError::system("receive a frame", std::io::Error::from(error))),
    };
    let (mut ns, mut tag) = (None, None);
    for message in
        received.cmsgs().map_err(|error| TestbedError::system("receive a frame", std::io::Error::from(error)))?
    {
        match message {
            ControlMessageOwned::ScmTimestampns(time) => {
                ns = Some(time.tv_sec() as u64 * NS_PER_S + time.tv_nsec() as u64);
            }
            ControlMessageOwned::Unknown(other)
                if other.cmsg_header.cmsg_level == SOL_PACKET && other.cmsg_header.cmsg_type == PACKET_AUXDATA =>
            {
                tag = vlan_of(&other.data_bytes);
            }
            _ => {}
        }
    }
    let octets = received.bytes.min(LONGEST);
    let mut frame = buffer[..octets].to_vec();
    if let Some((tpid, tci)) = tag {
        put_back(&mut frame, tpid, tci);
    }
    Ok(Some((ns.unwrap_or_else(machine_now), frame)))
}

/// Tag protocol identifier and tag control information of a `struct tpacket_auxdata`, where they are valid: status, three
/// words of lengths and two half words of offsets before them.
fn vlan_of(data: &[u8]) -> Option<(u16, u16)> {
    let word = |at: usize| Some(u32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_ne_bytes(data.get(at..at + 2)?.try_into().ok()?));
    let status = word(0)?;
    if status & TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let tpid = if status & TP_STATUS_VLAN_TPID_VALID == 0 { 0x8100 } else { half(18)? };
    Some((tpid, half(16)?))
}

/// The next frame of a TAP.
fn read_tap(fd: &OwnedFd, buffer: &mut [u8]) -> Result<Option<Vec<u8>>, TestbedError> {
    match rustix::io::read(fd, &mut *buffer) {
        Ok(octets) => Ok(Some(buffer[..octets].to_vec())),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR | rustix::io::Errno::IO) => Ok(None),
        Err(error) => Err(TestbedError::system("read a frame of the host", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_tag_is_found_in_its_auxiliary_data() {
        // Status 51 (hexadecimal): user, tag valid, TPID valid; lengths and offsets; tci 6005, tpid 8100.
        let mut data = 0x51u32.to_ne_bytes().to_vec();
        data.extend([0; 12]);
        data.extend(0x6005u16.to_ne_bytes());
        data.extend(0x8100u16.to_ne_bytes());
        assert_eq!(vlan_of(&data), Some((0x8100, 0x6005)));
        data[0] = 0x01;
        assert_eq!(vlan_of(&data), None);
        assert_eq!(vlan_of(&data[..10]), None);
    }
}
