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

// Result is what a job came to. Its tables stand on the subnet with LIDs.
type Result struct {
	routing.Result
	Figures Figures
	// Adaptation is nil where the job was not incremental.
	Adaptation *Adaptation
	// Past is what the next job goes on from, empty where the job was incremental.
	Past Past
}

// Figures say what was done.
type Figures struct {
	// Engine is the one that routed, Refusals are those before it in the chain.
	Engine   string
	Refusals []engines.Refusal
	// Took is the engine's own wall time, that of the ones which refused included.
	Took     time.Duration
	Switches int
	// Entries is the number of LFT entries that lead somewhere.
	Entries int
	// Changed is the number of entries that differ from those of Against. Where that has no tables, all
	// entries changed and Against is empty. Unread switches have none there, and were not compared.
	Changed, Unread int
	Against         string
	// Kept says that existing routes were kept where they could be, RecomputedAll that all were
	// computed anew as a link came up. FromPast says that this is about the tables of the
	// route before, and not those of Against.
	Kept, RecomputedAll, FromPast bool
	// DiffersFromOpenSM says why OpenSM may hold other tables than those, "" where it does not.
	DiffersFromOpenSM string
	// Assigned is the number of ports that got other LIDs than they have.
	Assigned int
	// UnsetVLs says that the routes rest on VLs that nobody sets, "" where they do not.
	UnsetVLs string
	Warnings []string
	// Multicast is nil where no groups are known.
	Multicast *Trees
	// TreeLoop is what torus-2QoS's multicast tree closes together with unicast, nil for none.
	TreeLoop *torus.TreeLoop
	// Measures are those in the CAOrder of an engine that gives one.
	Measures linkload.Quick
}

// Trees say what became of multicast groups.
type Trees struct {
	// LIDs have entries, Alone too few members for a tree. Changed entries, of a
	// switch and a LID, differ from those before, -1 where there were none.
	LIDs, Alone, Changed int
	// Groups says who named the groups.
	Groups string
}

// count counts the entries of tables.
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
