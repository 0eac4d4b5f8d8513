// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func adaptiveCommands() []Spec {
	return []Spec{{
		Name: "adaptive", Summary: "on: give the tables groups of ports, as if the switches routed adaptively, on paper; show: which groups there are",
		Help: "The groups are all ports on shortest up/down paths (those of ar_updn), or on shortest paths where the fabric has no roots. trace, check and\n" +
			"who then follow every choice. route gives its tables groups, too, until adaptive off. With an engine of NVIDIA's OpenSM\n" +
			"(engine ar_updn, or engine from=FILE) it gives them those that the engine publishes. Groups are never written to a switch.",
		Args:    []lang.Arg{{Name: "on|off|show", Kind: lang.KindWord, Words: []string{"on", "off", "show"}}},
		Options: []lang.Option{feature.OfOption()}, Run: runAdaptive,
	}}
}

func runAdaptive(c *call) error {
	switch c.Arg(0) {
	case "on":
		if c.Option("of", "") != "" {
			return c.Misused("of= is for adaptive show")
		}
		rep, err := c.session.Adapt(c.ctx)
		if err != nil {
			return err
		}
		st := c.session.State()
		return c.out.Answer(adaptedAnswer{By: rep.By, Why: rep.Why, Switches: rep.Switches, Groups: rep.Groups, Of: st.Title(st.Staged)})
	case "off":
		c.session.Unadapt()
		return c.out.Answer(adaptedAnswer{Off: true})
	}
	return onTables((*call).showAdaptive)(c)
}

type adaptedAnswer struct {
	Of       string `json:"of,omitempty"`
	Off      bool   `json:"off,omitempty"`
	By       string `json:"hops_of,omitempty"`
	Why      string `json:"why,omitempty"`
	Switches int    `json:"switches"`
	Groups   int    `json:"groups"`
}

func (a adaptedAnswer) Text(w io.Writer) {
	if a.Off {
		_, _ = fmt.Fprintln(w, "adaptive: no groups on paper")
		return
	}
	_, _ = fmt.Fprintf(w, "adaptive: %s of %s have %s of ports, by the hops of %s\n", prose.Count(a.Switches, "switch"), a.Of, prose.Count(a.Groups, "group"), a.By)
	if a.Why != "" {
		_, _ = fmt.Fprintf(w, "  not of up/down routing: %s\n", a.Why)
	}
	_, _ = fmt.Fprintln(w, "  on paper alone: no group is ever written to a switch")
}

type adaptiveAnswer struct {
	Of       string          `json:"of"`
	Switches []adaptiveRow   `json:"switches"`
	Groups   []adaptiveGroup `json:"groups"`
	// Live says that the groups were read from switches.
	Live bool `json:"live"`
}

type adaptiveRow struct {
	Switch  string `json:"switch"`
	GUID    string `json:"guid"`
	Enabled bool   `json:"enabled"`
	Reroute bool   `json:"fast_reroute"`
	SLs     string `json:"sls"`
	Groups  int    `json:"groups"`
	Tables  int    `json:"tables"`
	Free    int    `json:"free"`
	Bounded int    `json:"bounded"`
	Hash    int    `json:"hash"`
	Static  int    `json:"static"`
	lead    Lead
}

type adaptiveGroup struct {
	Switch string  `json:"switch"`
	Group  int     `json:"group"`
	Ports  [][]int `json:"ports"` // by sub-group
	Down   []int   `json:"down,omitempty"`
	LIDs   int     `json:"lids"`
	lead   Lead
}

// Tables has the switches, and their groups.
func (a *adaptiveAnswer) Tables() []Table {
	switches := tableOf("switches", []string{"SWITCH", "ON", "FAST REROUTE", "SLS", "PORT GROUPS", "LFTS", "FREE", "BOUNDED", "HASH", "STATIC"}, a.Switches, func(r adaptiveRow) plainRow {
		return plainRow{leads{r.lead}, []any{r.Switch, r.Enabled, r.Reroute, r.SLs, r.Groups, r.Tables, r.Free, r.Bounded, r.Hash, r.Static}}
	})
	groups := tableOf("groups", []string{"SWITCH", "GROUP", "IN GROUP", "DOWN", "LIDS"}, a.Groups, func(g adaptiveGroup) plainRow {
		return plainRow{leads{g.lead}, []any{g.Switch, g.Group, subGroups(g.Ports), orDash(prose.Ranges(g.Down)), g.LIDs}}
	})
	return []Table{switches, groups}
}

func (a *adaptiveAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	if len(a.Switches) == 0 {
		line("adaptive of %s: no switch has groups of ports, as far as is known (try: sweep full adaptive, or adaptive on)", a.Of)
		return
	}
	if a.Live {
		line("read by attributes that nobody here has tried on a switch; they agree with the forwarding tables")
	}
	line("adaptive of %s: %s with %s", a.Of, prose.Count(len(a.Switches), "switch"), prose.Count(len(a.Groups), "group"))
	for i, r := range a.Switches {
		if i == maxListed {
			line("  %s", prose.More(int64(len(a.Switches)-i)))
			break
		}
		line("  %s: %s, %s, LIDs: %d free, %d bounded, %d hash, %d static", r.Switch, prose.When(r.Enabled, "on", "OFF"), prose.Count(r.Groups, "group"), r.Free, r.Bounded, r.Hash, r.Static)
	}
}

func (c *call) showAdaptive(st *session.State, p *session.Picture) error {
	a := &adaptiveAnswer{Of: st.Title(p), Switches: []adaptiveRow{}, Groups: []adaptiveGroup{}, Live: p.Tables.Origin == fabric.LiveOrigin && st.Live.Tables != nil && p.Tables.Adaptive == st.Live.Tables.Adaptive}
	if p.Tables.Adaptive != nil {
		for s := range p.Fabric.NumSwitches() {
			a.add(p.Tables, s)
		}
	}
	return c.out.Answer(a)
}

// add adds a switch that has groups.
func (a *adaptiveAnswer) add(t *fabric.Tables, s fabric.SwitchIndex) {
	f, sw := t.Fabric, &t.Adaptive.Switches[s]
	if len(sw.Tables) == 0 {
		return
	}
	node := f.Switches[s]
	r := adaptiveRow{
		Switch: f.NodeName(node), GUID: guidText(f.Nodes[node].GUID), Enabled: sw.Enabled, Reroute: sw.FastReroute, SLs: fmt.Sprintf("%#04x", sw.SLs),
		Tables: len(sw.Tables), lead: feature.ToNode(f, node),
	}
	lids := make([]int, len(sw.Groups))
	for lid := uint16(1); lid <= t.LFT.MaxLID && lid != 0; lid++ {
		if f.PortByLID(lid) == fabric.None {
			continue
		}
		_, e := sw.Entry(0, lid, 0)
		*[]*int{fabric.StateStatic: &r.Static, fabric.StateFree: &r.Free, fabric.StateBounded: &r.Bounded, fabric.StateHash: &r.Hash}[e.State()]++
		if e.State() != fabric.StateStatic && e.Group() < len(lids) {
			lids[e.Group()]++
		}
	}
	for i, g := range sw.Groups {
		ports := sw.Ports(i)
		if len(ports) == 0 {
			continue
		}
		r.Groups++
		row := adaptiveGroup{Switch: r.Switch, Group: i, LIDs: lids[i], lead: feature.ToPort(f, f.Port(node, ports[0]))}
		for _, sub := range g {
			row.Ports = append(row.Ports, numbers(sub))
		}
		for _, p := range ports {
			if at := f.PortAt(node, int(p)); at == fabric.None || !f.Ports[at].Linked() {
				row.Down = append(row.Down, int(p))
			}
		}
		a.Groups = append(a.Groups, row)
	}
	a.Switches = append(a.Switches, r)
}

func numbers(ports []uint8) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = int(p)
	}
	return out
}

// subGroups writes the ports of sub-groups, in the order in which they are tried: 1-4 then 7.
func subGroups(groups [][]int) string {
	return strings.Join(prose.Words(groups, prose.Ranges[int]), " then ")
}

// choiceCounts is what the check of all paths says of adaptive routing.
type choiceCounts struct {
	*choices.Result
	Troubles []choiceTrouble `json:"troubles"`
}

type choiceTrouble struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
	How  string `json:"reached"`
	Loop bool   `json:"can_loop,omitempty"`
	lead Lead
}

// choices follows every choice of switches that route adaptively; nil where none does.
func (c *call) choices(p *session.Picture) (*choiceCounts, error) {
	if p.Tables.Adaptive == nil {
		return nil, nil
	}
	r, err := c.session.Analysis().Choices(c.ctx, p.Tables, choices.Options{Switches: c.Flag("switches")})
	if err != nil {
		return nil, err
	}
	a := &choiceCounts{Result: r, Troubles: []choiceTrouble{}}
	names := feature.NewNamer(p.Fabric)
	for _, t := range r.Troubles {
		a.Troubles = append(a.Troubles, choiceTrouble{
			names.Port(t.Src), names.Port(t.Dst), t.LID, t.Outcome.Endings.Reach().String(), t.Outcome.Endings&choices.Loops != 0, feature.ToTrace(p, t.Src, t.Dst, t.LID),
		})
	}
	return a, nil
}

func (a *choiceCounts) text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("  by every choice of adaptive routing: %d arrive for sure, %d by luck, %d never, %d unknown; %d have several paths", a.Sure, a.Luck, a.Never, a.Unknown, a.Many)
	if a.Loops > 0 {
		line("    packets of %d can loop", a.Loops)
	}
	span := func(counts []int64) string {
		first, last := -1, -1
		for links, n := range counts {
			if n > 0 && first < 0 {
				first = links
			}
			if n > 0 {
				last = links
			}
		}
		if first < 0 {
			return "none"
		}
		if first == last {
			return count(first, "link")
		}
		return fmt.Sprintf("%d to %s", first, count(last, "link"))
	}
	line("    the shortest paths have %s, the longest ones %s", span(a.Fewest), span(a.Most))
	if a.SLsUnread {
		line("    it depends on the SLs of paths, which were not read: all were taken for SL 0")
	}
	for _, t := range a.Troubles {
		line("    %s -> %s (LID %d): %s%s", t.From, t.To, t.LID, t.How, prose.When(t.Loop, ", and can loop", ""))
	}
}
