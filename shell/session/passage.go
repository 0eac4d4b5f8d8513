// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/checks/credits"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/routing/engines/torus"
	"example.org/ibconsole/shell/session/partitions"
)

// Passage is what becomes of packets on their path.
type Passage struct {
	SL    uint8
	Known bool   // says that the SL is known
	Why   error  // says why nothing grants such a path, though switches would forward its packets
	Means string // what torus-2QoS says by the SL
	Hops  []PassedHop
	found *credits.Result
}

// Loops knows what was found of credit loops, and the structure of fabrics.
type Loops interface {
	KnownCredits(t *fabric.Tables) *credits.Result
	Structure(f *fabric.Fabric) *classify.Structure
}

// PassedHop is what happens at a hop.
type PassedHop struct {
	In, Out   uint8 // the VLs by which packets come and leave, [walk.NoVL] where nobody read them or there is none
	Turn      string
	Backwards bool // says that the path goes up again after it went down, which engines with ranks forbid
	Torus     *torus.Hop
	InLoop    bool // says that the credit loop that was found leads through here
}

// Passage follows what becomes of the packets of a path of a picture.
func (p *Picture) Passage(g *partitions.Grants, path *walk.Path, loops Loops) *Passage {
	r := &Passage{Hops: make([]PassedHop, len(path.Hops)), found: loops.KnownCredits(p.Tables)}
	r.SL, r.Known, r.Why = g.Of(path.Src, path.DstLID)
	r.fillVLs(p.Tables, path)
	if grid, ok := torus.Of(p.Tables); ok {
		r.turnOnTorus(p.Fabric, grid, path)
	} else {
		r.turn(p, path, loops)
	}
	if r.found != nil {
		r.findLoop(path, r.found.Ring)
	}
	return r
}

// Outdated reports whether more was found of the credit loops of the tables since.
func (r *Passage) Outdated(t *fabric.Tables, loops Loops) bool {
	return r.found != loops.KnownCredits(t)
}

func (r *Passage) fillVLs(t *fabric.Tables, path *walk.Path) {
	var vls []uint8
	if r.Known {
		vls = path.VLs(t, r.SL)
	}
	before := walk.NoVL
	for i := range r.Hops {
		r.Hops[i].In, r.Hops[i].Out = before, walk.NoVL
		if r.Known {
			r.Hops[i].Out, before = vls[i], vls[i]
		}
	}
}

func (r *Passage) turnOnTorus(f *fabric.Fabric, grid *torus.Torus, path *walk.Path) {
	sl := fabric.NoSL
	if r.Known {
		sl, r.Means = r.SL, torus.SLText(r.SL)
	}
	for i, h := range path.Hops {
		if sw := f.Nodes[h.Node].Switch; sw != fabric.None {
			if hop, ok := grid.HopOf(sw, h.In, h.Out, sl); ok {
				r.Hops[i].Torus = &hop
			}
		}
	}
}

// turn says where the path goes up and down, by the ranks that the engine gave the switches, else by tiers.
func (r *Passage) turn(p *Picture, path *walk.Path, loops Loops) {
	height := loops.Structure(p.Fabric).Heights()
	if p.Ranks != nil && !slices.Contains(p.Ranks, routing.Unranked) {
		for sw, rank := range p.Ranks {
			height[sw] = -rank
		}
	}
	if len(height) == 0 || slices.Min(height) == slices.Max(height) {
		return
	}
	came := ""
	for i, h := range path.Hops {
		sw, next := p.Fabric.Nodes[h.Node].Switch, fabric.SwitchIndex(fabric.None)
		if h.Out != fabric.None {
			next = p.Fabric.PeerSwitch(h.Out)
		}
		if sw == fabric.None || next == fabric.None {
			continue
		}
		leaves := "across"
		switch d := height[next] - height[sw]; {
		case d > 0:
			leaves = "up"
		case d < 0:
			leaves = "down"
		}
		hop := &r.Hops[i]
		hop.Turn = leaves
		if came != "" && came != leaves {
			hop.Turn = "turns " + leaves
			hop.Backwards = came == "down" && leaves == "up"
		}
		came = leaves
	}
}

// findLoop marks the hops at which packets take a link of the loop after another one of it.
func (r *Passage) findLoop(path *walk.Path, ring []credits.Dependency) {
	for i := 1; i < len(path.Hops); i++ {
		from := credits.Channel{Port: path.Hops[i-1].Out, VL: r.Hops[i].In}
		to := credits.Channel{Port: path.Hops[i].Out, VL: r.Hops[i].Out}
		r.Hops[i].InLoop = slices.ContainsFunc(ring, func(d credits.Dependency) bool {
			return d.From == from && d.To == to
		})
	}
}

// Dropped is the hop that drops the packets because of their SL, -1 for none.
func (r *Passage) Dropped() int {
	return slices.IndexFunc(r.Hops, func(h PassedHop) bool { return h.Out == fabric.DropVL })
}

// VL says "0", or "0 to 1" where it changes, "" where it is not known.
func (h *PassedHop) VL(arrow string) string {
	switch {
	case h.Out == walk.NoVL:
		return ""
	case h.In == walk.NoVL || h.In == h.Out:
		return fmt.Sprint(h.Out)
	}
	return fmt.Sprintf("%d%s%d", h.In, arrow, h.Out)
}

// String says what happens beside the VL, "" where that is nothing.
func (h *PassedHop) String() string {
	var words []string
	if h.Out == fabric.DropVL {
		words = append(words, "dropped: VL 15")
	}
	if h.Torus != nil {
		words = append(words, torusWords(h.Torus)...)
	}
	words = append(words, h.Turn)
	if h.Backwards {
		words = append(words, "against the ranks")
	}
	if h.InLoop {
		words = append(words, "in a credit loop")
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}

// torusWords say shortly what happens in a torus: "-y from x", "y dateline".
func torusWords(h *torus.Hop) []string {
	words := []string{h.Along}
	if h.TurnsFrom != "" {
		words[0] += " from " + h.TurnsFrom
	}
	if h.Illegal {
		words = append(words, "against the order")
	}
	if h.Crosses != "" {
		words = append(words, h.Crosses+" dateline")
	}
	return words
}

// Unread says what of the SL and the VLs of paths nobody read, "" where all is known.
func (r *Passage) Unread(t *fabric.Tables) string {
	switch {
	case !r.Known && r.Why == nil && t.Unread.SL2VL:
		return "SL and VLs unread"
	case !r.Known && r.Why == nil:
		return "SL unread"
	case r.Known && t.Unread.SL2VL && slices.ContainsFunc(r.Hops[:max(len(r.Hops)-1, 0)], func(h PassedHop) bool {
		return h.Out == walk.NoVL
	}):
		return "VLs unread"
	}
	return ""
}
