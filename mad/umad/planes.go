// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/mad"
)

// ErrDirectedOnly says that a planarized adapter carries no SMPs by LID.
var ErrDirectedOnly = errors.New("a planarized adapter carries subnet management packets by directed route alone")

// joinPlanes makes a planarized (XDR) adapter one port. The kernel shows it twice: as a device for the general
// services, whose port lets no subnet manager send SMPs (IsSMDisabled), and as one whose ports are the planes, with
// queue pair 0 only. All have one port GUID. The planes go into the first.
func joinPlanes(ports []Port) []Port {
	planes := map[uint64][]Port{} // by port GUID
	general := map[uint64]int{}   // how many ports for the general services
	for _, p := range ports {
		switch {
		case p.GUID == 0 || p.LinkLayer != InfiniBand:
		case p.CapMask&mad.CapSMDisabled != 0:
			general[p.GUID]++
		default:
			planes[p.GUID] = append(planes[p.GUID], p)
		}
	}
	oneDevice := func(ports []Port) bool {
		return !slices.ContainsFunc(ports, func(p Port) bool { return p.CA != ports[0].CA })
	}
	joined := func(p Port) bool {
		of := planes[p.GUID]
		return len(of) > 0 && general[p.GUID] == 1 && oneDevice(of)
	}
	var out []Port
	for _, p := range ports {
		switch disabled := p.CapMask&mad.CapSMDisabled != 0; {
		case !joined(p) || p.LinkLayer != InfiniBand:
			out = append(out, p)
		case disabled:
			p.Planes = slices.Clip(planes[p.GUID])
			out = append(out, p)
		}
	}
	return out
}

// SMI is the port by which SMPs go: itself, or the best of its planes.
func (p Port) SMI() Port {
	if len(p.Planes) == 0 {
		return p
	}
	best := p.Planes[0]
	for _, plane := range p.Planes {
		if plane.rank() > best.rank() {
			best = plane
		}
	}
	return best
}

// devices are the names of its umad devices, that for SMPs first; "" where the kernel has none.
func (p Port) devices() []string {
	if smi := p.SMI(); len(p.Planes) > 0 {
		return []string{smi.Umad, p.Umad}
	}
	return []string{p.Umad}
}

// plane is a port by the name of one of its planes, "smi0" or "smi0:3".
func (s Selector) plane(p Port) (Port, bool) {
	if len(p.Planes) == 0 || p.Planes[0].CA != s.CA {
		return p, false
	}
	if s.Port != AnyPort {
		i := slices.IndexFunc(p.Planes, func(plane Port) bool { return plane.Number == s.Port })
		if i < 0 {
			return p, false
		}
		p.Planes = p.Planes[i : i+1 : i+1]
	}
	return p, true
}

// Whole is the selector of the whole adapter where this one names it by its planes.
func (s Selector) Whole(ports []Port) Selector {
	for _, p := range ports {
		if _, ok := s.plane(p); ok {
			return Selector{p.CA, p.Number}
		}
	}
	return s
}

// planes says of a planarized adapter which packets go where.
func (d *diagnosis) planes(p Port) {
	if len(p.Planes) == 0 {
		return
	}
	smi := p.SMI()
	d.say(Fine, p.Source(), "", "a planarized adapter, one port of two devices: subnet management (class 0x81, by "+
		"directed route alone; 0x01 is refused) "+
		"goes by %v, %s; all other classes by %v", smi, planeCount(len(p.Planes)), p.CA)
}

func planeCount(n int) string {
	if n == 1 {
		return "its one plane"
	}
	return fmt.Sprintf("one of %d planes", n)
}
