// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/alternates"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func pathsAlternateCommand() Spec {
	return Spec{Name: "alternate", Summary: "what a connection may migrate to (APM): paths beside the primary one, and what they share with it", Run: onTables((*call).pathsAlternate),
		Help: "A path is both directions: what SRC sends to a LID of DST, and what comes back to a LID of SRC. Alternates go to the other LIDs that an LMC gives\n" +
			"DST, and from and to the other ports of both nodes; each is listed with the source LID by which it shares least. Links and switches of a port\n" +
			"itself are shared by all its paths, and counted apart.",
		Args:    []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST", Kind: lang.KindPlace}},
		Options: []lang.Option{feature.OfOption(), {Name: "limit", Kind: lang.KindInt, Summary: "how many are listed (20)"}}}
}

// alternatesAnswer are the paths of a connection.
type alternatesAnswer struct {
	Of         string          `json:"of"`
	Stale      bool            `json:"stale,omitempty"`
	Primary    alternatePath   `json:"primary"`
	Alternates []alternatePath `json:"alternates"`
	// Found is how many alternates there are, Lost how many paths do not arrive in both directions, and Unknown how many
	// meet a table that was not read.
	Found   int `json:"found"`
	Lost    int `json:"lost"`
	Unknown int `json:"unknown"`
	// None says why there is no alternate.
	None string `json:"none,omitempty"`
}

type alternatePath struct {
	From string `json:"from"`
	SLID uint16 `json:"slid"`
	To   string `json:"to"`
	DLID uint16 `json:"dlid"`
	// SL is that of the path there, null where nobody knows it.
	SL      *uint8 `json:"sl"`
	Arrives bool   `json:"arrives"`
	Why     string `json:"why,omitempty"`
	// There and Back are the ports by which packets leave switches.
	There []string `json:"there"`
	Back  []string `json:"back"`
	// Disjoint is all, ends (nothing is shared but what the ports themselves have), links
	// (no link between), none, or same where it is the primary path; "" of that.
	Disjoint string      `json:"disjoint,omitempty"`
	Shared   *sharedPart `json:"shared,omitempty"`
	Ends     *sharedPart `json:"shared_at_ends,omitempty"`
}

type sharedPart struct {
	Links    []string `json:"links"`
	Switches []string `json:"switches"`
}

func (c *call) pathsAlternate(st *session.State, p *session.Picture) error {
	limit, err := c.atLeast("limit", maxListed, 1)
	if err != nil {
		return err
	}
	f := p.Fabric
	var lids [2]uint16
	var ends [2]fabric.PortIndex
	for i := range lids {
		at, err := places.Resolve(f, c.Arg(i))
		if err != nil {
			return err
		}
		if lids[i], ends[i] = at.LID, f.EndPortOf(at.Port); at.LID == 0 || f.PortByLID(at.LID) != ends[i] {
			return fmt.Errorf("%s has no LID", f.PortName(at.Port))
		}
	}
	if ends[0] == ends[1] {
		return fmt.Errorf("%s is both ends", f.PortName(ends[0]))
	}
	r := alternates.Of(p.Tables, lids[0], lids[1])
	a := &alternatesAnswer{Of: st.Title(p), Stale: st.IsStale(p), Primary: alternatePathOf(p.Tables, &r.Primary), Found: len(r.List), Lost: r.Lost, Unknown: r.Unknown}
	for i := range r.List[:min(limit, len(r.List))] {
		x := &r.List[i]
		path := alternatePathOf(p.Tables, &x.Path)
		path.Disjoint, path.Shared, path.Ends = disjoint(x), sharedOf(f, &x.Between), sharedOf(f, &x.Ends)
		if slices.Equal(path.There, a.Primary.There) && slices.Equal(path.Back, a.Primary.Back) {
			path.Disjoint = "same"
		}
		a.Alternates = append(a.Alternates, path)
	}
	switch {
	case a.Found > 0:
	case a.Unknown > 0:
		a.None = "it is unknown whether another path arrives in both directions: tables were not read"
	case a.Lost > 0:
		a.None = "no other path arrives in both directions"
	default:
		a.None = "each has one port with one LID (LMC 0), and to a LID there is one path (try: engine ENGINE lmc=1; route; paths alternate)"
	}
	return c.out.Answer(a)
}

func alternatePathOf(t *fabric.Tables, p *alternates.Path) alternatePath {
	f := t.Fabric
	a := alternatePath{
		From: f.PortName(p.Src), SLID: p.SLID, To: f.PortName(p.Dst), DLID: p.DLID, Arrives: p.Arrives(),
		There: leftBy(f, &p.There), Back: leftBy(f, &p.Back),
	}
	if sl, known := t.SL(p.SLID, p.DLID); known {
		a.SL = &sl
	}
	switch {
	case !p.There.Verdict.Arrives():
		a.Why = p.There.Explain(f)
	case !p.Back.Verdict.Arrives():
		a.Why = "back: " + p.Back.Explain(f)
	}
	return a
}

// leftBy are the ports by which packets leave the switches of a path.
func leftBy(f *fabric.Fabric, p *walk.Path) (ports []string) {
	for _, h := range p.Hops {
		if n := &f.Nodes[h.Node]; n.IsSwitch() {
			out := n.FirstPort
			if h.Out != fabric.None {
				out = h.Out
			}
			ports = append(ports, f.PortName(out))
		}
	}
	return ports
}

func disjoint(a *alternates.Alternate) string {
	ends := len(a.Ends.Links) + len(a.Ends.Switches)
	switch {
	case len(a.Between.Links) > 0:
		return "none"
	case len(a.Between.Switches) > 0:
		return "links"
	case ends > 0:
		return "ends"
	}
	return "all"
}

func sharedOf(f *fabric.Fabric, s *alternates.Shared) *sharedPart {
	var x sharedPart
	for _, p := range s.Links {
		x.Links = append(x.Links, f.PortName(p)+" -- "+f.PortName(f.Ports[p].Peer))
	}
	for _, n := range s.Switches {
		x.Switches = append(x.Switches, f.NodeName(n))
	}
	return &x
}

func (a *alternatesAnswer) Text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s, of %s\n", a.Primary.title(), a.Of)
	a.Primary.text(w)
	if a.None != "" {
		_, _ = fmt.Fprintf(w, "no alternate: %s\n", a.None)
		return
	}
	_, _ = fmt.Fprintln(w, prose.Count(a.Found, "alternate")+", those that share least first")
	for i := range a.Alternates {
		x := &a.Alternates[i]
		_, _ = fmt.Fprintf(w, "%s: %s\n", x.title(), x.shares())
		x.text(w)
	}
	if more := a.Found - len(a.Alternates); more > 0 {
		_, _ = fmt.Fprintf(w, "and %d more (limit=N lists more)\n", more)
	}
	if a.Lost > 0 {
		_, _ = fmt.Fprintf(w, "%s more not in both directions\n", prose.When(a.Lost == 1, "1 path arrives", fmt.Sprintf("%d paths arrive", a.Lost)))
	}
	if a.Unknown > 0 {
		_, _ = fmt.Fprintf(w, "%s unknown, over tables that were not read\n", prose.Count(a.Unknown, "more path"))
	}
}

func (p *alternatePath) title() string {
	sl := "unknown"
	if p.SL != nil {
		sl = fmt.Sprint(*p.SL)
	}
	return fmt.Sprintf("%s LID %d -> %s LID %d, SL %s", p.From, p.SLID, p.To, p.DLID, sl)
}

func (p *alternatePath) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "  there  %s\n  back   %s\n", strings.Join(p.There, " "), strings.Join(p.Back, " "))
	if p.Why != "" {
		_, _ = fmt.Fprintf(w, "  %s\n", p.Why)
	}
}

// shares says what an alternate shares with the primary path.
func (p *alternatePath) shares() string {
	ends := ""
	if n := len(p.Ends.Links) + len(p.Ends.Switches); n > 0 {
		ends = "; the ports themselves have " + strings.Join(append(append([]string{}, p.Ends.Links...), p.Ends.Switches...), ", ")
	}
	switch p.Disjoint {
	case "same":
		return "the same path"
	case "all":
		return "shares nothing"
	case "ends":
		return "shares nothing between the ends" + ends
	case "links":
		return "shares no link, but " + strings.Join(p.Shared.Switches, ", ") + ends
	}
	return "shares " + strings.Join(append(append([]string{}, p.Shared.Links...), p.Shared.Switches...), ", ") + ends
}
