//! A bridge component or an end station: its congestion notification priorities, and the choices that ports inherit.

use core::fmt;

use crate::defense::Choice;
use crate::objects::{
    ComponentChoice, ComponentLldp, ComponentPriority, Creation, DefenseMode, Global, PortChoice, PortLldp,
    PortPriority,
};
use crate::{PRIORITIES, objects};

/// The managed objects that all ports share.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Component {
    /// Those of the whole component.
    pub global: Global,
    rows: [Option<ComponentPriority>; PRIORITIES],
}

/// An eighth congestion notification priority is refused: frames of an edge need a priority that is none (clause 30.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EighthPriority;

impl fmt::Display for EighthPriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("seven priorities have congestion notification already; an edge needs one that has none")
    }
}

impl core::error::Error for EighthPriority {}

impl Component {
    /// A component with these congestion notification priorities, bit n for priority n, and the MIB's defaults.
    ///
    /// # Errors
    /// All eight bits are set.
    pub fn with(cnpvs: u8) -> Result<Self, EighthPriority> {
        let mut component = Self::default();
        for priority in (0..8).filter(|priority| cnpvs >> priority & 1 == 1) {
            component.create(priority, ComponentPriority::default())?;
        }
        Ok(component)
    }

    /// Makes a priority a congestion notification priority, or gives it another row.
    ///
    /// # Errors
    /// It would be the eighth.
    ///
    /// # Panics
    /// If the priority is above 7.
    pub fn create(&mut self, priority: u8, row: ComponentPriority) -> Result<(), EighthPriority> {
        let place = usize::from(priority);
        let others = (0..PRIORITIES).filter(|&other| other != place && self.rows[other].is_some()).count();
        if others + 1 == PRIORITIES {
            return Err(EighthPriority);
        }
        self.rows[place] = Some(row);
        self.renew_alternates();
        Ok(())
    }

    /// Makes a priority an ordinary one.
    ///
    /// # Panics
    /// If the priority is above 7.
    pub fn delete(&mut self, priority: u8) {
        self.rows[usize::from(priority)] = None;
        self.renew_alternates();
    }

    /// The row of a priority; `None` if it is no congestion notification priority.
    #[must_use]
    pub fn row(&self, priority: u8) -> Option<&ComponentPriority> {
        self.rows.get(usize::from(priority))?.as_ref()
    }

    /// Its congestion notification priorities, bit n for priority n.
    #[must_use]
    pub fn cnpvs(&self) -> u8 {
        (0..8).filter(|&priority| self.row(priority).is_some()).fold(0, |bits, priority| bits | 1 << priority)
    }

    /// `cncpAutoAltPri` (clause 32.3.3): the next lower priority that is none of them, or else the next higher.
    #[must_use]
    pub fn auto_alt_pri(&self, priority: u8) -> u8 {
        let free = |other: &u8| self.row(*other).is_none();
        let lower = (0..priority).rev().find(free);
        lower.or_else(|| (priority.saturating_add(1)..8).find(free)).unwrap_or(0)
    }

    fn renew_alternates(&mut self) {
        for priority in 0..8 {
            let alternate = self.auto_alt_pri(priority);
            if let Some(row) = &mut self.rows[usize::from(priority)] {
                row.auto_alt_pri = alternate;
            }
        }
    }

    /// The row of a port that is made for a priority (`cncpCreation`, clause 32.3.5).
    #[must_use]
    pub fn new_port_row(&self, priority: u8) -> PortPriority {
        let creation = self.row(priority).map_or(Creation::AutoEnable, |row| row.creation);
        let choice = match creation {
            Creation::AutoEnable => PortChoice::Component,
            Creation::AutoDisable => PortChoice::Admin,
        };
        PortPriority { port_def_mode_choice: choice, ..PortPriority::default() }
    }

    /// The chooser of the mode of a port with this row. A priority that is none is disabled.
    #[must_use]
    pub fn choice(&self, priority: u8, port: &PortPriority) -> Choice {
        let Some(row) = self.row(priority).filter(|_| self.global.master_enable) else {
            return Choice::Admin(DefenseMode::Disabled);
        };
        match (port.port_def_mode_choice, row.def_mode_choice) {
            (PortChoice::Admin, _) => Choice::Admin(port.port_admin_defense_mode),
            (PortChoice::Component, ComponentChoice::Admin) => Choice::Admin(row.admin_defense_mode),
            (PortChoice::Auto, _) | (PortChoice::Component, ComponentChoice::Auto) => Choice::Auto,
        }
    }

    /// The priority that an edge port with this row gives to frames of `priority`. Where the port alone is automatic, the
    /// MIB names two objects for it; `cncpAutoAltPri` is taken, which is never a congestion notification priority.
    #[must_use]
    pub fn alternate(&self, priority: u8, port: &PortPriority) -> u8 {
        let Some(row) = self.row(priority) else { return priority };
        match (port.port_def_mode_choice, row.def_mode_choice) {
            (PortChoice::Admin, _) => port.port_alternate_priority,
            (PortChoice::Component, ComponentChoice::Admin) => row.alternate_priority,
            (PortChoice::Auto, _) | (PortChoice::Component, ComponentChoice::Auto) => row.auto_alt_pri,
        }
    }

    /// The port is one of `cngErroredPortList` (clause 32.2.4): the alternate priority is a congestion notification priority.
    #[must_use]
    pub fn errored(&self, priority: u8, port: &PortPriority) -> bool {
        self.row(priority).is_some() && self.row(self.alternate(priority, port)).is_some()
    }

    /// The instance of LLDP that carries the indicators of a priority on a port with this row; `None` where none does.
    #[must_use]
    pub fn lldp_instance(&self, priority: u8, port: &PortPriority) -> Option<u32> {
        let row: &objects::ComponentPriority = self.row(priority)?;
        match (port.port_lldp_instance_choice, row.lldp_instance_choice) {
            (PortLldp::Admin, _) => Some(port.port_lldp_instance_selector),
            (PortLldp::Component, ComponentLldp::Admin) => Some(row.lldp_instance_selector),
            (PortLldp::None, _) | (PortLldp::Component, ComponentLldp::None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_eighth_priority_is_refused() {
        assert_eq!(Component::with(0xff), Err(EighthPriority));
        let mut component = Component::with(0x7f).unwrap();
        assert_eq!(component.create(7, ComponentPriority::default()), Err(EighthPriority));
        assert_eq!(component.create(3, ComponentPriority::default()), Ok(()), "a row may be replaced");
        component.delete(0);
        assert_eq!(component.create(7, ComponentPriority::default()), Ok(()));
        assert_eq!(component.cnpvs(), 0xfe);
    }

    #[test]
    fn the_automatic_alternate_is_the_next_lower_or_else_the_next_higher() {
        let of = |cnpvs, priority| Component::with(cnpvs).unwrap().row(priority).unwrap().auto_alt_pri;
        assert_eq!(of(0b0000_1000, 3), 2);
        assert_eq!(of(0b0001_1100, 4), 1, "2 and 3 are congestion notification priorities");
        assert_eq!(of(0b0000_0001, 0), 1, "nothing is lower");
        assert_eq!(of(0b0000_0111, 1), 3);
        assert_eq!(of(0b0111_1111, 2), 7);
    }

    #[test]
    fn rows_of_others_follow_when_a_priority_goes() {
        let mut component = Component::with(0b0000_1100).unwrap();
        assert_eq!(component.row(3).unwrap().auto_alt_pri, 1);
        component.delete(2);
        assert_eq!(component.row(3).unwrap().auto_alt_pri, 2);
    }

    #[test]
    fn the_nearest_choice_holds() {
        let mut component = Component::with(0b1000).unwrap();
        let mut port = component.new_port_row(3);
        assert_eq!(port.port_def_mode_choice, PortChoice::Component);
        assert_eq!((component.choice(3, &port), component.alternate(3, &port)), (Choice::Auto, 2));
        let row = ComponentPriority {
            def_mode_choice: ComponentChoice::Admin,
            alternate_priority: 5,
            creation: Creation::AutoDisable,
            ..ComponentPriority::default()
        };
        component.create(3, row).unwrap();
        assert_eq!(component.choice(3, &port), Choice::Admin(DefenseMode::Interior), "the MIB's default");
        assert_eq!(component.alternate(3, &port), 5);
        port.port_def_mode_choice = PortChoice::Auto;
        assert_eq!((component.choice(3, &port), component.alternate(3, &port)), (Choice::Auto, 2));
        let created = component.new_port_row(3);
        assert_eq!(component.choice(3, &created), Choice::Admin(DefenseMode::Disabled), "cncpAutoDisable");
        component.global.master_enable = false;
        assert_eq!(component.choice(3, &port), Choice::Admin(DefenseMode::Disabled));
    }

    #[test]
    fn an_alternate_that_is_a_cnpv_is_an_error() {
        let component = Component::with(0b1001).unwrap();
        let mut port = component.new_port_row(3);
        assert!(!component.errored(3, &port));
        port.port_def_mode_choice = PortChoice::Admin;
        assert!(component.errored(3, &port), "the default alternate is 0, a CNPV here");
        port.port_alternate_priority = 4;
        assert!(!component.errored(3, &port));
    }

    #[test]
    fn lldp_can_be_left_out() {
        let mut component = Component::with(0b1000).unwrap();
        let mut port = component.new_port_row(3);
        assert_eq!(component.lldp_instance(3, &port), Some(1));
        port.port_lldp_instance_choice = PortLldp::Admin;
        assert_eq!(component.lldp_instance(3, &port), Some(3));
        port.port_lldp_instance_choice = PortLldp::None;
        assert_eq!(component.lldp_instance(3, &port), None);
        let row = ComponentPriority { lldp_instance_choice: ComponentLldp::None, ..ComponentPriority::default() };
        component.create(3, row).unwrap();
        assert_eq!(component.lldp_instance(3, &component.new_port_row(3)), None);
    }
}
