// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/mad"
)

// ErrDirectedOnly reports that a planarized adapter does not carry SMPs by LID.
var ErrDirectedOnly = errors.New("a planarized adapter sends subnet management packets only by directed route")

// joinPlanes replaces the ports of a planarized (XDR) adapter by one port. The kernel shows such an adapter as two
// devices. One is for the general services, and its port does not let a subnet manager send SMPs (IsSMDisabled). The
// ports of the other device are the planes, which have only queue pair 0. All these ports have the same port GUID. The
// result is the port of the general services, with its planes.
func joinPlanes(ports []Port) []Port {
	planes := map[uint64][]Port{} // by port GUID
	general := map[uint64]int{}   // ports for the general services
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

// SMI returns the port that sends SMPs: the port itself, or the best of its planes.
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

// devices returns the names of the umad devices of the port. The first one is for SMPs. A name is "" if the kernel has
// no such device.
func (p Port) devices() []string {
	if smi := p.SMI(); len(p.Planes) > 0 {
		return []string{smi.Umad, p.Umad}
	}
	return []string{p.Umad}
}

// plane returns port p with only the selected planes if the selector names planes of p, for example "smi0" or "smi0:3".
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

// Whole returns a selector for the whole adapter if s names planes of the adapter. Otherwise it returns s.
func (s Selector) Whole(ports []Port) Selector {
	for _, p := range ports {
		if _, ok := s.plane(p); ok {
			return Selector{p.CA, p.Number}
		}
	}
	return s
}

// planes reports which packets each device of a planarized adapter carries.
func (d *diagnosis) planes(p Port) {
	if len(p.Planes) == 0 {
		return
	}
	smi := p.SMI()
	d.report(Fine, p.Source(), "", "a planarized adapter, one port of two devices: subnet management (class "+
		"0x81, only "+
		"by directed route; 0x01 is refused) uses %v, %s; all other classes use %v", smi, planeCount(len(p.Planes)),
		p.CA)
}

func planeCount(n int) string {
	if n == 1 {
		return "its one plane"
	}
	return fmt.Sprintf("one of %d planes", n)
}
