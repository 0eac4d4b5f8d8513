// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/credits"
)

type creditsAnswer struct {
	checked
	Loop         bool        `json:"loop"`
	Channels     int         `json:"channels"`
	Lanes        int         `json:"lanes"`
	Dependencies int         `json:"dependencies"`
	Cyclic       int         `json:"channels_in_loops"`
	Rings        int         `json:"groups_of_loops"`
	Ring         []creditHop `json:"ring"`
	Seconds      float64     `json:"seconds"`
	Cure         string      `json:"cure,omitempty"`
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
}

func (c *call) checkCredits() error {
	st, p, err := c.tablesOf()
	if err != nil {
		return err
	}
	start := time.Now()
	r, err := credits.Check(c.ctx, p.Tables, credits.Options{Switches: c.Flag("switches")})
	if err != nil {
		return err
	}
	a := creditsAnswer{
		checked: checkedOf("credits", &st, p), Loop: r.Ring != nil, Channels: r.Channels, Lanes: r.VLs, Dependencies: r.Dependencies,
		Cyclic: r.Cyclic, Rings: r.Rings, Ring: []creditHop{}, Seconds: time.Since(start).Seconds(),
	}
	if a.Loop && p.Tables.Origin == "dor" {
		a.Cure = "engine dor lanes=yes; route"
	}
	a.Ring = append(a.Ring, creditHops(p.Fabric, r.Ring)...)
	if err := c.out.answer(a, a.text); err != nil {
		return err
	}
	if a.Loop {
		return found("a credit loop of %s", count(len(a.Ring), "link"))
	}
	return nil
}

func creditHops(f *fabric.Fabric, ring []credits.Dependency) []creditHop {
	var hops []creditHop
	for _, d := range ring {
		h := creditHop{From: f.PortName(d.From.Port), To: f.PortName(f.Ports[d.From.Port].Peer), VL: d.From.VL, LID: d.LID, SL: d.SL}
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

func (a *creditsAnswer) text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("credits of %s: %s between switches on %s, %d dependencies", a.Of, count(a.Channels, "channel"), count(a.Lanes, "lane"), a.Dependencies)
	if !a.Loop {
		line("  no credit loop")
		return
	}
	line("  %s on credit loops; a shortest one:", count(a.Cyclic, "channel"))
	for i := range a.Ring {
		line("    %s", a.Ring[i].text())
	}
	if a.Cure != "" {
		line("  service levels and lanes make these routes safe (try: %s)", a.Cure)
	}
}
