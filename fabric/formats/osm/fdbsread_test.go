// SPDX-License-Identifier: Apache-2.0

package osm_test

import (
	"bytes"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/minhop"
)

// minhopTables routes a generated fabric.
func minhopTables(t testing.TB, spec string) *routing.Result {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := minhop.Engine{}.Route(t.Context(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// TestReadFDBs reads a file of WriteFDBs and compares every entry. The tests of the writer compare it with OpenSM.
func TestReadFDBs(t *testing.T) {
	res := minhopTables(t, "torus:4x3")
	var text bytes.Buffer
	if err := osm.WriteFDBs(&text, res.Tables, res.Hops, nil); err != nil {
		t.Fatal(err)
	}
	file, err := osm.ReadFDBs(&text, "fdbs")
	if err != nil {
		t.Fatal(err)
	}
	got, rep, err := file.Apply(res.Tables.Fabric)
	if err != nil || rep.Switches != 12 {
		t.Fatalf("%d switches of 12, error %v", rep.Switches, err)
	}
	for sw := range res.Tables.Fabric.NumSwitches() {
		for lid := uint16(1); lid <= res.Tables.LFT.MaxLID; lid++ {
			if a, b := res.Tables.Port(sw, lid), got.Port(sw, lid); a != b {
				t.Fatalf("switch %d, LID %d: port %d, want %d", sw, lid, b, a)
			}
		}
	}
}

func TestReadFDBsRefuses(t *testing.T) {
	const head = "dump_ucast_routes: Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n"
	for text, want := range map[string]string{
		"":                                    "f:1: the file is empty",
		"nothing\n":                           "f:1: no forwarding table",
		head + "0x0001 : 300  : 01   : yes\n": "f:3: port 300",
		head + "0xF000 : 003  : 01   : yes\n": "f:3: LID 61440",
		head + "0x0001 : x\n":                 "f:3: cannot parse port",
		head + "0x0001 : 003":                 "f:3: the file is truncated",
		"dump_ucast_routes: Switch 0xq\n":     "f:1: cannot parse switch GUID",
	} {
		if _, err := osm.ReadFDBs(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzReadFDBs(f *testing.F) {
	f.Add("dump_ucast_routes: Switch 0x0000000000200000\nLID    : Port : Hops : Optimal\n0x0001 : 003  : 01   : " +
		"yes\n0x0002 : UNREACHABLE\n")
	f.Add(ibdiagnetFDBs)
	res := minhopTables(f, "torus:3")
	f.Fuzz(func(t *testing.T, text string) {
		if file, err := osm.ReadFDBs(strings.NewReader(text), "f"); err == nil {
			_, _, _ = file.Apply(res.Tables.Fabric)
		}
	})
}

func FuzzReadGUID2LID(f *testing.F) {
	f.Add("0x0002c90300000001 0x0004 0x0007\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, _ := osm.ReadGUID2LID(strings.NewReader(text), "f")
		if file != nil && file.Table != nil {
			_ = osm.WriteGUID2LID(&bytes.Buffer{}, file.Table)
		}
	})
}

// ibdiagnetFDBs is made by hand in the form of ibdiagnet's files. The heading has the function name of OpenSM in 2006,
// hops are always 00, comments may precede everything, and the number of a private table precedes its entries.
const ibdiagnetFDBs = `# This file is made by hand
osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000200000
LID    : Port : Hops : Optimal
0x0001 : 000  : 00   : yes
0x0002 : 002  : 00   : yes
0x0003 : UNREACHABLE
0x0004 : 003  : 00   : yes

osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000200001
PLFT_NUM: 0
LID    : Port : Hops : Optimal
0x0001 : 001  : 00   : yes
0x0002 : 000  : 00   : yes
PLFT_NUM: 1
LID    : Port : Hops : Optimal
0x0001 : 002  : 00   : yes
dump_ucast_routes: Switch 0x0000000000200002
LID    : Port : Hops : Optimal
0x0003 : 000  : 00   : yes
`

// TestReadIbdiagnetFDBs compares every entry.
func TestReadIbdiagnetFDBs(t *testing.T) {
	file, err := osm.ReadFDBs(strings.NewReader(ibdiagnetFDBs), "ibdiagnet.fdbs")
	if err != nil {
		t.Fatal(err)
	}
	f := minhopTables(t, "mesh:3").Tables.Fabric // three switches in a row, and their adapters
	tables, rep, err := file.Apply(f)
	if err != nil || rep.Switches != 3 || rep.Entries != 6 || rep.Ignored.Count != 0 {
		t.Fatalf("%+v, %v", rep, err)
	}
	if got := rep.Private; got.Count != 1 || got.Examples[0] != "line 14: table 1 of switch 0x0000000000200001" {
		t.Errorf("private tables: %+v", got)
	}
	none := uint8(fabric.NoPath)
	for sw, want := range [][]uint8{{0, 2, none, 3}, {1, 0, none, none}, {none, none, 0, none}} {
		for i, port := range want {
			if got := tables.Port(fabric.SwitchIndex(sw), uint16(i+1)); got != port {
				t.Errorf("switch %d, LID %d: port %d, expected %d", sw, i+1, got, port)
			}
		}
	}
}

func TestReadIbdiagnetFDBsRefuses(t *testing.T) {
	for _, c := range []struct{ old, now, want string }{
		{"0x0004 : 003", "0x0004 : x", "f:7: cannot parse port"},
		{"PLFT_NUM: 1", "PLFT_NUM: x", `f:14: cannot parse table number in "PLFT_NUM: x"`},
		{"Switch 0x0000000000200001", "Switch 0xq", "f:9: cannot parse switch GUID"},
		{"0x0003 : 000  : 00   : yes\n", "0x0003 : 000", "f:19: the file is truncated"},
	} {
		_, err := osm.ReadFDBs(strings.NewReader(strings.Replace(ibdiagnetFDBs, c.old, c.now, 1)), "f")
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.now, err, c.want)
		}
	}
}
