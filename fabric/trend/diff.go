// SPDX-License-Identifier: Apache-2.0

package trend

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
)

// Direction classifies a change as worse, better or neither.
type Direction uint8

// The directions, the worst first.
const (
	Worse Direction = iota
	Altered
	Better
)

func (d Direction) String() string { return [...]string{"worse", "changed", "better"}[d] }

// Change is a difference between two folders.
type Change struct {
	Direction
	What     string   // "link down", "firmware", the name of a counter or of a quantity
	Quantity Quantity // [NumQuantities] if the change is not one of a quantity of a port
	At       problems.Place
	Old, New string // escaped; "" for none
	Note     string // escaped; "" for none
}

// The smallest differences that [Diff] lists.
const (
	berFactor   = 10 // a decade
	degrees     = 5
	hotDegrees  = 10 // ufm_sdk_3.0, plugins/pdr_deterministic_plugin: D_TMAX
	decibels    = 1
	lowDecibels = 2 // Cable Validation Tool 1.9.1, Hierarchical Anomalies: differences of lanes
)

// differ collects the changes between two folders.
type differ struct {
	old, new *Folder
	limits   []Limit
	found    []Change
}

func (d *differ) add(dir Direction, what string, at problems.Place, old, now, note string, args ...any) {
	d.found = append(d.found, Change{dir, what, NumQuantities, at, old, now, fmt.Sprintf(note, args...)})
}

// Diff lists the changes from a folder to a later one: cabling, links, counters, bit error rates, temperatures, powers,
// modules, firmware, fans and power supplies. Nodes are matched by GUID, and ports by node GUID and number. The
// argument limits decides which values are bad. Values that one of the folders lacks are not compared. O(ports).
func Diff(old, now *Folder, limits []Limit) []Change {
	d := &differ{old: old, new: now, limits: limits}
	d.topology()
	for at := range old.Fabric.NumPorts() {
		k := counters.KeyOf(old.Fabric, at)
		if p := k.In(now.Fabric); p != fabric.None && old.Fabric.Ports[at].Num > 0 {
			d.health(p, old.Health.At(at), now.Health.At(p))
		}
	}
	d.counters()
	for n := range now.Fabric.NumNodes() {
		if m := old.Fabric.NodeByGUID(now.Fabric.Nodes[n].GUID); m != fabric.None {
			if a, b := old.Health.NodeAt(m), now.Health.NodeAt(n); a != nil && b != nil {
				d.node(problems.PlaceOfNode(now.Fabric, n), a, b)
			}
		}
	}
	return d.found
}

// topology adds the changes of nodes, links and ports. The links of nodes that were lost or added are not listed.
func (d *differ) topology() {
	moved := map[uint64]bool{} // the lost and the added nodes, which come first
	for _, c := range fabric.Changes(d.old.Fabric, d.new.Fabric) {
		dir, what, old, now := Altered, c.Kind.String(), c.From, c.To
		if moved[c.At.GUID] || moved[c.Peer.GUID] {
			continue
		}
		moved[c.At.GUID] = c.Kind == fabric.NodeGone || c.Kind == fabric.NodeNew
		switch c.Kind {
		case fabric.NodeGone, fabric.LinkDown:
			dir = Worse
		case fabric.NodeNew, fabric.LinkUp:
			dir = Better
		case fabric.WidthChanged, fabric.SpeedChanged, fabric.StateChanged:
			dir = d.linkDirection(c)
		}
		if c.Peer.GUID != 0 {
			old, now = c.Peer.Name, ""
			if c.Kind == fabric.LinkUp {
				old, now = now, old
			}
		}
		d.add(dir, what, problems.Place(c.At), old, now, "")
	}
}

// linkDirection classifies the change of a width, a speed or a state.
func (d *differ) linkDirection(c fabric.Change) Direction {
	k := counters.KeyOfEnd(c.At)
	a, b := k.In(d.old.Fabric), k.In(d.new.Fabric)
	if a == fabric.None || b == fabric.None {
		return Altered
	}
	was, is := &d.old.Fabric.Ports[a], &d.new.Fabric.Ports[b]
	order := 0
	switch c.Kind {
	case fabric.WidthChanged:
		order = int(is.Width) - int(was.Width)
	case fabric.SpeedChanged:
		order = int(is.Speed) - int(was.Speed)
	default:
		order = int(is.State) - int(was.State)
	}
	switch {
	case order < 0:
		return Worse
	case order > 0:
		return Better
	}
	return Altered
}

// health adds the changes of a port.
func (d *differ) health(at fabric.PortIndex, old, now *health.Port) {
	if old == nil || now == nil {
		return
	}
	place := problems.PlaceOfPort(d.new.Fabric, at)
	for q := RawBER; q <= SymbolBER; q++ {
		a, b := old.BER[q], now.BER[q]
		if !a.Known || !b.Known {
			continue
		}
		x, y := max(a.Value, leastBER), max(b.Value, leastBER)
		if x < y*berFactor && y < x*berFactor {
			continue
		}
		d.measured(q, at, place, now, x, y)
	}
	d.modes(place, old, now)
	a, b := old.Cable, now.Cable
	if a == nil || b == nil {
		return
	}
	if a.Serial != "" && b.Serial != "" && (a.Serial != b.Serial || a.Part != b.Part) {
		d.add(Altered, "module", place, fabric.Escape(words(a.Vendor, a.Part, a.Serial)),
			fabric.Escape(words(b.Vendor, b.Part, b.Serial)), "replaced")
		return // the other values are those of another module
	}
	if a.Firmware != b.Firmware && a.Firmware != "" && b.Firmware != "" {
		d.add(Altered, "module firmware", place, fabric.Escape(a.Firmware), fabric.Escape(b.Firmware), "")
	}
	if a.Measured && b.Measured && math.Abs(float64(a.Celsius-b.Celsius)) >= degrees {
		d.measured(Temperature, at, place, now, float64(a.Celsius), float64(b.Celsius))
	}
	if x, y := a.Weakest(), b.Weakest(); x.Known && y.Known && math.Abs(x.Value-y.Value) >= decibels {
		d.measured(RxPower, at, place, now, x.Value, y.Value)
	}
}

// words joins the texts that are not empty.
func words(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// measured adds the change of a measured quantity. It is for the worse if the value crosses its limit, or if it moves
// far towards the limit.
func (d *differ) measured(q Quantity, at fabric.PortIndex, place problems.Place, now *health.Port, x, y float64) {
	dir := Altered
	far := map[Quantity]float64{Temperature: hotDegrees, RxPower: lowDecibels}[q] // any decade of a bit error rate
	link := linkOf(d.new.Fabric.Ports[at].Speed, now)
	l, has := LimitOf(d.limits, q, &link)
	beyond := func(v float64) bool { return has && (q.Rising() && v >= l.Value || !q.Rising() && v <= l.Value) }
	rise := q.Scale(y) - q.Scale(x)
	if !q.Rising() {
		rise = -rise
	}
	switch {
	case beyond(y) && !beyond(x), rise >= far && rise > 0:
		dir = Worse
	case beyond(x) && !beyond(y), -rise >= far:
		dir = Better
	}
	note := ""
	if beyond(y) {
		note = "limit " + q.Text(l.Value)
	}
	d.add(dir, q.String(), place, q.Text(x), q.Text(y), "%s", note)
	d.found[len(d.found)-1].Quantity = q
}

// modes adds changes of error correction and retransmission.
func (d *differ) modes(place problems.Place, old, now *health.Port) {
	if a, b := old.FEC, now.FEC; a != b && a != health.Unknown && b != health.Unknown {
		d.add(Altered, "error correction", place, a.String(), b.String(), "")
	}
	if a, b := old.Retrans, now.Retrans; a != b && a != health.Unknown && b != health.Unknown {
		d.add(Altered, "retransmission", place, a.String(), b.String(), "")
	}
}

// counters adds the error counters that increased. A counter that decreased was cleared in between, so its increase is
// at least its value.
func (d *differ) counters() {
	if d.old.Counters == nil || d.new.Counters == nil {
		return
	}
	before := map[counters.Key]*counters.Port{}
	for i := range d.old.Counters.Ports {
		p := &d.old.Counters.Ports[i]
		before[counters.KeyOf(d.old.Counters.Fabric, p.Port)] = p
	}
	for i := range d.new.Counters.Ports {
		p := &d.new.Counters.Ports[i]
		a := before[counters.KeyOf(d.new.Counters.Fabric, p.Port)]
		if a == nil {
			continue
		}
		for k := range (counters.Faults & a.Has & p.Has).All() {
			x, y := a.Values[k], p.Values[k]
			if x == y {
				continue
			}
			increase, note := y-x, ""
			if y < x {
				increase, note = y, ", at least, the counter was cleared"
			}
			if p.Stopped.Has(k) {
				note = ", at least, the counter has its maximum"
			}
			if increase == 0 {
				continue
			}
			d.add(Worse, k.String(), problems.PlaceOfPort(d.new.Fabric, p.Port), fmt.Sprint(x), fmt.Sprint(y), "+%d%s",
				increase, note)
		}
	}
}

// node adds the changes of the hardware of a node.
func (d *differ) node(at problems.Place, old, now *health.Node) {
	text := func(what, a, b string) {
		if a != b && a != "" && b != "" {
			d.add(Altered, what, at, fabric.Escape(a), fabric.Escape(b), "")
		}
	}
	text("firmware", old.Firmware, now.Firmware)
	text("PSID", old.PSID, now.PSID)
	text("serial number", old.Serial, now.Serial)
	text("part number", old.Part, now.Part)
	if a, b := old.Hottest(), now.Hottest(); a.Known && b.Known && math.Abs(a.Value-b.Value) >= degrees {
		dir := Altered
		switch rise := b.Value - a.Value; {
		case rise >= hotDegrees:
			dir = Worse
		case -rise >= hotDegrees:
			dir = Better
		}
		d.add(dir, Temperature.String(), at, Temperature.Text(a.Value), Temperature.Text(b.Value), "")
	}
	faults := func(n *health.Node) (list []string) {
		for i := range n.Fans {
			if f := &n.Fans[i]; f.OutsideLimits() {
				list = append(list, fmt.Sprintf("fan %d", f.Index))
			}
		}
		for i := range n.Supplies {
			if fault := problems.SupplyFaultOf(&n.Supplies[i]); fault != "" {
				list = append(list, fmt.Sprintf("power supply %d %s", n.Supplies[i].Index, fault))
			}
		}
		return list
	}
	if len(old.Fans)+len(old.Supplies) == 0 || len(now.Fans)+len(now.Supplies) == 0 {
		return
	}
	was, is := faults(old), faults(now)
	a, b := strings.Join(was, ", "), strings.Join(is, ", ")
	if a == b {
		return
	}
	d.add(prose.When(len(is) < len(was), Better, Worse), "fans and supplies", at, cmp.Or(a, "ok"), cmp.Or(b, "ok"), "")
}
