// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
	"example.org/ibconsole/routing/engines/minhop"
)

func fdbs(t testing.TB, tables *fabric.Tables, hops Hops) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteFDBs(&b, tables, hops, assign.Recommend(tables.Fabric, hops, &routing.Options{}, nil,
		tables)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func matrix(t testing.TB, f *fabric.Fabric, hops Hops) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteLIDMatrix(&b, f, hops); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Min-hop tables written in all three forms equal OpenSM's files.
func TestMinHopFilesAsOpenSM(t *testing.T) {
	for _, spec := range []string{"fattree:3,6", "mesh:5x4,hosts=2,links=2", "hypercube:4", "xgft:2,2,2,2,2"} {
		f, file := made(t, spec)
		dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file))
		r, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		same(t, spec+" LFTs", lfts(t, r.Tables), dump(t, dir, "opensm-lfts.dump"))
		same(t, spec+" fdbs", fdbs(t, r.Tables, r.Hops), dump(t, dir, "opensm.fdbs"))
		same(t, spec+" lid matrix", matrix(t, f, r.Hops), dump(t, dir, "opensm-lid-matrix.dump"))
	}
}

// Up/down from one root takes detours. OpenSM's file engine, which counts hops like min-hop, then writes the lines "No
// 2 hop path possible".
func TestDetoursAsOpenSM(t *testing.T) {
	roots := filepath.Join(t.TempDir(), "roots")
	writeFile(t, roots, []byte("0x200000\n"))
	for _, spec := range []string{"torus:6x5,2", "random:20,4,60"} {
		f, file := made(t, spec)
		routed := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-R", "updn", "-a", roots)
		dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-R", "file", "-U",
			filepath.Join(routed, "opensm-lfts.dump"))
		tables, _ := apply(t, dump(t, dir, "opensm-lfts.dump"), f)
		want := dump(t, dir, "opensm.fdbs")
		if !bytes.Contains(want, []byte("hop path possible via port")) {
			t.Fatalf("%s has no detours", spec)
		}
		same(t, spec, fdbs(t, tables, routing.NewDistances(f)), want)
	}
}

// The engines sssp and dfsssp also keep hop counts for the LIDs of adapters.
func TestPathHopsAsOpenSM(t *testing.T) {
	for _, c := range []struct{ engine, spec string }{{"sssp", "random:20,4,60"}, {"dfsssp", "fattree:3,6"}} {
		f, file := made(t, c.spec)
		dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-R", c.engine)
		tables, _ := apply(t, dump(t, dir, "opensm-lfts.dump"), f)
		hops := NewPathHops(tables)
		same(t, c.engine+" fdbs", fdbs(t, tables, hops), dump(t, dir, "opensm.fdbs"))
		same(t, c.engine+" lid matrix", matrix(t, f, hops), dump(t, dir, "opensm-lid-matrix.dump"))
	}
}

// line returns three switches in a row, sw0 to sw2 with LIDs 1 to 3, and adapters on sw0 and sw2 with LIDs 4 and 5.
// Port 1 leads to the switch before, port 2 to the next one, port 3 to the adapter.
func line(t testing.TB) *fabric.Fabric {
	t.Helper()
	var b fabric.Builder
	for i := range 3 {
		node, err := b.AddNode(fabric.Node{GUID: 0x200000 + uint64(i), Type: 2, NumPorts: 3, Desc: "sw"})
		if err != nil {
			t.Fatal(err)
		}
		b.Port(node, 0).LID = uint16(i + 1)
	}
	for i := range 2 {
		node, err := b.AddNode(fabric.Node{GUID: 0x100000 + uint64(2*i), Type: 1, NumPorts: 1, Desc: "host"})
		if err != nil {
			t.Fatal(err)
		}
		b.Port(node, 1).GUID, b.Port(node, 1).LID = 0x100001+uint64(2*i), uint16(i+4)
	}
	for _, l := range [][4]int{{0, 2, 1, 1}, {1, 2, 2, 1}, {0, 3, 3, 1}, {2, 3, 4, 1}} {
		if err := b.Connect(fabric.NodeIndex(l[0]), l[1], fabric.NodeIndex(l[2]), l[3]); err != nil {
			t.Fatal(err)
		}
	}
	f, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Worked out by hand from osm_dump.c: an unlinked port has no hops, an adapter on the switch is one hop away by any
// port, LIDs without owner or entry are unreachable.
func TestWriteFDBsByHand(t *testing.T) {
	f := line(t)
	lft := fabric.NewLFT(3, 7)
	copy(lft.Row(0), []byte{255, 0, 2, 2, 1, 3, 2, 255})
	copy(lft.Row(1), []byte{255, 2, 0, 2, 1, 9, 255, 255})
	copy(lft.Row(2), []byte{255, 1, 1, 0, 255, 3, 255, 255})
	tables := fabric.NewTables(f, lft, "test")
	tables.Top[2] = 5
	want := "dump_ucast_routes: Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n0x0001 : 000  : 00   : " +
		"yes\n0x0002 : 002  : 01   : yes\n0x0003 : 002  : 02   : yes\n0x0004 : 001  : 01   : yes\n0x0005 : 003  : " +
		"HOPS UNKNOWN\n0x0006 : UNREACHABLE\n0x0007 : UNREACHABLE\ndump_ucast_routes: Switch " +
		"0x0000000000200001\nLID    : Port : Hops : Optimal\n0x0001 : 002  : 03   : No 1 hop path possible via port " +
		"1!\n0x0002 : 000  : 00   : yes\n0x0003 : 002  : 01   : yes\n0x0004 : 001  : 02   : yes\n0x0005 : 009  : " +
		"HOPS UNKNOWN\n0x0006 : UNREACHABLE\n0x0007 : UNREACHABLE\ndump_ucast_routes: Switch " +
		"0x0000000000200002\nLID    : Port : Hops : Optimal\n0x0001 : 001  : 02   : yes\n0x0002 : 001  : 01   : " +
		"yes\n0x0003 : 000  : 00   : yes\n0x0004 : UNREACHABLE\n0x0005 : 003  : 01   : yes\n"
	same(t, "by hand", fdbs(t, tables, routing.NewDistances(f)), []byte(want))
	var b bytes.Buffer
	recommend := func(sw fabric.SwitchIndex, lid uint16) uint8 { return uint8(100 + 10*int(sw) + int(lid)) }
	if err := WriteFDBs(&b, tables, routing.NewDistances(f), recommend); err != nil ||
		!bytes.Contains(b.Bytes(), []byte("via port 111!")) {
		t.Errorf("error %v, the recommended port is not in\n%s", err, &b)
	}
}

// Paths that loop or end early have no length.
func TestPathHopsByHand(t *testing.T) {
	f := line(t)
	lft := fabric.NewLFT(3, 7)
	copy(lft.Row(0), []byte{255, 0, 2, 2, 3, 2, 255, 255})
	copy(lft.Row(1), []byte{255, 1, 0, 1, 1, 2, 255, 255}) // LID 3 back to sw0: a loop
	copy(lft.Row(2), []byte{255, 1, 3, 0, 2, 3, 255, 255}) // LID 2 to the adapter, LID 4 to an unlinked port
	h := NewPathHops(fabric.NewTables(f, lft, "test"))
	for sw, want := range [3][8]uint8{
		{255, 0, 1, 255, 1, 3, 255, 255},
		{255, 1, 0, 255, 2, 2, 255, 255},
		{255, 2, 255, 0, 255, 1, 255, 255},
	} {
		for lid, hops := range want {
			if got := h.LeastTo(fabric.SwitchIndex(sw), uint16(lid)); got != hops {
				t.Errorf("switch %d to LID %d: %d hops, want %d", sw, lid, got, hops)
			}
		}
	}
	if h.ThroughTo(0, 2, 5) != 3 || h.ThroughTo(0, 1, 5) != NoHops || h.LeastTo(0, 99) != NoHops ||
		h.Least(2, 0) != 2 || h.Through(2, 2, 0) != NoHops {
		t.Error("hops by port are not those of the one port in the table")
	}
}
