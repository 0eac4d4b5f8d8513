// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/when"
)

// The classes of counters whose increase is a fault of the port. The other classes are waits, copies that are not
// forwarded, and errors caused by another link.
var (
	linkFaults   = counters.OfClass(counters.LinkFault)
	signal       = counters.OfClass(counters.Signal)
	refusals     = counters.OfClass(counters.Refused)
	lossCounters = counters.OfClass(counters.Lost)
)

// manySymbolErrors is the number of symbol errors per hour that a bit error rate of 1e-12 causes at 40 Gb/s.
const manySymbolErrors = 144

// Counted reports ports whose error counters increased between two readings.
func (r *Report) Counted(f *fabric.Fabric, grown []counters.Delta) {
	for i := range grown {
		d := &grown[i]
		var rose []string
		var set counters.Set
		for k := range (linkFaults | signal | refusals | lossCounters).All() {
			if d.Increase[k] > 0 && d.Has.Has(k) {
				set |= counters.Of(k)
				rose = append(rose, fmt.Sprintf("%v +%d", k, d.Increase[k]))
			}
		}
		if set == 0 {
			continue
		}
		severity, try := errorAdvice(set, d)
		r.AddAs(severity, Rising, PlaceOfPort(f, d.Port), try, "%s %s: %s", nameWithPeer(f, d.Port), elapsed(d),
			strings.Join(rose, ", "))
	}
}

// DropRising removes the problems about increasing counters at places that have alerts.
func (r *Report) DropRising(alerts []Problem) {
	r.Problems = slices.DeleteFunc(r.Problems, func(p Problem) bool {
		return p.Kind == Rising && slices.ContainsFunc(alerts, func(a Problem) bool {
			return a.At.GUID == p.At.GUID && a.At.Port == p.At.Port
		})
	})
}

// elapsed returns the time between the readings as text.
func elapsed(d *counters.Delta) string {
	t := time.Duration(d.Seconds * float64(time.Second))
	switch {
	case t == 0:
		return "between two readings"
	case t < time.Second:
		t = t.Round(time.Microsecond)
	default:
		t = t.Round(time.Second)
	}
	return fmt.Sprintf("in %v", t)
}

// errorAdvice returns a severity and a hint for counters that increased.
func errorAdvice(set counters.Set, d *counters.Delta) (Severity, string) {
	switch {
	case set&linkFaults != 0:
		return Error, "reseat, then replace the cable; check the ports at both ends"
	case set&signal != 0 && float64(d.Increase[counters.SymbolErrors]+d.Increase[counters.RcvErrors])*3600 >
		manySymbolErrors*max(d.Seconds, 1):
		return Error, "clean or replace the cable: the signal is bad"
	case set&signal != 0:
		return Warning, "watch the cable"
	case set&refusals != 0:
		return Warning, "compare the partition keys: show pkeys of both ends"
	}
	return Warning, "the receiver is too slow, or a path leads to a dead end; hint: run 'check reach'"
}

func nameWithPeer(f *fabric.Fabric, port fabric.PortIndex) string {
	if peer := f.Ports[port].Peer; peer != fabric.None {
		return f.PortName(port) + " to " + f.PortName(peer)
	}
	return f.PortName(port)
}

// LinkLoss is a time at which a sweep found that a link was down. WasUp is the last time before at which the link was
// found up, zero if unknown.
type LinkLoss struct {
	WasUp, When time.Time
	A, B        fabric.End
}

// flaps is the number of times that a link must go down before it is reported as flapping.
const flaps = 2

// Flapping reports links that went down at least twice.
func (r *Report) Flapping(seen []LinkLoss) {
	type link struct{ a, b end }
	times := map[link][]time.Time{}
	var order []link
	ends := map[link][2]fabric.End{}
	for _, s := range seen {
		a, b := s.A, s.B
		if a.GUID > b.GUID || a.GUID == b.GUID && a.Port > b.Port {
			a, b = b, a
		}
		l := link{end{a.GUID, a.Port}, end{b.GUID, b.Port}}
		if times[l] == nil {
			order = append(order, l)
		}
		times[l] = append(times[l], s.When)
		ends[l] = [2]fabric.End{a, b}
	}
	for _, l := range order {
		if n := len(times[l]); n >= flaps {
			e := ends[l]
			r.Add(Flapping, placeOf(e[0]), "reseat, then replace the cable; until then disable the port: "+
				"ibportstate disable",
				"%s to %s was found down %d times from %s to %s", e[0].Name, e[1].Name, n,
				when.Clock(slices.MinFunc(times[l], time.Time.Compare)),
				when.Clock(slices.MaxFunc(times[l], time.Time.Compare)))
		}
	}
}
