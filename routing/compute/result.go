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

// Result is the result of a job. Its tables are for the subnet with LIDs.
type Result struct {
	routing.Result
	Figures Figures
	// Adaptation is nil if the job was not incremental.
	Adaptation *Adaptation
	// Past is the input for the next job, empty if the job was incremental.
	Past Past
}

// Figures summarize a job.
type Figures struct {
	// Engine is the engine that routed, Refusals are those of the engines before it in the chain.
	Engine   string
	Refusals []engines.Refusal
	// Took is the wall time of the engines, including engines that refused.
	Took     time.Duration
	Switches int
	// Entries is the number of LFT entries with a port.
	Entries int
	// Changed is the number of entries that differ from those of Against. If there are no previous tables, all entries
	// changed and Against is empty. Unread switches have no previous tables, and were not compared.
	Changed, Unread int
	Against         string
	// Kept reports that existing routes were kept where possible, RecomputedAll that all were computed because a link
	// came up. FromPast reports that these two refer to the tables of the previous route, and not to those of Against.
	Kept, RecomputedAll, FromPast bool
	// DiffersFromOpenSM states why OpenSM may have other tables, "" if it does not.
	DiffersFromOpenSM string
	// Assigned is the number of ports whose LIDs changed.
	Assigned int
	// UnsetVLs states that the routes rely on VLs that no subnet manager sets, "" if they do not.
	UnsetVLs string
	Warnings []string
	// Multicast is nil if no groups are known.
	Multicast *Trees
	// TreeLoop is the credit loop of torus-2QoS's multicast tree with unicast, nil for none.
	TreeLoop *torus.TreeLoop
	// TreeUnchecked is true if the fabric is too large to look for a TreeLoop.
	TreeUnchecked bool
	// Measures are those of the CAOrder of an engine that has one.
	Measures linkload.Quick
}

// Trees counts the trees of multicast groups.
type Trees struct {
	// LIDs counts the multicast LIDs with entries, Alone those with too few members for a tree. Changed counts the
	// entries, of a switch and a LID, that differ from the previous ones, -1 if there were none.
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
