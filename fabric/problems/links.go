// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Links finds links below their width or speed: below what both ends are set to, where limits has that by
// port index, and else below nearly all links between devices of the same two kinds. Where settings keep a
// link below what both ends support and what nearly all its like have, that is said. O(ports).
func (r *Report) Links(f *fabric.Fabric, limits []fabric.LinkLimit) {
	like := likesOf(f)
	unknown := 0
	for _, l := range f.Links() {
		if !says(f, l) || r.unlikeEnds(f, l) {
			continue
		}
		var most fabric.LinkLimit
		if limits != nil {
			most = limits[l.A].Common(limits[l.B])
		}
		if most.Known() {
			r.against(f, l, most, like[deviceClass(f, l)])
			continue
		}
		unknown++
		r.amongLikes(f, l, like[deviceClass(f, l)])
	}
	if unknown > 0 {
		r.Skip("what the ends of links are set to", "", "the source does not say it of %d links; they were compared "+
			"with their like", unknown)
	}
}

// reports whether it is known how a link of the subnet runs.
func says(f *fabric.Fabric, l fabric.Link) bool {
	p := &f.Ports[l.A]
	return f.Nodes[p.Node].InSubnet && p.Width != 0 && p.Speed != fabric.SpeedUnknown
}

// unlikeEnds finds a link whose ends say that it runs at different widths, which no link does.
func (r *Report) unlikeEnds(f *fabric.Fabric, l fabric.Link) bool {
	narrow, wide := l.A, l.B
	if f.Ports[narrow].Width > f.Ports[wide].Width {
		narrow, wide = wide, narrow
	}
	n, w := f.Ports[narrow].Width, f.Ports[wide].Width
	if n == w || n == 0 {
		return false
	}
	r.Add(Narrow, PlaceOfPort(f, narrow), tryCable+f.PortName(narrow),
		"%s runs at %v, but %s at the other end of the link at %v", f.PortName(narrow), n, f.PortName(wide), w)
	return true
}

const (
	tryCable    = "reseat, then replace the cable; look at both ends: show counters "
	trySettings = "what is set at both ends (ibportstate), the firmware, the cable"
)

// against compares a link with what its ends allow.
func (r *Report) against(f *fabric.Fabric, l fabric.Link, most fabric.LinkLimit, like likes) {
	p := &f.Ports[l.A]
	at, name, peer := PlaceOfPort(f, l.A), f.PortName(l.A), f.PortName(l.B)
	switch {
	case p.Width < most.WidthEnabled:
		r.Add(Narrow, at, tryCable+name, "%s to %s runs at %v, both ends are set to %v", name, peer, p.Width,
			most.WidthEnabled)
	case most.WidthSupported > p.Width && like.width > p.Width:
		r.Add(Limited, at, trySettings, "%s to %s is set to %v, both ends support %v and nearly all like it have %v",
			name, peer, p.Width, most.WidthSupported, like.width)
	}
	switch {
	case p.Speed < most.SpeedEnabled:
		r.Add(Slow, at, tryCable+name, "%s to %s runs at %v, both ends are set to %v", name, peer, p.Speed,
			most.SpeedEnabled)
	case most.SpeedSupported > p.Speed && like.speed > p.Speed:
		r.Add(Limited, at, trySettings, "%s to %s is set to %v, both ends support %v and nearly all like it have %v",
			name, peer, p.Speed, most.SpeedSupported, like.speed)
	}
}

// amongLikes compares a link with others like it.
func (r *Report) amongLikes(f *fabric.Fabric, l fabric.Link, like likes) {
	p := &f.Ports[l.A]
	at, name, peer := PlaceOfPort(f, l.A), f.PortName(l.A), f.PortName(l.B)
	if p.Width < like.width {
		s := Warning
		if p.Width == 1 {
			s = Error
		}
		r.AddAs(s, Narrow, at, tryCable+name, "%s to %s is %v, nearly all links like it are %v", name, peer, p.Width,
			like.width)
	}
	if p.Speed < like.speed {
		r.Add(Slow, at, trySettings, "%s to %s is %v, nearly all links like it are %v", name, peer, p.Speed, like.speed)
	}
}

// manyWaiting is how many links that are up and not Active are one problem: the subnet is not brought up.
const manyWaiting = 8

// NotActive finds links that are up and not Active; many of them, or all there are, are one problem. O(ports).
func (r *Report) NotActive(f *fabric.Fabric) {
	var waiting []fabric.Link
	active, initial := 0, 0
	for _, l := range f.Links() {
		p, q := f.Ports[l.A].State, f.Ports[l.B].State
		switch {
		case !f.Discovered(l.A), p == mad.PortNoChange, q == mad.PortNoChange: // not read
		case p == mad.PortActive && q == mad.PortActive:
			active++
		default:
			waiting = append(waiting, l)
			if p == mad.PortInit && q == mad.PortInit {
				initial++
			}
		}
	}
	switch n := len(waiting); {
	case n > 1 && n == initial && (active == 0 || n > manyWaiting):
		r.Add(NotActive, PlaceOfPort(f, waiting[0].A), "start a subnet manager, or from here: route; write on; commit",
			"%d links are in Initialize, from %s on: they are cabled, and no subnet manager has brought them up", n,
			f.PortName(waiting[0].A))
	case n > manyWaiting:
		r.Add(NotActive, PlaceOfPort(f, waiting[0].A), "wait for the subnet manager, or look into its log: show sms",
			"%d links are not Active, from %s on, %d of them in Initialize: a subnet manager is bringing them up, or "+
				"has stopped half-way", n, f.PortName(waiting[0].A), initial)
	default:
		for _, l := range waiting {
			r.Add(NotActive, PlaceOfPort(f, l.A), "is there a subnet manager? show sms; its log",
				"%s is %v and %s is %v: no packets pass", f.PortName(l.A), f.Ports[l.A].State, f.PortName(l.B),
				f.Ports[l.B].State)
		}
	}
}

// NoLIDs finds end ports without a LID in a subnet in which others have one.
func (r *Report) NoLIDs(f *fabric.Fabric) {
	if f.MaxLID == 0 {
		return
	}
	for _, e := range f.EndPorts {
		if f.Ports[e].LID == 0 {
			r.Add(NoLID, PlaceOfPort(f, e), "is there a subnet manager? show sms; its log", "%s has no LID",
				f.PortName(e))
		}
	}
}

// device tells kinds of devices apart.
type device struct {
	kind   mad.NodeType
	vendor uint32
	id     uint16
	ports  uint8
}

// class is a kind of link, by the devices at its ends.
type class [2]device

func deviceOf(f *fabric.Fabric, port fabric.PortIndex) device {
	n := &f.Nodes[f.Ports[port].Node]
	d := device{n.Type, n.VendorID, n.DeviceID, 0}
	if n.IsSwitch() {
		d.ports = n.NumPorts
	}
	return d
}

func (d device) compare(e device) int {
	return cmp.Or(cmp.Compare(d.kind, e.kind), cmp.Compare(d.vendor, e.vendor), cmp.Compare(d.id, e.id),
		cmp.Compare(d.ports, e.ports))
}

func deviceClass(f *fabric.Fabric, l fabric.Link) class {
	a, b := deviceOf(f, l.A), deviceOf(f, l.B)
	if a.compare(b) > 0 {
		a, b = b, a
	}
	return class{a, b}
}

// likes are the least width and speed of nearly all links of a class, 0 where there are too few to say.
type likes struct {
	width fabric.Width
	speed fabric.Speed
}

// Nearly all are nine of ten, of no fewer than ten.
const (
	fewLinks  = 10
	nearlyAll = 0.9
)

// likesOf finds them for each class.
func likesOf(f *fabric.Fabric) map[class]likes {
	widths, speeds := map[class][]fabric.Width{}, map[class][]fabric.Speed{}
	for _, l := range f.Links() {
		if says(f, l) {
			c, p := deviceClass(f, l), &f.Ports[l.A]
			widths[c], speeds[c] = append(widths[c], p.Width), append(speeds[c], p.Speed)
		}
	}
	out := map[class]likes{}
	for c := range widths {
		out[c] = likes{nearly(widths[c]), nearly(speeds[c])}
	}
	return out
}

// nearly is the greatest value that nearly all have at least.
func nearly[T cmp.Ordered](all []T) (v T) {
	if len(all) < fewLinks {
		return v
	}
	slices.Sort(all)
	return all[int(float64(len(all))*(1-nearlyAll))]
}
