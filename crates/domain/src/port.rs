//! A port: its machines, its neighbours, and its treatment of frames.

use penstock_schemes::Instant;
use penstock_wire::ethernet::{self, ether_type};
use penstock_wire::lldp::cn;
use penstock_wire::{Error, MacAddress};

use crate::component::Component;
use crate::defense::{Defense, Heard};
use crate::frame::{Parts, Refusal, strip};
use crate::lldpdu::{self, Announced, INSTANCES, Malformed};
use crate::neighbours::{Neighbours, Taken};
use crate::objects::{DefenseMode, PortPriority};
use crate::{PRIORITIES, State};

/// The owner of a port, as announced to neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Station<'a> {
    /// Its address.
    pub address: MacAddress,
    /// The port's name, of which the first 255 octets are announced.
    pub port: &'a str,
}

/// The fate of a frame that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It goes on with this priority.
    Forward {
        /// The priority of its queues from here on.
        priority: u8,
    },
    /// It was an LLDP frame, and ends here.
    Announcement {
        /// The port's announcement is another now, and should be sent at once.
        changed: bool,
    },
    /// It is dropped.
    Refused(Refusal),
}

/// Counts of a port since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames whose priority was changed to the alternate one.
    pub remapped: u64,
    /// CN-TAGs that were removed.
    pub tags_removed: u64,
    /// Notifications from outside the domain that were dropped.
    pub cnms_outside: u64,
    /// Notifications of ordinary priorities that were dropped.
    pub cnms_not_cnpv: u64,
    /// Malformed notifications that were dropped.
    pub cnms_malformed: u64,
    /// LLDP frames that were read.
    pub lldp_frames: u64,
    /// LLDP frames that were refused as malformed.
    pub lldp_malformed: u64,
    /// LLDP frames that were refused since they are longer than a frame can be.
    pub lldp_oversized: u64,
    /// Congestion notification TLVs that were passed over: malformed, or more than one in a frame.
    pub cn_tlvs_wrong: u64,
    /// Announcements of neighbours for whom there was no room.
    pub neighbours_too_many: u64,
    /// Neighbours that were not heard of in time.
    pub neighbours_aged: u64,
    /// Changes of a defense mode.
    pub mode_changes: u64,
}

/// A port of a bridge or an end station.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    rows: [PortPriority; PRIORITIES],
    machines: [Defense; PRIORITIES],
    neighbours: [Neighbours; INSTANCES.len()],
    untagged: u8,
    counters: Counters,
}

impl Port {
    /// A port of a component, before anything is heard. Frames without a tag have priority 0.
    #[must_use]
    pub fn new(component: &Component) -> Self {
        let rows: [PortPriority; PRIORITIES] = core::array::from_fn(|priority| component.new_port_row(priority as u8));
        let begin = |priority: usize| Defense::begin(component.choice(priority as u8, &rows[priority]));
        Self {
            machines: core::array::from_fn(begin),
            rows,
            neighbours: Default::default(),
            untagged: 0,
            counters: Counters::default(),
        }
    }

    /// Gives frames without a tag another priority.
    #[must_use]
    pub const fn with_untagged(mut self, priority: u8) -> Self {
        self.untagged = priority & 7;
        self
    }

    /// Gives a priority other managed objects; whether its announcement has changed.
    ///
    /// # Panics
    /// If the priority is above 7.
    pub fn manage(&mut self, component: &Component, priority: u8, row: PortPriority) -> bool {
        self.rows[usize::from(priority)] = row;
        self.update(component)
    }

    /// Takes up changes of the component's managed objects; whether its announcement has changed.
    pub fn update(&mut self, component: &Component) -> bool {
        let announced = self.announced(component);
        for priority in 0..PRIORITIES as u8 {
            let choice = component.choice(priority, &self.rows[usize::from(priority)]);
            let heard = self.heard(component, priority);
            if self.machines[usize::from(priority)].settle(choice, heard) {
                self.counters.mode_changes += 1;
            }
            // The mode that the announcements alone would give.
            let auto = if heard.cnpv && heard.ready {
                DefenseMode::InteriorReady
            } else if heard.cnpv {
                DefenseMode::Interior
            } else {
                DefenseMode::Edge
            };
            self.rows[usize::from(priority)].port_auto_defense_mode = auto;
        }
        self.announced(component) != announced
    }

    /// The managed objects of a priority.
    ///
    /// # Panics
    /// If the priority is above 7.
    #[must_use]
    pub const fn row(&self, priority: u8) -> &PortPriority {
        &self.rows[priority as usize]
    }

    /// The state of a priority's machine.
    ///
    /// # Panics
    /// If the priority is above 7.
    #[must_use]
    pub const fn state(&self, priority: u8) -> State {
        self.machines[priority as usize].state()
    }

    /// The defense mode of a priority.
    ///
    /// # Panics
    /// If the priority is above 7.
    #[must_use]
    pub const fn mode(&self, priority: u8) -> DefenseMode {
        self.machines[priority as usize].mode()
    }

    /// Its counts.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The neighbours on an instance of LLDP, numbered from 1.
    #[must_use]
    pub fn neighbours(&self, instance: u32) -> Option<&Neighbours> {
        self.neighbours.get(instance.checked_sub(1)? as usize)
    }

    fn heard(&self, component: &Component, priority: u8) -> Heard {
        let instance = component.lldp_instance(priority, &self.rows[usize::from(priority)]);
        instance.and_then(|instance| self.neighbours(instance)).map_or(Heard::default(), |known| known.heard(priority))
    }

    /// The two vectors of each instance.
    fn announced(&self, component: &Component) -> [(u8, u8); INSTANCES.len()] {
        let mut vectors = [(0, 0); INSTANCES.len()];
        for priority in 0..PRIORITIES as u8 {
            let (mode, row) = (self.mode(priority), self.row(priority));
            let instance = component.lldp_instance(priority, row).and_then(|number| number.checked_sub(1));
            if let Some((cnpv, ready)) = instance.and_then(|index| vectors.get_mut(index as usize)) {
                *cnpv |= u8::from(mode.xmit_cnpv_capable()) << priority;
                *ready |= u8::from(mode.xmit_ready()) << priority;
            }
        }
        vectors
    }

    /// The congestion notification TLV that it announces on an instance of LLDP; `None` where it announces no priority.
    #[must_use]
    pub fn tlv(&self, component: &Component, instance: u32) -> Option<cn::Repr> {
        let (cnpv, ready) = *self.announced(component).get(instance.checked_sub(1)? as usize)?;
        (cnpv != 0).then(|| cn::Repr::new(cnpv, ready))
    }

    /// Writes the LLDP frame of an instance, which holds for some seconds; the octets that it has.
    ///
    /// # Errors
    /// It does not fit into `out`; [`MOST_OCTETS`](lldpdu::MOST_OCTETS) always do.
    pub fn announce(
        &self,
        component: &Component,
        station: &Station<'_>,
        instance: u32,
        seconds: u16,
        out: &mut [u8],
    ) -> Result<usize, Error> {
        lldpdu::emit(station, instance, seconds, self.tlv(component, instance), out)
    }

    /// When a neighbour is forgotten unless it is heard of.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        self.neighbours.iter().filter_map(Neighbours::next_timeout).min()
    }

    /// Removes the neighbours whose time to live has expired. Returns whether its announcement has changed.
    pub fn on_timeout(&mut self, component: &Component, now: Instant) -> bool {
        self.counters.neighbours_aged += self.neighbours.iter_mut().map(|known| known.age(now)).sum::<u64>();
        self.update(component)
    }

    /// The line has gone: all neighbours are forgotten. Whether its announcement has changed.
    pub fn on_link_down(&mut self, component: &Component) -> bool {
        self.neighbours = Default::default();
        self.update(component)
    }

    /// Handles a received frame: reads an announcement, refuses a notification from outside, and sets the priority of any
    /// other frame, also in its tag if it has one.
    pub fn receive(&mut self, component: &Component, now: Instant, frame: &mut [u8]) -> Received {
        if let Some(instance) = instance_of(frame) {
            return Received::Announcement { changed: self.listen(component, now, instance, frame) };
        }
        let parts = Parts::of(frame);
        if component.cnpvs() != 0
            && component.global.master_enable
            && let Some(refusal) = parts.notified(frame).and_then(|of| self.judge(component, of).err())
        {
            self.count(refusal);
            return Received::Refused(refusal);
        }
        let priority = parts.priority(frame, self.untagged);
        if !self.mode(priority).remaps() {
            return Received::Forward { priority };
        }
        let alternate = component.alternate(priority, self.row(priority)) & 7;
        self.counters.remapped += 1;
        parts.set_priority(frame, alternate);
        Received::Forward { priority: alternate }
    }

    /// Whether a notification of a priority may come in here. The standard's defense remaps frames and says nothing of
    /// notifications; that an edge refuses them is Penstock's rule.
    fn judge(&self, component: &Component, of: Result<u8, Error>) -> Result<(), Refusal> {
        let priority = of.map_err(Refusal::Malformed)?;
        if component.row(priority).is_none() {
            return Err(Refusal::NotCnpv { priority });
        }
        if self.mode(priority) == DefenseMode::Edge { Err(Refusal::Outside { priority }) } else { Ok(()) }
    }

    fn count(&mut self, refusal: Refusal) {
        let counter = match refusal {
            Refusal::Outside { .. } => &mut self.counters.cnms_outside,
            Refusal::NotCnpv { .. } => &mut self.counters.cnms_not_cnpv,
            Refusal::Malformed(_) => &mut self.counters.cnms_malformed,
        };
        *counter += 1;
    }

    fn listen(&mut self, component: &Component, now: Instant, instance: usize, frame: &[u8]) -> bool {
        let said = match lldpdu::parse(frame) {
            Ok(said) => said,
            Err(Malformed::TooLong(_)) => {
                self.counters.lldp_oversized += 1;
                return false;
            }
            Err(_) => {
                self.counters.lldp_malformed += 1;
                return false;
            }
        };
        self.counters.lldp_frames += 1;
        self.counters.cn_tlvs_wrong += u64::from(said.cn == Announced::Wrong);
        self.counters.neighbours_aged += self.neighbours[instance].age(now);
        if self.neighbours[instance].take(now, &said) == Taken::TooMany {
            self.counters.neighbours_too_many += 1;
        }
        self.update(component)
    }

    /// Takes a frame that goes out in this priority, and removes its CN-TAG where the neighbour does not take it; the octets
    /// that are left of it.
    ///
    /// # Panics
    /// If the priority is above 7.
    pub fn transmit(&mut self, priority: u8, frame: &mut [u8]) -> usize {
        if self.mode(priority).accepts_cn_tag() {
            return frame.len();
        }
        let (length, removed) = strip(frame);
        self.counters.tags_removed += removed;
        length
    }
}

/// The instance of LLDP whose frame it is, counted from 0.
fn instance_of(frame: &[u8]) -> Option<usize> {
    let header = ethernet::Packet::new_checked(frame).ok()?;
    let to = header.destination();
    (header.ether_type() == ether_type::LLDP).then(|| INSTANCES.iter().position(|address| *address == to)).flatten()
}
