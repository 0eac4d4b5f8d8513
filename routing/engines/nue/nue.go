// SPDX-License-Identifier: Apache-2.0

// Package nue implements routing inside the channel dependency graph (Domke, Hoefler and Matsuoka, "Routing on the
// Dependency Graph: A New Approach to Deadlock-Free High-Performance Routing", HPDC 2016). It computes the paths to one
// destination at a time. These paths use only turns from cable to cable that close no cycle with the turns of earlier
// paths. Therefore no VL can deadlock, on any topology and with any number of VLs. The tables equal those of an OpenSM
// without METIS byte for byte (osm_ucast_nue.c of OpenSM 3.3.23).
package nue

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing"
)

// Name is the engine's name.
const Name = "nue"

// METIS is a note that another build of OpenSM may compute different tables.
const METIS = "an OpenSM built with METIS assigns nue's destinations to VLs differently, and has other routes if " +
	"there are several VLs; these are the routes of an OpenSM built without METIS, such as Debian's"

// Engine is the engine nue: routing inside the channel dependency graph.
type Engine struct{}

// Name implements [routing.Engine].
func (Engine) Name() string { return Name }

// Route implements [routing.Engine]. All paths to a LID have the SL of its VL. With one VL any SL of the subnet is
// valid. Routes to switches may deadlock unless the options include them. Routers get no routes.
//
// Route refuses a subnet in which OpenSM's distances of 31 bits do not reach all switches. These distances contain the
// square of the number of LIDs for every hop. It takes O(LIDs x switches x links of a switch), plus the searches for
// cycles. The paths are computed sequentially, LID by LID, because each path lengthens channels for the next. All
// processors search for the central switch.
func (e Engine) Route(ctx context.Context, f *fabric.Fabric, opt routing.Options) (*routing.Result, error) {
	if err := routing.Check(f, &opt); err != nil {
		return nil, err
	}
	r := newRouter(f, &opt)
	if err := r.route(ctx); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// router routes to all destinations.
type router struct {
	*network
	*search
	tree *tree
	lft  *fabric.LFT
	hops *hops
	vls  int
	// vlOf is the VL of each LID.
	vlOf []uint8
	page *page
	sent []uint64 // by switch, the LIDs that send to a destination through it
	// done and total count steps of progress. Each LID is one step.
	done, total int
	warnings    []string
}

func newRouter(f *fabric.Fabric, opt *routing.Options) *router {
	n := newNetwork(f, opt)
	r := &router{
		network: n, search: newSearch(newDependencies(n)), tree: newTree(n),
		lft: fabric.NewLFT(len(f.Switches), f.MaxLID),
		vls: vls(f, opt), vlOf: make([]uint8, int(f.MaxLID)+1),
	}
	r.hops = newHops(n, r.lft)
	r.page = newPage(n, r.lft)
	r.sent = make([]uint64, len(n.switches))
	return r
}

// vls returns the number of VLs over which OpenSM's engine distributes the destinations.
func vls(f *fabric.Fabric, opt *routing.Options) int {
	all, known := routing.DataVLs(f, opt)
	if opt.NoQoS || !known {
		return 1
	}
	most := max(1, int(opt.NueMaxVLs))
	return min(all, most)
}

func (r *router) route(ctx context.Context) error {
	if n := routing.RouterPorts(r.f); n > 0 {
		r.warnings = append(r.warnings, prose.Verb(n, "port of routers", "gets", "get")+" no routes")
	}
	for _, sw := range r.switches {
		if r.f.Ports[r.f.SwitchNode(sw).FirstPort].LMC > 0 {
			r.warnings = append(r.warnings, "port 0 of a switch has several LIDs (lmc_esp0): OpenSM 3.3.23 ends "+
				"with a segmentation fault in nue here, so these tables are only those of ibconsole")
			break
		}
	}
	parts := r.parts(r.vls)
	for _, part := range parts {
		r.total += lidsOf(part)
	}
	if !r.opt.NueIncludeSwitches {
		for _, sw := range r.switches {
			r.total += r.lids(r.f.SwitchNode(sw).FirstPort)
		}
	}
	for vl, part := range parts {
		if len(part) == 0 {
			continue
		}
		if err := r.routePart(ctx, vl, part); err != nil {
			return err
		}
	}
	if !r.opt.NueIncludeSwitches {
		if err := r.routeSwitches(ctx); err != nil {
			return err
		}
	}
	r.page.turn()
	return nil
}

// routePart routes the destinations of a VL.
func (r *router) routePart(ctx context.Context, vl int, part []target) error {
	clear(r.taken)
	clear(r.listed)
	clear(r.listedIn)
	h := newHull(r.network, part)
	root, err := h.central(ctx)
	if err != nil {
		return err
	}
	r.tree.grow(root)
	if !r.tree.complete() {
		return routing.Refuse(Name, "only %d of %d switches are within a distance of %d from %s, expected all; "+
			"a hop counts the square of the number of LIDs", len(r.tree.order), len(r.switches), infinity,
			r.f.SwitchNode(r.switches[root]).Desc)
	}
	r.reset(lidsOf(part))
	r.givenUp = false
	r.escapes(h, r.tree)
	colour := firstColour
	for _, t := range part {
		for i := range t.lids {
			if !r.run(t.sw, t.local == 0, colour) {
				r.takeEscapes(t.sw)
			}
			r.keepPaths()
			colour++
			r.enter(&t, t.lid+uint16(i))
			r.lengthen()
			if err := r.step(ctx); err != nil {
				return err
			}
			r.vlOf[t.lid+uint16(i)] = uint8(vl)
		}
	}
	if r.cyclic {
		r.warnings = append(r.warnings,
			fmt.Sprintf("OpenSM's nue let turns close a cycle on VL %d without detecting it; whether paths close "+
				"one is not checked", vl))
	}
	if r.givenUp {
		r.warnings = append(r.warnings,
			fmt.Sprintf("OpenSM's nue lost turns that paths take on VL %d; whether they close a cycle is not "+
				"checked", vl))
	}
	return nil
}

// takeEscapes uses the escape paths to a switch. It is called if a search did not reach all other switches.
func (r *router) takeEscapes(root int32) {
	r.tree.from(root, r.by)
	r.searched = r.searched[:1]
	for _, sw := range r.tree.order {
		if sw != root {
			r.appendSearched(sw)
		}
	}
}

func lidsOf(part []target) (lids int) {
	for _, t := range part {
		lids += t.lids
	}
	return lids
}

// routeSwitches routes to the switches by shortest paths. These paths may deadlock, but they carry no data.
func (r *router) routeSwitches(ctx context.Context) error {
	for root := range int32(len(r.switches)) {
		t, _ := r.target(r.f.SwitchNode(r.switches[root]).FirstPort)
		for i := range t.lids {
			r.tree.grow(root)
			if !r.tree.complete() {
				return routing.Refuse(Name, "only %d of %d switches are within a distance of %d, expected all",
					len(r.tree.order), len(r.switches), infinity)
			}
			r.enterTree(root, t.lid+uint16(i))
			copy(r.sent, r.load)
			r.tree.lengthen(r.sent)
			if err := r.step(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// enter writes the paths to a LID that were found into the tables.
func (r *router) enter(t *target, lid uint16) {
	ports := r.page.line(lid)
	for s, c := range r.by {
		if c == fabric.None {
			ports[s] = t.local
		} else {
			ports[s] = r.farPort[c]
		}
	}
	copy(r.hops.of(lid), r.search.hops)
}

// enterTree writes the paths of the tree into the tables. They lead to a LID of the tree's root.
func (r *router) enterTree(root int32, lid uint16) {
	ports := r.page.line(lid)
	for s, c := range r.tree.up {
		if c != fabric.None {
			ports[s] = r.port[c]
		}
	}
	counts := r.hops.of(lid)
	copy(counts, r.search.hops)
	ports[root], counts[root] = 0, 0
}

// lengthen lengthens the channels of the paths by the load on them. It begins with the switches that were found last.
// After detours a path may pass through a switch that was found later than the switch to which it leads. The load of
// such a path is added immediately.
func (r *router) lengthen() {
	from, length, by, place, sent := r.from, r.length, r.by, r.place, r.sent
	copy(sent, r.load)
	for i := len(r.searched) - 1; i > 0; i-- {
		sw := r.searched[i]
		c, load := by[sw], sent[sw]
		length[c] += stepTo(0, load)
		at := from[c]
		for hops := 0; int(place[at]) > i && hops < len(by); hops++ {
			c = by[at]
			length[c] += stepTo(0, load)
			at = from[c]
		}
		sent[at] += load
	}
}

// step counts a LID as done.
func (r *router) step(ctx context.Context) error {
	r.done++
	if r.opt.Progress != nil {
		r.opt.Progress(r.done, r.total)
	}
	return ctx.Err()
}

func (r *router) result() *routing.Result {
	t := fabric.NewTables(r.f, r.lft, Name)
	if r.vls > 1 {
		all, _ := routing.DataVLs(r.f, r.opt)
		t.SLs = vlOf(r.vlOf)
		t.SL2VL = routing.VLPerSL(r.f, all)
	}
	return &routing.Result{Tables: t, Hops: r.hops, Multicast: &groups{r.network, r.hops}, Warnings: r.warnings}
}

// vlOf holds the SL of the paths to each destination LID.
type vlOf []uint8

// Range implements [fabric.RangedSLs].
func (v vlOf) Range(src, dst uint16) fabric.SLRange { return fabric.OneSL(v.SL(src, dst)) }

// Source implements [fabric.SpreadSLs]. All sources have the same SLs.
func (v vlOf) Source(uint16) int32 { return 0 }

// SL implements [fabric.PathSLs].
func (v vlOf) SL(_, dst uint16) uint8 {
	if int(dst) >= len(v) {
		return 0
	}
	return v[dst]
}
