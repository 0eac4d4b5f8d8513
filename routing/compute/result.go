// SPDX-License-Identifier: Apache-2.0

package compute

import (
	"bytes"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/routing/engines/torus"
)

// Result is the result of a job. Its tables are for the subnet after the assignment of LIDs.
type Result struct {
	routing.Result
	Figures Figures
	// Adaptation describes the changes of an incremental job. It is nil for other jobs.
	Adaptation *Adaptation
	// Past is the input for the next job. It is empty if the job was incremental.
	Past Past
}

// Figures summarize a job.
type Figures struct {
	// Engine is the engine that routed. Refusals are the refusals of earlier engines in the chain.
	Engine   string
	Refusals []engines.Refusal
	// Took is the wall time of the engines, including engines that refused.
	Took     time.Duration
	Switches int
	// Entries is the number of LFT entries with a port.
	Entries int
	// Changed is the number of entries that differ from the tables named Against. If there are no previous tables, all
	// entries count as changed and Against is "". Unread counts switches without previous tables, which were not
	// compared.
	Changed, Unread int
	Against         string
	// Kept is set if existing routes were kept where possible. RecomputedAll is set if all routes were computed because
	// a link came up. FromPast is set if these two fields refer to the tables of the previous route and not to the
	// tables named Against.
	Kept, RecomputedAll, FromPast bool
	// DiffersFromOpenSM is the reason why OpenSM may compute other tables, or "" if it does not.
	DiffersFromOpenSM string
	// Assigned is the number of ports whose LIDs changed.
	Assigned int
	// UnsetVLs is a warning that the routes rely on VLs that no subnet manager sets, or "" if they do not.
	UnsetVLs string
	Warnings []string
	// Multicast is nil if no groups are known.
	Multicast *Trees
	// TreeLoop is the credit loop of torus-2QoS's multicast tree together with unicast, or nil.
	TreeLoop *torus.TreeLoop
	// TreeUnchecked is set if the fabric is too large for a search for a TreeLoop.
	TreeUnchecked bool
	// Measures are the measures for CAOrder. They are set only for an engine that returns a CAOrder.
	Measures linkload.Quick
}

// Trees counts the trees of multicast groups and their entries.
type Trees struct {
	// LIDs counts the multicast LIDs with entries. Alone counts the LIDs with too few members for a tree. Changed
	// counts the entries that differ from the previous entries, or is -1 if there were no multicast tables before. An
	// entry belongs to a switch and a LID.
	LIDs, Alone, Changed int
	// Groups is the source of the groups.
	Groups string
}

// count counts the switches and entries of tables.
func (g *Figures) count(t *fabric.Tables) {
	g.Switches, g.Entries = 0, 0
	for sw := range t.Fabric.Switches {
		if !t.Known[sw] {
			continue
		}
		g.Switches++
		row := t.LFT.Row(fabric.SwitchIndex(sw))
		g.Entries += len(row) - bytes.Count(row, []byte{fabric.NoPath})
	}
}

func countAssigned(before, after *fabric.Fabric) int {
	n := 0
	for _, e := range after.EndPorts {
		if p, q := &before.Ports[e], &after.Ports[e]; p.LID != q.LID || p.LMC != q.LMC {
			n++
		}
	}
	return n
}
