// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"fmt"

	"example.org/ibconsole/internal/base/plain"
)

// Escape makes text from the wire safe to be put into a line that is shown, see [plain.Escape].
func Escape(s string) string { return plain.Escape(s) }

// NodeName returns the escaped description of a node, or its GUID where that is empty.
func (f *Fabric) NodeName(node NodeIndex) string {
	n := &f.Nodes[node]
	if n.Desc == "" {
		return fmt.Sprintf("0x%016x", n.GUID)
	}
	return Escape(n.Desc)
}

// PortName names a port as "NAME/3", escaped.
func (f *Fabric) PortName(port PortIndex) string {
	p := &f.Ports[port]
	return fmt.Sprintf("%s/%d", f.NodeName(p.Node), p.Num)
}
