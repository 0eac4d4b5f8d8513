// SPDX-License-Identifier: Apache-2.0

// Package calibration compares computed tables with the tables on the switches. From the result it derives whether
// predictions are proved.
package calibration

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/shell/session/managers"
	"example.org/ibconsole/shell/session/settings"
)

// Calibration describes how far tables that were computed with the settings agree with the tables on the switches.
type Calibration struct {
	Engine  string
	Refused []string     // the engines before it in the chain, with their reasons
	Entries int          // entries compared
	Differ  int          // entries that differ
	Kinds   map[Kind]int // the differences by kind
	// SL2VLs counts the SL2VL tables that were compared, and SL2VLDiffer those that differ. Both are 0 if quality of
	// service is off, because OpenSM then writes no SL2VL tables. Both are also 0 if the tables were neither computed
	// nor read.
	SL2VLs      int
	SL2VLDiffer int
	SLs         bool       // the SLs of the live paths are taken to be the computed ones
	Why         string     // why they are not, if nothing else differs
	Kept        KeptRoutes // whether all differences are routes that the subnet manager kept
	Switches    []Switch   // with differences, the most first
	Unread      []string   // switches whose tables were not read and not compared
	Warnings    []string
	When        time.Time

	// Of are the live tables that were compared. Planned are the computed tables with SL2VL tables, or nil if the
	// subnet manager writes no SL2VL tables.
	Of      *fabric.Tables
	Planned *fabric.Tables
	// From is what the subnet manager remembered when it computed the live tables. It is nil if no earlier calibration
	// explained earlier tables. Next is what it remembers after these tables. It is nil if the calibration does not
	// explain them.
	From, Next *Memory
	Own        bool        // the settings are those of the subnet manager's own opensm.conf
	Settings   [2]string   // of the computed tables, in words
	Master     managers.SM // zero for none
}

// IsOf reports whether the calibration compared the live tables t.
func (c *Calibration) IsOf(t *fabric.Tables) bool { return c.Of == t && t != nil }

// Agrees reports whether the compared tables are equal.
func (c *Calibration) Agrees() bool { return c.Differ == 0 && c.SL2VLDiffer == 0 }

// Switch is a switch whose table differs from the computed table.
type Switch struct {
	Name    string
	GUID    uint64
	Differ  int
	Entries int
}

// Kind is how an entry differs.
type Kind string

// The kinds of differences.
const (
	// OtherPort means that the entry leads to the same neighbour over another cable.
	OtherPort Kind = "another cable to the same neighbour"
	// OtherNeighbour means that the entry leads to another switch or host.
	OtherNeighbour Kind = "another neighbour"
	// OnlyLive means that only the table of the switch has a port for the LID.
	OnlyLive Kind = "only the switch has a route"
	// OnlyComputed means that only the computed table has a port for the LID.
	OnlyComputed Kind = "only the computed table has a route"
)

// Compare compares the forwarding tables of the switches with computed forwarding tables.
func (c *Calibration) Compare(live, computed *fabric.Tables) {
	f := live.Fabric
	differ := make([]int, len(f.Switches))
	for e := range diff.Changes(live, computed) {
		differ[e.SwitchOld]++
		c.Differ++
		c.Kinds[kindOf(f, e)]++
	}
	for sw := range f.Switches {
		if !f.SwitchNode(fabric.SwitchIndex(sw)).InSubnet {
			continue
		}
		if !live.Known[sw] {
			c.Unread = append(c.Unread, f.NodeName(f.Switches[sw]))
			continue
		}
		entries := max(int(live.Top[sw]), int(computed.LFT.MaxLID))
		c.Entries += entries
		if differ[sw] > 0 {
			c.Switches = append(c.Switches, Switch{
				f.NodeName(f.Switches[sw]), f.SwitchNode(fabric.SwitchIndex(sw)).GUID, differ[sw], entries,
			})
		}
	}
	slices.SortStableFunc(c.Switches, func(a, b Switch) int { return cmp.Compare(b.Differ, a.Differ) })
}

// kindOf returns how an entry differs.
func kindOf(f *fabric.Fabric, e diff.Entry) Kind {
	switch {
	case e.Old == fabric.NoPath:
		return OnlyComputed
	case e.New == fabric.NoPath:
		return OnlyLive
	}
	node := f.Switches[e.SwitchOld]
	a, b := f.PortAt(node, int(e.Old)), f.PortAt(node, int(e.New))
	if a != fabric.None && b != fabric.None && f.PeerNode(a) != fabric.None && f.PeerNode(a) == f.PeerNode(b) {
		return OtherPort
	}
	return OtherNeighbour
}

// PlansVLs reports whether a subnet manager with these settings writes the computed SL2VL tables. OpenSM writes them if
// quality of service is on.
func PlansVLs(set *settings.Settings, p *compute.Result) bool {
	return set.QoS() && p.Tables.SL2VL != nil
}

// KeptRoutes shows whether tables differ from computed tables only because the subnet manager kept routes. If links or
// nodes were only lost, OpenSM keeps the routes that are still among the shortest.
type KeptRoutes string

// The values.
const (
	// NotKept means that nothing differs, or that kept routes do not explain the differences.
	NotKept KeptRoutes = ""
	// KeptSeen means that the losses since the previous calibration result in exactly these tables.
	KeptSeen KeptRoutes = "seen"
	// KeptPossible means that OpenSM could have kept each of these entries. The losses were not seen, but there are
	// ports without a link that may have had one.
	KeptPossible KeptRoutes = "possible"
)

// Explained reports whether the settings explain the tables: nothing differs, or routes were kept. Possibly kept routes
// count only if the settings come from the subnet manager's own opensm.conf. Tables that were not read are not
// explained.
func (c *Calibration) Explained() bool { return c.Verdict() == verdict.OK }

// Verdict returns Found if the settings do not explain the compared tables. It returns Unknown if they do, but other
// tables were not read.
func (c *Calibration) Verdict() verdict.Verdict {
	explained := c.Agrees() || c.Kept == KeptSeen || c.Kept == KeptPossible && c.Own
	return verdict.Of(!explained, len(c.Unread) > 0)
}

// Memory is what a subnet manager remembers of the tables that it computed last.
type Memory struct {
	Past     compute.Past
	Settings [2]string // in words
}

// Before returns what the subnet manager remembered when it computed the given tables, according to the last
// calibration. It is nil if the subnet manager remembered nothing. If the last calibration compared these tables, the
// result is the same as at that time.
func (c *Calibration) Before(tables *fabric.Tables) *Memory {
	switch {
	case c == nil:
		return nil
	case c.Next != nil && c.Of != tables:
		return c.Next
	}
	return c.From
}

// HasUnlinked reports whether a switch of the subnet has at least one port without a link.
func HasUnlinked(f *fabric.Fabric) bool {
	for _, n := range f.Switches {
		for p := range f.Nodes[n].Ports() {
			if f.Nodes[n].InSubnet && f.Ports[p].Num > 0 && !f.Ports[p].Linked() {
				return true
			}
		}
	}
	return false
}

// Proof states whether computed tables are known to be those of the subnet manager of this subnet.
type Proof struct {
	Asked  bool // false if nobody else computes tables: in a simulated subnet, a file, or without a subnet manager
	Proved bool
	Why    string // how it was proved, or why it is not
	// When is the time of the calibration, and Entries the number of entries that it compared. Both are set only if the
	// calibration proves the tables.
	When    *time.Time
	Entries int
	Manager managers.Kind // as the user set it
	Signs   string        // the signs of the kind of the subnet manager
}

// String returns the proof in one line.
func (p *Proof) String() string {
	return prose.When(p.Proved, "proved", "unproved") + " here that the subnet manager would route like this: " + p.Why
}

// Refutation returns the reason why the calibration does not prove the tables that a master SM would compute now with
// some settings. It returns "" if the calibration proves them. A nil calibration proves nothing.
func (c *Calibration) Refutation(settings [2]string, master *managers.SM, live *fabric.Tables) string {
	switch {
	case c == nil:
		return "calibrate has not compared these settings' tables with those of the switches"
	case c.Settings != settings:
		return "calibrate compared the tables of other settings"
	case c.Master.GUID != master.GUID:
		return "another subnet manager has taken over since calibrate"
	case !c.Master.IsSameRun(master):
		return "the subnet manager was restarted since calibrate, perhaps in another version"
	case c.Of != live:
		return "the tables on the switches have changed since calibrate"
	case c.Verdict() == verdict.Unknown:
		return fmt.Sprintf("calibrate could not compare %s, whose tables were not read",
			prose.Count(len(c.Unread), "switch"))
	case !c.Explained():
		return fmt.Sprintf("calibrate found that %d of %s differ", c.Differ, prose.Count(c.Entries, "entry"))
	}
	return ""
}
