//! The tables of a result: which there are, their columns with units, and the Arrow schema that follows.
//!
//! Declared once: the recorder fills these columns, Parquet files carry their units and descriptions as field metadata,
//! and the reference pages are generated from [`TABLES`].

use std::sync::Arc;

use arrow_schema::{DataType, Field, Metadata, Schema, SchemaRef};
use penstock_results::summary::FlowRow;
use penstock_results::{Key, Shape, completions, jobs, paths};
use penstock_schemes::{CongestionPoint, ReactionPoint, Scheme, SchemeConfig, Signal, Var, Visitor};

/// A table of a result. Its name is the stem of its Parquet file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Table {
    /// Sampled queues.
    Queues,
    /// Sampled flows.
    Rates,
    /// Signals on their arrival at sources.
    Signals,
    /// One row a flow: its result.
    Flows,
    /// One row a finite flow: when it completed.
    Completions,
    /// One row for each piece of work that a rank of a job has ended.
    Jobs,
    /// One row for each piece of the slowest path of a job.
    Paths,
    /// One row for each time in which messages of a job used a link.
    Links,
    /// Arrivals of data frames at the sampled queues.
    Arrivals,
}

/// Description of a table.
#[derive(Debug, Clone, Copy)]
pub struct TableInfo {
    /// Which one.
    pub table: Table,
    /// Its name.
    pub name: &'static str,
    /// Description of a row.
    pub description: &'static str,
    /// Its columns, but for those of the scheme.
    pub columns: &'static [Column],
}

/// A column that every scheme has.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name, ending in the unit where there is one.
    pub name: &'static str,
    /// The unit; empty for names and plain numbers.
    pub unit: &'static str,
    /// Description of its values.
    pub description: &'static str,
    kind: Kind,
    nullable: bool,
    /// Only networks with priority flow control have it.
    flow_control: bool,
}

/// The type of a column.
#[derive(Debug, Clone, Copy)]
enum Kind {
    F64,
    U64,
    U32,
    U8,
    Bool,
    /// One of a list of names that all rows share.
    Name,
    Text,
    Texts,
}

impl Kind {
    fn data_type(self) -> DataType {
        match self {
            Self::F64 => DataType::Float64,
            Self::U64 => DataType::UInt64,
            Self::U32 => DataType::UInt32,
            Self::U8 => DataType::UInt8,
            Self::Bool => DataType::Boolean,
            // Signed keys: not every reader of Arrow takes unsigned ones.
            Self::Name => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Self::Text => DataType::Utf8,
            Self::Texts => DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))),
        }
    }
}

const fn column(name: &'static str, kind: Kind, unit: &'static str, description: &'static str) -> Column {
    Column { name, unit, description, kind, nullable: false, flow_control: false }
}

const fn optional(name: &'static str, kind: Kind, unit: &'static str, description: &'static str) -> Column {
    Column { nullable: true, ..column(name, kind, unit, description) }
}

/// The type of a scheme's variable.
const VAR: DataType = DataType::Int64;

const TIME: Column = column("time_s", Kind::F64, "s", "Simulated time since the start of the run.");

/// The columns of the table of flows: its metrics.
const FLOW_COLUMNS: &[Column] = &columns::<{ FlowRow::OBJECT.keys.len() }>(FlowRow::OBJECT.keys);

/// The columns of the table of completions.
const COMPLETION_COLUMNS: &[Column] = &columns::<{ completions::KEYS.len() }>(completions::KEYS);

/// The columns of the table of jobs.
const JOB_COLUMNS: &[Column] = &columns::<{ jobs::KEYS.len() }>(jobs::KEYS);

/// The columns of the table of paths.
const PATH_COLUMNS: &[Column] = &columns::<{ paths::KEYS.len() }>(paths::KEYS);

/// The columns of the table of links.
const LINK_COLUMNS: &[Column] = &columns::<{ paths::LINK_KEYS.len() }>(paths::LINK_KEYS);

/// A column for each of the keys of an object.
const fn columns<const N: usize>(keys: &[Key]) -> [Column; N] {
    let mut columns = [TIME; N];
    let mut i = 0;
    while i < N {
        columns[i] = metric_column(&keys[i], keys[i].shape);
        i += 1;
    }
    columns
}

const fn metric_column(key: &Key, shape: Shape) -> Column {
    let kind = match shape {
        Shape::Text | Shape::Word(_) => Kind::Text,
        Shape::Whole => Kind::U64,
        Shape::Real => Kind::F64,
        Shape::Switch => Kind::Bool,
        Shape::List(Shape::Text) => Kind::Texts,
        Shape::Maybe(inner) => return Column { nullable: true, ..metric_column(key, *inner) },
        Shape::Object(_) | Shape::List(_) | Shape::Map(_) | Shape::Plain => panic!("no column has such values"),
    };
    column(key.name, kind, key.unit, key.description)
}

/// Every table, in the order in which they are listed.
pub const TABLES: &[TableInfo] = &[
    TableInfo {
        table: Table::Queues,
        name: "queues",
        description: "The state of each recorded queue, one row per sample. Columns `cp_…` are the variables of its \
                      congestion point; those that count from the start of the run end in `_total`, all other counts are since the last sample.",
        columns: &[
            TIME,
            column("queue", Kind::Name, "", "The queue's port, `node->peer`."),
            column("priority", Kind::U8, "", "The queue's priority, 0 to 7; a higher one is served first."),
            column("queue_octets", Kind::U64, "octets", "Octets in the queue."),
            column("queue_frames", Kind::U32, "frames", "Frames in the queue."),
            column(
                "utilization",
                Kind::F64,
                "",
                "Share of the port's scheduled rate that was used since the last sample, by all its queues, wire \
                 overhead included; 0 where the line could carry nothing.",
            ),
            column(
                "frames_dropped",
                Kind::U64,
                "frames",
                "Data frames and copies dropped at the queue since the last sample.",
            ),
            column(
                "frames_sent",
                Kind::U64,
                "frames",
                "Frames that left the queue for the link since the last sample.",
            ),
            column("octets_sent", Kind::U64, "octets", "Octets of them, without wire overhead."),
            column(
                "frames_marked",
                Kind::U64,
                "frames",
                "Frames that the queue marked since the last sample, whoever decides on marks (`network.ecn_threshold`, or the \
                 scheme).",
            ),
            column("octets_marked", Kind::U64, "octets", "Octets of them, without wire overhead."),
            Column {
                flow_control: true,
                ..column(
                    "paused_s",
                    Kind::F64,
                    "s",
                    "How long priority flow control stopped the queue since the last sample; where the network has it.",
                )
            },
        ],
    },
    TableInfo {
        table: Table::Rates,
        name: "rates",
        description: "The state of each flow, one row per sample. Columns `rp_…` are the variables of its reaction \
                      point.",
        columns: &[
            TIME,
            column("flow", Kind::Name, "", "The flow."),
            column(
                "rate_bps",
                Kind::U64,
                "bit/s",
                "The rate that the flow may send at; the line's where nothing limits it, 0 before its start and after \
                 its end.",
            ),
            column(
                "throughput_bps",
                Kind::F64,
                "bit/s",
                "Delivered since the last sample, wire overhead included; the mean over the destinations.",
            ),
            column("fair_rate_bps", Kind::F64, "bit/s", "The flow's max-min fair share now."),
        ],
    },
    TableInfo {
        table: Table::Signals,
        name: "signals",
        description: "Signals on their arrival at the reaction point of a flow, one row each. The last columns are \
                      the fields of the scheme's signal.",
        columns: &[
            TIME,
            column("flow", Kind::Name, "", "The flow whose source it reached."),
            optional("queue", Kind::Name, "", "The port whose congestion point sent it; null if a destination did."),
            column("rate_bps", Kind::U64, "bit/s", "The rate that the flow may send at after it."),
        ],
    },
    TableInfo {
        table: Table::Flows,
        name: "flows",
        description: "The result of each flow, one row each: the flow's object of `summary.json` and its \
                      proportionally fair share.",
        columns: FLOW_COLUMNS,
    },
    TableInfo {
        table: Table::Completions,
        name: "completions",
        description: "When each finite flow completed, one row each, where some flow has a size.",
        columns: COMPLETION_COLUMNS,
    },
    TableInfo {
        table: Table::Jobs,
        name: "jobs",
        description: "What each rank of a job has ended, one row each, in the order of the ends; where the scenario has jobs. Rows of single \
                      computations are left out where nodes and iterations are more than 2 million.",
        columns: JOB_COLUMNS,
    },
    TableInfo {
        table: Table::Paths,
        name: "paths",
        description: "The slowest path of each job, one row for each of its pieces, which follow each other without a gap from the start of the job \
                      to its end; where the scenario has jobs. A job that has not ended has none, and one of more than 4 million messages.",
        columns: PATH_COLUMNS,
    },
    TableInfo {
        table: Table::Links,
        name: "links",
        description: "When messages of each job were under way over each link, one row for each time without a gap; where the scenario has jobs.",
        columns: LINK_COLUMNS,
    },
    TableInfo {
        table: Table::Arrivals,
        name: "arrivals",
        description: "Arrivals of data frames at the recorded queues, one row each, where the scenario asks for them.",
        columns: &[
            TIME,
            column("queue", Kind::Name, "", "The queue's port, `node->peer`."),
            column("priority", Kind::U8, "", "The queue's priority."),
            column("flow", Kind::Name, "", "The flow of the frame."),
            column("queue_octets", Kind::U64, "octets", "Octets in the queue after the arrival."),
            column("dropped", Kind::Bool, "", "The queue was full and the frame is lost."),
        ],
    },
];

/// The variables that a scheme's roles record: as values instead of types, so that the code of tables is compiled once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemeVars {
    pub(crate) cp: &'static [Var],
    pub(crate) rp: &'static [Var],
    pub(crate) signal: &'static [Var],
}

impl SchemeVars {
    pub(crate) const fn of<S: Scheme>() -> Self {
        Self { cp: S::Cp::VARS, rp: S::Rp::VARS, signal: S::Signal::VARS }
    }

    /// Those of the scheme that all `configs` have; none where they have several.
    pub(crate) fn of_configs(configs: &[SchemeConfig]) -> Self {
        struct Of;
        impl Visitor for Of {
            type Output = SchemeVars;
            fn visit<S: Scheme>(self, configs: &[S::Config]) -> SchemeVars {
                let [cp, rp, signal] = configs.first().map_or([&[][..]; 3], S::variables);
                SchemeVars { cp, rp, signal }
            }
        }
        SchemeConfig::visit(configs, Of)
    }
}

impl Table {
    /// Its description.
    #[must_use]
    pub fn info(self) -> &'static TableInfo {
        TABLES.iter().find(|info| info.table == self).expect("every table is listed in TABLES")
    }

    /// Its name, the stem of its Parquet file.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Its Parquet file in a results folder.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("{}.parquet", self.name())
    }

    /// The table called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        TABLES.iter().find(|info| info.name == name).map(|info| info.table)
    }

    /// Its columns under a scheme with these variables, with or without priority flow control.
    pub(crate) fn schema(self, vars: &SchemeVars, flow_control: bool) -> SchemaRef {
        let (prefix, vars) = match self {
            Self::Queues => ("cp_", vars.cp),
            Self::Rates => ("rp_", vars.rp),
            Self::Signals => ("", vars.signal),
            Self::Flows | Self::Completions | Self::Jobs | Self::Paths | Self::Links | Self::Arrivals => ("", &[][..]),
        };
        let common =
            self.info().columns.iter().filter(|c| flow_control || !c.flow_control).map(|c| {
                Field::new(c.name, c.kind.data_type(), c.nullable).with_metadata(describe(c.unit, c.description))
            });
        // A queue or a flow may lack the point whose variables these are.
        let own = vars.iter().map(|var| {
            let metadata = describe("", var.description);
            Field::new(format!("{prefix}{}", var.name), VAR, true).with_metadata(metadata)
        });
        Arc::new(Schema::new(common.chain(own).collect::<Vec<_>>()))
    }
}

fn describe(unit: &str, description: &str) -> Metadata {
    [("unit", unit), ("description", description)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| (key.to_owned(), text.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use penstock_schemes::SCHEMES;

    #[test]
    fn a_name_ends_in_its_unit() {
        for info in TABLES {
            for column in info.columns {
                let suffix = match column.unit {
                    "" | "frames" => continue,
                    "bit/s" => "_bps",
                    // As in `frames_sent`, beside it.
                    "octets" if column.name.starts_with("octets_") => continue,
                    "octets" => "_octets",
                    "s" => "_s",
                    other => panic!("{}.{}: no suffix for {other}", info.name, column.name),
                };
                assert!(column.name.ends_with(suffix), "{}.{} does not end in {suffix}", info.name, column.name);
            }
        }
    }

    /// Beside columns that count from the last sample, one that counts from the start of the run says so by its name.
    #[test]
    fn a_count_from_the_start_says_so_by_its_name() {
        struct Totals;
        impl Visitor for Totals {
            type Output = usize;
            fn visit<S: Scheme>(self, _configs: &[S::Config]) -> usize {
                let SchemeVars { cp, rp, signal } = SchemeVars::of::<S>();
                let vars = cp.iter().chain(rp).chain(signal);
                let counted = vars.inspect(|var| {
                    let total = var.description.ends_with("since the start");
                    assert_eq!(var.name.ends_with("_total"), total, "{} of {}", var.name, S::INFO.name);
                });
                counted.filter(|var| var.name.ends_with("_total")).count()
            }
        }
        let counts = SCHEMES.iter().map(|scheme| {
            let config = SchemeConfig::with_defaults(scheme.name).expect("it is listed");
            SchemeConfig::visit(&[config], Totals)
        });
        assert!(counts.sum::<usize>() >= 4);
    }

    #[test]
    fn no_table_has_a_name_twice() {
        struct Names;
        impl Visitor for Names {
            type Output = ();
            fn visit<S: Scheme>(self, _configs: &[S::Config]) {
                for info in TABLES {
                    let schema = info.table.schema(&SchemeVars::of::<S>(), true);
                    let mut names: Vec<_> = schema.fields().iter().map(|field| field.name()).collect();
                    names.sort_unstable();
                    let count = names.len();
                    names.dedup();
                    assert_eq!(names.len(), count, "{} of {}", info.name, S::INFO.name);
                }
            }
        }
        for scheme in SCHEMES {
            let config = SchemeConfig::with_defaults(scheme.name).expect("it is listed");
            SchemeConfig::visit(&[config], Names);
        }
    }

    #[test]
    fn names_lead_back_to_tables() {
        for info in TABLES {
            assert_eq!(Table::named(info.name), Some(info.table));
        }
        assert_eq!(Table::named("queue"), None);
    }
}
