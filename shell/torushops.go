// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/routing/engines/torus"
)

// addTorus says what happens at each hop, and what the service level stands for, where torus-2QoS made the tables.
func (a *traceAnswer) addTorus(t *fabric.Tables, path *walk.Path) {
	grid, ok := torus.Of(t)
	if !ok {
		return
	}
	sl := fabric.NoSL
	if a.SL != nil {
		sl = *a.SL
		a.MeansSL = torus.SLText(sl)
	}
	for i, h := range path.Hops {
		sw := t.Fabric.Nodes[h.Node].Switch
		if sw == fabric.None {
			continue
		}
		if hop, ok := grid.HopOf(sw, h.In, h.Out, sl); ok {
			a.Hops[i].Torus = &hop
		}
	}
}

// torusText says "  at 3,1,0 +y, turns from x to y".
func torusText(h *torus.Hop) string {
	if h == nil {
		return ""
	}
	text := fmt.Sprintf("  at %v", h.At)
	if h.Along != "" {
		text += " " + h.Along
	}
	if what := h.String(); what != "" {
		text += ", " + what
	}
	return text
}
