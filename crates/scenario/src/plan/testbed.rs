//! `[testbed]`: settings that only the testbed needs.

use super::{Application, Testbed};
use crate::error::Fault;
use crate::keys::sections;
use crate::keys::topology::Layout;

/// The settings, if the hosts of all applications exist.
pub(crate) fn testbed(table: &sections::Testbed, layout: &Layout) -> Result<Testbed, Fault> {
    let mut applications = Vec::new();
    for application in &*table.application {
        let known = layout.nodes.iter().position(|node| node.name == *application.host);
        let host = known.ok_or_else(|| {
            let message = format!("there is no host {}", *application.host);
            application.host.fault(message).with_hint("hosts have the names that [topology] gives them, such as h0")
        })?;
        applications.push(Application { host, command: String::clone(&application.run), start: *application.start });
    }
    Ok(Testbed {
        time_scale: *table.time_scale,
        lateness: *table.lateness,
        iperf3: *table.flows == sections::Sender::Iperf3,
        applications,
    })
}
