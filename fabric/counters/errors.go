// SPDX-License-Identifier: Apache-2.0

package counters

import "example.org/ibconsole/fabric"

// Beyond are the errors of a port that are more than a threshold, which is what ibqueryerrors prints of it:
// with all thresholds 0, as in the file that comes with infiniband-diags, every error that ever happened.
func (p *Port) Beyond(thresholds *Values) Set {
	var s Set
	for c := range (p.Has & Errors).All() {
		if p.Values[c] > thresholds[c] {
			s |= Of(c)
		}
	}
	return s
}

// Delta is what a port counted between two readings.
type Delta struct {
	Port     fabric.PortIndex // of the later reading's fabric
	Seconds  float64
	Increase Values // by how much counters grew
	Has      Set    // the counters that both readings have
	// Cleared are counters that were less later on: somebody has cleared them, or
	// the node was restarted. Their increase is the least that it can be.
	Cleared Set
	Stopped Set // at their greatest value; their increase is the least that it can be, too
}

// PerSecond is the rate of a counter.
func (d *Delta) PerSecond(c Counter) float64 {
	if d.Seconds <= 0 {
		return 0
	}
	return float64(d.Increase[c]) / d.Seconds
}

// Deltas are what ports that are in both readings counted between them, in the order of the later one. A port is
// known by node GUID and number, so the fabrics may be different pictures of a subnet. O(ports).
func Deltas(earlier, later *Reading) []Delta {
	type key struct {
		guid uint64
		num  uint8
	}
	name := func(r *Reading, p *Port) key {
		at := &r.Fabric.Ports[p.Port]
		return key{r.Fabric.Nodes[at.Node].GUID, at.Num}
	}
	was := make(map[key]*Port, len(earlier.Ports))
	for i := range earlier.Ports {
		was[name(earlier, &earlier.Ports[i])] = &earlier.Ports[i]
	}
	out := make([]Delta, 0, len(later.Ports))
	for i := range later.Ports {
		is := &later.Ports[i]
		if before := was[name(later, is)]; before != nil {
			out = append(out, between(before, is))
		}
	}
	return out
}

func between(was, is *Port) Delta {
	d := Delta{
		Port: is.Port, Seconds: is.At.Sub(was.At).Seconds(),
		Has: was.Has & is.Has, Stopped: is.Stopped,
	}
	for c := range d.Has.All() {
		d.Increase[c] = is.Values[c] - was.Values[c]
		if is.Values[c] < was.Values[c] {
			d.Increase[c] = is.Values[c]
			d.Cleared |= Of(c)
		}
	}
	return d
}
