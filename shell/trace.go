// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/walk"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func traceCommands() []command {
	return []command{{lang.Spec{
		Name: "trace", Summary: "follow the packets from SRC to DST through the tables",
		Args:    []lang.Arg{{Name: "SRC", Kind: lang.KindPlace}, {Name: "DST", Kind: lang.KindPlace}},
		Options: []lang.Option{ofOption(), {Name: "format", Kind: lang.KindWord, Words: []string{"text", "ibtracert"}, Summary: "ibtracert: the lines of ibtracert"}},
	}, runTrace}}
}

type traceAnswer struct {
	Of      string     `json:"of"`
	From    string     `json:"from"`
	To      string     `json:"to"`
	LID     uint16     `json:"lid"`
	Verdict string     `json:"verdict"`
	Arrives bool       `json:"arrives"`
	Why     string     `json:"why"`
	Hops    []traceHop `json:"hops"`
}

type traceHop struct {
	Node string `json:"node"`
	GUID string `json:"guid"`
	LID  uint16 `json:"lid"`
	In   *int   `json:"in,omitempty"`
	Out  *int   `json:"out,omitempty"`
	Link string `json:"link,omitempty"`
}

func runTrace(c *call) error {
	st, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	f := p.Fabric
	src, err := session.Resolve(f, c.Arg(0))
	if err != nil {
		return err
	}
	dst, err := session.Resolve(f, c.Arg(1))
	if err != nil {
		return err
	}
	if dst.LID == 0 {
		return fmt.Errorf("%s has no LID in %s", f.PortName(dst.Port), st.Title(p))
	}
	path := walk.Trace(p.Tables, f.EndPortOf(src.Port), dst.LID)
	if c.Option("format", "text") == "ibtracert" {
		return walk.Ibtracert(c.out.W, p.Tables, &path)
	}
	answer := traceAnswerOf(f, &path)
	answer.Of = st.Title(p)
	answer.To = f.PortName(dst.Port)
	return c.out.answer(answer, func(w io.Writer) { answer.text(w) })
}

func traceAnswerOf(f *fabric.Fabric, path *walk.Path) traceAnswer {
	a := traceAnswer{
		From: f.PortName(path.Src), LID: path.DstLID, Verdict: path.Verdict.String(),
		Arrives: path.Verdict.Arrives(), Why: path.Explain(f),
	}
	for _, h := range path.Hops {
		hop := traceHop{Node: f.NodeName(h.Node), GUID: guidText(f.Nodes[h.Node].GUID), LID: h.LID, In: portNumber(f, h.In), Out: portNumber(f, h.Out)}
		if h.Out != fabric.None && f.Ports[h.Out].Linked() {
			hop.Link = f.Ports[h.Out].Width.String() + f.Ports[h.Out].Speed.String()
		}
		a.Hops = append(a.Hops, hop)
	}
	return a
}

func portNumber(f *fabric.Fabric, port int32) *int {
	if port == fabric.None {
		return nil
	}
	n := int(f.Ports[port].Num)
	return &n
}

func (a *traceAnswer) text(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%s -> %s, LID %d, of %s\n", a.From, a.To, a.LID, a.Of)
	width := 0
	for _, h := range a.Hops {
		width = max(width, len([]rune(h.Node)))
	}
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
		_, _ = fmt.Fprintf(w, "  %-*s  LID %-5s  %-10s  %s\n", width, h.Node, lidText(h.LID), ports, h.Link)
	}
	_, _ = fmt.Fprintf(w, "  %s\n", a.Why)
}
