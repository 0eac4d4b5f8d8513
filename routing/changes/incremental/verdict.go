// SPDX-License-Identifier: Apache-2.0

package incremental

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// Verdict is a change of the subnet, and the routes that it invalidates by table 1 of the memo, section 7.
type Verdict struct {
	Change fabric.Change
	// Row is the name of the row in table 1, such as "missing switch".
	Row string
	// MinHop is set if the hop counts between switches are no longer valid.
	MinHop bool
	// LFT is the part of the routes that is no longer valid. It applies to unicast and multicast routes.
	LFT Extent
}

// Roots reports whether automatically found roots are no longer valid, because a switch was removed or added.
func (v Verdict) Roots() bool { return v.LFT == AllRoutes }

// Extent is a part of the routes.
type Extent string

// The extents.
const (
	NoRoutes    Extent = "none"
	ThroughPort Extent = "those through the port"
	ChangedLIDs Extent = "those of the changed LIDs"
	AllRoutes   Extent = "all"
)

// String returns text such as "missing cable (SW to SW), leaf-01/5 to spine-01/1: ...".
func (v Verdict) String() string {
	hops := "hop counts stay valid"
	if v.MinHop {
		hops = "hop counts are invalid"
	}
	return fmt.Sprintf("%s: %v; %s; routes invalid: %s", v.Row, v.Change, hops, v.LFT)
}

// Verdicts classifies all changes between two subnets. It omits changes that are not in the table, such as
// descriptions.
func Verdicts(before, now *fabric.Fabric) []Verdict {
	var all []Verdict
	for _, c := range fabric.Changes(before, now) {
		if v, ok := classify(before, now, c); ok {
			all = append(all, v)
		}
	}
	return all
}

func classify(before, now *fabric.Fabric, c fabric.Change) (Verdict, bool) {
	v := Verdict{Change: c, LFT: NoRoutes}
	switch c.Kind {
	case fabric.NodeGone, fabric.NodeNew:
		f := before
		if v.Row = "missing"; c.Kind == fabric.NodeNew {
			f, v.Row = now, "new"
		}
		n := f.NodeByGUID(c.At.GUID)
		if n == fabric.None || !f.Nodes[n].IsSwitch() {
			v.Row += " HCA"
			return v, true
		}
		v.Row, v.MinHop, v.LFT = v.Row+" switch", true, AllRoutes
	case fabric.LinkUp:
		v.Row = "new cable"
		if moved(before, now, c) {
			v.Row, v.LFT = "moved HCA", ChangedLIDs
		}
	case fabric.LinkDown:
		a, b := before.SwitchByGUID(c.At.GUID), before.SwitchByGUID(c.Peer.GUID)
		if a == fabric.None || b == fabric.None {
			v.Row = "missing cable (SW to HCA)"
			return v, true
		}
		v.Row, v.LFT = "missing cable (SW to SW)", ThroughPort
		v.MinHop = !linked(now, c.At.GUID, c.Peer.GUID)
	case fabric.LIDChanged:
		v.Row, v.LFT = "LID change", ChangedLIDs
	default:
		return v, false
	}
	return v, true
}

// moved reports whether a new cable leads to a port of a CA that had another cable before. The table does not cover
// this case: the routes to its LIDs lead to its old switch.
func moved(before, now *fabric.Fabric, c fabric.Change) bool {
	for _, end := range []fabric.End{c.At, c.Peer} {
		was := before.NodeByGUID(end.GUID)
		if was == fabric.None || before.Nodes[was].IsSwitch() || !before.Nodes[was].InSubnet {
			continue
		}
		if is := now.NodeByGUID(end.GUID); is == fabric.None || now.Nodes[is].IsSwitch() {
			continue
		}
		if p := before.PortAt(was, end.Port); p != fabric.None && before.Ports[p].Linked() {
			return true
		}
	}
	return false
}

// linked reports whether a cable connects two nodes.
func linked(f *fabric.Fabric, a, b uint64) bool {
	n := f.NodeByGUID(a)
	if n == fabric.None {
		return false
	}
	node := &f.Nodes[n]
	for p := range node.Slots() {
		if peer := f.PeerNode(p); peer != fabric.None && f.Nodes[peer].GUID == b {
			return true
		}
	}
	return false
}
