// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/losses"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/base/when"
)

// Baseline reports what is missing, re-cabled, slower or new compared to the earlier state was. The argument since
// names this state in messages, for example "the baseline of 2026-11-22". Unanswered ports do not count as missing,
// because [Report.Answers] reports them. O(ports).
func (r *Report) Baseline(was, is *fabric.Fabric, unanswered []sweep.Unanswered, since string) {
	b := &baseline{r: r, was: was, is: is, since: since}
	var down, up []fabric.Change
	for _, c := range sweep.MarkUnanswered(was, fabric.Changes(was, is), unanswered) {
		switch c.Kind {
		case fabric.NodeHidden:
			r.Add(Missing, placeOf(c.At), "first what does not respond: show unanswered",
				"%s was in %s and is hidden by nodes that do not respond", c.At.Name, since)
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
			r.Add(Changed, placeOf(c.At), "was guid2lid lost? "+tryBaseline, "%s has LID %s, it was %s in %s",
				c.At.Name,
				c.To, c.From, since)
		case fabric.WidthChanged, fabric.SpeedChanged:
			b.slower(c)
		}
	}
	b.cables(down, up)
}

const tryBaseline = "baseline save, if this is intended"

type baseline struct {
	r       *Report
	was, is *fabric.Fabric
	since   string
}

func placeOf(e fabric.End) Place { return Place(e) }

// behind returns a hint with the ports to which the links of a missing node led, at most three.
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

// slower reports that a link has become narrower or slower. It reports each link once.
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
		b.r.Add(Narrow, PlaceOfPort(b.is, p), tryCable(b.is, p), "%s to %s is %s, it was %s in %s", name,
			b.is.PortName(now.Peer), c.To, c.From, b.since)
	}
	if c.Kind == fabric.SpeedChanged && now.Speed < before.Speed {
		b.r.Add(Slow, PlaceOfPort(b.is, p), tryCable(b.is, p), "%s to %s is %s, it was %s in %s", name,
			b.is.PortName(now.Peer), c.To, c.From, b.since)
	}
}

type end struct {
	guid uint64
	port int
}

// cables reports missing, new and re-cabled links from the links that went down and came up. A link is re-cabled if one
// of its ports now leads to another port. Links of missing nodes are not reported.
func (b *baseline) cables(down, up []fabric.Change) {
	now := map[end]fabric.Change{}
	for _, c := range up {
		now[end{c.At.GUID, c.At.Port}] = c
		now[end{c.Peer.GUID, c.Peer.Port}] = fabric.Change{Kind: c.Kind, At: c.Peer, Peer: c.At}
	}
	reported := map[fabric.End]bool{}
	for _, c := range down {
		var leads []string
		for _, e := range []fabric.End{c.At, c.Peer} {
			if n, ok := now[end{e.GUID, e.Port}]; ok {
				leads = append(leads, fmt.Sprintf("%s leads to %s", n.At.Name, n.Peer.Name))
				reported[n.At], reported[n.Peer] = true, true
			}
		}
		switch {
		case len(leads) > 0:
			b.r.Add(Recabled, placeOf(c.At), "put it back, or baseline save", "%s led to %s in %s: %s", c.At.Name,
				c.Peer.Name, b.since, strings.Join(leads, ", "))
		case b.there(c.At) && b.there(c.Peer):
			b.r.Add(LinkMissing, placeOf(c.At), "the cable and both ports: show counters "+hintEnd(b.is, c.At),
				"%s to %s was up in %s", c.At.Name, c.Peer.Name, b.since)
		}
	}
	up = slices.DeleteFunc(up, func(c fabric.Change) bool { return reported[c.At] || reported[c.Peer] })
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

// Lost reports the lost links and nodes of a subnet. It does not report the links of a lost node separately.
// [Report.Answers] reports unanswered ports.
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
		since := when.Text(x.Since)
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
			add(Missing, "is it powered? its cable at "+strings.Join(at, ", "), "%s is missing since %s",
				x.At.Name, since)
		case !x.Link():
			hidden := true
			for _, e := range cabled[x.At.GUID] {
				hidden = hidden && !silent(e.GUID, e.Port)
			}
			if hidden {
				add(Missing, "first what does not respond: show unanswered",
					"%s is hidden since %s by nodes that do not respond", x.At.Name, since)
			}
		case x.Unseen || !inSubnet(f, x.At.GUID) || !inSubnet(f, x.Peer.GUID):
		default:
			if leads := append(leadsTo(f, x.At), leadsTo(f, x.Peer)...); leads != nil {
				add(Recabled, "put it back", "the link of %s to %s is missing since %s: %s", x.At.Name,
					x.Peer.Name, since,
					strings.Join(leads, ", "))
				continue
			}
			add(LinkMissing, "the cable and both ports: show counters "+hintEnd(f, x.At), "%s to %s is down since %s",
				x.At.Name, x.Peer.Name, since)
		}
	}
}

// hintEnd returns the words that name the end of a link in a hint.
func hintEnd(f *fabric.Fabric, e fabric.End) string {
	if node := f.NodeByGUID(e.GUID); node != fabric.None && f.PortAt(node, e.Port) != fabric.None {
		return places.HintPort(f, f.PortAt(node, e.Port))
	}
	return fmt.Sprintf("guid:0x%016x/%d", e.GUID, e.Port)
}

// leadsTo returns a text about the port to which a port leads now, nil if the port has no link.
func leadsTo(f *fabric.Fabric, e fabric.End) []string {
	p := f.PortAt(f.NodeByGUID(e.GUID), e.Port)
	if p == fabric.None || !f.Ports[p].Linked() {
		return nil
	}
	return []string{fmt.Sprintf("%s leads to %s", f.PortName(p), f.PortName(f.Ports[p].Peer))}
}

// DropLost removes problems that the list of losses already covers. It keeps the first n problems.
func (r *Report) DropLost(n int, list losses.List) {
	reported := map[Place]bool{}
	at := func(p Place) Place { return Place{p.GUID, p.Port, ""} }
	for i := range list {
		if x := &list[i]; !x.Unseen {
			reported[at(placeOf(x.At))] = true
			if x.Link() {
				reported[at(placeOf(x.Peer))] = true
			}
		}
	}
	kept := r.Problems[:n]
	for _, p := range r.Problems[n:] {
		if lost := p.Kind == Missing || p.Kind == LinkMissing || p.Kind == Recabled; !lost || !reported[at(p.At)] {
			kept = append(kept, p)
		}
	}
	r.Problems = kept
}
