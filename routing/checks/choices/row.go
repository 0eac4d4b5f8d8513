// SPDX-License-Identifier: Apache-2.0

package choices

import (
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

// Words returns the row as text: its switches, or how packets end there, and the ports by which they leave ("" if they
// do not), such as "leaf-01", "by ports 3-4 (2, free)".
func (r *Row) Words(f *fabric.Fabric) (what, by string) {
	switch {
	case !r.Stop:
		what = r.switches(f)
	case r.At != fabric.None && r.Outcome.Endings == Arrives:
		return "delivered at " + f.PortName(r.At), ""
	case r.At != fabric.None:
		return "delivered to the wrong port " + f.PortName(r.At), ""
	case r.Outcome.Endings == Unread:
		return "a switch whose table was not read", ""
	default:
		return "no onward path", ""
	}
	if r.Again {
		return what + ", as above", ""
	}
	switch ports := len(r.Ports); {
	case ports == 1 && len(r.Switches) > 1:
		by = "each by one port"
	case len(r.Switches) > 1:
		by = fmt.Sprintf("each by %d ports (%s)", ports, r.State)
	case ports == 1:
		by = fmt.Sprintf("by port %d", r.Ports[0])
	default:
		by = fmt.Sprintf("by ports %s (%d, %s)", prose.Ranges(r.Ports), ports, r.State)
	}
	if r.Table > 0 {
		by += fmt.Sprintf(", private table %d", r.Table)
	}
	return what, by
}

// switches returns the names of up to three switches, or the first and the last of more.
func (r *Row) switches(f *fabric.Fabric) string {
	names := prose.Words(r.Switches, func(s fabric.SwitchIndex) string { return f.NodeName(f.Switches[s]) })
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d switches: %s ... %s", len(names), names[0], names[len(names)-1])
}
