// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"io"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/osm"
	"example.org/ibconsole/routing"
)

// guidUse is a file of GUIDs and what its GUIDs are to be.
type guidUse struct {
	file *osm.GUIDFile
	// ports says that they are port GUIDs, else node GUIDs of switches.
	ports bool
}

// guidFile makes an option of a file of GUIDs.
func guidFile(ports bool, take func(*Settings, *osm.GUIDFile)) func(*Settings, string) error {
	return func(s *Settings, path string) error {
		return readWith(path, func(r io.Reader) error {
			f, err := osm.ReadGUIDFile(r, path)
			if err != nil {
				return err
			}
			for _, n := range f.Notes {
				s.Notes = append(s.Notes, n.String())
			}
			s.guids = append(s.guids, guidUse{f, ports})
			take(s, f)
			return nil
		})
	}
}

func takeRoots(s *Settings, f *osm.GUIDFile) {
	s.routing.RootGUIDs = []uint64{}
	for _, l := range f.Lines {
		s.routing.RootGUIDs = append(s.routing.RootGUIDs, l.GUID)
	}
	s.routing.DetectRoots = f.Broken
}

func takeIDs(s *Settings, f *osm.GUIDFile) {
	s.routing.IDs = map[uint64]uint64{}
	for _, l := range f.Lines {
		id, rest, ok := l.Number()
		if !ok && rest != "" || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			s.noteLine(f, l, "%q is no number; OpenSM reads no further", l.Rest)
			return
		}
		s.routing.IDs[l.GUID] = id
	}
}

func takeOrder(s *Settings, f *osm.GUIDFile) {
	for _, l := range f.Lines {
		s.routing.RoutingOrder = append(s.routing.RoutingOrder, l.GUID)
	}
}

func takeIgnored(s *Settings, f *osm.GUIDFile) {
	s.routing.IgnoredPorts = map[routing.SwitchPort]bool{}
	for _, l := range f.Lines {
		n, _, ok := l.Number()
		if !ok || n == 0 || n >= fabric.NoPath {
			s.noteLine(f, l, "%q is no port; OpenSM passes over the line", l.Rest)
			continue
		}
		s.routing.IgnoredPorts[routing.SwitchPort{GUID: l.GUID, Port: uint8(n)}] = true
	}
}

// takeWeights reads a port, one character whatever it is, and a weight, as
// OpenSM does (osm_ucast_mgr.c, set_hop_wf); what follows does not count.
func takeWeights(s *Settings, f *osm.GUIDFile) {
	s.routing.HopWeights = map[routing.SwitchPort]uint8{}
	for _, l := range f.Lines {
		port, rest, ok := l.Number()
		weight := uint64(0)
		if ok && rest != "" {
			after := osm.GUIDLine{Rest: rest[1:]}
			weight, _, ok = after.Number()
		}
		if !ok || port == 0 || port >= fabric.NoPath || weight == 0 || weight > 255 {
			s.noteLine(f, l, "%q is no port and a weight of 1 to 255; OpenSM passes over the line", l.Rest)
			continue
		}
		s.routing.HopWeights[routing.SwitchPort{GUID: l.GUID, Port: uint8(port)}] = uint8(weight)
	}
}

func takeSearchOrder(s *Settings, f *osm.GUIDFile) {
	for _, l := range f.Lines {
		numbers, ok := l.Numbers()
		order := routing.PortOrder{GUID: l.GUID}
		for _, n := range numbers {
			ok = ok && n > 0 && n < fabric.NoPath
			order.Ports = append(order.Ports, uint8(n))
		}
		if !ok {
			s.noteLine(f, l, "%q are no ports; OpenSM passes over the line", l.Rest)
			continue
		}
		s.routing.PortSearchOrder = append(s.routing.PortSearchOrder, order)
	}
}

func (s *Settings) noteLine(f *osm.GUIDFile, l osm.GUIDLine, format string, args ...any) {
	s.Notes = append(s.Notes, osm.FileNote{File: f.Name, Line: l.Line, Text: fmt.Sprintf(format, args...)}.String())
}

// strangers are the lines of the files whose GUID is not in a subnet, or is of
// another kind than the option takes.
func (s *Settings) strangers(f *fabric.Fabric) []string {
	var out []string
	for _, u := range s.guids {
		for _, l := range u.file.Lines {
			if why := u.stranger(f, l.GUID); why != "" {
				out = append(out, osm.FileNote{File: u.file.Name, Line: l.Line, Text: why + "; OpenSM passes over the line"}.String())
			}
		}
	}
	return out
}

func (u *guidUse) stranger(f *fabric.Fabric, guid uint64) string {
	node, port := f.NodeByGUID(guid), f.PortByGUID(guid)
	switch {
	case u.ports && port != fabric.None:
		return ""
	case u.ports && node != fabric.None:
		return fmt.Sprintf("0x%016x is the node GUID of %s, expected a port GUID", guid, f.NodeName(node))
	case !u.ports && node != fabric.None && f.Nodes[node].Switch != fabric.None:
		return ""
	case !u.ports && node != fabric.None:
		return fmt.Sprintf("0x%016x is %s, which is no switch", guid, f.NodeName(node))
	case !u.ports && port != fabric.None:
		return fmt.Sprintf("0x%016x is the port GUID of %s, expected the node GUID of a switch", guid, f.PortName(port))
	}
	return fmt.Sprintf("0x%016x is not in the subnet", guid)
}
