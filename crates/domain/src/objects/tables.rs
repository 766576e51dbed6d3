//! The tables of the MIB. Each object has, in a few lines:
//!
//! - its type, with a range if the type has more values;
//! - unit and default: `= 5` is the MIB's, `= 5, own` is this program's if the MIB has none;
//! - its name in the MIB without the table's prefix, its variable in the standard, and the clause of that;
//! - the parameter of QCN that it sets, `as power` if the object is the exponent of 2.

use super::{
    ComponentChoice, ComponentLldp, Creation, Default, DefenseMode, Managed, NotAValue, Object, Parameter, PortChoice,
    PortLldp, Syntax, Table, Unit,
};

macro_rules! table {
    (
        $(#[doc = $meaning:literal])+
        pub struct $name:ident, $mib:literal, $prefix:literal, $per:literal, $clause:literal;
        $(
            $(#[doc = $about:literal])+
            $key:ident: $type:ident $(in $least:literal..=$most:literal)? $(of $unit:ident)? $(= $first:expr $(, $origin:ident)?)?;
            $access:ident $label:literal, $variable:literal, $object_clause:literal $(, sets $parameter:literal $(as $power:ident)?)?;
        )+
    ) => {
        $(#[doc = $meaning])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            $($(#[doc = $about])+ pub $key: $type,)+
        }

        impl $name {
            /// The table.
            pub const TABLE: Table = Table {
                name: $mib,
                per: $per,
                clause: $clause,
                meaning: concat!($($meaning),+),
                objects: &[$(Object {
                    key: stringify!($key),
                    name: concat!($prefix, $label),
                    variable: $variable,
                    clause: $object_clause,
                    syntax: table!(@syntax $type $access $($least, $most)?),
                    unit: table!(@unit $($unit)?),
                    writable: table!(@writable $access),
                    default: table!(@default $($first $(, $origin)?)?),
                    parameter: table!(@parameter $($parameter $($power)?)?),
                    meaning: concat!($($about),+),
                }),+],
            };

            /// The numbers of its objects, in the order of the table.
            pub fn numbers(&self) -> impl Iterator<Item = (&'static Object, i128)> {
                const { &Self::TABLE }.objects.iter().zip([$(self.$key.number()),+])
            }

            /// Sets an object to a number.
            ///
            /// # Errors
            /// The table has no such object, or the object does not take the number.
            pub fn set(&mut self, key: &str, number: i128) -> Result<(), NotAValue> {
                let Some(object) = const { &Self::TABLE }.objects.iter().find(|object| object.key == key) else {
                    return Err(NotAValue { key: $mib, message: alloc::format!("it has no object {key}"), hint: super::keys($mib) });
                };
                object.check(number)?;
                $(if key == stringify!($key) {
                    if let Some(value) = Managed::of(number) {
                        self.$key = value;
                    }
                })+
                Ok(())
            }
        }

        impl core::default::Default for $name {
            fn default() -> Self {
                Self { $($key: table!(@value $type $(, $first)?),)+ }
            }
        }
    };
    (@syntax $type:ident counts) => { Syntax::Counter };
    (@syntax u64 reads) => { Syntax::Octets(8) };
    (@syntax $type:ident $access:ident) => { <$type as Managed>::SYNTAX };
    (@syntax $type:ident $access:ident $least:literal, $most:literal) => { Syntax::Number($least, $most) };
    (@unit) => { Unit::One };
    (@unit $unit:ident) => { Unit::$unit };
    (@writable writes) => { true };
    (@writable $access:ident) => { false };
    (@default $mib:expr) => { Default::Mib($mib as i128) };
    (@default $own:expr, own) => { Default::Own($own as i128) };
    (@default) => { Default::None };
    (@parameter) => { None };
    (@parameter $parameter:literal) => { Some(Parameter { name: $parameter, power: false }) };
    (@parameter $parameter:literal power) => { Some(Parameter { name: $parameter, power: true }) };
    (@value $type:ident, $value:expr) => { $value };
    (@value $type:ident) => { <$type as core::default::Default>::default() };
}

table! {
    /// Congestion notification in a bridge component or an end station as a whole.
    pub struct Global, "ieee8021CnGlobalTable", "ieee8021CnGlobal", "component", "12.21.1";
    /// Congestion notification is on.
    master_enable: bool = true, own;
    writes "MasterEnable", "cngMasterEnable", "32.2.1";
    /// The priority of the notifications that congestion points send.
    cnm_transmit_priority: u8 in 0..=7 = 6, own;
    writes "CnmTransmitPriority", "cngCnmTransmitPriority", "32.2.2";
    /// Frames that full queues of congestion points dropped.
    discarded_frames: u64 of Frames;
    counts "DiscardedFrames", "cngDiscardedFrames", "32.2.3";
}

table! {
    /// A congestion notification priority (CNPV) of a component: that the row exists makes the priority one. Of eight
    /// priorities at most seven can be.
    pub struct ComponentPriority, "ieee8021CnCompntPriTable", "ieee8021CnComPri", "component and priority", "12.21.2";
    /// The chooser of defense mode and alternate priority of ports that have no choice set.
    def_mode_choice: ComponentChoice = ComponentChoice::Auto;
    writes "DefModeChoice", "cncpDefModeChoice", "32.3.1";
    /// The priority that an edge gives to frames of this one, by the manager's choice.
    alternate_priority: u8 in 0..=7 = 0;
    writes "AlternatePriority", "cncpAlternatePriority", "32.3.2";
    /// The priority that an edge gives to frames of this one, by the automatic choice: the next lower one that is no
    /// congestion notification priority, or else the next higher one.
    auto_alt_pri: u8 in 0..=7;
    reads "AutoAltPri", "cncpAutoAltPri", "32.3.3";
    /// The defense mode by the manager's choice.
    admin_defense_mode: DefenseMode = DefenseMode::Interior;
    writes "AdminDefenseMode", "cncpAdminDefenseMode", "32.3.4";
    /// The choice of ports that are made later.
    creation: Creation = Creation::AutoEnable;
    writes "Creation", "cncpCreation", "32.3.5";
    /// Which instance of LLDP carries the indicators of this priority.
    lldp_instance_choice: ComponentLldp = ComponentLldp::Admin;
    writes "LldpInstanceChoice", "cncpLldpInstanceChoice", "32.3.6";
    /// The instance of LLDP: the index of its destination address.
    lldp_instance_selector: u32 in 1..=4096 = 1;
    writes "LldpInstanceSelector", "cncpLldpInstanceSelector", "32.3.7";
}

table! {
    /// A congestion notification priority on one port.
    pub struct PortPriority, "ieee8021CnPortPriTable", "ieee8021CnPortPri", "port and priority", "12.21.3";
    /// The chooser of defense mode and alternate priority.
    port_def_mode_choice: PortChoice = PortChoice::Component;
    writes "DefModeChoice", "cnpdDefModeChoice", "32.4.1";
    /// The defense mode by the manager's choice.
    port_admin_defense_mode: DefenseMode = DefenseMode::Disabled;
    writes "AdminDefenseMode", "cnpdAdminDefenseMode", "32.4.2";
    /// The defense mode by the announcements of the neighbour.
    port_auto_defense_mode: DefenseMode = DefenseMode::Edge, own;
    reads "AutoDefenseMode", "cnpdAutoDefenseMode", "32.4.3";
    /// Which instance of LLDP carries the indicators of this priority.
    port_lldp_instance_choice: PortLldp = PortLldp::Component;
    writes "LldpInstanceChoice", "cnpdLldpInstanceChoice", "32.4.4";
    /// The instance of LLDP: the index of its destination address.
    port_lldp_instance_selector: u32 in 1..=4096 = 3;
    writes "LldpInstanceSelector", "cnpdLldpInstanceSelector", "32.4.5";
    /// The priority that an edge gives to frames of this one, by the manager's choice.
    port_alternate_priority: u8 in 0..=7 = 0;
    writes "AlternatePriority", "cnpdAlternatePriority", "32.4.6";
}

table! {
    /// A congestion point: an output queue that is watched.
    pub struct CongestionPoint, "ieee8021CnCpTable", "ieee8021CnCp", "port and congestion point", "12.21.4";
    /// The lowest congestion notification priority in its queue.
    cp_priority: u8 in 0..=7;
    reads "Priority", "CpPriority", "12.21.4";
    /// The source address of its notifications.
    cp_mac_address: Mac;
    reads "MacAddress", "cpMacAddress", "32.8.1";
    /// Its identifier in notifications, CPID.
    cp_identifier: u64;
    reads "Identifier", "cpId", "32.8.2";
    /// The length at which the queue is held.
    cp_queue_size_set_point: u32 in 100..=4_294_967_295 of Octets = 26_000;
    writes "QueueSizeSetPoint", "cpQSp", "32.8.3", sets "q_eq";
    /// The weight of the queue's growth, as a power of two: 1 for a weight of 2.
    cp_feedback_weight: i32 in -10..=10 = 1;
    writes "FeedbackWeight", "cpW", "32.8.6", sets "w" as power;
    /// Octets that come to the queue between two samples without congestion.
    cp_min_sample_base: u32 in 10_000..=4_294_967_295 of Octets = 150_000;
    writes "MinSampleBase", "cpSampleBase", "32.8.11", sets "sample_base";
    /// Frames that its full queue dropped.
    cp_discarded_frames: u64 of Frames;
    counts "DiscardedFrames", "cpDiscardedFrames", "32.8.12";
    /// Frames that its queue took.
    cp_transmitted_frames: u64 of Frames;
    counts "TransmittedFrames", "cpTransmittedFrames", "32.8.13";
    /// Notifications that it sent.
    cp_transmitted_cnms: u64 of Frames;
    counts "TransmittedCnms", "cpTransmittedCnms", "32.8.14";
    /// Octets of the sampled frame in a notification.
    cp_min_header_octets: u32 in 0..=64 of Octets = 0;
    writes "MinHeaderOctets", "cpMinHeaderOctets", "32.8.15";
}

table! {
    /// The reaction points of a port for one priority.
    pub struct ReactionPointPort, "ieee8021CnRpPortPriTable", "ieee8021CnRpPortPri", "port and priority", "12.21.5";
    /// The most reaction points at a time.
    rppp_max_rps: u32 in 1..=100 = 1;
    writes "MaxRps", "rpppMaxRps", "32.10.1";
    /// How often a notification made a reaction point limit a rate.
    rppp_created_rps: u64;
    counts "CreatedRps", "rpppCreatedRps", "32.10.2";
    /// The time for which reaction points limited rates, their sum.
    rppp_rp_centiseconds: u64 of Centiseconds;
    counts "Centiseconds", "rpppRpCentiseconds", "32.10.3";
}

table! {
    /// The rules of the reaction points of a group.
    pub struct ReactionPointGroup, "ieee8021CnRpGroupTable", "ieee8021CnRpg", "port, priority and group", "12.21.6";
    /// Reaction points heed notifications.
    rpg_enable: bool = true;
    writes "Enable", "rpgEnable", "32.11.1";
    /// A cycle of the timer.
    rpg_time_reset: u32 of Milliseconds = 15;
    writes "TimeReset", "rpgTimeReset", "32.11.2", sets "rpg_time_reset";
    /// A cycle of the byte counter.
    rpg_byte_reset: u32 of Octets = 150_000;
    writes "ByteReset", "rpgByteReset", "32.11.3", sets "rpg_byte_reset";
    /// Cycles of Fast Recovery.
    rpg_threshold: u32 = 5;
    writes "Threshold", "rpgThreshold", "32.11.4", sets "rpg_threshold";
    /// The largest rate; the port's where the MIB's default stands.
    rpg_max_rate: u32 of MegabitsPerSecond;
    writes "MaxRate", "rpgMaxRate", "32.11.5", sets "rpg_max_rate";
    /// The step of Active Increase.
    rpg_ai_rate: u32 of MegabitsPerSecond = 5;
    writes "AiRate", "rpgAiRate", "32.11.6", sets "rpg_ai_rate";
    /// The step of Hyper-Active Increase.
    rpg_hai_rate: u32 of MegabitsPerSecond = 50;
    writes "HaiRate", "rpgHaiRate", "32.11.7", sets "rpg_hai_rate";
    /// Bits by which feedback is shifted right to give the share of the rate that is cut: 7 for 1/128 a step.
    rpg_gd: u32 in 0..=31 = 7;
    writes "Gd", "rpgGd", "32.11.8", sets "gd_inverse" as power;
    /// The least share of the rate that a cut leaves.
    rpg_min_dec_fac: u32 in 1..=100 of Percent = 50;
    writes "MinDecFac", "rpgMinDecFac", "32.11.9", sets "rpg_min_dec_fac";
    /// The least rate.
    rpg_min_rate: u32 of MegabitsPerSecond = 5;
    writes "MinRate", "rpgMinRate", "32.11.10", sets "rpg_min_rate";
}

/// The address of a congestion point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mac(pub u64);

impl Managed for Mac {
    const SYNTAX: Syntax = Syntax::Octets(6);
    fn number(self) -> i128 {
        self.0.into()
    }
    fn of(number: i128) -> Option<Self> {
        number.try_into().ok().map(Self)
    }
}

/// Every table, in the MIB's order.
pub const TABLES: &[Table] = &[
    Global::TABLE,
    ComponentPriority::TABLE,
    PortPriority::TABLE,
    CongestionPoint::TABLE,
    ReactionPointPort::TABLE,
    ReactionPointGroup::TABLE,
];
