// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// Ibtracert writes the standard output of ibtracert (infiniband-diags 44.0) for a path, as if ibtracert ran at the SM's
// port. If ibtracert does not follow the path to its end, the output has no line "To", and [IbtracertWarning] returns
// the reason. All ports are assumed to be active.
func Ibtracert(w io.Writer, t *fabric.Tables, p *Path) error {
	f := t.Fabric
	r := newReport(t, p)
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "From", endText(f, p.Src))
	for i := range r.lines {
		from, to := r.hop(i), r.hop(i+1)
		fmt.Fprintf(out, "[%d] -> %s\n", f.Ports[from.Out].Num, portText(f, to.In))
	}
	if r.warning == "" {
		port := r.hop(r.lines).In
		if port == fabric.None {
			port = p.Src
		}
		fmt.Fprintln(out, "To", endText(f, port))
	}
	return out.Flush()
}

// report is the output of ibtracert for a path: the lines between "From" and "To", and a warning in place of "To".
type report struct {
	hops []Hop
	// period is the number of hops at the end of the field hops that repeat, or 0 if the path is finite.
	period  int
	lines   int
	warning string
}

func newReport(t *fabric.Tables, p *Path) report {
	r := report{hops: p.Hops, lines: p.Links()}
	switch {
	case p.Verdict.Arrives():
	case p.Verdict == Loop:
		r.repeat(p.Closes)
	case p.Verdict == Misdelivered && p.Hops[p.Links()].In == p.Src:
		// When ibtracert comes back to the source, it starts again.
		r.repeat(0)
		r.lines, r.warning = MaxHops, noRoute
	default:
		r.fail(t, p)
	}
	r.limit(t, p)
	return r
}

const (
	noRoute = "no route found after 63 hops"
	tooLong = "Direct path too long!"
)

// repeat makes the report continue with hop i after its last hop.
func (r *report) repeat(i int) {
	r.hops = slices.Clone(r.hops)
	last := len(r.hops) - 1
	r.hops[last].Out = r.hops[i].Out
	r.period = last - i
}

func (r *report) fail(t *fabric.Tables, p *Path) {
	f := t.Fabric
	last := p.Hops[p.Links()]
	node := &f.Nodes[last.Node]
	badEntry := func(h Hop) string {
		return fmt.Sprintf("Bad forwarding table entry found at: node \"%s\" lid entry %d is %d (top %d)",
			cleanDesc(f.Nodes[h.Node].Desc), p.DstLID, p.Entry, t.Top[node.Switch])
	}
	switch {
	case p.Verdict == Unknown:
		r.warning = fmt.Sprintf("the forwarding table of \"%s\" was not read", cleanDesc(node.Desc))
	case p.Verdict == DeadEnd && p.Cause == NoLink:
		r.warning = "can't reach port at DR path slid 0; dlid 0; " + directedRoute(t, p)
	case p.Verdict == DeadEnd:
		// ibtracert reads the table of a switch before it prints the line of the switch. If the first switch has no
		// entry, it reports the source.
		if r.lines <= 1 {
			last = p.Hops[0]
		}
		r.lines = max(0, r.lines-1)
		r.warning = badEntry(last)
	case p.Verdict == Misdelivered && node.IsSwitch():
		r.warning = badEntry(last)
	case p.Verdict == Misdelivered:
		r.warning = fmt.Sprintf("can't continue: reached CA or router port %x, lid %d", f.Ports[last.In].GUID, last.LID)
	}
}

// limit ends the report where ibtracert's directed route becomes too long. This route begins at the SM's port, not at
// the source.
func (r *report) limit(t *fabric.Tables, p *Path) {
	if r.warning == noRoute {
		return
	}
	lead := len(toSource(t, p))
	lines := MaxHops - 1 - lead
	if lead > 0 && !t.Fabric.Nodes[r.hops[0].Node].IsSwitch() {
		lines += 2 // The first hop only returns to the origin of the route.
	}
	switch {
	case r.period > 0 || r.lines > lines:
		r.lines, r.warning = lines, tooLong
	case r.warning == "" && r.lines >= MaxHops-1:
		r.warning = noRoute
	}
}

// hop returns hop i of the report. If hops repeat, i may exceed the number of hops.
func (r *report) hop(i int) Hop {
	if i < len(r.hops) {
		return r.hops[i]
	}
	return r.hops[len(r.hops)-r.period+(i-len(r.hops))%r.period]
}

// toSource returns the egress ports from the SM's port to the source of a path. It returns nil if no path leads there.
func toSource(t *fabric.Tables, p *Path) []uint8 {
	f := t.Fabric
	if f.SMPort == fabric.None || f.SMPort == p.Src {
		return nil
	}
	path := Trace(t, f.SMPort, f.Ports[p.Src].LID)
	if path.Verdict != Delivered {
		return nil
	}
	return egress(f, &path)
}

func egress(f *fabric.Fabric, p *Path) []uint8 {
	var nums []uint8
	for _, h := range p.Hops {
		if h.Out != fabric.None {
			nums = append(nums, f.Ports[h.Out].Num)
		}
	}
	return nums
}

// directedRoute returns the directed route from the SM's port to the end of a path, as text.
func directedRoute(t *fabric.Tables, p *Path) string {
	route, on := toSource(t, p), egress(t.Fabric, p)
	if len(route) > 0 && !t.Fabric.Nodes[p.Hops[0].Node].IsSwitch() {
		route, on = route[:len(route)-1], on[1:]
	}
	var b strings.Builder
	b.WriteString("0")
	for _, num := range append(route, on...) {
		fmt.Fprintf(&b, ",%d", num)
	}
	return b.String()
}

func endText(f *fabric.Fabric, port fabric.PortIndex) string {
	p := &f.Ports[f.EndPortOf(port)]
	n := &f.Nodes[p.Node]
	return fmt.Sprintf("%s {0x%016x} portnum %d lid %s \"%s\"", typeWord(n.Type), n.GUID, p.Num, lidRange(p),
		cleanDesc(n.Desc))
}

func portText(f *fabric.Fabric, port fabric.PortIndex) string {
	end := &f.Ports[f.EndPortOf(port)]
	n := &f.Nodes[end.Node]
	return fmt.Sprintf("%s port {0x%016x}[%d] lid %s \"%s\"", typeWord(n.Type), end.GUID, f.Ports[port].Num,
		lidRange(end), cleanDesc(n.Desc))
}

func lidRange(p *fabric.Port) string {
	return fmt.Sprintf("%d-%d", p.LID, int(p.LID)+1<<p.LMC-1)
}

func typeWord(t mad.NodeType) string {
	switch t {
	case mad.NodeCA:
		return "ca"
	case mad.NodeSwitch:
		return "switch"
	case mad.NodeRouter:
		return "router"
	}
	return "???"
}

// descLen is the length of a node description in bytes (IBA 1.2.1, 14.2.5.2).
const descLen = 64

// cleanDesc returns a description as all infiniband-diags show it, with a space for each byte that is not printable
// ASCII.
func cleanDesc(s string) string {
	s, _, _ = strings.Cut(s[:min(len(s), descLen)], "\x00")
	b := []byte(s)
	for i, c := range b {
		if c < 0x20 || c > 0x7e {
			b[i] = ' '
		}
	}
	return string(b)
}
