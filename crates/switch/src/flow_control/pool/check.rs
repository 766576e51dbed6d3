//! The check of pools at the end of a run: what each account says is what the frames in queues take.

use alloc::vec;

use crate::events::{FrameId, QueueId};
use crate::flow_control::pool::{PoolId, Pools};

impl Pools {
    /// Checks the accounts against the frames in queues: their queues, slots and lengths. `len` is the length of each queue.
    ///
    /// # Panics
    /// If an account says otherwise, or a pool has given more than it has.
    pub fn check(&self, frames: impl Iterator<Item = (QueueId, FrameId, u64)>, len: impl Fn(usize) -> u64) {
        let (mut queues, mut groups) = (vec![0; self.holders.len()], vec![0; self.groups.len()]);
        let mut own = vec![0; self.list.len()];
        for (queue, frame, octets) in frames {
            let pool = self.holders[queue.index()].pool;
            let Some(state) = self.list.get(pool.index()) else { continue };
            let memory = state.memory(octets as u16);
            queues[queue.index()] += memory;
            if !state.keeps_ingress {
                own[pool.index()] += memory;
                continue;
            }
            match groups.get_mut(self.charged[frame.index()].index()) {
                Some(group) => *group += memory,
                None => own[pool.index()] += memory,
            }
        }
        for (id, pool) in (0..).map(PoolId).zip(&self.list) {
            let holders = self.holders.iter().zip(&queues).enumerate().filter(|(_, (holder, _))| holder.pool == id);
            let (mut held, mut shared) = (0, 0);
            for (index, (holder, &found)) in holders {
                let counted = pool.held(holder, len(index));
                assert!(counted == found, "pool {}: a queue has {counted} octets, not {found}", id.0);
                held += found;
                shared += self.terms[index].beyond(found);
            }
            let of_pool = self.groups.iter().zip(&groups).filter(|(group, _)| group.pool == id);
            let (mut came, mut in_headroom, mut shared_in) = (own[id.index()], 0, own[id.index()]);
            for (group, &found) in of_pool {
                let counted = group.held + group.in_headroom;
                assert!(counted == found, "pool {}: a line has {counted} octets, not {found}", id.0);
                came += found;
                in_headroom += group.in_headroom;
                shared_in += group.terms.beyond(group.held);
            }
            let in_ingress = if pool.keeps_ingress { pool.ingress.used } else { shared_in };
            let accounts = (pool.used.now, pool.account_of_queues().used, in_ingress, pool.in_headroom);
            let found = (held, shared, shared_in, in_headroom);
            assert!(accounts == found && came == held, "pool {}: {accounts:?}, found {found:?}, came {came}", id.0);
            let all = pool.size + pool.in_headroom;
            assert!(held <= all && in_headroom <= pool.headroom, "pool {}: {held} of {all} octets taken", id.0);
        }
    }
}
