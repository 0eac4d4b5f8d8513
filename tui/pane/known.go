// SPDX-License-Identifier: Apache-2.0

package pane

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/routing/checks/walk"
)

// loads holds the number of paths over each link by the tables of a scene, from the memo.
type loads struct {
	of      *fabric.Tables
	value   *linkload.Loads
	busiest int64
	limits  linkload.Limits
}

// Loads returns the number of paths over each link by the tables of a scene, or nil if the paths have not been counted
// yet.
func (c *Common) Loads(sc *Scene) *linkload.Loads { return c.loadsOf(sc).value }

// Busiest returns the number of paths over the busiest link between switches, but at least twice the mean. It returns 0
// if the paths have not been counted yet.
func (c *Common) Busiest(sc *Scene) int64 { return c.loadsOf(sc).busiest }

// Limits returns the limit of paths of each link by the tables of a scene, or nil if the paths have not been counted
// yet.
func (c *Common) Limits(sc *Scene) linkload.Limits { return c.loadsOf(sc).limits }

// loadsOf caches the loads of the last tables, because the cells of lists ask for them. While a list is filtered,
// several cells do so concurrently.
func (c *Common) loadsOf(sc *Scene) *loads {
	if sc == nil || sc.Picture.Tables == nil || c.Memo == nil {
		return &loads{}
	}
	t := sc.Picture.Tables
	if x := c.loads.Load(); x != nil && x.of == t && x.value != nil {
		return x
	}
	x := &loads{of: t, value: c.Memo.KnownLoad(t)}
	if x.value != nil {
		x.measure(sc.Names)
	}
	c.loads.Store(x)
	return x
}

// measure takes O(ports).
func (l *loads) measure(ix *Index) {
	var sum, n, most int64
	for i := range l.value.Fabric.Ports {
		p := fabric.PortIndex(i)
		if linkload.ClassOf(l.value.Fabric, p) == linkload.BetweenSwitches {
			sum, n, most = sum+l.value.Paths[p], n+1, max(most, l.value.Paths[p])
		}
	}
	l.busiest = max(int64(2*float64(sum)/float64(max(n, 1))), most)
	l.limits = l.value.Limits(ix.Heights(l.value.Fabric))
}

// Traced is the answer of a command that follows packets from one port to another.
type Traced interface {
	// Walked returns the path and the tables from which it was computed. Both are nil for a path through live switches.
	Walked() (*walk.Path, *fabric.Tables)
}

// traced is the path between the marked ends in a scene.
type traced struct {
	sc   *Scene
	ends [2]Place
	lid  uint16

	path *walk.Path // nil where there is none
	on   map[fabric.NodeIndex]bool
	text string
}

// Trace returns the path between the marked ends by the tables of a scene, or nil if there is none.
func (c *Common) Trace(sc *Scene) *walk.Path { return c.traceOf(sc).path }

// Path returns the set of nodes on the traced path, in the fabric of the topology pane. It returns nil if there is no
// trace.
func (c *Common) Path(sc *Scene) map[fabric.NodeIndex]bool { return c.traceOf(sc).on }

// Traced returns a text that describes the trace, or "" if there is none.
func (c *Common) Traced(sc *Scene) string { return c.traceOf(sc).text }

// traceOf returns the path, which it computes once for each scene and pair of ends.
func (c *Common) traceOf(sc *Scene) *traced {
	if x := &c.trace; x.sc == sc && x.ends == c.Ends && x.lid == c.LID {
		return x
	}
	c.trace = traced{sc: sc, ends: c.Ends, lid: c.LID}
	x := &c.trace
	if sc == nil || sc.WhyNoTables != "" || c.Ends[0].GUID == 0 || c.Ends[1].GUID == 0 {
		return x
	}
	f := sc.Picture.Fabric
	src, dst := c.Ends[0].EndPort(f), c.Ends[1].EndPort(f)
	if src == fabric.None || dst == fabric.None {
		return x
	}
	lid := c.LID
	if lid == 0 || f.PortByLID(lid) != dst {
		lid = f.LIDOf(dst)
	}
	path := walk.Between(sc.Picture.Tables, src, dst, lid)
	x.take(&path)
	return x
}

// TakeTrace sets the path between the marked ends by the tables of a scene, so that it need not be computed again. A
// nil path is ignored.
func (c *Common) TakeTrace(sc *Scene, path *walk.Path) {
	if path != nil {
		c.trace = traced{sc: sc, ends: c.Ends, lid: c.LID}
		c.trace.take(path)
	}
}

func (x *traced) take(path *walk.Path) {
	f := x.sc.Picture.Fabric
	x.path, x.text, x.on = path, path.Explain(f), map[fabric.NodeIndex]bool{}
	for _, h := range path.Hops {
		if n, _ := PlaceOf(f, h.Node, fabric.None).In(x.sc.Top.Fabric); n != fabric.None {
			x.on[n] = true
		}
	}
}
