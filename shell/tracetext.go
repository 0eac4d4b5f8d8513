// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/source"
)

type traceAnswer struct {
	Of    string `json:"of"`
	Stale bool   `json:"stale,omitempty"`
	From  string `json:"from"`
	To    string `json:"to"`
	LID   uint16 `json:"lid"`
	SL    *uint8 `json:"sl,omitempty"`
	// UnknownSL says that nobody knows the service level.
	UnknownSL bool `json:"sl_unknown,omitempty"`
	// MeansSL is what torus-2QoS says by the service level.
	MeansSL string     `json:"sl_means,omitempty"`
	Verdict string     `json:"verdict"`
	Arrives bool       `json:"arrives"`
	Why     string     `json:"why"`
	Hops    []traceHop `json:"hops"`
	// Parts says where a live path leaves that of the tables, "" where it does not.
	Parts string `json:"parts,omitempty"`
	// SameAs are the tables that a live path agrees with.
	SameAs string `json:"same_as,omitempty"`
	// Unread says of which ports the counters could not be read, and why.
	Unread []string `json:"counters_not_read,omitempty"`
	// Adaptive says that switches may choose among several paths.
	Adaptive string `json:"adaptive,omitempty"`
	// Back, Against and LIDs are only where they were asked for.
	Back    *besidePath `json:"back,omitempty"`
	Against *besidePath `json:"against,omitempty"`
	LIDs    []lidPath   `json:"lids,omitempty"`
	// Choices is nil where no switch is known to route adaptively.
	Choices *pathSet `json:"choices,omitempty"`
}

// adaptiveText is said of every path through real switches: standard management
// packets do not tell whether a switch routes adaptively.
const adaptiveText = "one of several paths where the switches route adaptively, which cannot be read from them"

func adaptive(st *session.State) string {
	if st.Source.Kind != source.Umad {
		return ""
	}
	return adaptiveText
}

type traceHop struct {
	Node string `json:"node"`
	GUID string `json:"guid"`
	LID  uint16 `json:"lid"`
	In   *int   `json:"in,omitempty"`
	Out  *int   `json:"out,omitempty"`
	// Link is what port Out says of its link, and InLink what port In does.
	Link   string `json:"link,omitempty"`
	InLink string `json:"in_link,omitempty"`
	// VL is that on which the packet leaves, where the VLs are known.
	VL *uint8 `json:"vl,omitempty"`
	// Torus is what happens at a switch of a torus that torus-2QoS routed.
	Torus *torus.Hop `json:"torus,omitempty"`
	// Errors are the error counters of port Out that are not zero, and InErrors
	// those of port In.
	Errors   string `json:"errors,omitempty"`
	InErrors string `json:"in_errors,omitempty"`
	// InVL is the VL on which the packet comes. Dropped says that its SL is mapped to VL 15.
	InVL    *uint8 `json:"in_vl,omitempty"`
	Dropped bool   `json:"dropped,omitempty"`
	// Turn says where the path goes up and down between switches; Backwards that it goes up again after it
	// went down, and InLoop that the credit loop that was found leads through here.
	Turn      string `json:"turn,omitempty"`
	Backwards bool   `json:"against_ranks,omitempty"`
	InLoop    bool   `json:"in_credit_loop,omitempty"`
}

func traceAnswerOf(f *fabric.Fabric, path *walk.Path) *traceAnswer {
	a := &traceAnswer{
		From: f.PortName(path.Src), To: destinationOf(f, path), LID: path.DstLID, Verdict: path.Verdict.String(),
		Arrives: path.Verdict.Arrives(), Why: path.Explain(f),
	}
	if path.Dst != fabric.None {
		a.To = f.PortName(path.Dst)
	}
	for _, h := range path.Hops {
		hop := traceHop{Node: f.NodeName(h.Node), GUID: guidText(f.Nodes[h.Node].GUID), LID: h.LID, In: portNumber(f, h.In), Out: portNumber(f, h.Out)}
		hop.Link, hop.InLink = linkText(f, h.Out), linkText(f, h.In)
		a.Hops = append(a.Hops, hop)
	}
	return a
}

// notGranted is the verdict on a path that switches would forward packets by, but that no path record grants.
const notGranted = "not granted"

// grant takes into account why there is no path record, nil where there is one.
func (a *traceAnswer) grant(why error) {
	if why != nil && a.Arrives {
		a.Verdict, a.Arrives, a.Why = notGranted, false, why.Error()+"; the switches would forward its packets"
	}
}

// unknown reports whether it is unknown if packets arrive: a table was not read, or what was asked did not answer.
func (a *traceAnswer) unknown() bool {
	return a.Verdict == walk.Unknown.String() || a.Verdict == livetrace.Silent.String()
}

// judgeTrace fails where packets do not arrive, or that is unknown.
func (c *call) judgeTrace(a *traceAnswer) error {
	why := fmt.Sprintf("%s -> %s: %s", a.From, a.To, a.Why)
	return c.judge(verdict.Of(!a.Arrives && !a.unknown(), a.unknown()), why, why)
}

// linkText says "4xHDR", "" for no port or one without a link.
func linkText(f *fabric.Fabric, port fabric.PortIndex) string {
	if port == fabric.None || !f.Ports[port].Linked() {
		return ""
	}
	return f.Ports[port].Width.String() + f.Ports[port].Speed.String()
}

// pass adds SL, VLs and what happens at the hops, as far as that is known.
func (a *traceAnswer) pass(t *fabric.Tables, p *session.Passage) {
	a.UnknownSL, a.MeansSL = !p.Known, p.Means
	if p.Known && (t.SLs != nil || t.SL2VL != nil || p.SL != 0) {
		a.SL = &p.SL
	}
	for i := range p.Hops {
		hop, h := &a.Hops[i], &p.Hops[i]
		hop.Torus, hop.Turn, hop.Backwards, hop.InLoop = h.Torus, h.Turn, h.Backwards, h.InLoop
		if t.SL2VL == nil || h.Out == walk.NoVL {
			continue
		}
		hop.VL, hop.Dropped = &h.Out, h.Out == fabric.DropVL
		if h.In != walk.NoVL {
			hop.InVL = &h.In
		}
	}
}

func liveAnswerOf(f *fabric.Fabric, path *livetrace.Path) *traceAnswer {
	a := &traceAnswer{
		Of: "the switches now", From: f.PortName(path.Src), To: feature.DestinationName(f, path.LID), LID: path.LID, Verdict: path.Verdict.String(),
		Arrives: path.Verdict == livetrace.Delivered, Why: path.Explain(f),
	}
	for i := range path.Hops {
		h := &path.Hops[i]
		hop := traceHop{Node: h.Name(f), GUID: guidText(h.GUID), In: givenPort(h.In), Out: givenPort(h.Out)}
		switch {
		case i == 0:
			hop.LID = f.Ports[path.Src].LID
		case h.Node != fabric.None:
			hop.LID = hopLID(f, h)
		}
		hop.Link, hop.InLink = h.Sends.String(), h.Receives.String()
		a.Hops = append(a.Hops, hop)
	}
	return a
}

// hopLID is the LID of a known hop's end port.
func hopLID(f *fabric.Fabric, h *livetrace.Hop) uint16 {
	num := 0
	if !f.Nodes[h.Node].IsSwitch() {
		num = max(h.In, h.Out)
	}
	if port := f.PortAt(h.Node, num); port != fabric.None {
		return f.Ports[port].LID
	}
	return 0
}

// destinationOf names the destination of a path.
func destinationOf(f *fabric.Fabric, path *walk.Path) string {
	if path.Dst != fabric.None {
		return f.PortName(path.Dst)
	}
	return feature.DestinationName(f, path.DstLID)
}

func givenPort(n int) *int {
	if n == livetrace.NoPort {
		return nil
	}
	return &n
}

func portNumber(f *fabric.Fabric, port fabric.PortIndex) *int {
	if port == fabric.None {
		return nil
	}
	n := int(f.Ports[port].Num)
	return &n
}

func (a *traceAnswer) Text(w io.Writer) {
	sl := ""
	switch {
	case a.UnknownSL:
		sl = ", SL unknown"
	case a.SL != nil:
		sl = fmt.Sprintf(", SL %d", *a.SL)
	}
	if a.MeansSL != "" {
		sl += " (" + a.MeansSL + ")"
	}
	_, _ = fmt.Fprintf(w, "%s -> %s, LID %s%s, of %s\n", a.From, a.To, lidText(a.LID), sl, a.Of)
	width := 0
	for _, h := range a.Hops {
		width = max(width, len([]rune(h.Node)))
	}
	before := ""
	for _, h := range a.Hops {
		ports := ""
		if h.In != nil {
			ports = fmt.Sprintf("p%d", *h.In)
		}
		if h.Out != nil {
			if ports != "" {
				ports += " -> "
			}
			ports += fmt.Sprintf("p%d", *h.Out)
		}
		vl := ""
		if h.VL != nil {
			vl = fmt.Sprintf("  VL %d", *h.VL)
		}
		link := h.Link
		if h.InLink != "" && before != "" && h.InLink != before {
			link = strings.TrimSpace(fmt.Sprintf("(came by %s) %s", h.InLink, link))
		}
		before = h.Link
		_, _ = fmt.Fprintf(w, "  %-*s  LID %-5s  %-10s  %s%s%s%s%s%s\n", width, h.Node, lidText(h.LID), ports, link, vl, torusText(h.Torus), h.turnText(),
			errorsText("in", h.In, h.InErrors), errorsText("out", h.Out, h.Errors))
	}
	_, _ = fmt.Fprintf(w, "  %s\n", a.Why)
	if a.SameAs != "" {
		_, _ = fmt.Fprintf(w, "  the path that it has in %s\n", a.SameAs)
	}
	shown, more := prose.Cut(a.Unread, 3)
	for _, port := range shown {
		_, _ = fmt.Fprintf(w, "  not read: %s\n", port)
	}
	for _, more := range []string{more, a.Parts, a.Adaptive} {
		if more != "" {
			_, _ = fmt.Fprintf(w, "  %s\n", more)
		}
	}
	a.Choices.text(w)
	a.Back.text(w, "back")
	if a.Against != nil {
		a.Against.text(w, a.Against.Of)
	}
	a.lidsText(w)
}

// turnText says "  turns down".
func (h *traceHop) turnText() (text string) {
	for _, x := range []struct {
		is   bool
		word string
	}{{h.Turn != "", h.Turn}, {h.Backwards, "against the ranks"}, {h.Dropped, "dropped: VL 15"}, {h.InLoop, "in a credit loop"}} {
		if x.is {
			text += prose.When(text == "", "  ", ", ") + x.word
		}
	}
	return text
}

// errorsText says "  out p3: SymbolErrors 5".
func errorsText(direction string, port *int, errors string) string {
	if errors == "" || port == nil {
		return ""
	}
	return fmt.Sprintf("  %s p%d: %s", direction, *port, errors)
}
