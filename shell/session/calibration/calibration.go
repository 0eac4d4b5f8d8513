// SPDX-License-Identifier: Apache-2.0

// Package calibration compares computed tables with those of the switches, and states what that proves.
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

// Calibration describes how far tables computed with the settings agree with those of the switches.
type Calibration struct {
	Engine  string
	Refused []string     // the engines before it in the chain, with their reasons
	Entries int          // entries compared
	Differ  int          // entries that differ
	Kinds   map[Kind]int // the differences by kind
	// SL2VLs counts the SL2VL tables compared, SL2VLDiffer those that differ. Both are 0 if quality of service is off,
	// so that OpenSM writes none, or if they were neither computed nor read.
	SL2VLs      int
	SL2VLDiffer int
	SLs         bool       // the SLs of the live paths are taken to be the computed ones
	Why         string     // why they are not, if nothing else differs
	Kept        KeptRoutes // whether all differences are routes that the subnet manager kept
	Switches    []Switch   // with differences, the most first
	Unread      []string   // switches whose tables were not read and not compared
	Warnings    []string
	When        time.Time

	// Of are the tables that were compared. Planned has the computed SL2VL tables, nil if the subnet manager writes
	// none.
	Of      *fabric.Tables
	Planned *fabric.Tables
	// From is what the subnet manager remembered when it computed the tables, nil if no earlier calibration explained
	// earlier tables. After these tables it remembers Next, nil if they are not explained.
	From, Next *Memory
	Own        bool        // the settings are those of the subnet manager's own opensm.conf
	Settings   [2]string   // of the computed tables, in words
	Master     managers.SM // zero for none
}

// IsOf reports whether these tables were compared.
func (c *Calibration) IsOf(t *fabric.Tables) bool { return c.Of == t && t != nil }

// Agrees reports whether nothing differs of what was compared.
func (c *Calibration) Agrees() bool { return c.Differ == 0 && c.SL2VLDiffer == 0 }

// Switch is a switch whose table differs from the computed one.
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
	// OtherPort leads to the same neighbour over another of several cables.
	OtherPort Kind = "another cable to the same neighbour"
	// OtherNeighbour leads to another switch or host.
	OtherNeighbour Kind = "another neighbour"
	// OnlyLive has a port only in the table of the switch.
	OnlyLive Kind = "only the switch has a route"
	// OnlyComputed has a port only in the computed table.
	OnlyComputed Kind = "only the computed table has a route"
)

// Compare compares the forwarding tables of the switches with computed ones.
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

// PlansVLs reports whether a subnet manager with these settings writes the computed SL2VL tables: OpenSM does if
// quality of service is on.
func PlansVLs(set *settings.Settings, p *compute.Result) bool {
	return set.QoS() && p.Tables.SL2VL != nil
}

// KeptRoutes is whether tables differ from computed ones only because a subnet manager with the settings kept routes.
// If something was only lost, OpenSM keeps the routes that are still among the shortest.
type KeptRoutes string

// The values.
const (
	// NotKept: nothing differs, or something was computed differently.
	NotKept KeptRoutes = ""
	// KeptSeen: the losses since the previous calibration give exactly these tables.
	KeptSeen KeptRoutes = "seen"
	// KeptPossible: it would have kept each entry, and there are ports without a link that may have had one.
	KeptPossible KeptRoutes = "possible"
)

// Explained reports whether the settings explain the tables: nothing differs, or routes were kept. Possibly kept routes
// count only with the settings of the subnet manager's own opensm.conf. Tables that were not read are not explained.
func (c *Calibration) Explained() bool { return c.Verdict() == verdict.OK }

// Verdict returns found if the settings do not explain the compared tables, and unknown if they do and other tables
// were not read.
func (c *Calibration) Verdict() verdict.Verdict {
	explained := c.Agrees() || c.Kept == KeptSeen || c.Kept == KeptPossible && c.Own
	return verdict.Of(!explained, len(c.Unread) > 0)
}

// Memory is what a subnet manager remembers of the tables that it computed.
type Memory struct {
	Past     compute.Past
	Settings [2]string // in words
}

// Before returns what the subnet manager remembered when it computed tables, by the last calibration, nil for nothing.
// For the tables of that calibration it is the same as then.
func (c *Calibration) Before(tables *fabric.Tables) *Memory {
	switch {
	case c == nil:
		return nil
	case c.Next != nil && c.Of != tables:
		return c.Next
	}
	return c.From
}

// HasUnlinked reports whether a switch of the subnet has a port without a link.
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
	// When is the time of the calibration, and Entries how many entries it compared, if they prove it.
	When    *time.Time
	Entries int
	Manager managers.Kind // as the user set it
	Signs   string        // the signs of the kind of the subnet manager
}

// String returns the proof in one line.
func (p *Proof) String() string {
	return prose.When(p.Proved, "proved", "unproved") + " here that the subnet manager would route like this: " + p.Why
}

// Refutation returns why the calibration does not prove what a master would compute now with some settings, "" if it
// proves that. A nil calibration proves nothing.
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
