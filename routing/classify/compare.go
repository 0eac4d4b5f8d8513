// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Difference is a property in which one of several subnets differs from most of the other subnets.
type Difference struct {
	// Subnet is the index of the subnet. Node and Port are a place in this subnet, or [fabric.None] for the whole
	// subnet.
	Subnet int
	Node   fabric.NodeIndex
	Port   fabric.PortIndex
	Kind   DifferenceKind
	What   string
}

// DifferenceKind is the property that differs.
type DifferenceKind string

// The kinds of differences.
const (
	DifferentHosts   DifferenceKind = "hosts"
	DifferentCabling DifferenceKind = "cabling"
	DifferentSpeed   DifferenceKind = "speed"
	DifferentSize    DifferenceKind = "size"
	DifferentTables  DifferenceKind = "tables"
)

// fact identifies a compared property, with names in the model: a host, the speed of a host, a port of a switch, the
// speed of that port, or the number of switches.
type fact struct {
	kind DifferenceKind
	host string
	port fabric.PortIndex
}

// Values of a fact that is neither a place nor a speed.
const (
	absent  = int64(-1 - iota) // the subnet has no such host or link
	unknown                    // it leads to a switch that the model does not have
)

// comparison compares several subnets with the subnet that was chosen as the model.
type comparison struct {
	all   []*Structure
	model int
	ends  []map[string]fabric.PortIndex // by subnet, the end ports of hosts by name and number
	to    [][]fabric.SwitchIndex        // by subnet and switch of the model, the corresponding switch
	from  [][]fabric.SwitchIndex        // by subnet and switch, the corresponding switch of the model
	facts map[fact][]int64
}

// Compare returns the differences of each subnet from most of the other subnets. The subnets may be rails of the same
// hosts, or a fabric and its copy. Hosts correspond by name, leaves by their hosts, other switches by the ports that
// lead to them. In a tie the value of the first subnet is the usual value. A forwarding table is nil if it is unknown.
// O(subnets x (ports + forwarding entries)).
func Compare(all []*Structure, tables []*fabric.Tables) []Difference {
	if len(all) < 2 {
		return nil
	}
	a := &comparison{all: all, facts: map[fact][]int64{}}
	for _, s := range all {
		a.ends = append(a.ends, endsByName(s))
	}
	a.chooseModel()
	for i := range all {
		a.match(i)
		a.gather(i)
	}
	return a.differences(a.compareTables(tables))
}

func endsByName(s *Structure) map[string]fabric.PortIndex {
	ends := map[string]fabric.PortIndex{}
	for _, h := range s.hosts {
		for n, at := range h.Adapters {
			key := h.Name
			if n > 0 {
				key = fmt.Sprintf("%s, port %d here", h.Name, n+1)
			}
			ends[key] = s.Adapters[at].End
		}
	}
	return ends
}

// leaves maps each leaf of one subnet to the switch of the other subnet that has most of the leaf's hosts. agree counts
// the hosts that are attached to the switch to which their leaf is mapped.
func (a *comparison) leaves(one, other int) (to []fabric.SwitchIndex, agree int) {
	f, g := a.all[one].Fabric, a.all[other].Fabric
	all := votes[fabric.SwitchIndex]{}
	for name, end := range a.ends[one] {
		there, ok := a.ends[other][name]
		if !ok {
			continue
		}
		x, _ := f.AttachedSwitch(end)
		y, _ := g.AttachedSwitch(there)
		if x == fabric.None || y == fabric.None {
			continue
		}
		all.add(x, y)
	}
	to = slices.Repeat([]fabric.SwitchIndex{fabric.None}, len(f.Switches))
	for x, by := range all {
		to[x] = mostVoted(by)
		agree += by[to[x]]
	}
	return to, agree
}

// votes counts, for each switch and each value, how many other switches or hosts suggest the value for the switch.
type votes[V comparable] map[fabric.SwitchIndex]map[V]int

func (v votes[V]) add(sw fabric.SwitchIndex, value V) {
	if v[sw] == nil {
		v[sw] = map[V]int{}
	}
	v[sw][value]++
}

// mostVoted returns the switch with the most votes. In a tie it returns the lowest index.
func mostVoted(votes map[fabric.SwitchIndex]int) fabric.SwitchIndex {
	var best fabric.SwitchIndex = fabric.None
	for sw, n := range votes {
		if best == fabric.None || n > votes[best] || n == votes[best] && sw < best {
			best = sw
		}
	}
	return best
}

// chooseModel chooses as the model the subnet that agrees best with the other subnets about which hosts share a leaf.
func (a *comparison) chooseModel() {
	best := -1
	for i := range a.all {
		sum := 0
		for j := range a.all {
			if i != j {
				_, agree := a.leaves(i, j)
				sum += agree
			}
		}
		if sum > best {
			a.model, best = i, sum
		}
	}
}

// match finds the switches of a subnet that correspond to the switches of the model. It first maps leaves by their
// hosts, and then the other switches by ports.
func (a *comparison) match(i int) {
	f, g := a.all[a.model].Fabric, a.all[i].Fabric
	to, _ := a.leaves(a.model, i)
	from := slices.Repeat([]fabric.SwitchIndex{fabric.None}, len(g.Switches))
	var found []fabric.SwitchIndex
	for x, y := range to {
		switch {
		case y == fabric.None:
		case from[y] != fabric.None:
			to[x] = fabric.None
		default:
			from[y] = fabric.SwitchIndex(x)
			found = append(found, fabric.SwitchIndex(x))
		}
	}
	for len(found) > 0 {
		all := votes[fabric.SwitchIndex]{}
		for _, x := range found {
			n, there := f.SwitchNode(x), g.Switches[to[x]]
			for num := 1; num <= int(n.NumPorts); num++ {
				p, q := f.PortAt(f.Switches[x], num), g.PortAt(there, num)
				if q == fabric.None {
					continue
				}
				x2, y2 := f.PeerSwitch(p), g.PeerSwitch(q)
				if x2 == fabric.None || y2 == fabric.None || to[x2] != fabric.None || from[y2] != fabric.None {
					continue
				}
				all.add(x2, y2)
			}
		}
		found = found[:0]
		for x := range f.NumSwitches() {
			if by := all[x]; by != nil {
				if y := mostVoted(by); from[y] == fabric.None {
					to[x], from[y] = y, x
					found = append(found, x)
				}
			}
		}
	}
	a.to, a.from = append(a.to, to), append(a.from, from)
}

// gather records the facts of subnet i, with names in the model.
func (a *comparison) gather(i int) {
	s, f, g := a.all[i], a.all[a.model].Fabric, a.all[i].Fabric
	set := func(k fact, v int64) {
		if a.facts[k] == nil {
			a.facts[k] = slices.Repeat([]int64{absent}, len(a.all))
		}
		a.facts[k][i] = v
	}
	set(fact{kind: DifferentSize}, int64(s.Nodes.Switches))
	for name, end := range a.ends[i] {
		sw, _ := g.AttachedSwitch(end)
		at := unknown
		if sw != fabric.None && a.from[i][sw] != fabric.None {
			at = int64(a.from[i][sw])
		}
		set(fact{kind: DifferentHosts, host: name}, at)
		set(fact{kind: DifferentSpeed, host: name}, speedOf(g, end))
	}
	for x, y := range a.to[i] {
		if y == fabric.None {
			continue
		}
		for num := 1; num <= int(f.SwitchNode(fabric.SwitchIndex(x)).NumPorts); num++ {
			p, q := f.PortAt(f.Switches[x], num), g.PortAt(g.Switches[y], num)
			if q == fabric.None {
				continue
			}
			k := fact{kind: DifferentCabling, port: p}
			peer := g.PeerSwitch(q)
			switch {
			case peer == fabric.None && g.Ports[q].Linked(): // hosts are compared by name
				continue
			case peer == fabric.None:
				set(k, absent)
				continue
			case a.from[i][peer] == fabric.None:
				set(k, unknown)
			default:
				set(k, int64(a.from[i][peer])<<8|int64(g.Ports[g.Ports[q].Peer].Num))
			}
			set(fact{kind: DifferentSpeed, port: p}, speedOf(g, q))
		}
	}
}

func speedOf(f *fabric.Fabric, p fabric.PortIndex) int64 {
	return int64(f.Ports[p].Width)<<8 | int64(f.Ports[p].Speed)
}

func speedText(v int64) string { return fmt.Sprintf("%v%v", fabric.Width(v>>8), fabric.Speed(v&0xff)) }

// Differences of one kind are summarized instead of listed if there are at least leastNamed, and more than 1 in
// mostNamedOf properties differ.
const mostNamedOf, leastNamed = 4, 8

// differences appends to the slice out the facts that differ from the usual facts. It sorts all differences by subnet,
// kind and text.
func (a *comparison) differences(out []Difference) []Difference {
	out = append(out, a.missingSwitches()...)
	for k, values := range a.facts {
		usual := usualOf(values, k)
		for i, v := range values {
			if d, ok := a.difference(k, i, v, usual, values); ok {
				out = append(out, d)
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.Subnet, y.Subnet), cmp.Compare(kindOrder(x.Kind), kindOrder(y.Kind)),
			cmp.Compare(x.What, y.What))
	})
	var few []Difference
	for len(out) > 0 {
		n := 1
		for n < len(out) && out[n].Subnet == out[0].Subnet && out[n].Kind == out[0].Kind {
			n++
		}
		few = append(few, a.summarize(out[:n])...)
		out = out[n:]
	}
	return few
}

// summarize returns the differences of one kind in one subnet. If there are very many, it returns a single difference
// with their number.
func (a *comparison) summarize(all []Difference) []Difference {
	i, n := all[0].Subnet, len(all)
	hosts, links := len(a.ends[i]), len(a.all[i].Fabric.Links())
	text, of := "", 0
	switch all[0].Kind {
	case DifferentHosts:
		of, text = max(hosts, len(a.ends[a.model])), prose.Verb(n, "host", "is", "are")+" missing here or in the others"
	case DifferentCabling:
		of = links - hosts
		text = fmt.Sprintf("%s of %s between switches lead elsewhere than on most", prose.Thousands(n),
			prose.Count(of, "link"))
	case DifferentSpeed:
		of = links
		text = fmt.Sprintf("%s of %s run at another speed than on most: %s", prose.Thousands(n),
			prose.Count(links, "link"), all[0].What)
	default:
		return all
	}
	if n < leastNamed || mostNamedOf*n <= of {
		return all
	}
	return []Difference{{i, fabric.None, fabric.None, all[0].Kind, text}}
}

// missingSwitches returns a difference for each switch of the model that a subnet lacks and most subnets have.
func (a *comparison) missingSwitches() (out []Difference) {
	f := a.all[a.model].Fabric
	for x := range f.NumSwitches() {
		var without []int
		for i := range a.all {
			if a.to[i][x] == fabric.None {
				without = append(without, i)
			}
		}
		if 2*len(without) >= len(a.all) {
			continue
		}
		for _, i := range without {
			out = append(out, Difference{i, fabric.None, fabric.None, DifferentSize,
				fmt.Sprintf("has no switch in the place of %s of the others", f.NodeName(f.Switches[x]))})
		}
	}
	return out
}

func kindOrder(k DifferenceKind) int {
	return slices.Index([]DifferenceKind{DifferentSize, DifferentHosts, DifferentCabling, DifferentSpeed,
		DifferentTables}, k)
}

// usualOf returns the value that most subnets have. For a speed it considers only subnets in which the port has a link.
func usualOf(values []int64, k fact) int64 {
	n := map[int64]int{}
	usual := values[0]
	for _, v := range values {
		if k.kind == DifferentSpeed && v == absent {
			continue
		}
		n[v]++
	}
	for _, v := range values {
		if n[v] > n[usual] {
			usual = v
		}
	}
	return usual
}

// difference returns the difference of a value from the usual value. It returns false if the values are equal or the
// other end of the link reports the difference.
func (a *comparison) difference(k fact, i int, v, usual int64, values []int64) (Difference, bool) {
	d := Difference{Subnet: i, Node: fabric.None, Port: fabric.None, Kind: k.kind}
	if v == usual || k.kind == DifferentSpeed && v == absent {
		return d, false
	}
	f := a.all[i].Fabric
	switch {
	case k.kind == DifferentSize:
		d.What = fmt.Sprintf("has %s, most have %d", prose.Count(int(v), "switch"), usual)
	case k.host != "":
		d.Port = fabric.None
		if end, ok := a.ends[i][k.host]; ok {
			d.Port, d.Node = end, f.Ports[end].Node
		}
		d.What = a.hostText(k, i, v, usual, values)
	default:
		model := a.all[a.model].Fabric
		sw := model.Nodes[model.Ports[k.port].Node].Switch
		if sw = a.to[i][sw]; sw == fabric.None {
			return d, false
		}
		d.Node = f.Switches[sw]
		if d.Port = f.Port(d.Node, model.Ports[k.port].Num); d.Port == fabric.None {
			return d, false
		}
		if peer := f.Ports[d.Port].Peer; v >= 0 && peer != fabric.None && peer < d.Port &&
			a.reportedAtPeer(k, i, peer) {
			return d, false // the other end reports it
		}
		if k.kind == DifferentSpeed {
			d.What = fmt.Sprintf("%s -- %s runs %s, %s on most", f.PortName(d.Port), f.PortName(f.Ports[d.Port].Peer),
				speedText(v), speedText(usual))
		} else if d.What = a.linkText(d.Port, i, v, usual); d.What == "" {
			return d, false
		}
	}
	return d, true
}

// reportedAtPeer reports whether the other end of a link is compared as well and differs there.
func (a *comparison) reportedAtPeer(k fact, i int, peer fabric.PortIndex) bool {
	f, model := a.all[i].Fabric, a.all[a.model].Fabric
	sw := f.Nodes[f.Ports[peer].Node].Switch
	if sw = a.from[i][sw]; sw == fabric.None {
		return false
	}
	values := a.facts[fact{kind: k.kind, port: model.Port(model.Switches[sw], f.Ports[peer].Num)}]
	return values != nil && values[i] != usualOf(values, k)
}

func (a *comparison) hostText(k fact, i int, v, usual int64, values []int64) string {
	f := a.all[i].Fabric
	name := fabric.Escape(k.host)
	having := 0
	for _, v := range values {
		if v != absent {
			having++
		}
	}
	switch {
	case k.kind == DifferentSpeed:
		return fmt.Sprintf("%s runs %s, %s on most", name, speedText(v), speedText(usual))
	case v == absent:
		return fmt.Sprintf("%s is missing, %s", name,
			prose.When(having == 1, "another has it", fmt.Sprintf("%d others have it", having)))
	case usual == absent:
		return fmt.Sprintf("%s is in %d of %d subnets only", name, having, len(values))
	}
	sw, num := f.AttachedSwitch(a.ends[i][k.host])
	text := fmt.Sprintf("%s is on %s/%d", name, f.NodeName(f.Switches[sw]), num)
	if usual >= 0 && a.to[i][usual] != fabric.None {
		return text + fmt.Sprintf(", by most others it would be on %s", f.NodeName(f.Switches[a.to[i][usual]]))
	}
	return text + ", unlike on most others"
}

// linkText describes where a port of a switch leads, and where the same port leads in most other subnets. It returns ""
// if the other end of the link reports the difference.
func (a *comparison) linkText(p fabric.PortIndex, i int, v, usual int64) string {
	f := a.all[i].Fabric
	there := "elsewhere"
	var far fabric.PortIndex = fabric.None
	if usual >= 0 {
		if sw := a.to[i][usual>>8]; sw != fabric.None {
			if far = f.Port(f.Switches[sw], uint8(usual)); far != fabric.None {
				there = f.PortName(far)
			}
		}
	}
	switch {
	case v == absent && far == fabric.None && usual >= 0,
		v == absent && far != fabric.None && far < p && f.PeerSwitch(far) == fabric.None:
		return "" // the switch is missing, or the other end reports it
	case v == absent:
		return fmt.Sprintf("%s has no link, on most others it leads to %s", f.PortName(p), there)
	case usual == absent:
		return fmt.Sprintf("%s leads to %s, on most others it has no link", f.PortName(p), f.PortName(f.Ports[p].Peer))
	}
	return fmt.Sprintf("%s leads to %s, on most others to %s", f.PortName(p), f.PortName(f.Ports[p].Peer), there)
}

// Values of an entry that is no port.
const (
	noEntry   = -1 - iota // the subnet has no such switch or destination
	notInRead             // the table of the switch was not read
)

// modelTables holds the forwarding tables of a subnet, with names in the model. Rows are switches. Columns are hosts
// (by name) and switches.
type modelTables struct {
	tables *fabric.Tables
	rows   []fabric.SwitchIndex
	lids   [][]uint16 // by column, the LIDs of the destination
}

func (a *comparison) modelTablesOf(i int, t *fabric.Tables) modelTables {
	g := t.Fabric
	all := modelTables{tables: t, rows: a.to[i]}
	add := func(end fabric.PortIndex) {
		var lids []uint16
		if base := g.LIDOf(end); base != 0 {
			for k := range uint16(1) << g.Ports[end].LMC {
				lids = append(lids, base+k)
			}
		}
		all.lids = append(all.lids, lids)
	}
	for _, name := range slices.Sorted(maps.Keys(a.ends[a.model])) {
		if end, ok := a.ends[i][name]; ok {
			add(end)
		} else {
			all.lids = append(all.lids, nil)
		}
	}
	for _, sw := range a.to[i] {
		if sw == fabric.None {
			all.lids = append(all.lids, nil)
		} else {
			add(g.SwitchNode(sw).FirstPort)
		}
	}
	return all
}

// entry returns the port by which a switch forwards to a LID of a destination. The argument at is the position of the
// LID among the LIDs of the destination.
func (t *modelTables) entry(row, column, at int) int {
	switch sw := t.rows[row]; {
	case sw == fabric.None || at >= len(t.lids[column]):
		return noEntry
	case !t.tables.Known[sw]:
		return notInRead
	default:
		return int(t.tables.Port(sw, t.lids[column][at]))
	}
}

// sum returns a hash of the tables. Equal tables have equal hashes.
func (t *modelTables) sum() uint64 {
	sum := uint64(14695981039346656037) // FNV-1a
	for row := range t.rows {
		for column, lids := range t.lids {
			for at := range max(1, len(lids)) {
				sum = (sum ^ uint64(t.entry(row, column, at)+2)) * 1099511628211
			}
		}
	}
	return sum
}

// compare counts the entries that both tables have, and how many of these entries differ. An entry to a LID also
// differs if only one of the two subnets assigns this LID to the destination.
func (t *modelTables) compare(other *modelTables) (all, differ int) {
	for row := range t.rows {
		for column := range t.lids {
			n, m := len(t.lids[column]), len(other.lids[column])
			if n == 0 || m == 0 {
				continue
			}
			for at := range max(n, m) {
				x, y := t.entry(row, column, at), other.entry(row, column, at)
				if t.rows[row] == fabric.None || other.rows[row] == fabric.None || x == notInRead || y == notInRead {
					continue
				}
				if all++; x != y {
					differ++
				}
			}
		}
	}
	return all, differ
}

// compareTables compares each subnet's forwarding tables with the most frequent tables. Unknown tables are nil.
// O(subnets x switches x LIDs).
func (a *comparison) compareTables(tables []*fabric.Tables) (out []Difference) {
	add := func(i int, format string, args ...any) {
		out = append(out, Difference{i, fabric.None, fabric.None, DifferentTables, fmt.Sprintf(format, args...)})
	}
	of := make([]modelTables, len(tables))
	sums, votes := make([]uint64, len(tables)), map[uint64]int{}
	usual, having := -1, 0
	for i, t := range tables {
		if t == nil {
			continue
		}
		having++
		of[i] = a.modelTablesOf(i, t)
		sums[i] = of[i].sum()
		votes[sums[i]]++
	}
	for i, t := range tables {
		if t != nil && (usual < 0 || votes[sums[i]] > votes[sums[usual]]) {
			usual = i
		}
	}
	for i, t := range tables {
		switch {
		case having == 0:
		case t == nil:
			add(i, "no forwarding tables are known, %s them",
				prose.When(having == 1, "another has", fmt.Sprintf("%d others have", having)))
		default:
			if n := len(t.NotRead()); n > 0 {
				add(i, "the forwarding tables of %s were not read", prose.Count(n, "switch"))
			}
			if sums[i] == sums[usual] {
				continue
			}
			if all, differ := of[i].compare(&of[usual]); differ > 0 {
				add(i, "%s of %s lead elsewhere than on most", prose.Thousands(differ),
					prose.Count(all, "forwarding entry"))
			}
		}
	}
	return out
}
