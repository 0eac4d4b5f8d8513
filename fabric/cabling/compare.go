// SPDX-License-Identifier: Apache-2.0

package cabling

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
)

// FaultKind is the kind of a [Fault].
type FaultKind string

// The kinds of faults, in the order in which they are listed.
const (
	MissingDevice FaultKind = "missing device" // the subnet has no such device or adapter
	ExtraDevice   FaultKind = "extra device"   // the plan has no such device
	Swapped       FaultKind = "swapped"        // two cables, each in the place of the other at one end
	WrongDevice   FaultKind = "wrong device"   // one end is as planned, the other is at another device
	WrongPort     FaultKind = "wrong port"     // one end is as planned, the other is at another port of the device
	Missing       FaultKind = "missing"        // a planned cable that is not there
	Extra         FaultKind = "extra"          // a cable that is not planned
	WrongKind     FaultKind = "wrong kind"     // a cable in its place whose speed or width is below the plan
)

// FaultKinds lists the kinds in their order.
var FaultKinds = []FaultKind{
	MissingDevice, ExtraDevice, Swapped, WrongDevice, WrongPort, Missing, Extra, WrongKind,
}

// Fault is a difference between plan and subnet. Each planned cable that is not there is in exactly one fault, and so
// is each cable that is not planned.
type Fault struct {
	Kind    FaultKind
	Device  string // of a missing or extra device
	Planned []int  // indexes of planned cables
	Cables  []fabric.Link
}

// Unmatched is a planned cable that cannot be compared. It is not a fault.
type Unmatched struct {
	Cable int
	Why   string
}

// Result is the result of comparing a subnet with a plan.
type Result struct {
	Fabric *fabric.Fabric
	Plan   *Plan
	// Ports holds the ports of each planned cable. A port is None if the subnet has no such device, and both are None
	// if the cable is not compared.
	Ports [][2]fabric.PortIndex
	// Compared is the number of planned cables that are compared. Right is the number of cables that are there, of any
	// kind.
	Compared, Right int
	// OutsideScope is the number of planned cables that are not compared because no end is in the scope. Repeated is
	// the number of lines that describe the same cable as another line.
	OutsideScope, Repeated int
	// SpeedUnread is the number of planned cables with a planned speed or width that was not read.
	SpeedUnread int
	// Names describes names that several nodes have.
	Names     []string
	Faults    []Fault
	Unmatched []Unmatched
	Repair    Repair
}

// Options control [Compare].
type Options struct {
	// Scope holds patterns of names of nodes. Only cables with an end at one of these nodes are compared, together with
	// the cables that a repair of them involves. An empty scope includes all nodes.
	Scope []string
}

// point is an end of a cable: a port of the fabric, or a number above all ports for an end at an absent device.
type point int32

// edge is a planned or a real cable between two points.
type edge struct {
	a, b    point
	planned int // index of the planned cable, -1 for a real cable
}

// other returns the other end of an edge.
func (e *edge) other(p point) point {
	if e.a == p {
		return e.b
	}
	return e.a
}

type comparer struct {
	*Result
	o         Options
	r         *Resolver
	finds     [][2]found
	ends      [][2]point // by planned cable, noPoint if not compared
	absent    map[string]point
	absentEnd []*End         // by point - number of ports
	owner     map[point]int  // the planned cable of a point
	blocked   map[point]bool // ports that unmatched cables may use
	// blockedPairs are the pairs of nodes that an unmatched cable may connect, in the order of their indexes.
	blockedPairs map[[2]fabric.NodeIndex]bool
	named        map[string]bool
	used         map[fabric.NodeIndex]bool // the nodes that the plan names
	planned      map[point]*edge           // the planned cables that are not there
	real         map[point]*edge           // the cables that are not planned
}

const noPoint point = -1

// Compare compares the cables of a fabric with a plan. It returns an error if a pattern of the scope matches nothing.
// O(n log n).
func Compare(f *fabric.Fabric, plan *Plan, o Options) (*Result, error) {
	c := &comparer{
		Result: &Result{Fabric: f, Plan: plan, Ports: make([][2]fabric.PortIndex, len(plan.Cables))},
		o:      o, r: NewResolver(f), absent: map[string]point{}, owner: map[point]int{},
		blocked: map[point]bool{}, blockedPairs: map[[2]fabric.NodeIndex]bool{},
		named: map[string]bool{}, used: map[fabric.NodeIndex]bool{},
		planned: map[point]*edge{}, real: map[point]*edge{},
	}
	if err := c.checkScope(); err != nil {
		return nil, err
	}
	c.match()
	c.findRenamed()
	c.findDifferences()
	c.classify()
	c.listNames()
	slices.SortFunc(c.Unmatched, func(a, b Unmatched) int { return cmp.Compare(a.Cable, b.Cable) })
	for i, e := range c.ends {
		for j, p := range e {
			c.Ports[i][j] = c.port(p)
		}
	}
	return c.Result, nil
}

// port returns the port of a point, or None.
func (c *comparer) port(p point) fabric.PortIndex {
	if int(p) >= len(c.Fabric.Ports) {
		return fabric.None
	}
	return fabric.PortIndex(p)
}

func (c *comparer) isAbsent(p point) bool { return int(p) >= len(c.Fabric.Ports) }

func (c *comparer) checkScope() error {
	for _, pattern := range c.o.Scope {
		in := func(name string) bool { return matches(pattern, name) }
		known := slices.ContainsFunc(c.Plan.Cables, func(p Cable) bool {
			return in(p.Ends[0].Device) || in(p.Ends[1].Device)
		})
		for i := range c.Fabric.Nodes {
			n := &c.Fabric.Nodes[i]
			known = known || in(n.Desc) || in(DeviceOf(n))
		}
		if !known {
			return fmt.Errorf("scope: neither the plan nor the subnet has a node %q", pattern)
		}
	}
	return nil
}

// matches reports whether a name matches a pattern in any case. A malformed pattern matches only itself.
func matches(pattern, name string) bool {
	pattern, name = strings.ToUpper(pattern), strings.ToUpper(name)
	ok, err := path.Match(pattern, name)
	return ok || err != nil && pattern == name
}

func (c *comparer) inScope(name string) bool {
	return len(c.o.Scope) == 0 || slices.ContainsFunc(c.o.Scope, func(p string) bool { return matches(p, name) })
}

func (c *comparer) nodeInScope(port fabric.PortIndex) bool {
	n := &c.Fabric.Nodes[c.Fabric.Ports[port].Node]
	return c.inScope(n.Desc) || c.inScope(DeviceOf(n))
}

// match finds the ports of all planned cables. Cables that are there get their ports first. So the cables that are
// certain tell apart nodes with the same name.
func (c *comparer) match() {
	c.finds = make([][2]found, len(c.Plan.Cables))
	c.ends = slices.Repeat([][2]point{{noPoint, noPoint}}, len(c.Plan.Cables))
	var rest []int
	for i := range c.Plan.Cables {
		cable := &c.Plan.Cables[i]
		a, b := &cable.Ends[0], &cable.Ends[1]
		c.named[strings.ToUpper(a.Device)], c.named[strings.ToUpper(b.Device)] = true, true
		fa, fb := c.r.find(a), c.r.find(b)
		c.finds[i] = [2]found{fa, fb}
		for _, p := range slices.Concat(fa.ports, fb.ports) {
			c.used[c.Fabric.Ports[p].Node] = true
		}
		if why := cmp.Or(fa.unknown, fb.unknown); why != "" {
			c.leave(i, why)
			continue
		}
		if link, ok := c.linkBetween(fa.ports, fb.ports); ok {
			c.take(i, point(link.A), point(link.B))
		} else {
			rest = append(rest, i)
		}
	}
	for _, i := range rest {
		a, why := c.free(i, 0)
		b, whyB := c.free(i, 1)
		if why = cmp.Or(why, whyB); why != "" {
			c.leave(i, why)
			continue
		}
		c.take(i, a, b)
	}
}

// isPlannedInScope reports whether a planned cable has an end in the scope.
func (c *comparer) isPlannedInScope(i int) bool {
	e := &c.Plan.Cables[i].Ends
	return len(c.o.Scope) == 0 || c.inScope(e[0].Device) || c.inScope(e[1].Device) ||
		slices.ContainsFunc(slices.Concat(c.finds[i][0].ports, c.finds[i][1].ports), c.nodeInScope)
}

// isChainInScope reports whether a cable of a chain has an end in the scope.
func (c *comparer) isChainInScope(ch chain) bool {
	return slices.ContainsFunc(ch.edges, func(e *edge) bool {
		if e.planned >= 0 {
			return c.isPlannedInScope(e.planned)
		}
		return c.nodeInScope(c.port(e.a)) || c.nodeInScope(c.port(e.b))
	})
}

// linkBetween returns the only link between two sets of ports, with end A in the first set.
func (c *comparer) linkBetween(a, b []fabric.PortIndex) (l fabric.Link, ok bool) {
	for _, p := range a {
		peer := c.Fabric.Ports[p].Peer
		if _, isOwned := c.owner[point(p)]; peer == fabric.None || isOwned || !slices.Contains(b, peer) {
			continue
		}
		if ok {
			return l, false
		}
		l, ok = fabric.Link{A: p, B: peer}, true
	}
	return l, ok
}

// free returns the point of an end of a planned cable: the only candidate that belongs to no other planned cable.
func (c *comparer) free(i, end int) (point, string) {
	got, e := c.finds[i][end], &c.Plan.Cables[i].Ends[end]
	if got.absent {
		key := strings.ToUpper(strings.Join([]string{e.Device, e.Adapter, e.Board, e.Label}, "\x00")) +
			fmt.Sprintf("\x00%d", e.Num)
		if _, ok := c.absent[key]; !ok {
			c.absent[key] = point(len(c.Fabric.Ports) + len(c.absentEnd))
			c.absentEnd = append(c.absentEnd, e)
		}
		return c.absent[key], ""
	}
	if len(got.ports) == 1 {
		return point(got.ports[0]), ""
	}
	left := slices.DeleteFunc(slices.Clone(got.ports), func(p fabric.PortIndex) bool {
		_, isOwned := c.owner[point(p)]
		return isOwned
	})
	switch {
	case len(left) == 1:
		return point(left[0]), ""
	case e.Board != "":
		return noPoint, fmt.Sprintf("board %s of %s has %d switches", fabric.Escape(e.Board), fabric.Escape(e.Device),
			len(got.ports))
	}
	return noPoint, c.ambiguous(got.ports, e)
}

// ambiguous describes an end that several ports may be.
func (c *comparer) ambiguous(ports []fabric.PortIndex, e *End) string {
	nodes := map[fabric.NodeIndex]bool{}
	for _, p := range ports {
		nodes[c.Fabric.Ports[p].Node] = true
	}
	if len(nodes) == 1 && len(ports) > 1 {
		return fmt.Sprintf("%d ports of %s have the label %s", len(ports), fabric.Escape(e.Device),
			fabric.Escape(e.Label))
	}
	return fmt.Sprintf("%d nodes have the name %s", len(nodes), fabric.Escape(e.Device))
}

// take gives a planned cable its points, unless the plan gave them to another cable.
func (c *comparer) take(i int, a, b point) {
	other, usedA := c.owner[a]
	otherB, usedB := c.owner[b]
	switch {
	case a == b:
		c.leave(i, "both ends are the same port")
	case usedA && usedB && other == otherB:
		c.Repeated++
	case usedA || usedB:
		e := &c.Plan.Cables[i].Ends[0]
		if !usedA {
			other, e = otherB, &c.Plan.Cables[i].Ends[1]
		}
		c.leave(i, fmt.Sprintf("line %d of the plan also uses the port %s", c.Plan.Cables[other].Line, e))
	default:
		c.owner[a], c.owner[b] = i, i
		c.ends[i] = [2]point{a, b}
	}
}

// leave records a planned cable that cannot be compared.
func (c *comparer) leave(i int, why string) {
	if c.isPlannedInScope(i) {
		c.Unmatched = append(c.Unmatched, Unmatched{i, why})
	}
	for _, got := range c.finds[i] {
		for _, p := range got.ports {
			c.blocked[point(p)] = true
		}
	}
	for _, a := range c.candidates(c.finds[i][0]) {
		for _, b := range c.candidates(c.finds[i][1]) {
			c.blockedPairs[[2]fabric.NodeIndex{min(a, b), max(a, b)}] = true
		}
	}
}

// candidates returns the nodes that an end may be at.
func (c *comparer) candidates(got found) []fabric.NodeIndex {
	nodes := slices.Clone(got.nodes)
	for _, p := range got.ports {
		nodes = append(nodes, c.Fabric.Ports[p].Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// findRenamed leaves the cables to an absent device in whose place the subnet has a node that the plan does not name.
// It is probably the same device under another name.
func (c *comparer) findRenamed() {
	for i, e := range c.ends {
		for j, p := range e {
			if p == noPoint || !c.isAbsent(p) || c.isAbsent(e[1-j]) {
				continue
			}
			peer := c.Fabric.Ports[e[1-j]].Peer
			if peer == fabric.None || c.isNamed(c.Fabric.Ports[peer].Node) {
				continue
			}
			delete(c.owner, e[0])
			delete(c.owner, e[1])
			c.ends[i] = [2]point{noPoint, noPoint}
			c.blocked[point(peer)] = true
			c.leave(i, fmt.Sprintf("%s leads to %s, which the plan does not name", c.Fabric.PortName(c.port(e[1-j])),
				c.Fabric.PortName(peer)))
			break
		}
	}
}

// isNamed reports whether the plan names a node, or a port of it.
func (c *comparer) isNamed(node fabric.NodeIndex) bool {
	n := &c.Fabric.Nodes[node]
	return c.used[node] || n.IsSwitch() && c.named[strings.ToUpper(DeviceOf(n))]
}

// findDifferences compares planned with real cables.
func (c *comparer) findDifferences() {
	right := map[fabric.Link]bool{}
	for i, e := range c.ends {
		inScope := c.isPlannedInScope(i)
		if !inScope {
			c.OutsideScope++
		}
		if e[0] == noPoint {
			continue
		}
		if inScope {
			c.Compared++
		}
		a, b := c.port(e[0]), c.port(e[1])
		if a != fabric.None && b != fabric.None && c.Fabric.Ports[a].Peer == b {
			l := fabric.Link{A: min(a, b), B: max(a, b)}
			right[l] = true
			if !inScope {
				continue
			}
			c.Right++
			switch c.Plan.Cables[i].Kind.fits(&c.Fabric.Ports[a]) {
			case tooSlow:
				c.Faults = append(c.Faults, Fault{Kind: WrongKind, Planned: []int{i}, Cables: []fabric.Link{l}})
			case speedUnread:
				c.SpeedUnread++
			}
			continue
		}
		missing := &edge{e[0], e[1], i}
		c.planned[e[0]], c.planned[e[1]] = missing, missing
	}
	for _, l := range Cables(c.Fabric) {
		a, b := point(l.A), point(l.B)
		if right[l] || !c.isJudged(l) {
			continue
		}
		extra := &edge{a, b, -1}
		c.real[a], c.real[b] = extra, extra
	}
}

// isJudged reports whether a cable that is not planned is compared. It is not if a planned cable that could not be
// matched may be this cable.
func (c *comparer) isJudged(l fabric.Link) bool {
	_, plannedA := c.owner[point(l.A)]
	_, plannedB := c.owner[point(l.B)]
	a, b := c.Fabric.Ports[l.A].Node, c.Fabric.Ports[l.B].Node
	return plannedA || plannedB || !c.blocked[point(l.A)] && !c.blocked[point(l.B)] &&
		!c.blockedPairs[[2]fabric.NodeIndex{min(a, b), max(a, b)}]
}

// listNames describes the names that several nodes have and that the plan uses.
func (c *comparer) listNames() {
	counts, line := map[string]int{}, map[string]int{}
	for i := range c.finds {
		for j, got := range c.finds[i] {
			if len(got.ports) < 2 {
				continue
			}
			_, rest, _ := strings.Cut(c.ambiguous(got.ports, &c.Plan.Cables[i].Ends[j]), " ")
			if len(got.ports) > counts[rest] {
				counts[rest], line[rest] = len(got.ports), c.Plan.Cables[i].Line
			}
		}
	}
	for rest, n := range counts {
		c.Names = append(c.Names, fmt.Sprintf("%d %s, line %d of the plan", n, rest, line[rest]))
	}
	slices.Sort(c.Names)
}
