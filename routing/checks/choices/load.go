// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"context"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/trees"
)

// Loads holds the number of paths over all links if all choices of a switch are equally likely.
type Loads struct {
	Fabric *fabric.Fabric
	// Paths counts the paths that leave by each port. If the packets of a pair have several paths, each path counts by
	// its share of the packets.
	Paths []float64
	// Delivered counts pairs by the share of their packets that arrive. The other packets of a pair count in Unknown if
	// they meet an unread table and nothing else is wrong, otherwise in Lost. Looping counts pairs whose packets can
	// loop. The packets of these pairs also count in Lost.
	Delivered, Lost, Unknown float64
	Looping                  int64
}

// AllToAll counts paths like [linkload.AllToAll], but over all choices. Without adaptive routing the counts are the
// same. O(LIDs x ports in groups) on all processors.
func AllToAll(ctx context.Context, t *fabric.Tables, opt Options) (*Loads, error) {
	c := newChecker(t, opt)
	workers, err := each(ctx, c, func() *loader { return newLoader(c) }, func(w *loader, places []int32) {
		w.column.lot(places, func(at int32) { w.add(c.ends.LIDs[at]) })
	})
	if err != nil {
		return nil, fmt.Errorf("distribute the paths of %s: %w", t.Origin, err)
	}
	sum := &Loads{Fabric: t.Fabric, Paths: make([]float64, len(t.Fabric.Ports))}
	for _, w := range workers {
		for p, n := range w.loads.Paths {
			sum.Paths[p] += n
		}
		sum.Delivered += w.loads.Delivered
		sum.Lost += w.loads.Lost
		sum.Unknown += w.loads.Unknown
		sum.Looping += w.loads.Looping
	}
	_, lost := c.ends.Lost()
	sum.Lost += float64(lost)
	return sum, nil
}

// loader counts the paths to one LID at a time. It is scratch memory for one goroutine.
type loader struct {
	*checker
	column *columns
	loads  Loads
	// weights counts, for each class of SLs and each place, the packets that pass the place.
	weights [][]float64
}

func newLoader(c *checker) *loader {
	l := &loader{checker: c, column: newColumns(c.net, c.ends), weights: make([][]float64, len(c.net.classes))}
	l.loads.Paths = make([]float64, len(c.net.Tables.Fabric.Ports))
	for i := range l.weights {
		l.weights[i] = make([]float64, len(c.net.Tables.Fabric.Switches)*c.net.tables)
	}
	return l
}

func (w *loader) add(l trees.LID) {
	w.column.each(l, func(s *source, o *Outcome) {
		n := float64(s.n)
		w.loads.Delivered += n * o.Share
		if o.Endings.Reach() == Unknown {
			w.loads.Unknown += n * (1 - o.Share)
		} else {
			w.loads.Lost += n * (1 - o.Share)
		}
		switch {
		case o.Endings&Loops != 0:
			w.loads.Looping += int64(s.n)
			return
		case o.Share == 0:
			return
		}
		if s.group.At >= 0 {
			w.weights[s.class][s.at] += n
		}
		if s.group.Links == 1 {
			for _, end := range s.ends {
				if end != l.End {
					w.loads.Paths[w.ends.Ports[end]] += o.Share
				}
			}
		}
	})
	for class, solved := range w.column.solved {
		if solved {
			w.spread(w.column.graphs[class], w.weights[class])
		}
	}
}

// spread distributes the packets at each place over the ports by which they leave. It skips places from which packets
// can loop.
func (w *loader) spread(g *graph, weights []float64) {
	f := w.net.Tables.Fabric
	order := g.order
	if g.cyclic {
		order, _ = g.peel()
	}
	for i := len(order) - 1; i >= 0; i-- {
		at := order[i]
		n := weights[at] / float64(len(g.out[at]))
		weights[at] = 0
		if n == 0 {
			continue
		}
		sw, _ := w.net.Switch(at)
		first := f.SwitchNode(sw).FirstPort
		for _, e := range g.out[at] {
			if e.To >= 0 {
				next := w.net.place(e, g.sl)
				if share := g.outcomes[next].Share; share > 0 {
					w.loads.Paths[first+fabric.PortIndex(e.Port)] += n * share
					weights[next] += n
				}
			} else if e.To == g.dst && e.Port != 0 {
				w.loads.Paths[first+fabric.PortIndex(e.Port)] += n
			}
		}
	}
}
