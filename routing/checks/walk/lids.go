// SPDX-License-Identifier: Apache-2.0

package walk

import (
	"slices"

	"example.org/ibconsole/fabric"
)

// TraceAll follows the packets of an end port to all LIDs of another one, the lowest first.
func TraceAll(t *fabric.Tables, src, dst fabric.PortIndex) []Path {
	lid := t.Fabric.LIDOf(dst)
	if lid == 0 {
		return nil
	}
	var out []Path
	for i := range uint16(1) << t.Fabric.Ports[dst].LMC {
		out = append(out, Between(t, src, dst, lid+i))
	}
	return out
}

// Shared counts, for each hop of a path, the paths of the same fabric that leave the same node by the same port.
func (p *Path) Shared(all []Path) []int {
	out := make([]int, len(p.Hops))
	for i, h := range p.Hops {
		for j := range all {
			if slices.ContainsFunc(all[j].Hops, func(x Hop) bool { return x.Node == h.Node && x.Out == h.Out }) {
				out[i]++
			}
		}
	}
	return out
}

// Common counts the links that two paths of one fabric use in the same direction.
func (p *Path) Common(other *Path) int {
	n := 0
	for _, h := range p.Hops[:p.Links()] {
		if slices.ContainsFunc(other.Hops[:other.Links()], func(x Hop) bool {
			return x.Node == h.Node && x.Out == h.Out
		}) {
			n++
		}
	}
	return n
}
