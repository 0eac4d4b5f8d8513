// SPDX-License-Identifier: Apache-2.0

package nue

import "example.org/ibconsole/fabric"

// escapes marks the escape paths of a VL. These paths stay open to all destinations of the VL. They are the paths of a
// spanning tree from its root to all switches, and from the switches with destinations to all switches.
func (d *dependencies) escapes(h *hull, t *tree) {
	var top []int32 // the channels of the tree out of its root
	seen := make([]bool, len(d.to))
	for s := range d.switches {
		for c := t.into(int32(s)); c != fabric.None; {
			d.colour[c] = escapeColour
			next := t.into(d.from[c])
			if next == fabric.None {
				if !seen[c] {
					seen[c] = true
					top = append(top, c)
				}
				break
			}
			d.colour[next] = escapeColour
			d.escape(next, c)
			if h.hosted[s] {
				d.turnsUp(t, c, next)
			}
			c = next
		}
	}
	for _, c := range top {
		for _, other := range top {
			if c != other {
				back := d.back[other]
				d.colour[c], d.colour[back] = escapeColour, escapeColour
				d.escape(back, c)
			}
		}
	}
}

// turnsUp marks the turn back up the tree along two channels of the tree, and the turns from there down to other
// branches.
func (d *dependencies) turnsUp(t *tree, c, next int32) {
	above := d.from[c]
	up, upper := d.back[c], d.back[next]
	d.colour[up], d.colour[upper] = escapeColour, escapeColour
	d.escape(up, upper)
	low, high := d.out(above)
	for k := low; k < high; k++ {
		if down := t.into(d.to[k]); down != fabric.None && d.from[down] == above && d.to[down] != d.to[c] {
			d.escape(up, down)
		}
	}
}
