// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/changes/plan"
	"example.org/ibconsole/routing/checks/trees/treestest"
	"example.org/ibconsole/routing/engines"
)

// replay holds the tables of the switches and carries out one write after another.
type replay struct {
	t   *testing.T
	f   *fabric.Fabric
	lft [][]uint8 // by switch and LID
	top []int
	// sl2vl is nil where it is unknown.
	sl2vl *fabric.SL2VL
	// flows are all sources and destinations, by LID.
	flows map[int][]flow
	loops bool // some packets loop before or after
	top1  int  // LIDs above it are above the top of some switch, before or after
	dies  int  // flows that were cut or looped
}

// flow is the traffic of an end port to a LID.
type flow struct {
	src, dst fabric.PortIndex
	kept     bool // connected before and after
}

const allLIDs = 2048

func newReplay(t *testing.T, live *fabric.Tables) *replay {
	r := &replay{t: t, f: live.Fabric, flows: map[int][]flow{}}
	if live.SL2VL != nil {
		r.sl2vl = live.SL2VL.Clone()
	}
	for s := range r.f.NumSwitches() {
		row := slices.Repeat([]uint8{fabric.NoPath}, allLIDs)
		copy(row, live.LFT.Row(s))
		r.lft = append(r.lft, row)
		r.top = append(r.top, int(live.Top[s]))
	}
	for _, dst := range r.f.EndPorts {
		for i := range 1 << r.f.Ports[dst].LMC {
			for _, src := range r.f.EndPorts {
				lid := int(r.f.Ports[dst].LID) + i
				r.flows[lid] = append(r.flows[lid], flow{src: src, dst: dst})
			}
		}
	}
	return r
}

// walk follows a packet link by link until it arrives, loops or is lost.
func (r *replay) walk(src, dst fabric.PortIndex, lid int) (arrives, loops bool) {
	at := src
	for range 4*len(r.f.Switches) + 4 {
		node := r.f.Ports[at].Node
		sw := r.f.Nodes[node].Switch
		out := at
		switch {
		case sw == fabric.None && at != src:
			return at == dst, false
		case sw != fabric.None:
			entry := uint8(fabric.NoPath)
			if lid <= r.top[sw] {
				entry = r.lft[sw][lid]
			}
			if entry == 0 {
				return r.f.Nodes[node].FirstPort == dst, false
			}
			if out = r.f.PortAt(node, int(entry)); out == fabric.None {
				return false, false
			}
		case at == dst:
			return true, false
		}
		if at = r.f.Ports[out].Peer; at == fabric.None {
			return false, false
		}
	}
	return false, true
}

// check walks all flows to some LIDs.
func (r *replay) check(first, end int, what string) {
	for lid := first; lid < end; lid++ {
		for _, fl := range r.flows[lid] {
			arrives, loops := r.walk(fl.src, fl.dst, lid)
			if loops && !r.loops && lid <= r.top1 || fl.kept && !arrives {
				if r.dies++; r.dies < 5 {
					r.t.Errorf("after %s: %s to LID %d of %s: loops %v, arrives %v",
						what, r.f.PortName(fl.src), lid, r.f.PortName(fl.dst), loops, arrives)
				}
			}
		}
	}
}

// expect marks the flows that are connected now and after the commit.
func (r *replay) expect(p *plan.Plan) (connected, kept int) {
	after := &replay{f: r.f, top: slices.Clone(r.top)}
	for _, row := range r.lft {
		after.lft = append(after.lft, slices.Clone(row))
	}
	for _, b := range p.Blocks {
		copy(after.lft[b.Switch][64*int(b.Num):], b.New[:])
	}
	r.top1 = allLIDs
	for _, top := range p.Tops {
		r.top1 = min(r.top1, int(top.Old), int(top.New))
		after.top[top.Switch] = int(top.New)
	}
	for lid, flows := range r.flows {
		for i, fl := range flows {
			before, loopsBefore := r.walk(fl.src, fl.dst, lid)
			then, loopsThen := after.walk(fl.src, fl.dst, lid)
			r.loops = r.loops || loopsBefore || loopsThen
			flows[i].kept = before && then
			if before {
				connected++
			}
			if flows[i].kept {
				kept++
			}
		}
	}
	return connected, kept
}

// run carries out all writes, those of a step in random order.
func (r *replay) run(rnd *rand.Rand, p *plan.Plan) {
	tops := func(falls bool) {
		for _, i := range rnd.Perm(len(p.Tops)) {
			if top := p.Tops[i]; top.Falls() == falls {
				r.top[top.Switch] = int(top.New)
				r.check(0, allLIDs, fmt.Sprintf("top %d of switch %d", top.New, top.Switch))
			}
		}
	}
	tops(false)
	r.setSL2VL(p, false)
	for step := 1; step <= p.Steps; step++ {
		for _, i := range rnd.Perm(len(p.Blocks)) {
			b := &p.Blocks[i]
			if b.Step != step {
				continue
			}
			holds := r.lft[b.Switch][64*int(b.Num):][:64]
			if known := min(64, r.top[b.Switch]+1-64*int(b.Num)); !slices.Equal(b.Old[:known], holds[:known]) &&
				b.Old[1] != fabric.NoPath {
				r.t.Errorf("block %d of switch %d differs from the plan's old content", b.Num, b.Switch)
			}
			copy(holds, b.New[:])
			r.check(64*int(b.Num), 64*int(b.Num)+64, fmt.Sprintf("block %d of switch %d in step %d of %d", b.Num,
				b.Switch, step, p.Steps))
		}
	}
	tops(true)
	r.setSL2VL(p, true)
}

// setSL2VL carries out the writes of SL2VL tables that are, or are not, late.
func (r *replay) setSL2VL(p *plan.Plan, late bool) {
	for _, l := range p.SL2VLs {
		if l.Step > 0 != late {
			continue
		}
		if now := r.sl2vl.VLs(l.Node, l.In, l.Out); now != l.Old {
			r.t.Errorf("VLs of %s from port %d to %d are %v, the plan expects %v", r.f.NodeName(l.Node), l.In, l.Out,
				now, l.Old)
		}
		r.sl2vl.Set(l.Node, l.In, l.Out, l.New)
	}
}

// someRoutes routes f by a random engine, or along a random tree for each LID.
func someRoutes(t *testing.T, rnd *rand.Rand, f *fabric.Fabric) (string, *fabric.Tables) {
	t.Helper()
	if rnd.IntN(4) == 0 {
		return "random trees", randomTrees(rnd, f)
	}
	opt := routing.Options{ConnectRoots: rnd.IntN(2) == 0, PortShifting: rnd.IntN(3) == 0}
	for _, e := range f.EndPorts {
		opt.LMC = max(opt.LMC, f.Ports[e].LMC)
	}
	if rnd.IntN(2) == 0 {
		opt.RootGUIDs = []uint64{f.SwitchNode(fabric.SwitchIndex(rnd.IntN(len(f.Switches)))).GUID}
	}
	all := engines.Names()
	for {
		name := all[rnd.IntN(len(all))]
		e, err := engines.ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := e.Route(context.Background(), f, opt); err == nil {
			return name, res.Tables
		}
	}
}

// randomTrees returns tables with a random tree over the switches for each LID. It grows from the newest switches, the
// oldest or any.
func randomTrees(rnd *rand.Rand, f *fabric.Fabric) *fabric.Tables {
	lft := fabric.NewLFT(len(f.Switches), f.MaxLID)
	for _, dst := range f.EndPorts {
		sw, port := f.AttachedSwitch(dst)
		if sw == fabric.None {
			continue
		}
		for i := range 1 << f.Ports[dst].LMC {
			lid := f.Ports[dst].LID + uint16(i)
			lft.Row(sw)[lid] = port
			mode := rnd.IntN(3)
			for grown, seen := []fabric.SwitchIndex{sw}, map[fabric.SwitchIndex]bool{sw: true}; len(grown) > 0; {
				k := []int{0, len(grown) - 1, rnd.IntN(len(grown))}[mode]
				node := f.SwitchNode(grown[k])
				more := false
				for _, num := range rnd.Perm(int(node.NumPorts)) {
					peer := f.Ports[node.FirstPort+fabric.PortIndex(num)+1].Peer
					if peer == fabric.None || !f.Nodes[f.Ports[peer].Node].IsSwitch() {
						continue
					}
					if next := f.Nodes[f.Ports[peer].Node].Switch; !seen[next] {
						seen[next], more = true, true
						lft.Row(next)[lid] = f.Ports[peer].Num
						grown = append(grown, next)
						break
					}
				}
				if !more {
					grown = slices.Delete(grown, k, k+1)
				}
			}
		}
	}
	return fabric.NewTables(f, lft, "random trees")
}

func someLinks(rnd *rand.Rand, f *fabric.Fabric, n int) []fabric.Link {
	links := f.Links()
	rnd.Shuffle(len(links), func(i, j int) { links[i], links[j] = links[j], links[i] })
	return links[:min(n, len(links))]
}

// TestNoPairIsHit carries out random plans write by write and walks every pair after each. It shares no code with the
// planner.
func TestNoPairIsHit(t *testing.T) {
	rnd := testenv.Rand(t)
	steps, extra, several, cut, broken := 0, 0, 0, 0, 0
	for i := range testenv.Count(t, 60, 1000) {
		f := treestest.Random(t, rnd).Activated()
		if len(f.Switches) == 0 {
			continue
		}
		from, live := someRoutes(t, rnd, f)
		damage := "nothing fails"
		switch rnd.IntN(4) {
		case 0: // links that have failed
			damage = "failed links"
			c := *live
			c.Fabric = f.Without(someLinks(rnd, f, 1+rnd.IntN(3)))
			live, f = &c, c.Fabric
			broken++
		case 1: // simulated failures
			damage = "simulated link failures"
			f = f.Without(someLinks(rnd, f, 1+rnd.IntN(3)))
		}
		if !f.SwitchNode(0).InSubnet {
			continue
		}
		to, staged := someRoutes(t, rnd, f)
		if rnd.IntN(8) == 0 {
			damage += ", broken tables"
			staged = treestest.Broken(rnd, staged, 1+rnd.IntN(8))
		}
		if rnd.IntN(8) == 0 {
			damage += ", tops"
			c := *live
			c.Top = slices.Clone(live.Top)
			c.Top[rnd.IntN(len(c.Top))] = uint16(rnd.IntN(int(f.MaxLID) + 1))
			live = &c
			c2 := *staged
			c2.Top = slices.Clone(staged.Top)
			c2.Top[rnd.IntN(len(c2.Top))] = uint16(rnd.IntN(int(f.MaxLID) + 1))
			staged = &c2
		}
		p := made(t, live, staged)
		r := newReplay(t, live)
		connected, kept := r.expect(p)
		cut += connected - kept
		r.run(rnd, p)
		if again := made(t, r.tables(live), staged); !again.Empty() {
			t.Errorf("after it, still to write: %+v", again.Totals())
		}
		if t.Failed() {
			t.Fatalf("case %d: %d switches, %d LIDs, %s to %s, %s: %+v", i, len(f.Switches), f.MaxLID, from, to, damage,
				p.Totals())
		}
		steps = max(steps, p.Steps)
		extra += p.Extra
		if p.Steps > 1 {
			several++
		}
	}
	if several == 0 || extra == 0 || broken == 0 || cut == 0 {
		t.Errorf("some cases did not occur: %d in several steps, %d extra writes, %d broken before, %d cut", several,
			extra, broken, cut)
	}
	t.Logf("%d in several steps, %d steps at most, %d extra writes, %d cut", several, steps, extra, cut)
}

// tables returns the current tables of the switches.
func (r *replay) tables(live *fabric.Tables) *fabric.Tables {
	c := *live
	c.LFT = fabric.NewLFT(len(r.f.Switches), allLIDs-1)
	c.Top, c.SL2VL = nil, r.sl2vl
	for s, row := range r.lft {
		copy(c.LFT.Row(fabric.SwitchIndex(s)), row)
		c.Top = append(c.Top, uint16(r.top[s]))
	}
	return &c
}
