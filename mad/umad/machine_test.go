// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.org/ibconsole/mad"
)

// machine is a directory with the files and contents of a real kernel (as seen on 6.1 and, for mlx5, in bug reports of
// rdma-core).
type machine struct{ root string }

func (m machine) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (m machine) remove(t testing.TB, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(m.root, name)); err != nil {
		t.Fatal(err)
	}
}

// add creates the files of a port. The zero machine gets a directory first.
func (m machine) add(t testing.TB, p Port) machine {
	t.Helper()
	if m.root == "" {
		m.root = t.TempDir()
		m.write(t, "sys/class/infiniband_mad/abi_version", "5\n")
	}
	states := map[mad.PortState]string{1: "1: DOWN", 2: "2: INIT", 3: "3: ARMED", 4: "4: ACTIVE"}
	phys := map[mad.PhysState]string{2: "2: Polling", 3: "3: Disabled", 5: "5: LinkUp"}
	types := map[mad.NodeType]string{1: "1: CA", 2: "2: SWITCH", 4: "4: RNIC"}
	card := "sys/class/infiniband/" + p.CA + "/"
	m.write(t, card+"node_type", types[p.NodeType]+"\n")
	m.write(t, card+"node_guid", quads(p.NodeGUID)+"\n")
	m.write(t, card+"sys_image_guid", quads(p.SystemGUID)+"\n")
	m.write(t, card+"hca_type", p.Type+"\n")
	m.write(t, card+"fw_ver", p.Firmware+"\n")
	if p.Virtual {
		m.write(t, card+"device/physfn/vendor", "0x15b3\n")
	}
	port := fmt.Sprintf("%sports/%d/", card, p.Number)
	m.write(t, port+"link_layer", p.LinkLayer+"\n")
	m.write(t, port+"state", states[p.State]+"\n")
	m.write(t, port+"phys_state", phys[p.Phys]+"\n")
	m.write(t, port+"lid", fmt.Sprintf("0x%x\n", p.LID))
	m.write(t, port+"sm_lid", fmt.Sprintf("0x%x\n", p.SMLID))
	m.write(t, port+"cap_mask", fmt.Sprintf("0x%08x\n", uint32(p.CapMask)))
	m.write(t, port+"rate", p.Rate+"\n")
	m.write(t, port+"gids/0", "fe80:0000:0000:0000:"+quads(p.GUID)+"\n")
	for i := range 12 {
		key := uint16(0)
		if i < len(p.PKeys) {
			key = p.PKeys[i]
		}
		m.write(t, fmt.Sprintf("%spkeys/%d", port, i), fmt.Sprintf("0x%04x\n", key))
	}
	for _, name := range []string{p.Umad, p.ISSM} {
		if name != "" {
			m.write(t, "sys/class/infiniband_mad/"+name+"/ibdev", p.CA+"\n")
			m.write(t, "sys/class/infiniband_mad/"+name+"/port", fmt.Sprintf("%d\n", p.Number))
			m.write(t, "dev/infiniband/"+name, "")
		}
	}
	return m
}

func quads(v uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", v>>48, v>>32&0xffff, v>>16&0xffff, v&0xffff)
}

// good returns a working port.
func good() Port {
	return Port{
		CA: "mlx5_0", Number: 1, Umad: "umad0", ISSM: "issm0",
		LinkLayer: InfiniBand, State: mad.PortActive, Phys: mad.PhysLinkUp, LID: 0x1a, SMLID: 1, CapMask: 0x0250e848,
		Rate: "100 Gb/sec (4X EDR)", GUID: 0xe41d2d0300abcdef, PKeys: []uint16{0xffff},
		NodeType: mad.NodeCA, NodeGUID: 0xe41d2d0300abcdee, SystemGUID: 0xe41d2d0300abcdee, Type: "MT4115",
		Firmware: "12.28.2006",
	}
}
