// SPDX-License-Identifier: Apache-2.0

package problems

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// maxAlike is how many problems of a kind are listed one by one.
const maxAlike = 50

// findProblems lists what the session knows to be wrong with the live subnet,
// without asking it anything. O(ports).
func findProblems(sc *pane.Scene) []problem {
	if len(sc.State.Live.Fabric.Nodes) == 0 {
		return nil
	}
	b := &finding{f: sc.State.Live.Fabric, alike: map[string]int{}}
	b.session(&sc.State)
	b.managers(&sc.State)
	b.links()
	b.tables(sc.State.Live)
	return b.finish()
}

// finding collects problems.
type finding struct {
	f     *fabric.Fabric
	list  []problem
	alike map[string]int
}

func (b *finding) add(p problem) {
	if b.alike[p.kind]++; b.alike[p.kind] <= maxAlike {
		b.list = append(b.list, p)
	}
}

// finish adds how many more there are of kinds that have many.
func (b *finding) finish() []problem {
	for i := range b.list {
		p := b.list[i]
		if n := b.alike[p.kind]; n > maxAlike {
			b.list = append(b.list, problem{p.severity, p.kind, draw.Thousands(n-maxAlike) + " more like these", p.advice, pane.Place{}})
			b.alike[p.kind] = 0
		}
	}
	return b.list
}

func (b *finding) session(st *session.State) {
	if st.Interrupted != "" {
		b.add(problem{asError, "commit cut short", st.Interrupted, ":commit resume, or :rollback", pane.Place{}})
	}
	for _, h := range st.Unanswered {
		b.add(problem{asError, "no answer", h, ":sweep full, :show targets", pane.Place{}})
	}
	if st.Drift > 0 {
		b.add(problem{asError, "routes drifted", draw.Count(st.Drift, "entry") + " not as committed", "who writes? :show sms", pane.Place{}})
	}
	for _, w := range st.Warnings {
		b.add(problem{asWarning, "noticed", w, ":summary", pane.Place{}})
	}
}

func (b *finding) managers(st *session.State) {
	if st.Source.Offline() || st.Source.Kind == session.SourceSim {
		return
	}
	var masters []session.SM
	for _, sm := range st.SMs {
		if sm.State == "master" {
			masters = append(masters, sm)
		}
	}
	switch {
	case len(masters) > 1:
		b.add(problem{asError, "two masters", fmt.Sprintf("%s and %s", masters[0].Port, masters[1].Port), ":show sms", pane.Place{}})
	case len(st.SMs) == 0:
		b.add(problem{asWarning, "no manager", "no subnet manager was seen", ":show sms", pane.Place{}})
	}
}

// class tells links that should be alike: those between switches, and those to
// hosts.
type class struct{ between bool }

// links finds links that are slower or narrower than most of their class, and
// those that are not Active.
func (b *finding) links() {
	f := b.f
	type form struct {
		fabric.Width
		fabric.Speed
	}
	count := map[class]map[form]int{{true}: {}, {false}: {}}
	classOf := func(p fabric.PortIndex) class {
		return class{f.Nodes[f.Ports[p].Node].IsSwitch() && f.PeerSwitch(p) != fabric.None}
	}
	for i := range f.Ports {
		if p := fabric.PortIndex(i); f.Ports[p].Peer > p {
			count[classOf(p)][form{f.Ports[p].Width, f.Ports[p].Speed}]++
		}
	}
	most := map[class]form{}
	for c, forms := range count {
		best := 0
		for fm, n := range forms {
			if n > best {
				best, most[c] = n, fm
			}
		}
	}
	for i := range f.Ports {
		p := fabric.PortIndex(i)
		port := &f.Ports[p]
		if port.Peer <= p || !f.Nodes[port.Node].InSubnet {
			continue
		}
		where := f.PortName(p) + " -- " + f.PortName(port.Peer)
		at := pane.PlaceOf(f, port.Node, p)
		want := most[classOf(p)]
		width, speed := min(port.Width, f.Ports[port.Peer].Width), min(port.Speed, f.Ports[port.Peer].Speed)
		switch {
		case width < want.Width && width != 0:
			b.add(problem{asError, "narrow link", fmt.Sprintf("%s is %s, its like are %s", where, width, want.Width), "cable, connector", at})
		case speed < want.Speed && speed != fabric.SpeedUnknown:
			b.add(problem{asWarning, "slow link", fmt.Sprintf("%s is %s, its like are %s", where, speed, want.Speed), "cable, firmware", at})
		}
		if s := port.State.String(); s != "Active" && s != "NoChange" { // or not read
			b.add(problem{asWarning, "link not active", fmt.Sprintf("%s is %s", where, s), "the subnet manager", at})
		}
	}
}

// tables finds switches whose tables were not read.
func (b *finding) tables(p *session.Picture) {
	if p.Tables == nil {
		return
	}
	for s, known := range p.Tables.Known {
		if node := b.f.Switches[s]; !known && b.f.Nodes[node].InSubnet {
			b.add(problem{asError, "table not read", b.f.NodeName(node), ":sweep full", pane.PlaceOf(b.f, node, fabric.None)})
		}
	}
}

// lostLinks are problems for links that are down and were up before.
func lostLinks(before, now *fabric.Fabric) []problem {
	b := &finding{f: before, alike: map[string]int{}}
	for _, p := range pane.DownPorts(before, now) {
		where := before.PortName(p) + " -- " + before.PortName(before.Ports[p].Peer)
		b.add(problem{asError, "link down", where, "was up when the session began", pane.PlaceOf(before, before.Ports[p].Node, p)})
	}
	for i := range before.Nodes {
		if n := &before.Nodes[i]; n.InSubnet && now.NodeByGUID(n.GUID) == fabric.None {
			b.add(problem{asError, "node gone", before.NodeName(fabric.NodeIndex(i)), "was there when the session began", pane.Place{}})
		}
	}
	return b.finish()
}

// unreached are problems for pairs whose packets do not arrive.
func unreached(f *fabric.Fabric, r *reach.Result) []problem {
	b := &finding{f: f, alike: map[string]int{}}
	if r.Unassigned > 0 {
		b.add(problem{asError, "no LID", draw.Count(r.Unassigned, "end port") + " without a LID", "the subnet manager", pane.Place{}})
	}
	for _, x := range []struct {
		n          int64
		end        walk.Verdict
		kind, what string
	}{
		{r.Unreachable, walk.DeadEnd, "pairs cut off", "paths end before they arrive"},
		{r.Loops, walk.Loop, "routes loop", "paths come back to a switch"},
		{r.Misdelivered, walk.Misdelivered, "wrong port", "paths end at a port that is not meant"},
		{r.TooLong, walk.TooLong, "too long", "paths are longer than 63 links"},
	} {
		if x.n == 0 {
			continue
		}
		p := problem{severity: asError, kind: x.kind, where: draw.Thousands(int(x.n)) + " " + x.what, advice: ":check reach"}
		for _, t := range r.Troubles {
			if t.Verdict == x.end && t.Dst != fabric.None {
				p.where += fmt.Sprintf(": %s to %s", f.PortName(t.Src), f.PortName(t.Dst))
				p.at = pane.PlaceOf(f, f.Ports[t.Src].Node, fabric.None)
				break
			}
		}
		b.add(p)
	}
	if r.Unknown > 0 {
		b.add(problem{asWarning, "paths unknown", draw.Thousands(int(r.Unknown)) + " paths meet a table that was not read", ":sweep full", pane.Place{}})
	}
	return b.finish()
}
