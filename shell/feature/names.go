// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"errors"
	"fmt"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/partitions"
)

// ToTrace returns the lead to the path from src to a LID of dst, in a state.
func ToTrace(p *session.Picture, src, dst fabric.PortIndex, lid uint16) answer.Lead {
	f := p.Fabric
	if src == fabric.None || dst == fabric.None {
		return answer.Lead{}
	}
	to := lang.Quote(places.PortRef(f, dst))
	if lid != f.Ports[f.EndPortOf(dst)].LID {
		to = fmt.Sprintf("lid:%d", lid)
	}
	return answer.Lead{Command: fmt.Sprintf("trace %s %s of=%s", lang.Quote(places.PortRef(f, src)), to, p.Kind.Word())}
}

// MLIDText returns a multicast LID as text, such as 0xc000.
func MLIDText(mlid uint16) string { return fmt.Sprintf("0x%04x", mlid) }

// UnknownLoopText returns the line of a check for credit loops whose result is unknown. The argument why is the reason.
// The argument try contains the commands that help.
func UnknownLoopText(why, try string) string {
	if try != "" {
		try = "; hint: run '" + try + "'"
	}
	return "credit loop: unknown: " + why + try
}

// UnknownPathsText returns the line for n paths whose result is unknown. The argument of is the total number of paths.
func UnknownPathsText(n, of int64) string {
	return fmt.Sprintf("%d of %d paths are unknown: they meet a forwarding table that was not read", n, of)
}

// LinkError returns err, the error of an argument that names a link. If no port has the name, it returns a usage error
// instead.
func (c *Call) LinkError(err error) error {
	if unclear, ok := errors.AsType[*places.PortError](err); ok {
		return c.Misused("%v", unclear)
	}
	return err
}

// DestinationName returns the name of the port that has a LID, or "LID 7" if no port has LID 7.
func DestinationName(f *fabric.Fabric, lid uint16) string {
	if port := f.PortByLID(lid); port != fabric.None {
		return f.PortName(port)
	}
	return fmt.Sprintf("LID %d", lid)
}

// Ports returns a list of ports.
func Ports(f *fabric.Fabric, ports []fabric.PortIndex) answer.Value {
	values := make([]answer.Value, len(ports))
	for i, p := range ports {
		values[i] = answer.Port(f, p)
	}
	return answer.List(values)
}

// PlaceOf returns the place of a problem or of the end of a link in a fabric, or as it was if it is no longer there.
func PlaceOf(f *fabric.Fabric, at problems.Place) answer.Value {
	switch node, port := at.In(f); {
	case port != fabric.None:
		return answer.Port(f, port)
	case node != fabric.None:
		return answer.Node(f, node)
	case at.GUID != 0:
		name := at.Name
		if i := strings.LastIndex(name, fmt.Sprintf("/%d", at.Port)); i > 0 { // the number and the label of the port
			name = name[:i]
		}
		return answer.At(answer.Place{Name: name, GUID: at.GUID, Port: at.Port})
	}
	return answer.None()
}

// SLs returns the SL of a path record, and all SLs that the record may have.
func SLs(g partitions.Grant) (sl, sls answer.Value) {
	if !g.Known() {
		return answer.NotRead(), answer.NotRead()
	}
	return answer.Int(g.SL), answer.Text(g.SLs.String())
}
