//! Loss recovery of [`TcpSender`], and its reactions to marks: their beginnings, their effects, their ends.

use penstock_schemes::Instant;

use super::TcpSender;
use crate::transport::tcp::scoreboard::DUP_THRESH;

/// Where loss recovery is; `until` is the recovery point: the first octet that had not been sent when it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recovery {
    Open,
    /// `partial`: an acknowledgement of a part has come. `rescue`: a rescue may be sent once una lies beyond.
    Fast {
        until: u64,
        partial: bool,
        rescue: u64,
    },
    Timeout {
        until: u64,
    },
}

impl TcpSender {
    /// The window has been cut now, for losses or a mark: marks of the octets in flight count no more.
    pub(super) fn reduced(&mut self) {
        self.reduced_until = Some(self.board.nxt);
        self.cwr = self.marks;
    }

    /// Loss recovery begins. (RFC 6582, section 3.2, step 2; RFC 6675, step (4))
    pub(super) fn enter_fast_recovery(&mut self, now: Instant) {
        let until = self.board.nxt;
        self.controller.on_loss(&mut self.window, self.board.outstanding().saturating_sub(self.limited));
        self.reduced();
        self.recover = Some(until);
        self.last_cut = now;
        self.statistics.recoveries += 1;
        if let Some(rack) = &mut self.rack {
            rack.begin_recovery();
        } else {
            self.board.lose_first();
        }
        self.force = !self.board.lost().is_empty();
        if !self.sack {
            self.inflation = 3 * self.window.mss as i64;
        }
        // "Set both HighRxt and RescueRxt to the highest sequence number in the retransmitted segment": RFC 6675, (4.3).
        let rescue = self.board.lost().first().map_or(until, |(start, end)| end.min(start + self.window.mss));
        self.recovery = Recovery::Fast { until, partial: false, rescue };
    }

    /// Everything that was outstanding when it began is acknowledged.
    pub(super) fn end_recovery(&mut self) {
        if let (Recovery::Fast { .. }, false) = (self.recovery, self.sack) {
            // RFC 6582, section 3.2, step 3, (1).
            let flight = self.board.outstanding().max(self.window.mss);
            self.window.cwnd = self.window.ssthresh.min(flight + self.window.mss);
        }
        self.inflation = 0;
        self.recovery = Recovery::Open;
        if let Some(rack) = &mut self.rack {
            rack.end_recovery();
        }
    }

    /// Takes in an acknowledgement, for loss recovery.
    pub(super) fn recover(&mut self, now: Instant, acknowledged: u64, duplicate: bool) {
        if let Recovery::Fast { until, .. } | Recovery::Timeout { until } = self.recovery
            && self.board.una >= until
        {
            self.end_recovery();
        }
        self.duplicates += u32::from(duplicate);
        if self.rack.is_some() {
            self.recover_by_time(now);
            return;
        }
        let found = self.board.find_lost();
        match self.recovery {
            Recovery::Open => {
                let enough = self.duplicates >= DUP_THRESH || found;
                if enough && self.recover.is_none_or(|point| self.may_recover(point)) {
                    self.enter_fast_recovery(now);
                } else if duplicate && !self.sack && self.duplicates < DUP_THRESH {
                    // Limited transmit: a segment of new data for each of the first two. (RFC 5681, section 3.2, step 1)
                    self.inflation += self.window.mss as i64;
                }
            }
            Recovery::Fast { until, rescue, .. } if !self.sack => {
                if duplicate {
                    self.inflation += self.window.mss as i64;
                } else if acknowledged > 0 {
                    // A partial acknowledgement: the next hole. (RFC 6582, section 3.2, step 3)
                    self.inflation -= acknowledged as i64;
                    if acknowledged >= self.window.mss {
                        self.inflation += self.window.mss as i64;
                    }
                    self.board.lose_first();
                    self.force = true;
                    self.recovery = Recovery::Fast { until, partial: true, rescue };
                }
            }
            Recovery::Fast { .. } | Recovery::Timeout { .. } => {}
        }
    }

    /// Whether una lies far enough beyond the last recovery point for another recovery. (RFC 6582, section 3.2, step 2, asks
    /// for more than the point; RFC 6675, section 5.1, for the point)
    fn may_recover(&self, point: u64) -> bool {
        if self.sack { self.board.una >= point } else { self.board.una > point }
    }

    pub(super) fn recover_by_time(&mut self, now: Instant) {
        let Some(rack) = &mut self.rack else { return };
        let recovering = self.recovery != Recovery::Open;
        let found = rack.find_lost(now, &mut self.board, recovering, self.timer.srtt());
        // A lost retransmission is congestion once more. (RFC 5681, section 4.3)
        let again = matches!(self.recovery, Recovery::Fast { .. }) && found.again.is_some_and(|at| at >= self.last_cut);
        if found.lost && (self.recovery == Recovery::Open || again) {
            self.enter_fast_recovery(now);
        }
    }

    /// RFC 3168, section 6.1.2; RFC 8257, section 3.3: one reaction a window, and none where a loss has had one. `flight` was
    /// outstanding when the mark came.
    pub(super) fn react_to_mark(&mut self, flight: u64) {
        let counts = self.reduced_until.is_none_or(|point| self.board.una > point);
        if counts {
            self.controller.on_mark(&mut self.window, flight);
            self.reduced();
            self.statistics.marked_cuts += 1;
        }
    }

    /// RFC 6298, (5.4) to (5.6); RFC 5681, section 3.1; RFC 6675, section 5.1; RFC 8985, section 6.3.
    pub(super) fn on_retransmission_timeout(&mut self, now: Instant) {
        // Where the timer has sent the same segment before, the threshold stays. (RFC 5681, section 3.1)
        if self.timed_out != Some(self.board.una) {
            self.controller.on_timeout(&mut self.window, self.board.outstanding());
        }
        self.timed_out = Some(self.board.una);
        self.timer.back_off(now);
        self.recover = Some(self.board.nxt);
        self.recovery = Recovery::Timeout { until: self.board.nxt };
        self.reduced();
        (self.duplicates, self.limited, self.inflation) = (0, 0, 0);
        self.force = true;
        self.statistics.timeouts += 1;
        let srtt = self.timer.srtt();
        match &mut self.rack {
            Some(rack) => rack.on_timeout(now, &mut self.board, srtt),
            None => self.board.lose_all(),
        }
    }
}
