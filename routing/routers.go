// SPDX-License-Identifier: Apache-2.0

package routing

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// RouterPorts is how many ports of routers a subnet has, to which some engines do not route.
func RouterPorts(f *fabric.Fabric) (n int) {
	for _, e := range f.EndPorts {
		if f.Nodes[f.Ports[e].Node].Type == mad.NodeRouter {
			n++
		}
	}
	return n
}
