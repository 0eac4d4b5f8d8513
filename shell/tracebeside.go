// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/session"
)

// besidePath is another path beside that of a trace.
type besidePath struct {
	Of      string      `json:"of"`
	Verdict string      `json:"verdict"`
	Why     string      `json:"why"`
	Same    bool        `json:"same"`
	Hops    []besideHop `json:"hops"`
}

// besideHop is a hop of either path or of both. How is same, port, switch, or "" where it is of one of them alone.
type besideHop struct {
	Node      string `json:"node,omitempty"`
	Other     string `json:"other,omitempty"`
	OtherIn   *int   `json:"other_in,omitempty"`
	OtherOut  *int   `json:"other_out,omitempty"`
	How       string `json:"how"`
	OtherPath bool   `json:"other_only,omitempty"`
}

func newBesidePath(f *fabric.Fabric, path *walk.Path, g *fabric.Fabric, other *walk.Path, hops []walk.Hop, of string) *besidePath {
	b := &besidePath{Of: of, Verdict: other.Verdict.String(), Why: other.Explain(g), Same: true}
	for _, x := range walk.Compare(f, path.Hops, g, hops) {
		h := besideHop{How: x.How.String(), OtherPath: x.A < 0}
		b.Same = b.Same && x.How == walk.SameHop
		if x.A >= 0 {
			h.Node = f.NodeName(path.Hops[x.A].Node)
		}
		if x.B >= 0 {
			h.Other = g.NodeName(hops[x.B].Node)
			h.OtherIn, h.OtherOut = portNumber(g, hops[x.B].In), portNumber(g, hops[x.B].Out)
		}
		b.Hops = append(b.Hops, h)
	}
	return b
}

// addBack adds the path back: its hops stand beside those of the path there, so that the first is where it ends.
func (a *traceAnswer) addBack(p *session.Picture, path *walk.Path) {
	if back, ok := path.Back(p.Tables); ok {
		a.Back = newBesidePath(p.Fabric, path, p.Fabric, &back, back.Backwards(), a.Of)
		for i := range a.Back.Hops {
			h := &a.Back.Hops[i]
			h.OtherIn, h.OtherOut = h.OtherOut, h.OtherIn
		}
	}
}

// addAgainst adds the path between the same ports in another picture.
func (a *traceAnswer) addAgainst(st *session.State, p *session.Picture, path *walk.Path, other *session.Picture) error {
	that, err := path.In(p.Fabric, other.Tables)
	if err != nil {
		return fmt.Errorf("%s: %w", st.Title(other), err)
	}
	a.Against = newBesidePath(p.Fabric, path, other.Fabric, &that, that.Hops, st.Title(other))
	return nil
}

func (b *besidePath) text(w io.Writer, label string) {
	if b == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "  %s: %s%s\n", label, b.Why, prose.When(b.Same, ", the same hops", ""))
	if b.Same {
		return
	}
	width := 0
	for i := range b.Hops {
		width = max(width, len([]rune(b.Hops[i].Node)))
	}
	for i := range b.Hops {
		h := &b.Hops[i]
		how := prose.When(h.How == "", "-", h.How)
		_, _ = fmt.Fprintf(w, "    %s\n", strings.TrimRight(fmt.Sprintf("%-*s  %-6s  %s  %s", width, h.Node, how, h.Other, besidePorts(h)), " "))
	}
}

// besidePorts says "p1 -> p9".
func besidePorts(h *besideHop) string {
	var ports []string
	for _, p := range []*int{h.OtherIn, h.OtherOut} {
		if p != nil {
			ports = append(ports, fmt.Sprintf("p%d", *p))
		}
	}
	return strings.Join(ports, " -> ")
}

// lidPath is the path to one of the LIDs of a port.
type lidPath struct {
	LID     uint16 `json:"lid"`
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
	// Shared are the links, of all, that it has in common with the path that was asked for.
	Shared int      `json:"shared"`
	All    int      `json:"hops"`
	Path   []string `json:"path"`
}

func (a *traceAnswer) addLIDs(p *session.Picture, path *walk.Path) {
	if path.Dst == fabric.None {
		return
	}
	for _, x := range walk.TraceAll(p.Tables, path.Src, path.Dst) {
		l := lidPath{LID: x.DstLID, Verdict: x.Verdict.String(), Why: x.Explain(p.Fabric), All: x.Links(), Shared: x.Common(path)}
		for _, s := range passedOf(p.Fabric, &x) {
			l.Path = append(l.Path, s.name)
		}
		a.LIDs = append(a.LIDs, l)
	}
}

func (a *traceAnswer) lidsText(w io.Writer) {
	different := func(l lidPath) bool { return l.Shared < l.All }
	if n := len(a.LIDs); n > 1 && !slices.ContainsFunc(a.LIDs, different) {
		_, _ = fmt.Fprintf(w, "  all %d LIDs have the same path\n", n)
		return
	}
	for _, l := range a.LIDs {
		_, _ = fmt.Fprintf(w, "  LID %-5d  %d of %s shared  %s: %s\n", l.LID, l.Shared, prose.Count(l.All, "hop"), l.Verdict, strings.Join(l.Path, " "))
	}
}
