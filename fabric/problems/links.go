// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"cmp"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Links reports links that run below their possible width or speed. The possible width and speed are those enabled at
// both ends, which limits contains by port index. If they are unknown, a link is compared with the links between the
// same two kinds of devices: the possible values are those that nearly all such links reach.
//
// A link is reported as Limited if its settings allow less than both ends support and less than nearly all similar
// links have. O(ports).
func (r *Report) Links(f *fabric.Fabric, limits []fabric.LinkLimit) {
	similar := typicalOf(f)
	unknown := 0
	for _, l := range f.Links() {
		if !hasRate(f, l) || r.endsDiffer(f, l) {
			continue
		}
		var most fabric.LinkLimit
		if limits != nil {
			most = limits[l.A].Common(limits[l.B])
		}
		if most.Known() {
			r.compareWithLimits(f, l, most, similar[deviceClass(f, l)])
			continue
		}
		unknown++
		r.compareWithSimilar(f, l, similar[deviceClass(f, l)])
	}
	if unknown > 0 {
		r.Skip("widths and speeds enabled at the ends of links", "", "the source lacks them for %s; these were "+
			"compared with similar links", prose.Count(unknown, "link"))
	}
}

// hasRate reports whether the link is in the subnet and its width and speed are known.
func hasRate(f *fabric.Fabric, l fabric.Link) bool {
	p := &f.Ports[l.A]
	return f.Nodes[p.Node].InSubnet && p.Width != 0 && p.Speed != fabric.SpeedUnknown
}

// endsDiffer reports a link whose two ends have different widths, which is impossible for a working link. It returns
// true if it reported the link.
func (r *Report) endsDiffer(f *fabric.Fabric, l fabric.Link) bool {
	narrow, wide := l.A, l.B
	if f.Ports[narrow].Width > f.Ports[wide].Width {
		narrow, wide = wide, narrow
	}
	n, w := f.Ports[narrow].Width, f.Ports[wide].Width
	if n == w || n == 0 {
		return false
	}
	r.Add(Narrow, PlaceOfPort(f, narrow), tryCable(f, narrow),
		"%s runs at %v, but %s at the other end of the link at %v", f.PortName(narrow), n, f.PortName(wide), w)
	return true
}

const trySettings = "the settings of both ends (ibportstate), the firmware, the cable"

// tryCable returns the hint for a link with a faulty cable.
func tryCable(f *fabric.Fabric, port fabric.PortIndex) string {
	return "reseat, then replace the cable; look at both ends: show counters " + places.HintPort(f, port)
}

// compareWithLimits compares the width and speed of a link with the limits of both ends.
func (r *Report) compareWithLimits(f *fabric.Fabric, l fabric.Link, most fabric.LinkLimit, similar typical) {
	p := &f.Ports[l.A]
	at, name, peer := PlaceOfPort(f, l.A), f.PortName(l.A), f.PortName(l.B)
	switch {
	case p.Width < most.WidthEnabled:
		r.Add(Narrow, at, tryCable(f, l.A), "%s to %s runs at %v, both ends are set to %v", name, peer, p.Width,
			most.WidthEnabled)
	case most.WidthSupported > p.Width && similar.width > p.Width:
		r.Add(Limited, at, trySettings, "%s to %s is set to %v, both ends support %v and nearly all similar links "+
			"have %v",
			name, peer, p.Width, most.WidthSupported, similar.width)
	}
	switch {
	case p.Speed < most.SpeedEnabled:
		r.Add(Slow, at, tryCable(f, l.A), "%s to %s runs at %v, both ends are set to %v", name, peer, p.Speed,
			most.SpeedEnabled)
	case most.SpeedSupported > p.Speed && similar.speed > p.Speed:
		r.Add(Limited, at, trySettings, "%s to %s is set to %v, both ends support %v and nearly all similar links "+
			"have %v",
			name, peer, p.Speed, most.SpeedSupported, similar.speed)
	}
}

// compareWithSimilar compares a link with the links between the same kinds of devices.
func (r *Report) compareWithSimilar(f *fabric.Fabric, l fabric.Link, similar typical) {
	p := &f.Ports[l.A]
	at, name, peer := PlaceOfPort(f, l.A), f.PortName(l.A), f.PortName(l.B)
	if p.Width < similar.width {
		s := Warning
		if p.Width == 1 {
			s = Error
		}
		r.AddAs(s, Narrow, at, tryCable(f, l.A), "%s to %s is %v, nearly all similar links are %v", name, peer,
			p.Width, similar.width)
	}
	if p.Speed < similar.speed {
		r.Add(Slow, at, trySettings, "%s to %s is %v, nearly all similar links are %v", name, peer, p.Speed,
			similar.speed)
	}
}

// manyWaiting is the number of links that are up but not Active above which they are reported as a single problem: the
// subnet is not initialized.
const manyWaiting = 8

// NotActive reports links that are up but not Active. If there are many, or if they are all links, it reports a single
// problem. O(ports).
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
		r.Add(NotActive, PlaceOfPort(f, waiting[0].A), "start a subnet manager, or use: route; write on; commit",
			"%s are in Initialize, the first at %s: they are cabled, and no subnet manager has initialized them",
			prose.Count(n, "link"), f.PortName(waiting[0].A))
	case n > manyWaiting:
		r.Add(NotActive, PlaceOfPort(f, waiting[0].A), "wait for the subnet manager, or read its log: show sms",
			"%s are not Active, the first at %s, %s of them in Initialize: a subnet manager is initializing "+
				"them, or has stopped", prose.Count(n, "link"), f.PortName(waiting[0].A), prose.Thousands(initial))
	default:
		for _, l := range waiting {
			r.Add(NotActive, PlaceOfPort(f, l.A), "is there a subnet manager? show sms; its log",
				"%s is %v and %s is %v: no packets pass", f.PortName(l.A), f.Ports[l.A].State, f.PortName(l.B),
				f.Ports[l.B].State)
		}
	}
}

// NoLIDs reports the end ports without a LID as a single problem, provided that other end ports have a LID.
func (r *Report) NoLIDs(f *fabric.Fabric) {
	if f.MaxLID == 0 {
		return
	}
	var without []fabric.PortIndex
	for _, e := range f.EndPorts {
		if f.Ports[e].LID == 0 {
			without = append(without, e)
		}
	}
	const try, named = "is there a subnet manager? show sms; its log", 5
	switch {
	case len(without) == 1:
		r.Add(NoLID, PlaceOfPort(f, without[0]), try, "%s has no LID", f.PortName(without[0]))
	case len(without) > 1:
		r.Add(NoLID, WholeSubnet, try, "%s: %s", prose.Verb(len(without), "end port", "has no LID", "have no LID"),
			prose.List(prose.Words(without, f.PortName), named))
	}
}

// device is a kind of device.
type device struct {
	kind   mad.NodeType
	vendor uint32
	id     uint16
	ports  uint8
}

// class is a kind of link. It consists of the kinds of devices at the two ends.
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

// typical holds the width and speed that nearly all links of a class reach. The values are 0 if the class has too few
// links.
type typical struct {
	width fabric.Width
	speed fabric.Speed
}

// "Nearly all" means nine of ten links, if there are at least ten.
const (
	fewLinks  = 10
	nearlyAll = 0.9
)

// typicalOf returns them by class.
func typicalOf(f *fabric.Fabric) map[class]typical {
	widths, speeds := map[class][]fabric.Width{}, map[class][]fabric.Speed{}
	for _, l := range f.Links() {
		if hasRate(f, l) {
			c, p := deviceClass(f, l), &f.Ports[l.A]
			widths[c], speeds[c] = append(widths[c], p.Width), append(speeds[c], p.Speed)
		}
	}
	out := map[class]typical{}
	for c := range widths {
		out[c] = typical{nearly(widths[c]), nearly(speeds[c])}
	}
	return out
}

// nearly returns the greatest value that nearly all elements of all reach.
func nearly[T cmp.Ordered](all []T) (v T) {
	if len(all) < fewLinks {
		return v
	}
	slices.Sort(all)
	return all[int(float64(len(all))*(1-nearlyAll))]
}
