// SPDX-License-Identifier: Apache-2.0

package classify

import (
	"cmp"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Difference is what one of several subnets has otherwise than those that should be like it.
type Difference struct {
	// Subnet is the subnet, Node and Port where in it, [fabric.None] for nowhere.
	Subnet int
	Node   fabric.NodeIndex
	Port   fabric.PortIndex
	Kind   DifferenceKind
	What   string
}

// DifferenceKind says what differs.
type DifferenceKind string

// The kinds of differences.
const (
	DifferentHosts   DifferenceKind = "hosts"
	DifferentCabling DifferenceKind = "cabling"
	DifferentSpeed   DifferenceKind = "speed"
	DifferentSize    DifferenceKind = "size"
	DifferentTables  DifferenceKind = "tables"
)

// fact is what is compared, in terms of the model: a host, a host's speed, a port of a switch, its speed, or the
// switches.
type fact struct {
	kind DifferenceKind
	host string
	port fabric.PortIndex
}

// What a value says where there is nothing to be compared.
const (
	absent  = int64(-1 - iota) // no such host, no link
	unknown                    // it leads to what the model has not
)

// alike compares subnets with one of them, the model.
type alike struct {
	all   []*Structure
	model int
	ends  []map[string]fabric.PortIndex // the ports of hosts by name and number among those of the host
	to    [][]fabric.SwitchIndex        // by subnet and switch of the model, that in its place
	from  [][]fabric.SwitchIndex        // by subnet and switch, that of the model
	facts map[fact][]int64
}

// Compare says what each of several subnets has otherwise than most of them: rails of the same hosts, or a fabric and
// its copy. Hosts are the same by their names, leaves by the hosts on them, the other switches by the ports that lead
// to them. Where as many have one thing as the other, that of the first counts. tables are their forwarding tables, nil
// where none are known. O(subnets x (ports + forwarding entries)).
func Compare(all []*Structure, tables []*fabric.Tables) []Difference {
	if len(all) < 2 {
		return nil
	}
	a := &alike{all: all, facts: map[fact][]int64{}}
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

// leaves are by leaf of one subnet the switch of another on which most of its hosts are, and how many of all are so.
func (a *alike) leaves(one, other int) (to []fabric.SwitchIndex, agree int) {
	f, g := a.all[one].Fabric, a.all[other].Fabric
	votes := make([]map[fabric.SwitchIndex]int, len(f.Switches))
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
		if votes[x] == nil {
			votes[x] = map[fabric.SwitchIndex]int{}
		}
		votes[x][y]++
	}
	to = slices.Repeat([]fabric.SwitchIndex{fabric.None}, len(f.Switches))
	for x, by := range votes {
		if len(by) > 0 {
			to[x] = mostVoted(by)
			agree += by[to[x]]
		}
	}
	return to, agree
}

// mostVoted is what most voted for, the lowest of several.
func mostVoted(votes map[fabric.SwitchIndex]int) fabric.SwitchIndex {
	var best fabric.SwitchIndex = fabric.None
	for sw, n := range votes {
		if best == fabric.None || n > votes[best] || n == votes[best] && sw < best {
			best = sw
		}
	}
	return best
}

// chooseModel takes the subnet whose hosts are on the same leaves in the most others.
func (a *alike) chooseModel() {
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

// match finds the switches of a subnet that are in the places of the model's: leaves by hosts, and from there on by
// ports.
func (a *alike) match(i int) {
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
		votes := map[fabric.SwitchIndex]map[fabric.SwitchIndex]int{}
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
				if votes[x2] == nil {
					votes[x2] = map[fabric.SwitchIndex]int{}
				}
				votes[x2][y2]++
			}
		}
		found = found[:0]
		for x := range f.NumSwitches() {
			if by := votes[x]; by != nil {
				if y := mostVoted(by); from[y] == fabric.None {
					to[x], from[y] = y, x
					found = append(found, x)
				}
			}
		}
	}
	a.to, a.from = append(a.to, to), append(a.from, from)
}

// gather notes what a subnet has, in terms of the model.
func (a *alike) gather(i int) {
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
			case peer == fabric.None && g.Ports[q].Linked(): // hosts are compared by themselves
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

// Beyond this share of what there is, one in so many, and from so many on, what differs is not named one by one.
const mostNamedOf, leastNamed = 4, 8

// differences adds the facts that are not as most have them, and sorts all by subnet, kind and name.
func (a *alike) differences(out []Difference) []Difference {
	out = append(out, a.lacking()...)
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
		few = append(few, a.inShort(out[:n])...)
		out = out[n:]
	}
	return few
}

// inShort is the differences of a subnet of one kind, or one in their place where they are very many.
func (a *alike) inShort(all []Difference) []Difference {
	i, n := all[0].Subnet, len(all)
	hosts, links := len(a.ends[i]), len(a.all[i].Fabric.Links())
	text, of := "", 0
	switch all[0].Kind {
	case DifferentHosts:
		of, text = max(hosts, len(a.ends[a.model])), fmt.Sprintf("%d hosts are missing, elsewhere or here alone", n)
	case DifferentCabling:
		of, text = links-hosts, fmt.Sprintf("%d of %d links between switches lead elsewhere than on most", n,
			links-hosts)
	case DifferentSpeed:
		of, text = links, fmt.Sprintf("%d of %s run at another speed than on most: %s", n, prose.Count(links, "link"),
			all[0].What)
	default:
		return all
	}
	if n < leastNamed || mostNamedOf*n <= of {
		return all
	}
	return []Difference{{i, fabric.None, fabric.None, all[0].Kind, text}}
}

// lacking are the switches of which most subnets have their like, and one has not.
func (a *alike) lacking() (out []Difference) {
	f := a.all[a.model].Fabric
	for x := range f.NumSwitches() {
		var without []int
		for i := range a.all {
			if a.to[i][x] == fabric.None {
				without = append(without, i)
			}
		}
		for _, i := range without {
			if 2*len(without) < len(a.all) {
				out = append(out, Difference{
					i, fabric.None, fabric.None, DifferentSize,
					fmt.Sprintf("has no switch in the place of %s of the others", f.NodeName(f.Switches[x])),
				})
			}
		}
	}
	return out
}

func kindOrder(k DifferenceKind) int {
	return slices.Index([]DifferenceKind{DifferentSize, DifferentHosts, DifferentCabling, DifferentSpeed,
		DifferentTables}, k)
}

// usualOf is the value that most subnets have. A speed counts only where there is a link.
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

// difference is what a subnet has otherwise than usual.
func (a *alike) difference(k fact, i int, v, usual int64, values []int64) (Difference, bool) {
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
		if peer := f.Ports[d.Port].Peer; v >= 0 && peer != fabric.None && peer < d.Port && a.seen(k, i, peer) {
			return d, false // it is said of the other end
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

// seen reports whether the other end of a link is compared too, and is not as most have it.
func (a *alike) seen(k fact, i int, peer fabric.PortIndex) bool {
	f, model := a.all[i].Fabric, a.all[a.model].Fabric
	sw := f.Nodes[f.Ports[peer].Node].Switch
	if sw = a.from[i][sw]; sw == fabric.None {
		return false
	}
	values := a.facts[fact{kind: k.kind, port: model.Port(model.Switches[sw], f.Ports[peer].Num)}]
	return values != nil && values[i] != usualOf(values, k)
}

func (a *alike) hostText(k fact, i int, v, usual int64, values []int64) string {
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
	return text + ", which most others do not have so"
}

// linkText is where a port of a switch leads and where by the others it would, "" where the other end says so.
func (a *alike) linkText(p fabric.PortIndex, i int, v, usual int64) string {
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
	case v == absent && far == fabric.None && usual >= 0, v == absent && far != fabric.None && far < p &&
		f.PeerSwitch(far) == fabric.None:
		return "" // the switch is missing, or the other end says it
	case v == absent:
		return fmt.Sprintf("%s has no link, on most others it leads to %s", f.PortName(p), there)
	case usual == absent:
		return fmt.Sprintf("%s leads to %s, on most others it has no link", f.PortName(p), f.PortName(f.Ports[p].Peer))
	}
	return fmt.Sprintf("%s leads to %s, on most others to %s", f.PortName(p), f.PortName(f.Ports[p].Peer), there)
}
