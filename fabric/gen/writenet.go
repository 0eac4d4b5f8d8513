// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// WriteNet writes a fabric as an ibsim net file with the nodes in the order of f. When ibsim reads the file, every node
// and port gets the GUID, description, LID, width and speed that it has in f. WriteNet omits GUIDs that ibsim assigns
// in the same way. It omits width and speed if they are ibsim's defaults, 4x SDR.
//
// WriteNet returns an error if ibsim cannot represent the fabric, because a port GUID of an adapter is not the node
// GUID plus the port number. Revisions, capability masks and port states in ibsim are ibsim's defaults. O(ports).
func WriteNet(w io.Writer, f *fabric.Fabric) error {
	n := netWriter{w: bufio.NewWriter(w), f: f, ids: nodeIDs(f), next: map[mad.NodeType]uint64{
		mad.NodeCA: firstHostGUID, mad.NodeSwitch: firstSwitchGUID,
	}}
	for i := range f.NumNodes() {
		if err := n.node(i); err != nil {
			return fmt.Errorf("write ibsim net: %w", err)
		}
	}
	return n.w.Flush()
}

type netWriter struct {
	w      *bufio.Writer
	f      *fabric.Fabric
	ids    []string
	next   map[mad.NodeType]uint64 // the GUID that ibsim gives the next node of a type by default
	device uint16
}

var netTypes = map[mad.NodeType]struct{ word, guid, prefix string }{
	mad.NodeCA:     {"Hca", "caguid", "H"},
	mad.NodeSwitch: {"Switch", "switchguid", "S"},
	mad.NodeRouter: {"Rt", "rtguid", "R"},
}

func (n *netWriter) node(i fabric.NodeIndex) error {
	node := &n.f.Nodes[i]
	if err := n.checkGUIDs(node); err != nil {
		return err
	}
	n.attributes(node)
	fmt.Fprintf(n.w, "%s\t%d \"%s\"", netTypes[node.Type].word, node.NumPorts, n.ids[i])
	desc, port0 := cleanDesc(node.Desc), n.port0(node)
	if desc != n.ids[i] || port0 != "" {
		fmt.Fprintf(n.w, "\t\t# \"%s\"%s", desc, port0)
	}
	fmt.Fprintln(n.w)
	for p := 1; p <= int(node.NumPorts); p++ {
		n.port(n.f.Port(i, uint8(p)))
	}
	_, err := fmt.Fprintln(n.w)
	return err
}

func (n *netWriter) checkGUIDs(node *fabric.Node) error {
	if node.IsSwitch() {
		return nil
	}
	for p := 1; p <= int(node.NumPorts); p++ {
		port := &n.f.Ports[node.FirstPort+fabric.PortIndex(p)]
		if port.Linked() && port.GUID != node.GUID+uint64(p) {
			return fmt.Errorf("port %d of %s has GUID 0x%016x; ibsim gives it 0x%016x, node GUID plus port number", p,
				fabric.Escape(node.Desc), port.GUID, node.GUID+uint64(p))
		}
	}
	return nil
}

// attributes writes the lines before a node that set values other than ibsim's defaults.
func (n *netWriter) attributes(node *fabric.Node) {
	if node.VendorID != 0 {
		fmt.Fprintf(n.w, "vendid=0x%x\n", node.VendorID)
	}
	if node.DeviceID != n.device {
		fmt.Fprintf(n.w, "devid=0x%x\n", node.DeviceID)
		n.device = node.DeviceID
	}
	if node.SystemGUID != 0 && node.SystemGUID != node.GUID {
		fmt.Fprintf(n.w, "sysimgguid=0x%x\n", node.SystemGUID)
	}
	if n.next[node.Type] != node.GUID {
		fmt.Fprintf(n.w, "%s=0x%x\n", netTypes[node.Type].guid, node.GUID)
	}
	n.next[node.Type] = node.GUID + 1
	if !node.IsSwitch() {
		n.next[node.Type] += uint64(node.NumPorts)
	}
}

func (n *netWriter) port0(node *fabric.Node) string {
	if !node.IsSwitch() {
		return ""
	}
	p := &n.f.Ports[node.FirstPort]
	if !node.EnhancedPort0 && p.LID == 0 {
		return ""
	}
	kind := "base"
	if node.EnhancedPort0 {
		kind = "enhanced"
	}
	return fmt.Sprintf(" %s port 0 lid %d lmc %d", kind, p.LID, p.LMC)
}

// port writes the line of a link. The line does not contain the description of the peer, because ibsim searches the
// text after '#' for options, LIDs and widths.
func (n *netWriter) port(i fabric.PortIndex) {
	p := &n.f.Ports[i]
	if !p.Linked() {
		return
	}
	peer := &n.f.Ports[p.Peer]
	fmt.Fprintf(n.w, "[%d]\t\"%s\"[%d]", p.Num, n.ids[peer.Node], peer.Num)
	width, speed := cmp.Or(p.Width, defaultWidth), cmp.Or(p.Speed, defaultSpeed)
	plain := width == defaultWidth && speed == defaultSpeed
	switch isCA := n.f.Nodes[p.Node].Type == mad.NodeCA; {
	case isCA && (p.LID != 0 || !plain):
		fmt.Fprintf(n.w, "\t\t# lid %d lmc %d \"\" lid 0 %s%s", p.LID, p.LMC, width, speed)
	case !isCA && !plain:
		fmt.Fprintf(n.w, "\t\t# \"\" lid 0 %s%s", width, speed)
	}
	fmt.Fprintln(n.w)
}

// maxNodeID is the maximum length of a node ID that a client can request when it connects to ibsim. The field of the
// control message has 32 bytes including the final NUL.
const maxNodeID = 31

// nodeIDs returns the ID of each node: the name if it is short, plain and unique, otherwise the type and the GUID.
func nodeIDs(f *fabric.Fabric) []string {
	ids := make([]string, len(f.Nodes))
	uses := map[string]int{}
	for i := range f.Nodes {
		ids[i] = strings.TrimSuffix(f.Nodes[i].Desc, " HCA-1")
		uses[ids[i]]++
	}
	for i := range f.Nodes {
		node := &f.Nodes[i]
		if id := ids[i]; uses[id] > 1 || !plainID(id) {
			ids[i] = fmt.Sprintf("%s-%016x", netTypes[node.Type].prefix, node.GUID)
		}
	}
	return ids
}

func plainID(id string) bool {
	if id == "" || len(id) > maxNodeID || looksLikeGUID(id) {
		return false
	}
	for _, c := range []byte(id) {
		if !strings.ContainsRune("-_.:/+", rune(c)) && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// looksLikeGUID reports whether a name has the form of an ID that another node could get.
func looksLikeGUID(id string) bool {
	return len(id) == 18 && strings.Contains("HSR", id[:1]) && id[1] == '-'
}

// cleanDesc replaces characters that would end the quotes or the line around a description.
func cleanDesc(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			return '\''
		case r < 0x20 || r == 0x7f:
			return ' '
		}
		return r
	}, s)
}
