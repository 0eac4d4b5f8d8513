// SPDX-License-Identifier: Apache-2.0

package diff

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// delta is a comparison with a base.
type delta struct {
	*Base
	r        *Result
	now      *fabric.Tables
	examples int
	walker   *trees.Walker
	// groups are the groups of hosts, groupOf the group of each host. They are shared with the base unless hosts are
	// gone. Then gone hosts form groups of their own, and left maps each group of the base to the group of its
	// remaining hosts, or to -1.
	groups  []group
	groupOf []int32
	left    []int32
	gone    []bool

	paths   []int64
	entries []int
	touched []bool
	ports   []fabric.PortIndex
	old     []uint32
	changed []pair
}

// compare compares the new state with the base. It returns nil if a pair loses its path although both hosts are still
// in the subnet. The caller must then compare the states completely.
func (b *Base) compare(after *fabric.Tables, diff trees.Difference, opt Options) *Result {
	was := b.forest.Tables
	ports := len(was.Fabric.Ports)
	d := &delta{
		Base: b, now: after, examples: opt.Examples, walker: b.forest.NewWalker(), groups: b.m.groups,
		groupOf: b.m.groupOf,
		paths:   make([]int64, ports), entries: make([]int, ports), touched: make([]bool, ports),
		r: &Result{
			Old: was.Origin, New: after.Origin, Switches: []Switch{}, Gone: []Port{}, Come: []Port{}, Moved: []Moved{},
			Down: []Link{}, Up: []Link{}, Loads: []Load{}, Lost: []Pair{}, Connected: []Pair{}, Changed: []Pair{},
		},
	}
	d.r.Pairs = Pairs{Total: b.total, Same: b.total}
	d.links(diff.Removed)
	d.edits(diff.Edits)
	d.dropUnreachableEntries()
	if len(after.Fabric.EndPorts) != len(was.Fabric.EndPorts) {
		d.lose()
	}
	delivered := true
	d.walker.Each(diff, func(c *trees.Change) bool {
		if dst := b.hostOf[c.LID]; dst >= 0 && (d.gone == nil || !d.gone[dst]) {
			delivered = d.change(c, dst)
		}
		return delivered
	})
	if !delivered {
		return nil
	}
	d.r.Changed = (&walked{m: b.m}).named(d.changed)
	d.loads()
	return d.r
}

func (d *delta) links(removed []fabric.Link) {
	f := d.forest.Tables.Fabric
	removed = slices.Clone(removed)
	slices.SortStableFunc(removed, func(x, y fabric.Link) int { return cmp.Compare(x.A, y.A) })
	for _, l := range slices.Compact(removed) {
		if f.Ports[l.A].Peer == l.B {
			d.r.Down = append(d.r.Down, Link{d.m.old.end(l.A), d.m.old.end(l.B)})
		}
	}
}

func (d *delta) edits(edits []fabric.Edit) {
	was := d.forest.Tables
	order := make([]uint64, len(edits))
	for i, e := range edits {
		order[i] = uint64(e.Switch)<<32 | uint64(e.LID)<<16 | uint64(e.Port)
	}
	slices.Sort(order)
	block, at := -1, fabric.SwitchIndex(fabric.None)
	for _, x := range order {
		e := fabric.Edit{Switch: fabric.SwitchIndex(x >> 32), LID: uint16(x >> 16), Port: uint8(x)}
		old := was.Port(e.Switch, e.LID)
		if old == e.Port || e.LID == 0 {
			continue
		}
		if e.Switch != at {
			at, block = e.Switch, -1
			d.r.Switches = append(d.r.Switches, Switch{
				Name: was.Fabric.NodeName(was.Fabric.Switches[at]), GUID: GUID(was.Fabric.SwitchNode(at).GUID),
				TopOld: was.Top[at], TopNew: d.now.Top[at],
			})
			d.r.Entries.Switches++
		}
		s := &d.r.Switches[len(d.r.Switches)-1]
		s.Changed++
		d.r.Entries.Changed++
		if b := int(e.LID) / fabric.BlockSize; b != block {
			block = b
			s.Blocks++
			d.r.Entries.Blocks++
		}
		d.entry(at, old, -1)
		d.entry(at, e.Port, 1)
	}
}

func (d *delta) entry(sw fabric.SwitchIndex, num uint8, n int) {
	if node := d.forest.Tables.Fabric.SwitchNode(sw); num > 0 && num <= node.NumPorts {
		d.entries[node.FirstPort+fabric.PortIndex(num)] += n
		d.touch(node.FirstPort + fabric.PortIndex(num))
	}
}

func (d *delta) touch(port fabric.PortIndex) {
	if !d.touched[port] {
		d.touched[port] = true
		d.ports = append(d.ports, port)
	}
}

// dropUnreachableEntries removes the entries of switches that are unreachable in the new state from the counts.
func (d *delta) dropUnreachableEntries() {
	was := d.forest.Tables
	for s := range was.Fabric.NumSwitches() {
		node := was.Fabric.SwitchNode(s)
		if !node.InSubnet || d.now.Fabric.SwitchNode(s).InSubnet {
			continue
		}
		for p := range node.Ports() {
			d.entries[p] = -d.Base.entries[p]
			d.touch(p)
		}
	}
}

// addPaths adds n to the number of paths of each of the ports, which form one path.
func (d *delta) addPaths(ports []uint32, n int64) {
	f := d.forest.Tables.Fabric
	for _, slot := range ports {
		port := f.Port(f.Switches[slot>>8], uint8(slot))
		d.paths[port] += n
		d.touch(port)
	}
}

// lose removes the hosts that are gone.
func (d *delta) lose() {
	was, now := d.forest.Tables.Fabric, d.now.Fabric
	for _, e := range was.EndPorts {
		if now.PortByGUID(was.Ports[e].GUID) == fabric.None {
			gone := d.m.old.named(e)
			gone.Unreachable = true
			d.r.Gone = append(d.r.Gone, gone)
		}
	}
	slices.SortStableFunc(d.r.Gone, func(x, y Port) int { return cmp.Compare(x.LID, y.LID) })
	d.gone = make([]bool, len(d.m.hosts))
	for i, h := range d.m.hosts {
		d.gone[i] = now.PortByGUID(was.Ports[h.old].GUID) == fabric.None
	}
	d.split()
	var cut []pair
	for dst := range d.m.hosts {
		cut = d.loseTo(int32(dst), cut)
	}
	d.r.Lost = (&walked{m: d.m}).named(cut)
}

// split divides each group into its remaining hosts and its gone hosts.
func (d *delta) split() {
	d.groups, d.groupOf, d.left = nil, make([]int32, len(d.m.hosts)), slices.Repeat([]int32{-1}, len(d.m.groups))
	for _, g := range d.m.groups {
		var parts [2][]int32
		for _, h := range g.hosts {
			i := 0
			if d.gone[h] {
				i = 1
			}
			parts[i] = append(parts[i], h)
		}
		for i, hosts := range parts {
			if len(hosts) > 0 {
				d.groups = append(d.groups, group{old: g.old, new: g.new, same: i == 0, hosts: hosts})
			}
		}
	}
	slices.SortStableFunc(d.groups, func(x, y group) int { return cmp.Compare(x.hosts[0], y.hosts[0]) })
	for i, g := range d.groups {
		for _, h := range g.hosts {
			d.groupOf[h] = int32(i)
		}
		if g.same {
			d.left[d.m.groupOf[g.hosts[0]]] = int32(i)
		}
	}
}

// loseTo counts the lost paths to one host, and appends examples to the list cut. If the host itself is gone, the paths
// from all hosts are lost, otherwise the paths from hosts that are gone.
func (d *delta) loseTo(dst int32, cut []pair) []pair {
	lid := d.m.old.lid(d.m.hosts[dst].old)
	for i := range d.groups {
		g := &d.groups[i]
		if g.same && !d.gone[dst] {
			continue
		}
		n := d.sources(int32(i), dst)
		if n == 0 {
			continue
		}
		d.r.Pairs.Same -= n
		d.r.Pairs.Lost += n
		ports, _ := d.walker.PathTo(lid, g.old)
		d.addPaths(ports, -n)
		cut = d.note(cut, g, dst)
	}
	return cut
}

func (d *delta) sources(group, dst int32) int64 {
	n := int64(len(d.groups[group].hosts))
	if d.groupOf[dst] == group {
		n--
	}
	return n
}

// note appends pairs to the list pairs until the list has the maximum number of examples.
func (d *delta) note(pairs []pair, g *group, dst int32) []pair {
	for _, src := range g.hosts {
		if len(pairs) >= d.examples {
			break
		}
		if src != dst {
			pairs = append(pairs, pair{src, dst})
		}
	}
	return pairs
}

// change counts the changed paths to a host. It reports whether all these paths arrive.
func (d *delta) change(c *trees.Change, dst int32) bool {
	to := walk.ToPort(d.m.hosts[dst].old)
	var named []int32
	for _, sw := range c.Switches {
		for _, g := range d.groupsAt[sw] {
			if d.left != nil {
				g = d.left[g]
			}
			if g < 0 {
				continue
			}
			n := d.sources(g, dst)
			if n == 0 {
				continue
			}
			ports, _ := c.OldPath(sw)
			d.old = append(d.old[:0], ports...)
			ports, end := c.NewPath(sw)
			if end != to {
				return false
			}
			if slices.Equal(d.old, ports) {
				continue
			}
			d.addPaths(d.old, -n)
			d.addPaths(ports, n)
			d.r.Pairs.Same -= n
			d.r.Pairs.Changed += n
			if len(d.changed) < d.examples {
				named = append(named, g)
			}
		}
	}
	slices.Sort(named)
	for _, g := range named {
		d.changed = d.note(d.changed, &d.groups[g], dst)
	}
	return true
}

// loads lists the ports whose number of entries or paths changes, and finds the links with most paths.
func (d *delta) loads() {
	// Each element packs the order of the change and the port. No fabric has 2^23 ports.
	const portBits = 23
	var all []uint64
	for _, p := range d.ports {
		if d.forest.Tables.Fabric.Ports[p].Linked() && (d.entries[p] != 0 || d.paths[p] != 0) {
			all = append(all, uint64(loadOrder(d.paths[p]))<<portBits|uint64(p))
		}
	}
	slices.Sort(all)
	d.r.Loads = make([]Load, len(all))
	for i, x := range all {
		d.r.Loads[i] = d.load(fabric.PortIndex(x & (1<<portBits - 1)))
	}
	if len(d.ranked) > 0 {
		l := d.load(d.ranked[0])
		d.r.WorstOld = &l
	}
	if p := d.worst(); p != fabric.None {
		l := d.load(p)
		d.r.WorstNew = &l
	}
}

func (d *delta) load(p fabric.PortIndex) Load {
	l := Load{
		From: d.ends[p], EntriesOld: d.Base.entries[p], EntriesNew: d.Base.entries[p] + d.entries[p],
		PathsOld: d.Base.paths[p], PathsNew: d.Base.paths[p] + d.paths[p],
	}
	if peer := d.forest.Tables.Fabric.Ports[p].Peer; peer != fabric.None {
		if d.ends[peer].Name == "" {
			end := d.m.old.end(peer)
			l.To = &end
		} else {
			l.To = &d.ends[peer]
		}
	}
	return l
}

// worst returns the port to another switch with most paths in the new state. If several ports have as many paths, it
// returns the lowest index.
func (d *delta) worst() fabric.PortIndex {
	worst, most := fabric.PortIndex(fabric.None), int64(0)
	better := func(p fabric.PortIndex) {
		if n := d.Base.paths[p] + d.paths[p]; n > most || n == most && n > 0 && p < worst {
			worst, most = p, n
		}
	}
	for _, p := range d.ports {
		if d.now.Fabric.PeerSwitch(p) != fabric.None {
			better(p)
		}
	}
	for _, p := range d.ranked {
		if !d.touched[p] {
			better(p)
			break
		}
	}
	return worst
}
