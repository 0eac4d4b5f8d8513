// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad"
)

// WriteOptions holds data for the file that is not part of the fabric.
type WriteOptions struct {
	// Generated is the date at the top of the file.
	Generated time.Time
}

// Write writes the file that ibnetdiscover (infiniband-diags) would write on the SM's port. The bytes are the same
// except for the date. The file has switches, channel adapters and routers, each in the reverse order of discovery. It
// omits nodes that ibnetdiscover does not find from this port, port states, and capabilities. In descriptions a space
// replaces each byte that is not printable ASCII. O(ports).
func Write(w io.Writer, f *fabric.Fabric, o WriteOptions) error {
	if f.SMPort == fabric.None {
		return errors.New("write topology: the fabric has no port at which the sweep began")
	}
	t := topologyWriter{b: bufio.NewWriterSize(w, 1<<16), f: f}
	t.preamble(o.Generated)
	order := discoveryOrder(f)
	slices.Reverse(order)
	for _, kind := range []mad.NodeType{mad.NodeSwitch, mad.NodeCA, mad.NodeRouter} {
		for _, n := range order {
			if f.Nodes[n].Type == kind {
				t.node(n)
			}
		}
	}
	if err := t.b.Flush(); err != nil {
		return fmt.Errorf("write topology: %w", err)
	}
	return nil
}

// topologyWriter writes the lines of the file. It ignores errors until the final Flush.
type topologyWriter struct {
	b *bufio.Writer
	f *fabric.Fabric
}

func (t *topologyWriter) printf(format string, args ...any) { _, _ = fmt.Fprintf(t.b, format, args...) }

func (t *topologyWriter) preamble(at time.Time) {
	start := &t.f.Ports[t.f.SMPort]
	t.printf("#\n%s %s\n#\n", generated, at.Format(time.ANSIC))
	t.printf("# Initiated from node %016x port %016x\n", t.f.Nodes[start.Node].GUID, start.GUID)
}

func (t *topologyWriter) node(node fabric.NodeIndex) {
	n := &t.f.Nodes[node]
	t.printf("\nvendid=0x%x\ndevid=0x%x\n", n.VendorID, n.DeviceID)
	if n.SystemGUID != 0 {
		t.printf("sysimgguid=0x%x\n", n.SystemGUID)
	}
	if n.IsSwitch() {
		t.switchHeader(n)
	} else {
		word := map[mad.NodeType]string{mad.NodeCA: "Ca", mad.NodeRouter: "Rt"}[n.Type]
		t.printf("%sguid=0x%x\n%s\t%d %s\t\t# \"%s\"\n", strings.ToLower(word), n.GUID, word, n.NumPorts, nodeID(n),
			clean(n.Desc))
	}
	for p := range n.Ports() {
		if t.f.Discovered(p) {
			t.port(n, p)
		}
	}
}

func (t *topologyWriter) switchHeader(n *fabric.Node) {
	port0, kind := &t.f.Ports[n.FirstPort], "base"
	if n.EnhancedPort0 {
		kind = "enhanced"
	}
	t.printf("switchguid=0x%x(%x)\n", n.GUID, port0.GUID)
	t.printf("Switch\t%d %s\t\t# \"%s\" %s port 0 lid %d lmc %d\n", n.NumPorts, nodeID(n), clean(n.Desc), kind,
		port0.LID, port0.LMC)
}

func (t *topologyWriter) port(n *fabric.Node, port fabric.PortIndex) {
	p := &t.f.Ports[port]
	peer := &t.f.Ports[p.Peer]
	far := &t.f.Nodes[peer.Node]
	farIsSwitch := far.IsSwitch()
	t.printf("[%d]", p.Num)
	if n.IsSwitch() {
		t.printf("\t%s[%d]", nodeID(far), peer.Num)
		if !farIsSwitch {
			t.printf("(%x) ", peer.GUID)
		}
		t.printf("\t\t# ")
	} else {
		t.printf("(%x) \t%s[%d]", p.GUID, nodeID(far), peer.Num)
		if !farIsSwitch {
			t.printf(" (%x) ", peer.GUID)
		}
		t.printf("\t\t# lid %d lmc %d ", p.LID, p.LMC)
	}
	t.printf("\"%s\" lid %d %s%s\n", clean(far.Desc), t.f.Ports[t.f.EndPortOf(p.Peer)].LID, p.Width, p.Speed)
}

// nodeID returns the id of a node in quotes, as ibnetdiscover writes it.
func nodeID(n *fabric.Node) string {
	letter := map[mad.NodeType]string{mad.NodeSwitch: "S", mad.NodeCA: "H", mad.NodeRouter: "R"}[n.Type]
	return fmt.Sprintf("\"%s-%016x\"", letter, n.GUID)
}

// clean returns a description in which spaces replace bytes that are not printable (rdma-core, util/node_name_map.c,
// clean_nodedesc).
func clean(desc string) string {
	const most = 64
	desc, _, _ = strings.Cut(desc, "\x00")
	b := []byte(desc[:min(len(desc), most)])
	for i, c := range b {
		if c < 0x20 || c > 0x7e {
			b[i] = ' '
		}
	}
	return string(b)
}
