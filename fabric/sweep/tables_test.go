// SPDX-License-Identifier: Apache-2.0

package sweep_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

var everything = sweep.Options{SL2VL: true, MFT: true, VLArb: true, PKeys: true, GUIDs: true}

// scribble writes a random block and returns the part that the node accepted.
func scribble(t *testing.T, c *mad.Client, r *rand.Rand, path mad.Path, attr mad.AttrID,
	mod, mask uint32) [mad.DataSize]byte {
	t.Helper()
	req := mad.Request{Method: mad.MethodSet, Attr: attr, Mod: mod, Path: path}
	for i := range req.Data {
		req.Data[i] = byte(r.Uint32() & mask)
	}
	data, err := c.Do(t.Context(), &req)
	if err != nil {
		t.Fatal(err)
	}
	return [mad.DataSize]byte(data[:mad.DataSize])
}

// TestEveryTable writes random tables into a simulated subnet, reads them, and counts the cost of each kind.
func TestEveryTable(t *testing.T) {
	rnd := testenv.Rand(t)
	f, _, s := routed(t, "fattree:2,8")
	c := client(t, open(t, s, f.SMPort), mad.ClientOptions{Timeout: time.Minute})
	plain := full(t, c, sweep.Options{})
	f = plain.Fabric
	routes := sweep.NewRoutes(f)
	path := func(port fabric.PortIndex) mad.Path {
		p, err := routes.ToPort(port)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	type key struct {
		port fabric.PortIndex
		in   uint8
	}
	vls, arb, keys, guids := map[key][]byte{}, map[fabric.PortIndex][]byte{}, map[fabric.PortIndex][]byte{},
		map[fabric.PortIndex][]byte{}
	linkedSwitchPorts, pairs := 0, 0
	for i := range f.NumPorts() {
		port := i
		p, n := &f.Ports[i], &f.Nodes[f.Ports[i].Node]
		isSwitch := n.IsSwitch()
		if !p.Linked() && p.Num > 0 || p.Num == 0 && !isSwitch {
			continue
		}
		num := uint8(0)
		if isSwitch {
			num = p.Num
		}
		if p.Num > 0 {
			block := scribble(t, c, rnd, path(port), mad.AttrVLArbitrationTable, mad.VLArbMod(mad.VLArbLow, num), 0x0f)
			arb[port] = block[:16] // 8 entries
			if isSwitch {
				linkedSwitchPorts++
			}
			for in := range n.NumPorts + 1 {
				if in == 0 || isSwitch {
					mod := mad.SLToVLMod(in, num)
					block := scribble(t, c, rnd, path(port), mad.AttrSLToVLTable, mod, 0xff)
					vls[key{port, in}] = block[:8]
					if isSwitch {
						pairs++
					}
				}
			}
		}
		block := scribble(t, c, rnd, path(port), mad.AttrPKeyTable, mad.PKeyMod(num, 0), 0xff)
		keys[port] = block[:]
		if !isSwitch {
			block := scribble(t, c, rnd, path(port), mad.AttrGUIDInfo, 3, 0xff)
			guids[port] = block[:]
		}
	}
	masks := map[fabric.SwitchIndex][]byte{}
	for sw, n := range f.Switches {
		block := scribble(t, c, rnd, path(f.Nodes[n].FirstPort), mad.AttrMulticastForwardingTable,
			mad.MulticastMod(7, 0), 0xff)
		masks[fabric.SwitchIndex(sw)] = block[:]
	}
	res := full(t, c, everything)
	clean(t, res)
	hosts, switches := len(f.Nodes)-len(f.Switches), len(f.Switches)
	for _, count := range []struct {
		what string
		opts sweep.Options
		want int
	}{
		{"SL2VL", sweep.Options{SL2VL: true}, hosts + pairs},
		{"MFT", sweep.Options{MFT: true}, switches * 1024 / 32}, // 8 ports, one mask
		{"VLArb", sweep.Options{VLArb: true}, 2 * (hosts + linkedSwitchPorts)},
		{"PKeys", sweep.Options{PKeys: true}, 2*hosts + switches*1 + 2*linkedSwitchPorts},
		{"GUIDs", sweep.Options{GUIDs: true}, 4*hosts + switches},
	} {
		if got := full(t, c, count.opts).Stats.Requests - plain.Stats.Requests; got != count.want {
			t.Errorf("%s cost %d MADs, want %d", count.what, got, count.want)
		}
	}
	for k, want := range vls {
		p := &f.Ports[k.port]
		got := res.Tables.SL2VL.VLs(p.Node, k.in, p.Num)
		for sl, vl := range got {
			if vl != want[sl/2]>>(4*(1-sl%2))&0xf {
				t.Fatalf("SL2VL of %s from %d: %v, want %x", f.PortName(k.port), k.in, got, want)
			}
		}
	}
	for port, want := range arb {
		for i, e := range res.VLArb[port].Low {
			if len(res.VLArb[port].Low) != 8 || e.VL != want[2*i] || e.Weight != want[2*i+1] {
				t.Fatalf("VL arbitration of %s: %v, want %x", f.PortName(port), res.VLArb[port].Low, want)
			}
		}
	}
	for port, want := range keys {
		for i := range want[:len(want)/2] {
			if uint16(res.PKeys[port][i]) != uint16(want[2*i])<<8|uint16(want[2*i+1]) {
				t.Fatalf("P_Keys of %s: %x, want %x", f.PortName(port), res.PKeys[port], want)
			}
		}
	}
	for port, want := range guids {
		for i, b := range want {
			if byte(res.GUIDs[port][24+i/8]>>(56-8*(i%8))) != b {
				t.Fatalf("GUIDs of %s: %x, want %x", f.PortName(port), res.GUIDs[port], want)
			}
		}
	}
	for sw, want := range masks {
		for i := range want[:len(want)/2] {
			if got := res.Tables.MFT.Ports(sw, uint16(0xc000+7*32+i))[0]; got != uint64(want[2*i])<<8|
				uint64(want[2*i+1]) {
				t.Fatalf("MFT of switch %d, entry %d: %x, want %x", sw, i, got, want)
			}
		}
	}
}

// TestMissingTables checks that a switch with a missing block of one kind has no known tables, and a port with a
// missing block no table of that kind, while other tables exist.
func TestMissingTables(t *testing.T) {
	f, _, s := routed(t, "fattree:2,4")
	for attr, want := range map[mad.AttrID]string{
		mad.AttrSLToVLTable: "leaf-01: SLtoVLMappingTable of port 2: no answer after 1 try: sent back " +
			"by the transport: connection timed out (errno 110)",
		mad.AttrMulticastForwardingTable: "leaf-01: MulticastForwardingTable: no answer after 1 try: sent back by " +
			"the transport: connection timed out (errno 110)",
		mad.AttrVLArbitrationTable: "leaf-01: VLArbitrationTable of port 2: no answer after 1 try: sent back " +
			"by the transport: connection timed out (errno 110)",
		mad.AttrPKeyTable: "leaf-01: P_KeyTable of port 2: no answer after 1 try: sent back by the " +
			"transport: connection timed out (errno 110)",
		mad.AttrGUIDInfo: "leaf-01: GUIDInfo of port 0: no answer after 1 try: sent back by the " +
			"transport: connection timed out (errno 110)",
	} {
		mods := map[mad.AttrID]uint32{
			mad.AttrSLToVLTable: mad.SLToVLMod(1, 2), mad.AttrMulticastForwardingTable: mad.MulticastMod(4, 0),
			mad.AttrVLArbitrationTable: mad.VLArbMod(mad.VLArbHigh, 2), mad.AttrPKeyTable: mad.PKeyMod(2, 1),
		}
		drop := func(m *mad.SMP) bool { return m.HopCount == 1 && m.Attr == attr && m.Mod == mods[attr] }
		c := client(t, &dropper{Transport: open(t, s, f.SMPort), drop: drop},
			mad.ClientOptions{Timeout: time.Minute, Tries: 1})
		res := full(t, c, everything)
		if len(res.Unanswered) != 1 || res.Unanswered[0].String() != want {
			t.Errorf("unanswered %v, want %s", res.Unanswered, want)
		}
		leaf := res.Fabric.NodesByDescription("leaf-01")[0]
		port := res.Fabric.Port(leaf, 2)
		ofSwitch := attr == mad.AttrSLToVLTable || attr == mad.AttrMulticastForwardingTable
		if known := res.Tables.Known[res.Fabric.Nodes[leaf].Switch]; known == ofSwitch {
			t.Errorf("without a block of %v the switch is known: %v", attr, known)
		}
		_, arb := res.VLArb[port]
		_, keys := res.PKeys[port]
		_, guids := res.GUIDs[port-2]
		if arb == (attr == mad.AttrVLArbitrationTable) || keys == (attr == mad.AttrPKeyTable) ||
			guids == (attr == mad.AttrGUIDInfo) {
			t.Errorf("without a block of %v: VL arbitration %v, P_Keys %v, GUIDs %v", attr, arb, keys, guids)
		}
	}
}

// TestSL2VLIsOpenSMs checks that mappings written by OpenSM, which differ between adapters, port 0 of switches and
// their other ports, also for packets from ports without a link, are read and dumped as the same file.
func TestSL2VLIsOpenSMs(t *testing.T) {
	f := generate(t, "torus:3x2,2")
	s := ibsimOf(t, f)
	// Two switches have a port without a link.
	for _, sw := range f.Switches[:2] {
		s.Console(fmt.Sprintf("Unlink %q[3]", f.Nodes[sw].Desc))
	}
	conf := filepath.Join(t.TempDir(), "opensm.conf")
	text := "qos TRUE\nqos_max_vls 8\nqos_ca_sl2vl 1,2,3,4,5,6,7,0,1,2,3,4,5,6,7,0\n" +
		"qos_sw0_sl2vl 7,6,5,4,3,2,1,0,7,6,5,4,3,2,1,0\nqos_swe_sl2vl 0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7\n"
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := ibsimtest.OpenSM(t, s, "-F", conf)
	theirs, err := os.ReadFile(filepath.Join(dir, "opensm-sl2vl.dump"))
	if err != nil {
		t.Fatal(err)
	}
	res := full(t, dialIbsim(t, s), sweep.Options{SL2VL: true})
	clean(t, res)
	var ours bytes.Buffer
	if err := osm.WriteSL2VL(&ours, res.Fabric, res.Tables.SL2VL); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(theirs), ours.String()); d != "" {
		t.Errorf("differs from OpenSM's dump:\n%s", d)
	}
}

// TestMFTIsThatOfDumpMFTs writes groups into the switches of an ibsim and compares the tables with the ones that
// infiniband-diags reads.
func TestMFTIsThatOfDumpMFTs(t *testing.T) {
	rnd := testenv.Rand(t)
	f := generate(t, "fattree:2,36")
	s := ibsimOf(t, f)
	ibsimtest.OpenSM(t, s)
	c := dialIbsim(t, s)
	seen := full(t, c, sweep.Options{})
	routes := sweep.NewRoutes(seen.Fabric)
	for sw, n := range seen.Fabric.Switches {
		path, err := routes.ToNode(n)
		if err != nil {
			t.Fatal(err)
		}
		for position := range uint8(3) {
			for _, block := range []uint16{0, 2} {
				var masks mad.MulticastForwardingTable
				for i := range masks {
					if rnd.IntN(4) == 0 {
						masks[i] = uint16(rnd.Uint32())
					}
					if position == 2 {
						masks[i] &= 0x1f // of 36 ports
					}
				}
				if _, err := mad.Set(t.Context(), c, path, mad.MulticastMod(block, position), masks); err != nil {
					t.Fatal(err)
				}
			}
		}
		if sw%2 == 0 { // half of the switches have a top, the others use their capacity
			info, err := mad.Get[mad.SwitchInfo](t.Context(), c, path, 0)
			if err == nil {
				info.MulticastFDBTop = 0xc000 + 95
				_, err = mad.Set(t.Context(), c, path, 0, info)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	res := full(t, c, sweep.Options{MFT: true})
	clean(t, res)
	want := map[string]bool{}
	var sw fabric.SwitchIndex = fabric.None
	for line := range strings.Lines(s.Output("dump_fts", "-M")) {
		if _, after, ok := strings.Cut(line, " guid 0x"); ok {
			guid, err := strconv.ParseUint(after[:16], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			sw = res.Fabric.SwitchByGUID(guid)
		}
		if !strings.HasPrefix(line, "0x") {
			continue
		}
		mlid, err := strconv.ParseUint(line[2:6], 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		for port := range 37 {
			if at := len("0xc000      ") + 2*port; at < len(line) && line[at] == 'x' {
				want[fmt.Sprintf("%d %x %d", sw, mlid, port)] = true
			}
		}
	}
	got := map[string]bool{}
	for sw := range res.Fabric.NumSwitches() {
		for mlid := fabric.FirstMLID; mlid <= int(res.Tables.MFT.Top); mlid++ {
			for port := range uint8(37) {
				if res.Tables.MFT.Has(sw, uint16(mlid), port) {
					got[fmt.Sprintf("%d %x %d", sw, mlid, port)] = true
				}
			}
		}
	}
	if len(want) < 1000 {
		t.Fatalf("dump_fts -M has %d entries", len(want))
	}
	for e := range want {
		if !got[e] {
			t.Fatalf("entry %s is not read, %d are of %d", e, len(got), len(want))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d entries, want %d", len(got), len(want))
	}
}
