// SPDX-License-Identifier: Apache-2.0

package credits

import (
	"context"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
	"example.org/ibconsole/routing/checks/walk"
)

// explain finds packets that cause each dependency. It takes the unicast packets to the lowest LID, from the lowest
// source LID. If no unicast packets cause the dependency, it takes packets to the lowest multicast LID.
func (c *checker) explain(ctx context.Context, ring []Dependency) error {
	explain := c.explainUnicast
	if c.ends.Tables.Adaptive != nil {
		explain = c.explainChosen
	}
	if err := explain(ctx, ring); err != nil {
		return err
	}
	for i := range ring {
		d := &ring[i]
		if d.LID == 0 {
			c.explainMulticast(d)
		}
		d.SLs = fabric.OneSL(d.SL)
		if d.Dst == fabric.None || c.sls == nil {
			continue
		}
		lids := c.f.Ports[d.Src].LIDRange()
		for slid := int(lids.Min); slid <= int(lids.Max); slid++ {
			if sls := fabric.RangeOf(c.sls, uint16(slid), d.LID); sls.Has(d.SL) {
				d.SLs = sls
				break
			}
		}
	}
	return ctx.Err()
}

func (c *checker) explainUnicast(ctx context.Context, ring []Dependency) error {
	var mu sync.Mutex
	return c.ends.Each(ctx, c.ends.LIDs, nil, func(_ int, t *trees.Tree) {
		for i := range ring {
			if !c.near(t, &ring[i]) {
				continue
			}
			mu.Lock()
			have := ring[i]
			mu.Unlock()
			if have.LID != 0 && have.LID < t.LID.LID {
				continue
			}
			end, sl := c.sender(t, &have)
			if end == fabric.None {
				continue
			}
			mu.Lock()
			if d := &ring[i]; d.LID == 0 || t.LID.LID < d.LID {
				d.Src, d.Dst, d.LID, d.SL = c.ends.Ports[end], c.ends.Ports[t.End], t.LID.LID, sl
			}
			mu.Unlock()
		}
	})
}

func (c *checker) switchOf(port fabric.PortIndex) fabric.SwitchIndex {
	return c.f.Nodes[c.f.Ports[port].Node].Switch
}

// near reports whether a tree uses both links of a dependency. Only then can packets to its LID cause the dependency.
func (c *checker) near(t *trees.Tree, d *Dependency) bool {
	a, b := c.switchOf(d.From.Port), c.switchOf(d.To.Port)
	return t.Tree.Fates[a] != walk.Unvisited && t.Entry(a) == c.f.Ports[d.From.Port].Num &&
		t.Tree.Fates[b] != walk.Unvisited && t.Entry(b) == c.f.Ports[d.To.Port].Num
}

// sender finds the first end whose packets to the LID of a tree go from one channel to the other.
func (c *checker) sender(t *trees.Tree, d *Dependency) (end int32, sl uint8) {
	for end := range int32(len(c.ends.Ports)) {
		if end == t.End || c.ends.Groups[c.ends.GroupOf[end]].At < 0 {
			continue
		}
		for sl := range c.slsOf(end, t.LID.LID) {
			if c.takes(t, end, sl, d) {
				return end, sl
			}
		}
	}
	return fabric.None, 0
}

// takes reports whether the packets of one end cause a dependency. It follows them for as many hops as the longest
// possible loop has.
func (c *checker) takes(t *trees.Tree, end int32, sl uint8, d *Dependency) bool {
	sw, in := c.ends.Groups[c.ends.GroupOf[end]].At, c.ins[end]
	last, vls := fabric.PortIndex(fabric.None), uint16(0)
	for range len(c.f.Switches)*c.vls() + 1 {
		out, next := t.Entry(sw), t.Next(sw)
		if next < 0 || out == 0 {
			return false
		}
		now, onto := c.f.SwitchNode(sw).FirstPort+fabric.PortIndex(out), c.vlsOf(sw, in, out, sl)
		if onto == 0 {
			return false
		}
		if last == d.From.Port && vls>>d.From.VL&1 != 0 && now == d.To.Port && onto>>d.To.VL&1 != 0 {
			return true
		}
		last, vls = now, onto
		sw, in = next, c.f.Ports[c.f.Ports[now].Peer].Num
	}
	return false
}

// explainMulticast finds a host and a multicast group whose packets cause a dependency.
func (c *checker) explainMulticast(d *Dependency) {
	m := c.ends.Tables.MFT
	if m == nil {
		return
	}
	at := c.switchOf(d.To.Port)
	bit := int(c.f.Ports[d.To.Port].Num)*c.vls() + int(d.To.VL)
	for i := range m.LIDs() {
		mlid := uint16(fabric.FirstMLID + i)
		if !m.Has(at, mlid, c.f.Ports[d.To.Port].Num) ||
			!m.Has(c.switchOf(d.From.Port), mlid, c.f.Ports[d.From.Port].Num) {
			continue
		}
		for sw, n := range c.f.Switches {
			for in := range fabric.PortIndex(c.f.Nodes[n].NumPorts) + 1 {
				if !c.f.Nodes[n].InSubnet || !c.sends(fabric.SwitchIndex(sw), mlid, in) {
					continue
				}
				w := newWorker(c)
				w.seen = make([]bool, len(w.used))
				sl := c.groupSL(mlid)
				w.spread(flood{mlid, sl}, fabric.SwitchIndex(sw), uint8(in), nil)
				if row := w.rows[w.number(d.From.Port, d.From.VL)]; row == nil || row[bit>>6]>>(bit&63)&1 == 0 {
					continue
				}
				if d.LID = mlid; sl != fabric.NoSL { // else any
					d.SL = sl
				}
				if d.Src = c.f.Nodes[n].FirstPort; in != 0 {
					d.Src = c.f.EndPortOf(c.f.Ports[c.f.Nodes[n].FirstPort+in].Peer)
				}
				return
			}
		}
	}
}
