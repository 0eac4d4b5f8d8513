// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/linkload"
	"example.org/ibconsole/tui/draw"
	"example.org/ibconsole/tui/pane"
)

// other are the tables on the other side of an event that is shown, nil for none.
func (l *links) other() *fabric.Tables {
	if l.Scene == nil || l.Scene.Between == nil || l.Scene.Base == nil {
		return nil
	}
	return l.Scene.Base.Tables
}

// seekOther counts the paths on the other side of an event.
func (l *links) seekOther() tea.Cmd {
	t := l.other()
	if t == nil || t.Fabric.MaxLID == 0 {
		return nil
	}
	return l.counting.Want(l.Common, t, func(ctx context.Context, progress func(int, int)) (*linkload.Loads, error) {
		return l.src.Load(ctx, t, linkload.Options{Progress: progress})
	})
}

// otherAt is where the column of the other side is.
const otherAt = 3

// against are the paths on the other side of an event, nil where they are not known.
func (l *links) against() *linkload.Loads {
	if t := l.other(); t != nil && l.counting.Ready(t) {
		return l.counting.Value
	}
	return nil
}

// otherColumn says how many paths a link had, or will have, on the other side of an event.
func (l *links) otherColumn() draw.Column {
	return draw.Column{
		Name: "was", Help: "paths in the state compared with",
		Wide: 11, Right: true, Hidden: func() bool { return l.isMap() || l.against() == nil },
		Text: func(row int) string {
			n, ok := l.pathsThere(l.port(row))
			if !ok {
				return "no link"
			}
			return draw.Thousands(int(n))
		},
		Order: func(row int) int64 {
			n, _ := l.pathsThere(l.port(row))
			return l.load.loads.Paths[l.port(row)] - n
		},
		Look: func(row int) draw.Style {
			if n, ok := l.pathsThere(l.port(row)); ok && n == l.load.loads.Paths[l.port(row)] {
				return l.Theme.Dim
			}
			return l.Theme.Warn
		},
	}
}

// pathsThere are those over the link of a port on the other side of an event.
func (l *links) pathsThere(port fabric.PortIndex) (paths int64, ok bool) {
	loads, f := l.against(), l.load.loads.Fabric
	if loads == nil {
		return 0, false
	}
	_, p := pane.PlaceOf(f, f.Ports[port].Node, port).In(loads.Fabric)
	if p == fabric.None || !loads.Fabric.Ports[p].Linked() {
		return 0, false
	}
	return loads.Paths[p], true
}
