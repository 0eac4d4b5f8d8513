// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/fabric/sweep"
)

// Lost tells which links and nodes a subnet has lost. Links of a lost node are told with it; what is silent, as
// Unanswered has it, is told by [Report.Answers].
func (r *Report) Lost(list losses.List, f *fabric.Fabric, unanswered []sweep.Unanswered) {
	silent := sweep.SilentPorts(unanswered)
	cabled := map[uint64][]fabric.End{} // by node, the far ends of its lost links
	for i := range list {
		if x := &list[i]; x.Link() {
			cabled[x.At.GUID] = append(cabled[x.At.GUID], x.Peer)
			cabled[x.Peer.GUID] = append(cabled[x.Peer.GUID], x.At)
		}
	}
	for i := range list {
		x := &list[i]
		since := x.Since.Local().Format(time.DateTime)
		add := func(k Kind, try, format string, args ...any) {
			r.Problems = append(r.Problems, Problem{Error, k, placeOf(x.At), fmt.Sprintf(format, args...), try + "; " +
				tryBaseline, x.Since})
		}
		switch {
		case !x.Link() && !x.Unseen:
			var at []string
			for _, e := range cabled[x.At.GUID][:min(len(cabled[x.At.GUID]), 3)] {
				at = append(at, e.Name)
			}
			add(Missing, "is it powered? its cable at "+strings.Join(at, ", "), "%s is gone since %s", x.At.Name, since)
		case !x.Link():
			hidden := true
			for _, e := range cabled[x.At.GUID] {
				hidden = hidden && !silent(e.GUID, e.Port)
			}
			if hidden {
				add(Missing, "what is before it first: show unanswered",
					"%s cannot be seen since %s, behind what does not answer", x.At.Name, since)
			}
		case x.Unseen || !inSubnet(f, x.At.GUID) || !inSubnet(f, x.Peer.GUID):
		default:
			if leads := append(leadsTo(f, x.At), leadsTo(f, x.Peer)...); leads != nil {
				add(Recabled, "put it back", "the link of %s to %s is gone since %s: %s", x.At.Name, x.Peer.Name, since,
					strings.Join(leads, ", "))
				continue
			}
			add(LinkMissing, "the cable and both ports: show counters "+x.At.Name, "%s to %s is down since %s",
				x.At.Name, x.Peer.Name, since)
		}
	}
}

// leadsTo says where the link of a port leads, nil where it has none.
func leadsTo(f *fabric.Fabric, e fabric.End) []string {
	p := f.PortAt(f.NodeByGUID(e.GUID), e.Port)
	if p == fabric.None || !f.Ports[p].Linked() {
		return nil
	}
	return []string{fmt.Sprintf("%s leads to %s", f.PortName(p), f.PortName(f.Ports[p].Peer))}
}

// DropLost takes away what was found since there were n problems, where it tells of a place of the list.
func (r *Report) DropLost(n int, list losses.List) {
	told := map[Place]bool{}
	at := func(p Place) Place { return Place{p.GUID, p.Port, ""} }
	for i := range list {
		if x := &list[i]; !x.Unseen {
			told[at(placeOf(x.At))] = true
			if x.Link() {
				told[at(placeOf(x.Peer))] = true
			}
		}
	}
	kept := r.Problems[:n]
	for _, p := range r.Problems[n:] {
		if lost := p.Kind == Missing || p.Kind == LinkMissing || p.Kind == Recabled; !lost || !told[at(p.At)] {
			kept = append(kept, p)
		}
	}
	r.Problems = kept
}
