// SPDX-License-Identifier: Apache-2.0

// Package alternates finds the alternate paths of a connection between two adapters: the paths to which the connection
// may migrate (IBA 1.2.1, 17.2.8), with their ports and LIDs. It also finds the cables and switches that each alternate
// path shares with the primary path.
//
// Switches forward by the destination LID alone. Therefore packets to different LIDs of a port may use different paths,
// and so may the returning acknowledgements. A path in this package covers both directions, because either direction
// may fail.
package alternates

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// Path is a path between a LID of one port and a LID of another port, together with the path back.
type Path struct {
	Src, Dst    fabric.PortIndex
	SLID, DLID  uint16
	There, Back walk.Path
}

// Arrives reports whether packets arrive in both directions.
func (p *Path) Arrives() bool { return p.There.Verdict.Arrives() && p.Back.Verdict.Arrives() }

// Unknown reports whether it is unknown whether packets arrive in both directions.
func (p *Path) Unknown() bool {
	is := func(a, b walk.Verdict) bool { return a == walk.Unknown && (b == walk.Unknown || b.Arrives()) }
	return is(p.There.Verdict, p.Back.Verdict) || is(p.Back.Verdict, p.There.Verdict)
}

// Shared lists the cables and switches that two paths have in common. A cable is identified by the lower of its two
// ports.
type Shared struct {
	Links    []fabric.PortIndex
	Switches []fabric.NodeIndex
}

// Alternate is an alternative to the primary path.
type Alternate struct {
	Path
	// Ends lists what the path shares because it uses a port of the primary path: the cable and the switch of that
	// port. Between lists everything else that the path shares.
	Ends, Between Shared
}

// Result holds the paths between two adapters.
type Result struct {
	Primary Path
	// List holds the alternate paths. Paths that share least with the primary path come first.
	List []Alternate
	// Lost counts the paths that do not arrive in both directions. Unknown counts the paths that use an unread table.
	Lost, Unknown int
}

// Of finds the alternatives to the primary path between two LIDs. For each other LID of the destination node, and each
// port of the source node, it finds the source LID whose path shares least with the primary path. O(ports^2 x LIDs^2 x
// hops).
func Of(t *fabric.Tables, slid, dlid uint16) *Result {
	f := t.Fabric
	src, dst := f.PortByLID(slid), f.PortByLID(dlid)
	r := &Result{Primary: follow(t, src, dst, slid, dlid)}
	mine := partsOf(f, &r.Primary)
	for _, a := range portsOf(f, src) {
		for _, b := range portsOf(f, dst) {
			for _, to := range lidsOf(f, b) {
				if a == src && to == dlid {
					continue // packets would use the same path
				}
				if best := r.best(t, mine, a, b, to); best != nil {
					r.List = append(r.List, *best)
				}
			}
		}
	}
	slices.SortStableFunc(r.List, func(x, y Alternate) int { return x.order(&y) })
	return r
}

// best returns the path between ports a and b, to one LID of b, that shares least with the primary path. It returns nil
// if no such path arrives.
func (r *Result) best(t *fabric.Tables, mine parts, a, b fabric.PortIndex, to uint16) (best *Alternate) {
	for _, from := range lidsOf(t.Fabric, a) {
		x := &Alternate{Path: follow(t, a, b, from, to)}
		switch {
		case x.Unknown():
			r.Unknown++
			continue
		case !x.Arrives():
			r.Lost++
			continue
		}
		x.share(t.Fabric, mine, &r.Primary)
		if best == nil || x.order(best) < 0 {
			best = x
		}
	}
	return best
}

// order compares alternates. The path that shares least comes first, then the shortest, then LIDs in the pairs that
// subnet administration forms: the nth LID of one port with the nth LID of the other.
func (a *Alternate) order(b *Alternate) int {
	links := func(x *Alternate) int { return len(x.Between.Links) + len(x.Ends.Links) }
	switches := func(x *Alternate) int { return len(x.Between.Switches) + len(x.Ends.Switches) }
	return cmp.Or(
		cmp.Compare(links(a), links(b)), cmp.Compare(switches(a), switches(b)),
		cmp.Compare(a.There.Links()+a.Back.Links(), b.There.Links()+b.Back.Links()),
		cmp.Compare(a.DLID, b.DLID), cmp.Compare(a.SLID^a.DLID, b.SLID^b.DLID), cmp.Compare(a.SLID, b.SLID))
}

// portsOf returns the end ports with a LID of a port's node. The list starts with the port itself.
func portsOf(f *fabric.Fabric, port fabric.PortIndex) []fabric.PortIndex {
	list := []fabric.PortIndex{port}
	n := &f.Nodes[f.Ports[port].Node]
	for p := range n.Ports() {
		if p != port && !n.IsSwitch() && f.Ports[p].Linked() && f.PortByLID(f.Ports[p].LID) == p {
			list = append(list, p)
		}
	}
	return list
}

// lidsOf returns the LIDs of a port.
func lidsOf(f *fabric.Fabric, port fabric.PortIndex) (list []uint16) {
	for i := range uint16(1) << f.Ports[port].LMC {
		list = append(list, f.Ports[port].LID+i)
	}
	return list
}

func follow(t *fabric.Tables, src, dst fabric.PortIndex, slid, dlid uint16) Path {
	return Path{
		Src: src, Dst: dst, SLID: slid, DLID: dlid, There: walk.Trace(t, src, dlid), Back: walk.Trace(t, dst, slid),
	}
}

// parts is the set of cables and switches of a path.
type parts struct {
	links    map[fabric.PortIndex]bool
	switches map[fabric.NodeIndex]bool
}

func partsOf(f *fabric.Fabric, p *Path) parts {
	x := parts{map[fabric.PortIndex]bool{}, map[fabric.NodeIndex]bool{}}
	for _, direction := range []*walk.Path{&p.There, &p.Back} {
		for _, h := range direction.Hops {
			if f.Nodes[h.Node].IsSwitch() {
				x.switches[h.Node] = true
			}
			if c := cable(f, h.Out); c != fabric.None {
				x.links[c] = true
			}
		}
	}
	return x
}

// cable returns the lower port of the link of port, or None if the argument port has no link.
func cable(f *fabric.Fabric, port fabric.PortIndex) fabric.PortIndex {
	if port == fabric.None || f.Ports[port].Peer == fabric.None {
		return fabric.None
	}
	return min(port, f.Ports[port].Peer)
}

// share computes which cables and switches the alternate path shares with the primary path.
func (a *Alternate) share(f *fabric.Fabric, mine parts, primary *Path) {
	ends := parts{map[fabric.PortIndex]bool{}, map[fabric.NodeIndex]bool{}}
	for _, p := range []fabric.PortIndex{a.Src, a.Dst} {
		if p != primary.Src && p != primary.Dst {
			continue
		}
		ends.links[cable(f, p)] = true
		if sw, _ := f.AttachedSwitch(p); sw != fabric.None {
			ends.switches[f.Switches[sw]] = true
		}
	}
	own := partsOf(f, &a.Path)
	for c := range own.links {
		switch {
		case mine.links[c] && ends.links[c]:
			a.Ends.Links = append(a.Ends.Links, c)
		case mine.links[c]:
			a.Between.Links = append(a.Between.Links, c)
		}
	}
	for n := range own.switches {
		switch {
		case mine.switches[n] && ends.switches[n]:
			a.Ends.Switches = append(a.Ends.Switches, n)
		case mine.switches[n]:
			a.Between.Switches = append(a.Between.Switches, n)
		}
	}
	for _, s := range []*Shared{&a.Ends, &a.Between} {
		slices.Sort(s.Links)
		slices.Sort(s.Switches)
	}
}
