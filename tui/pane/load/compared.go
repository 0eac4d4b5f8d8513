// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// The type used is the map of the utilization of links in the last hour, in thousandths.
type used struct {
	of   *recording.Recent // the input
	load *loading
	heat heat
}

// showsUse reports whether the map shows the utilization of links instead of their number of paths.
func (l *links) showsUse() bool { return l.Kind >= usedUpwards }

// heat returns the map that is shown.
func (l *links) heat() *heat {
	if l.showsUse() {
		return &l.used.heat
	}
	return &l.load.heat
}

// measure computes the map of utilization again if the time or the fabric has changed.
func (l *links) measure() {
	recent := l.Scene.Recent()
	if u := &l.used; u.of != recent || u.load != l.load {
		*u = used{of: recent, load: l.load}
		if recent != nil {
			u.heat = newHeat(l.load.loads.Fabric, l.use, &pane.UseScale, l.Scene.Names)
		}
	}
}

// use returns the utilization of a port in thousandths, or notRead.
func (l *links) use(port fabric.PortIndex) int64 {
	key := counters.KeyOf(l.load.loads.Fabric, port)
	if !l.used.of.IsRead(key) {
		return notRead
	}
	return int64(1000*max(l.used.of.Use(key), 0) + 0.5)
}

// otherTables returns the tables of the other state of the event. An event has a state before and after it, and the
// panes show one of them. The result is nil if no event is shown.
func (l *links) otherTables() *fabric.Tables {
	if l.Scene == nil || l.Scene.Between == nil || l.Scene.Base == nil {
		return nil
	}
	return l.Scene.Base.Tables
}

// seekOther counts the paths by the tables of the other state of the event.
func (l *links) seekOther() tea.Cmd {
	t := l.otherTables()
	if t == nil || t.Fabric.MaxLID == 0 {
		return nil
	}
	return l.counting.Start(l.Common, t, func(ctx context.Context, progress func(int, int)) (*linkload.Loads, error) {
		return l.Memo.Load(ctx, t, linkload.Options{Progress: progress})
	})
}

// otherAt is the index of the column for the other state of the event.
const otherAt = 3

// otherLoads returns the number of paths over each link in the other state of the event, or nil if they are unknown.
func (l *links) otherLoads() *linkload.Loads {
	if t := l.otherTables(); t != nil && l.counting.Ready(t) {
		return l.counting.Value
	}
	return nil
}

// otherColumn returns the column with the paths over a link in the other state of the event.
func (l *links) otherColumn() draw.Column {
	return draw.Column{
		Name: "before", Called: "before", Help: "paths in the state compared with",
		Wide: 11, Right: true, Hidden: func() bool { return l.isMap() || l.otherLoads() == nil },
		Text: func(row int) string {
			n, ok := l.otherPaths(l.port(row))
			if !ok {
				return "no link"
			}
			return prose.Thousands(int(n))
		},
		Order: func(row int) int64 {
			n, _ := l.otherPaths(l.port(row))
			return l.load.loads.Paths[l.port(row)] - n
		},
		Look: func(row int) draw.Style {
			if n, ok := l.otherPaths(l.port(row)); ok && n == l.load.loads.Paths[l.port(row)] {
				return l.Theme.Dim
			}
			return l.Theme.Warn
		},
	}
}

// otherPaths returns the number of paths over the link of a port in the other state of the event.
func (l *links) otherPaths(port fabric.PortIndex) (paths int64, ok bool) {
	loads, f := l.otherLoads(), l.load.loads.Fabric
	if loads == nil {
		return 0, false
	}
	_, p := pane.PlaceOf(f, f.Ports[port].Node, port).In(loads.Fabric)
	if p == fabric.None || !loads.Fabric.Ports[p].Linked() {
		return 0, false
	}
	return loads.Paths[p], true
}
