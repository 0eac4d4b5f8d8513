// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"context"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/mad"
)

// twoAdapters has a link between two adapters that are also attached to a switch, and a separate part.
const twoAdapters = `Switch 4 "S" # "sw" base port 0 lid 7 lmc 0
[1] "A"[1]
[2] "B"[1]

Ca 2 "A"
[1] "S"[1]
[2] "B"[2]

Ca 2 "B"
[1] "S"[2]
[2] "A"[2]

Switch 2 "T"
[1] "C"

Ca 1 "C"
[1] "T"
`

func parsed(t *testing.T, text string) *fabric.Fabric {
	t.Helper()
	file, err := ibnet.Read(context.Background(), strings.NewReader(text), "net", ibnet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return file.Fabric
}

func TestActivated(t *testing.T) {
	f := parsed(t, twoAdapters)
	g := f.Activated()
	for _, c := range []struct {
		node  fabric.NodeIndex
		port  int
		state mad.PortState
		smLID uint16
	}{
		{0, 0, mad.PortActive, 7}, {0, 1, mad.PortActive, 0}, {0, 3, mad.PortDown, 0}, {1, 1, mad.PortActive, 7},
		{1, 2, mad.PortInit, 0}, {2, 2, mad.PortInit, 0}, {3, 1, mad.PortInit, 0}, {4, 1, mad.PortInit, 0},
	} {
		port := g.PortAt(c.node, c.port)
		if p := g.Ports[port]; p.State != c.state || p.SMLID != c.smLID {
			t.Errorf("%s: %v, SM LID %d, expected %v and %d", g.PortName(port), p.State, p.SMLID, c.state, c.smLID)
		}
	}
	if p := f.Ports[f.PortAt(1, 1)]; p.State != mad.PortInit || p.SMLID != 0 {
		t.Errorf("the original fabric changed: %+v", p)
	}
}

func TestSwept(t *testing.T) {
	f := parsed(t, twoAdapters)
	want := map[string]bool{"sw/1": true, "sw/2": true, "A/1": true, "B/1": true}
	for i := range f.NumPorts() {
		if name := f.PortName(i); f.Discovered(i) != want[name] {
			t.Errorf("%s: %v, expected %v", name, f.Discovered(i), want[name])
		}
	}
}

func TestWithDescriptions(t *testing.T) {
	f := parsed(t, twoAdapters)
	g := f.WithDescriptions(map[uint64]string{f.Nodes[0].GUID: "B", 42: "absent"})
	if g.Nodes[0].Desc != "B" || g.Nodes[1].Desc != "A" || f.Nodes[0].Desc != "sw" {
		t.Errorf("descriptions %q and %q, before %q", g.Nodes[0].Desc, g.Nodes[1].Desc, f.Nodes[0].Desc)
	}
	if len(g.NodesByDescription("B")) != 2 || len(g.NodesByDescription("sw")) != 0 ||
		len(f.NodesByDescription("sw")) != 1 {
		t.Errorf("looked up: %v, %v, %v", g.NodesByDescription("B"), g.NodesByDescription("sw"),
			f.NodesByDescription("sw"))
	}
}
