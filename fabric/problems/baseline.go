// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
)

// Baseline tells what is missing, re-cabled, slower or new against an earlier picture, which since names:
// "the baseline of 2026-11-22". What is silent, as Unanswered has it, is not missing: [Report.Answers] tells of it.
// O(ports).
func (r *Report) Baseline(was, is *fabric.Fabric, unanswered []sweep.Unanswered, since string) {
	b := &baseline{r: r, was: was, is: is, since: since}
	var down, up []fabric.Change
	for _, c := range sweep.MarkUnanswered(was, fabric.Changes(was, is), unanswered) {
		switch c.Kind {
		case fabric.NodeHidden:
			r.Add(Missing, placeOf(c.At), "what is before it first: show unanswered",
				"%s was in %s and cannot be seen behind what does not answer", c.At.Name, since)
		case fabric.NodeGone:
			r.Add(Missing, placeOf(c.At), b.behind(c.At.GUID), "%s was in %s", c.At.Name, since)
		case fabric.NodeNew:
			r.Add(Added, placeOf(c.At), tryBaseline, "%s was not in %s", c.At.Name, since)
		case fabric.NodeRenamed:
			r.Add(Changed, placeOf(c.At), tryBaseline, "%s was called %s in %s", c.To, c.From, since)
		case fabric.LinkDown:
			down = append(down, c)
		case fabric.LinkUp:
			up = append(up, c)
		case fabric.LIDChanged:
			if c.From == "none" { // a first LID is no problem
				continue
			}
			r.Add(Changed, placeOf(c.At), "was guid2lid lost? "+tryBaseline, "%s has LID %s, in %s %s", c.At.Name, c.To,
				since, c.From)
		case fabric.WidthChanged, fabric.SpeedChanged:
			b.slower(c)
		}
	}
	b.cables(down, up)
}

const tryBaseline = "baseline save, where it is to be so"

type baseline struct {
	r       *Report
	was, is *fabric.Fabric
	since   string
}

func placeOf(e fabric.End) Place { return Place(e) }

// behind says where a node that is gone was.
func (b *baseline) behind(guid uint64) string {
	var ends []string
	n := &b.was.Nodes[b.was.NodeByGUID(guid)]
	for p := n.FirstPort; p <= n.FirstPort+fabric.PortIndex(n.NumPorts) && len(ends) < 3; p++ {
		if peer := b.was.Ports[p].Peer; peer != fabric.None {
			ends = append(ends, b.was.PortName(peer))
		}
	}
	return "is it powered? its cable at " + strings.Join(ends, ", ")
}

// slower tells of a port whose link was wider or faster; of a link once.
func (b *baseline) slower(c fabric.Change) {
	node := b.is.NodeByGUID(c.At.GUID)
	p := b.is.Port(node, uint8(c.At.Port))
	old := b.was.Port(b.was.NodeByGUID(c.At.GUID), uint8(c.At.Port))
	now, before := &b.is.Ports[p], &b.was.Ports[old]
	if now.Peer == fabric.None || now.Peer < p || before.Width == 0 || now.Width == 0 {
		return
	}
	name := b.is.PortName(p)
	if c.Kind == fabric.WidthChanged && now.Width < before.Width {
		b.r.Add(Narrow, PlaceOfPort(b.is, p), tryCable+name, "%s to %s is %s, in %s it was %s", name,
			b.is.PortName(now.Peer), c.To, b.since, c.From)
	}
	if c.Kind == fabric.SpeedChanged && now.Speed < before.Speed {
		b.r.Add(Slow, PlaceOfPort(b.is, p), tryCable+name, "%s to %s is %s, in %s it was %s", name,
			b.is.PortName(now.Peer), c.To, b.since, c.From)
	}
}

type end struct {
	guid uint64
	port int
}

// cables puts together what went and what came: re-cabled where an end leads elsewhere; not what went with a
// node.
func (b *baseline) cables(down, up []fabric.Change) {
	now := map[end]fabric.Change{}
	for _, c := range up {
		now[end{c.At.GUID, c.At.Port}] = c
		now[end{c.Peer.GUID, c.Peer.Port}] = fabric.Change{Kind: c.Kind, At: c.Peer, Peer: c.At}
	}
	told := map[fabric.End]bool{}
	for _, c := range down {
		var leads []string
		for _, e := range []fabric.End{c.At, c.Peer} {
			if n, ok := now[end{e.GUID, e.Port}]; ok {
				leads = append(leads, fmt.Sprintf("%s leads to %s", n.At.Name, n.Peer.Name))
				told[n.At], told[n.Peer] = true, true
			}
		}
		switch {
		case len(leads) > 0:
			b.r.Add(Recabled, placeOf(c.At), "put it back, or baseline save", "%s led to %s in %s: %s", c.At.Name,
				c.Peer.Name, b.since, strings.Join(leads, ", "))
		case b.there(c.At) && b.there(c.Peer):
			b.r.Add(LinkMissing, placeOf(c.At), "the cable and both ports: show counters "+c.At.Name,
				"%s to %s was up in %s", c.At.Name, c.Peer.Name, b.since)
		}
	}
	up = slices.DeleteFunc(up, func(c fabric.Change) bool { return told[c.At] || told[c.Peer] })
	for _, c := range up {
		if b.before(c.At) && b.before(c.Peer) {
			b.r.Add(Added, placeOf(c.At), tryBaseline, "%s to %s was not in %s", c.At.Name, c.Peer.Name, b.since)
		}
	}
}

func (b *baseline) there(e fabric.End) bool  { return inSubnet(b.is, e.GUID) }
func (b *baseline) before(e fabric.End) bool { return inSubnet(b.was, e.GUID) }

func inSubnet(f *fabric.Fabric, guid uint64) bool {
	n := f.NodeByGUID(guid)
	return n != fabric.None && f.Nodes[n].InSubnet
}
