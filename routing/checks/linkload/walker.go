// SPDX-License-Identifier: Apache-2.0

package linkload

import (
	"cmp"
	"context"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
)

// walker follows the paths of a pattern. It is scratch memory that is reused for each pattern.
type walker struct {
	t     *fabric.Tables
	wires walk.Wires
	// unreachable marks the end ports that failures have separated from the subnet.
	unreachable map[fabric.PortIndex]bool
	// paths counts, for each port, the paths that leave by the port.
	paths []int64
	// ports holds the ports of all paths that arrive, one path after another. ends holds the end of each path in ports.
	// of holds, for each path, the index of its pair in the pattern.
	ports []fabric.PortIndex
	ends  []int
	of    []int
	// lost counts the paths that do not arrive. unknown counts the paths that use an unread table.
	lost, unknown int64
	// open marks the ports by which unknown paths leave.
	open []bool
}

func newWalker(t *fabric.Tables, wires walk.Wires) *walker {
	w := &walker{
		t: t, wires: wires, paths: make([]int64, len(t.Fabric.Ports)), open: make([]bool, len(t.Fabric.Ports)),
		unreachable: map[fabric.PortIndex]bool{},
	}
	for _, p := range t.Fabric.Unreachable {
		w.unreachable[p] = true
	}
	return w
}

// stepsAtOnce is the number of pairs between checks of the context.
const stepsAtOnce = 1024

// run discards the previous pattern and counts the paths of pairs.
func (w *walker) run(ctx context.Context, pairs []Pair) error {
	for _, p := range w.ports {
		w.paths[p] = 0
	}
	w.ports, w.ends, w.of = w.ports[:0], slices.Grow(w.ends[:0], len(pairs)), slices.Grow(w.of[:0], len(pairs))
	w.lost, w.unknown = 0, 0
	for i, p := range pairs {
		if i%stepsAtOnce == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		start := len(w.ports)
		if fate := w.follow(p); fate != walk.Reaches {
			if fate == walk.UnreadTable {
				w.unknown++
				for _, port := range w.ports[start:] {
					w.open[port] = true
				}
			} else {
				w.lost++
			}
			w.ports = w.ports[:start]
			continue
		}
		w.ends, w.of = append(w.ends, len(w.ports)), append(w.of, i)
		for _, port := range w.ports[start:] {
			w.paths[port]++
		}
	}
	return nil
}

// follow appends the ports of the path of one pair to w.ports, and returns how the path ends.
func (w *walker) follow(p Pair) walk.Fate {
	f := w.t.Fabric
	lid, dst := cmp.Or(p.LID, f.Ports[p.Dst].LID), walk.ToPort(p.Dst)
	if lid == 0 || f.Ports[p.Src].LID == 0 || p.Src == p.Dst || w.unreachable[p.Src] {
		return walk.Lost
	}
	x := f.Nodes[f.Ports[p.Src].Node].Switch
	if x == fabric.None {
		peer := f.Ports[p.Src].Peer
		if peer == fabric.None {
			return walk.Lost
		}
		w.ports = append(w.ports, p.Src)
		x = walk.Beyond(f, peer)
	}
	for range len(f.Switches) {
		if x < 0 {
			break
		}
		entry := w.t.Port(x, lid)
		if entry != 0 && entry != fabric.NoPath {
			w.ports = append(w.ports, f.SwitchNode(x).FirstPort+fabric.PortIndex(entry))
		}
		x = w.wires.Next(x, entry)
	}
	switch x {
	case dst:
		return walk.Reaches
	case walk.Unread:
		return walk.UnreadTable
	}
	return walk.Lost
}

// measure returns the maximum number of paths over a link, and the mean share of bandwidth of the paths.
func (w *walker) measure() (worst int64, share float64) {
	start := 0
	for _, end := range w.ends {
		most := int64(1)
		for _, port := range w.ports[start:end] {
			most = max(most, w.paths[port])
		}
		start = end
		worst = max(worst, most)
		share += 1 / float64(most)
	}
	if n := len(w.ends); n > 0 {
		share /= float64(n)
	}
	return worst, share
}

// destinations counts, for each port, the different destination LIDs of the paths that leave by the port.
func (w *walker) destinations(pairs []Pair, count []int32) {
	type use struct {
		port, dst fabric.PortIndex
		lid       uint16
	}
	seen := map[use]bool{}
	start := 0
	for i, end := range w.ends {
		for _, port := range w.ports[start:end] {
			p := pairs[w.of[i]]
			u := use{port, p.Dst, cmp.Or(p.LID, w.t.Fabric.Ports[p.Dst].LID)}
			if !seen[u] {
				seen[u] = true
				count[port]++
			}
		}
		start = end
	}
}

// Follower follows paths through tables. It is for one goroutine.
type Follower struct{ w *walker }

// NewFollower returns a follower of the paths of tables. O(switches x 256).
func NewFollower(t *fabric.Tables) *Follower { return &Follower{newWalker(t, walk.NewWires(t))} }

// Path returns the ports by which the packets of a pair leave nodes, and how the path ends. The ports are valid until
// the next call.
func (f *Follower) Path(p Pair) ([]fabric.PortIndex, walk.Fate) {
	f.w.ports = f.w.ports[:0]
	fate := f.w.follow(p)
	return f.w.ports, fate
}
