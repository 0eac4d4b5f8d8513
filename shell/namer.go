// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/fabric"
)

// namer names ports, those of nodes with equal names with their GUID.
type namer struct {
	f     *fabric.Fabric
	times map[string]int
}

func newNamer(f *fabric.Fabric) *namer {
	n := &namer{f, make(map[string]int, len(f.Nodes))}
	for i := range f.Nodes {
		n.times[f.Nodes[i].Desc]++
	}
	return n
}

// port is for example "leaf-01/7" or "storage/1 (0x0002c90300a1b2c3)".
func (n *namer) port(port fabric.PortIndex) string {
	node := &n.f.Nodes[n.f.Ports[port].Node]
	name := n.f.PortName(port)
	if n.times[node.Desc] > 1 && node.Desc != "" {
		name += fmt.Sprintf(" (0x%016x)", node.GUID)
	}
	return name
}
