// SPDX-License-Identifier: Apache-2.0

package fabric

// WithDescriptions returns the fabric with other node descriptions: desc holds
// them by node GUID. Nodes that it does not have keep theirs. O(nodes).
func (f *Fabric) WithDescriptions(desc map[uint64]string) *Fabric {
	g := f.copy()
	g.nodeNames = make(map[string][]NodeIndex, len(g.Nodes))
	for i := range g.NumNodes() {
		n := &g.Nodes[i]
		if d, ok := desc[n.GUID]; ok {
			n.Desc = d
		}
		g.nodeNames[n.Desc] = append(g.nodeNames[n.Desc], i)
	}
	return g
}
