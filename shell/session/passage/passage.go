// SPDX-License-Identifier: Apache-2.0

// Package passage follows packets along a path: their SL, their VLs, and the directions of the path, such as up and
// down.
package passage

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
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// Passage describes the packets of a path.
type Passage struct {
	partitions.Grant        // the VLs of the hops are those of its SL
	Why              error  // why no path record grants the path, although switches forward its packets
	Means            string // what the SL means to torus-2QoS
	Hops             []Hop
	found            *credits.Result
}

// Facts provides results about tables and fabrics that were already computed, such as those of [analysis.Memo].
type Facts interface {
	KnownCredits(t *fabric.Tables) *credits.Result
	Structure(f *fabric.Fabric) *classify.Structure
}

// Hop describes the packets at a hop.
type Hop struct {
	In, Out   uint8 // the VLs on which packets arrive and leave, [walk.NoVL] if unread or none
	Turn      string
	Backwards bool // the path goes up again after it went down, which engines with ranks forbid
	Torus     *torus.Hop
	InLoop    bool // the known credit loop leads through here
}

// Follow follows the packets of a path in a state.
func Follow(p *session.Picture, g *partitions.Grants, path *walk.Path, facts Facts) *Passage {
	r := &Passage{Hops: make([]Hop, len(path.Hops)), found: facts.KnownCredits(p.Tables)}
	r.Grant, r.Why = g.Of(path.Src, path.DstLID)
	r.fillVLs(p.Tables, path)
	if grid, ok := torus.Of(p.Tables); ok {
		r.turnOnTorus(p.Fabric, grid, path)
	} else {
		r.turn(p, path, facts)
	}
	if r.found != nil {
		r.findLoop(path, r.found.Ring)
	}
	return r
}

// IsOutdated reports whether the known result about credit loops of the tables has changed since Follow.
func (r *Passage) IsOutdated(t *fabric.Tables, facts Facts) bool {
	return r.found != facts.KnownCredits(t)
}

func (r *Passage) fillVLs(t *fabric.Tables, path *walk.Path) {
	var vls []uint8
	if r.Known() {
		vls = path.VLs(t, r.SL)
	}
	before := walk.NoVL
	for i := range r.Hops {
		r.Hops[i].In, r.Hops[i].Out = before, walk.NoVL
		if r.Known() {
			r.Hops[i].Out, before = vls[i], vls[i]
		}
	}
}

func (r *Passage) turnOnTorus(f *fabric.Fabric, grid *torus.Torus, path *walk.Path) {
	sl := fabric.NoSL
	if r.Known() {
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

// turn sets the hops at which the path goes up and down. It uses the ranks of the engine if they are known, otherwise
// the tiers.
func (r *Passage) turn(p *session.Picture, path *walk.Path, facts Facts) {
	height := facts.Structure(p.Fabric).Heights()
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

// findLoop marks the hops at which packets go from one link of a credit loop to the next link of the loop.
func (r *Passage) findLoop(path *walk.Path, ring []credits.Dependency) {
	for i := 1; i < len(path.Hops); i++ {
		from := credits.Channel{Port: path.Hops[i-1].Out, VL: r.Hops[i].In}
		to := credits.Channel{Port: path.Hops[i].Out, VL: r.Hops[i].Out}
		r.Hops[i].InLoop = slices.ContainsFunc(ring, func(d credits.Dependency) bool {
			return d.From == from && d.To == to
		})
	}
}

// Dropped returns the index of the hop that drops the packets because of their SL, or -1 if no hop does.
func (r *Passage) Dropped() int {
	return slices.IndexFunc(r.Hops, func(h Hop) bool { return h.Out == fabric.DropVL })
}

// VL returns the VL at the hop as text: "0", "0 to 1" if the VL changes, or "" if it is unknown. The argument arrow is
// the text between two VLs, such as " to ".
func (h *Hop) VL(arrow string) string {
	switch {
	case h.Out == walk.NoVL:
		return ""
	case h.In == walk.NoVL || h.In == h.Out:
		return fmt.Sprint(h.Out)
	}
	return fmt.Sprintf("%d%s%d", h.In, arrow, h.Out)
}

// String describes the hop except for its VL. It returns "" if there is nothing to describe.
func (h *Hop) String() string {
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

// torusWords returns texts for the directions in a torus, such as "-y from x" and "y dateline".
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

// Unread returns a text that states that the SL or the VLs of the path were not read, or "" if they are known.
func (r *Passage) Unread(t *fabric.Tables) string {
	switch {
	case !r.Known() && r.Why == nil && t.Unread.SL2VL:
		return "SL and VLs unread"
	case !r.Known() && r.Why == nil:
		return "SL unread"
	case r.Known() && t.Unread.SL2VL && slices.ContainsFunc(r.Hops[:max(len(r.Hops)-1, 0)], func(h Hop) bool {
		return h.Out == walk.NoVL
	}):
		return "VLs unread"
	}
	return ""
}
