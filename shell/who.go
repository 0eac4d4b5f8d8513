// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/uses"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func whoCommands() []Spec {
	return []Spec{{
		Name: "who", Summary: "list the paths that use a link or node",
		Options: []lang.Option{feature.OfOption()},
		Subcommands: []Spec{{
			Name: "uses", Summary: "list the paths over a link or through a node, and the end ports that are unreachable without it", Run: onTables(runWhoUses),
			Args: []lang.Arg{{Name: "NODE[/PORT]", Kind: lang.KindPlace}, {Name: "PORT", Kind: lang.KindPort, Optional: true}},
		}},
	}}
}

const whoListed = 100 // how many of a kind a list in JSON has at most

// whoAnswer has counts of all, and lists of the first.
type whoAnswer struct {
	Of    string `json:"of"`
	Stale bool   `json:"stale,omitempty"`
	What  string `json:"what"`
	// Paths use it, of All that arrive. Unknown paths meet a table that was not read, and may use it, too.
	Paths        int64      `json:"paths"`
	All          int64      `json:"all"`
	Unknown      int64      `json:"unknown"`
	Directions   []linkLoad `json:"directions,omitempty"`
	Sources      int        `json:"sources"`
	Destinations int        `json:"destinations"`
	From         []whoPort  `json:"from"`
	To           []whoPort  `json:"to"`
	Examples     []whoPath  `json:"examples"`
	CutOffs      int        `json:"cut_offs"` // the number of end ports that would be attached to nothing without it
	CutOff       []string   `json:"cut_off"`
	// Choices is nil where no switch routes adaptively.
	Choices *choices.Users `json:"adaptive,omitempty"`
	Seconds float64        `json:"seconds"`
	tablesNotRead

	picture *session.Picture
	uses    *uses.Result
}

type whoPort struct {
	Port  string `json:"port"`
	LID   uint16 `json:"lid"`
	Paths int64  `json:"paths"`
}

type whoPath struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
}

func runWhoUses(c *call, st *session.State, p *session.Picture) error {
	what, name, err := c.what(p.Fabric)
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := uses.Of(c.ctx, p.Tables, what, uses.Options{Examples: c.named()})
	if err != nil {
		return err
	}
	a := whoAnswer{Of: st.Title(p), Stale: st.IsStale(p), What: name, Paths: r.Paths, All: r.All, Unknown: r.Unknown, Sources: len(r.Sources), Destinations: len(r.Destinations), picture: p, uses: r, tablesNotRead: tablesNotReadOf(p.Tables)}
	a.From, a.To, a.Examples, a.CutOff = whoPorts(p.Fabric, r.Sources), whoPorts(p.Fabric, r.Destinations), []whoPath{}, []string{}
	for _, e := range r.Examples[:min(len(r.Examples), maxListed)] {
		a.Examples = append(a.Examples, whoPath{p.Fabric.PortName(e.Src), p.Fabric.PortName(e.Dst), e.LID})
	}
	a.CutOffs = len(r.CutOff)
	for _, port := range r.CutOff[:min(whoListed, len(r.CutOff))] {
		a.CutOff = append(a.CutOff, p.Fabric.PortName(port))
	}
	if a.Directions, err = c.directions(p, what.Links); err != nil {
		return err
	}
	if p.Tables.Adaptive != nil {
		if a.Choices, err = choices.UsersOf(c.ctx, p.Tables, what, choices.Options{Examples: c.named()}); err != nil {
			return err
		}
	}
	a.Seconds = time.Since(start).Seconds()
	return c.out.Answer(&a)
}

// what is the link that the words name, all links of a node that is no switch, or a switch.
func (c *call) what(f *fabric.Fabric) (uses.What, string, error) {
	at, err := places.Resolve(f, c.Arg(0))
	if err != nil {
		return uses.What{}, "", err
	}
	n := &f.Nodes[at.Node]
	named := at.PortNamed && f.Ports[at.Port].Num != 0
	switch {
	case len(c.Args) > 1 || named && n.NumPorts > 1:
		port, err := places.Link(f, c.Args)
		if err != nil {
			return uses.What{}, "", c.misnamed(err)
		}
		l, ok := f.LinkOf(port)
		if !ok {
			return uses.What{}, "", fmt.Errorf("%s has no link", f.PortName(port))
		}
		return uses.What{Links: []fabric.Link{l}}, f.PortName(port) + " -- " + f.PortName(f.Ports[port].Peer), nil
	case n.IsSwitch():
		return uses.What{Switches: []fabric.SwitchIndex{n.Switch}}, f.NodeName(at.Node), nil
	}
	var what uses.What
	for p := range n.Ports() {
		if l, ok := f.LinkOf(p); ok {
			what.Links = append(what.Links, l)
		}
	}
	return what, f.NodeName(at.Node), nil
}

func whoPorts(f *fabric.Fabric, list []uses.Use) []whoPort {
	out := []whoPort{}
	for _, u := range list[:min(whoListed, len(list))] {
		out = append(out, whoPort{f.PortName(u.Port), f.Ports[u.Port].LID, u.Paths})
	}
	return out
}

// directions are the loads of links, each way.
func (c *call) directions(p *session.Picture, links []fabric.Link) ([]linkLoad, error) {
	if len(links) == 0 {
		return nil, nil
	}
	l, err := c.session.Analysis().Load(c.ctx, p.Tables, linkload.Options{})
	if err != nil {
		return nil, err
	}
	var list []linkLoad
	for _, link := range links {
		for _, d := range [2][2]fabric.PortIndex{{link.A, link.B}, {link.B, link.A}} {
			list = append(list, linkLoad{
				From: p.Fabric.PortName(d[0]), To: p.Fabric.PortName(d[1]), Paths: l.Paths[d[0]], Destinations: l.Destinations[d[0]],
			})
		}
	}
	return list, nil
}

func (a *whoAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("%s of %s: %d of %d paths use it, from %s to %s", a.What, a.Of, a.Paths, a.All, count(a.Sources, "end port"), count(a.Destinations, "end port"))
	a.tablesNotRead.text(w)
	if a.Unknown > 0 {
		line("  %d more paths may use it: they meet tables that were not read", a.Unknown)
	}
	for _, d := range a.Directions {
		line("  %s", d.text())
	}
	if a.Choices != nil {
		line("  by adaptive routing the packets of %d pairs can take it, from %s to %s, as many as those of %.1f pairs if all choices are alike",
			a.Choices.Paths, count(len(a.Choices.Sources), "end port"), count(len(a.Choices.Destinations), "end port"), a.Choices.Packets)
	}
	if len(a.CutOff) == 0 {
		line("  without it no end port is unreachable")
	} else {
		line("  without it %s unreachable:", count(a.CutOffs, "end port"))
		listOf(w, "unreachable", a.CutOff, a.CutOffs)
	}
	ports := func(label string, of []whoPort, all int) {
		listOf(w, label, prose.Words(of, func(p whoPort) string {
			return fmt.Sprintf("%s (LID %d), %s", p.Port, p.LID, count(int(p.Paths), "path"))
		}), all)
	}
	ports("from", a.From, a.Sources)
	ports("to", a.To, a.Destinations)
	for _, e := range a.Examples {
		line("  %s -> %s (LID %d)", e.From, e.To, e.LID)
	}
	if shown := int64(len(a.Examples)); shown < a.Paths {
		line("  and %d more paths", a.Paths-shown)
	}
}

// listOf prints the first items of all that there are, one a line behind a label.
func listOf(w io.Writer, label string, items []string, all int) {
	items = items[:min(maxListed, len(items))]
	list(w, label, items)
	if all > len(items) {
		_, _ = fmt.Fprintf(w, "  %s: and %d more\n", label, all-len(items))
	}
}

// Tables names all that the text counts.
func (a *whoAnswer) Tables() []Table {
	f := a.picture.Fabric
	port := func(u uses.Use) plainRow {
		return plainRow{leads{toPort(f, u.Port)}, []any{f.PortName(u.Port), f.Ports[u.Port].LID, u.Paths, leafOf(f, u.Port)}}
	}
	paths := tableOf("paths", []string{"FROM", "TO", "LID"}, a.uses.Examples, func(e uses.Path) plainRow {
		return plainRow{leads{feature.ToTrace(a.picture, e.Src, e.Dst, e.LID)}, []any{f.PortName(e.Src), f.PortName(e.Dst), e.LID}}
	})
	paths.More = int(a.Paths) - len(paths.Rows)
	return append([]Table{
		tableOf("unreachable without it", []string{"PORT", "LID", "SWITCH"}, a.uses.CutOff, func(p fabric.PortIndex) plainRow {
			return plainRow{leads{toPort(f, p)}, []any{f.PortName(p), f.Ports[p].LID, leafOf(f, p)}}
		}),
		tableOf("from", []string{"FROM", "LID", "PATHS", "SWITCH"}, a.uses.Sources, port),
		tableOf("to", []string{"TO", "LID", "PATHS", "SWITCH"}, a.uses.Destinations, port),
		paths,
	}, a.choiceTables()...)
}

// choiceTables names those whose packets can take it by adaptive routing.
func (a *whoAnswer) choiceTables() []Table {
	if a.Choices == nil {
		return nil
	}
	f := a.picture.Fabric
	user := func(u choices.User) plainRow {
		return plainRow{leads{toPort(f, u.Port)}, []any{f.PortName(u.Port), f.Ports[u.Port].LID, u.Paths, fmt.Sprintf("%.1f", u.Packets), leafOf(f, u.Port)}}
	}
	pairs := tableOf("can take it: pairs", []string{"FROM", "TO", "LID", "OF PACKETS"}, a.Choices.Examples, func(e choices.Use) plainRow {
		return plainRow{leads{feature.ToTrace(a.picture, e.Src, e.Dst, e.LID)}, []any{f.PortName(e.Src), f.PortName(e.Dst), e.LID, fmt.Sprintf("%.0f %%", 100*e.Share)}}
	})
	pairs.More = int(a.Choices.Paths) - len(pairs.Rows)
	return []Table{
		tableOf("can take it: from", []string{"FROM", "LID", "PAIRS", "PACKETS OF", "SWITCH"}, a.Choices.Sources, user),
		tableOf("can take it: to", []string{"TO", "LID", "PAIRS", "PACKETS OF", "SWITCH"}, a.Choices.Destinations, user),
		pairs,
	}
}

type linkLoad struct {
	From         string `json:"from"`
	To           string `json:"to"`
	Paths        int64  `json:"paths"`
	Destinations int32  `json:"destinations"`
}

func (l *linkLoad) text() string {
	return fmt.Sprintf("%s to %s over %s -> %s", count(int(l.Paths), "path"), count(int(l.Destinations), "LID"), l.From, l.To)
}
