// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/shell/session"
)

type creditsAnswer struct {
	checked
	// Loop and VLs are null where they are unknown, as Why says.
	Loop         credits.Verdict `json:"loop"`
	Why          string          `json:"why,omitempty"`
	Try          string          `json:"try,omitempty"`
	Channels     int             `json:"channels"`
	VLs          *int            `json:"vls"`
	Dependencies int             `json:"dependencies"`
	Cyclic       int             `json:"channels_in_loops"`
	Rings        int             `json:"groups_of_loops"`
	Ring         []creditHop     `json:"ring"`
	Seconds      float64         `json:"seconds"`
	Cure         string          `json:"cure,omitempty"`
}

// creditHop is one link of a ring, with packets that hold it while they wait for
// the next.
type creditHop struct {
	From string `json:"from"`
	To   string `json:"to"`
	VL   uint8  `json:"vl"`
	Src  string `json:"src"`
	Dst  string `json:"dst,omitempty"`
	LID  uint16 `json:"lid"`
	SL   uint8  `json:"sl"`
	lead Lead
}

// Tables has the links of a shortest loop.
func (a *creditsAnswer) Tables() []Table { return []Table{ringTable(a.Ring)} }

func ringTable(ring []creditHop) Table {
	return tableOf("a credit loop", []string{"FROM", "TO", "VL", "HELD BY", "TO", "LID", "SL"}, ring, func(h creditHop) plainRow {
		return plainRow{leads{h.lead}, []any{h.From, h.To, h.VL, h.Src, orDash(h.Dst), h.LID, h.SL}}
	})
}

func (c *call) checkCredits(st *session.State, p *session.Picture) error {
	start := time.Now()
	tables, opt := p.Tables, credits.Options{Switches: c.Flag("switches")}
	g, err := c.grants(st, p)
	if err != nil {
		return err
	}
	if g != nil { // multicast packets are none of those that were asked for
		unicast := *p.Tables
		unicast.MFT = nil
		tables, opt.Paths = &unicast, g
	}
	opt.GroupSL = st.GroupSL(tables)
	r, err := c.session.Analysis().Credits(c.ctx, tables, opt)
	if err != nil {
		return err
	}
	a := creditsAnswer{
		checked: checkedOf("credits", st, p, r.Verdict.Verdict()), Loop: r.Verdict, Channels: r.Channels, Dependencies: r.Dependencies,
		Cyclic: r.Cyclic, Rings: r.Rings, Ring: []creditHop{}, Seconds: time.Since(start).Seconds(),
	}
	if !r.Unread.Any() {
		a.VLs = &r.VLs
	}
	if r.Verdict == credits.Unknown {
		a.Why, a.Try = st.UnknownLoop(r.Unread, r.Partial)
	}
	if a.Loop == credits.Loop && p.Tables.Origin == "dor" {
		a.Cure = "engine dor vls=yes; route"
	}
	a.Ring = append(a.Ring, creditHops(p.Fabric, r.Ring)...)
	if p.UnsetVLs != "" {
		c.out.warn("%s", p.UnsetVLs)
	}
	if err := c.out.Answer(&a); err != nil {
		return err
	}
	return c.judgeLoop(a.Loop, len(a.Ring), a.Why)
}

// judgeLoop returns the error of a check of credit loops.
func (c *call) judgeLoop(v credits.Verdict, links int, why string) error {
	return c.judge(v.Verdict(), fmt.Sprintf("a credit loop of %s", count(links, "link")), "whether there is a credit loop is unknown: "+why)
}

// unknownLoop is a line about what nobody knows.
func unknownLoop(why, try string) string {
	if try != "" {
		try = " (try: " + try + ")"
	}
	return "credit loop: unknown: " + why + try
}

func creditHops(f *fabric.Fabric, ring []credits.Dependency) []creditHop {
	var hops []creditHop
	for _, d := range ring {
		h := creditHop{From: f.PortName(d.From.Port), To: f.PortName(f.Ports[d.From.Port].Peer), VL: d.From.VL, LID: d.LID, SL: d.SL, lead: toPort(f, d.From.Port)}
		if d.Src != fabric.None {
			h.Src = f.PortName(d.Src)
		}
		if d.Dst != fabric.None {
			h.Dst = f.PortName(d.Dst)
		}
		hops = append(hops, h)
	}
	return hops
}

func (h *creditHop) text() string {
	dst := h.Dst
	if dst == "" {
		dst = "multicast"
	}
	return fmt.Sprintf("%s -> %s VL %d   waits for the next with %s -> %s (LID %d) SL %d", h.From, h.To, h.VL, h.Src, dst, h.LID, h.SL)
}

func (a *creditsAnswer) Text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	vls := "unknown VLs"
	if a.VLs != nil {
		vls = count(*a.VLs, "VL")
	}
	line("credits of %s: %s between switches on %s, %d dependencies", a.Of, count(a.Channels, "channel"), vls, a.Dependencies)
	switch a.Loop {
	case credits.None:
		line("  no credit loop")
		return
	case credits.Unknown:
		line("  %s", unknownLoop(a.Why, a.Try))
		return
	}
	line("  %s on credit loops; a shortest one:", count(a.Cyclic, "channel"))
	for i := range a.Ring {
		line("    %s", a.Ring[i].text())
	}
	if a.Cure != "" {
		line("  SLs and VLs make these routes safe (try: %s)", a.Cure)
	}
}
