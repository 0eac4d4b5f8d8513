// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder is described in package formats, where it lies; what it answers was worked out by hand from its lines.
const folder = "ibdiagnet:../fabric/formats/testdata/ibdiagnet"

func TestIbdiagnet(t *testing.T) {
	for command, wants := range map[string][]string{
		"summary": {"6 switches, 5 channel adapters, 1 of them an aggregation node, 13 links; highest LID 11",
			"seen from host-1 mlx5_0/1", "master priority 5 on host-1 mlx5_0/1", "live (as of 2022-08-25 17:45:38)"},
		"problems": {
			"6 errors, 3 warnings, 2 notes", "port 9 of node 0x0000000000000051, which is not among the nodes",
			"Spine-ZONE1-1/2/4 to leaf, 4/3 runs at 1x, both ends are set to 4x",
			"leaf, 3/3 to Spine-ZONE1-1/2/3 between two readings: LinkDownedCounter +1",
			"Spine-ZONE1-1/1/1 to leaf, 1/2: error correction is RS at this end and the vendor's 14 at the other",
			"the module in leaf, 2/2 to Spine-ZONE1-1/1/2 is at 76 degrees Celsius",
			"warning bit errors         leaf, 3/2 to Spine-ZONE1-1/1/3: bit error rate after correction 2e-13",
			"leaf, 3/3 to Spine-ZONE1-1/2/3 since they were cleared: LinkDownedCounter 11",
			"since they were cleared: LinkDownedCounter 511, PortXmitDiscards 101",
			"1 paths end before they arrive: host-4 mlx5_0/1 to Mellanox Technologies Aggregation Node/1",
			"not checked: what does not answer: the subnet is a file",
		},
		// 5 x 4 pairs; host-4's leaf has no entry for LID 11. The aggregation node is two links from host-1.
		"check reach": {"20 pairs, 20 paths", "19 arrive", "2 over 2 links", "17 over 4 links", "1 at a dead end",
			// LIDs 8 to 10 have that group, and two ends send from that leaf.
			"13 arrive for sure, 6 by luck, 1 never"},
		// Over the first spine to the first leaf go host-2 and host-3 to LIDs 7 and 11, and host-4 to 7.
		"check load": {"edge forwarding index 5", "5 paths to 2 LIDs over Spine-ZONE1-1/1/1 -> leaf, 1/2",
			"1xNDR: 2 directions, 1 to 4 paths"},
		`trace "host-1 mlx5_0" "host-2 mlx5_0"`: {"leaf, 1          LID 3      p1 -> p3    4xNDR  up",
			"Spine-ZONE1-1/2  LID 2      p1 -> p2", "delivered over 3 switches", "SL unknown",
			// Group 1 of that leaf has port 4 in its second sub-group, which leads to the aggregation node: one of
			// three choices is wrong.
			"leaf, 1  by ports 2-4 (3, free)", "3 paths, 66.7 % of packets delivered, over 3 switches"},
		`show sl2vl Spine-ZONE1-1/1`: {"2    1   0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 7"},
		`show mft Spine-ZONE1-1/1`:   {"0xc000  1-2"},
		`show counters`: {"leaf, 3/3          Spine-ZONE1-1/2/3  LinkDownedCounter 11",
			"LinkDownedCounter 511, PortXmitDiscards 101"},
		`show counters "leaf, 3/3" all`: {"PortXmitData 78187493530"}, // 0x123456789a
		`show cables "leaf, 2/2"`:       {"Acme, Inc MCP7 SN-1 A2  76", "the vendor's 14"},
		`show cables "leaf, 3/2"`:       {"1e-06    2e-13      not read"},
		"fail link Spine-ZONE1-1/1/1; route": {"failed in the what-if: link Spine-ZONE1-1/1/1 -- leaf, 1/2",
			"staged, not written"},
	} {
		out, _ := on(t, folder, strings.Split(command, "; ")...)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", command, want, out)
			}
		}
		if strings.Contains(strings.ToLower(out), "feedface") {
			t.Errorf("%s: an M_Key is shown", command)
		}
	}
}

// A folder that is written and read is written the same; and another folder is compared with it.
func TestDumpIbdiagnet(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")
	if out, err := on(t, folder, "dump ibdiagnet "+one); err != nil ||
		!strings.Contains(out, "ibdiagnet2.db_csv, ibdiagnet2.fdbs, ibdiagnet2.far, ibdiagnet2.mcfdbs, "+
			"ibdiagnet2.slvl of live") {
		t.Fatal(err, out)
	}
	if _, err := on(t, "ibdiagnet:"+one, "dump ibdiagnet "+two); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"db_csv", "fdbs", "far", "mcfdbs", "slvl"} {
		a, err := os.ReadFile(filepath.Join(one, "ibdiagnet2."+name))
		b, err2 := os.ReadFile(filepath.Join(two, "ibdiagnet2."+name))
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is another one once it was read: %v, %v", name, err, err2)
		}
		if bytes.Contains(bytes.ToLower(a), []byte("feedface")) {
			t.Errorf("%s holds an M_Key", name)
		}
	}
	out, err := on(t, folder, "load topology "+one, "diff live whatif")
	if err != nil || !strings.Contains(out, "no difference") {
		t.Error(err, out)
	}
	routed := filepath.Join(t.TempDir(), "routed")
	if _, err := on(t, folder, "fail link Spine-ZONE1-1/1/1", "route", "dump ibdiagnet "+routed); err != nil {
		t.Fatal(err)
	}
	out, err = on(t, folder, "load topology "+routed, "diff live whatif")
	if err != nil || !strings.Contains(out, "links down                1\n  Spine-ZONE1-1/1/1 -- leaf, 1/2") ||
		!strings.Contains(out, "pairs newly connected     7") {
		t.Error(err, out)
	}
	out, err = on(t, folder, "baseline load "+routed, "problems")
	if err != nil || !strings.Contains(out, "new") {
		t.Error(err, out)
	}
	if _, err := on(t, folder, "dump ibdiagnet -"); err == nil {
		t.Error("a folder on standard output")
	}
}

// TestDumpIbdiagnetGroups: the groups of adaptive routing are in the folder, wherever they come from, with their
// entries. What the file cannot hold or state is listed.
func TestDumpIbdiagnetGroups(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "opensm.conf")
	if err := os.WriteFile(conf, []byte("routing_engine ar_updn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	shown := func(out string) (rows []string) {
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "  ") && strings.Contains(line, "free") && !strings.Contains(line, " 0 groups") {
				rows = append(rows, line)
			}
		}
		return rows
	}
	for _, k := range []struct {
		source, commands, of, note string
	}{
		{"sim:fattree:2,4", "adaptive on", "", ""},
		{"sim:fattree:2,4", "adaptive on; fail link leaf-01/3; route", "", ""},
		{"sim:fattree:2,4", "adaptive on; fail link leaf-01/3", "whatif", ""},
		{"sim:fattree:2,4", "engine from=" + conf + "; route", "", ""},
		{"sim:fattree:2,4 adaptive=yes", "sweep", "live", ""},
		{"sim:fattree:2,4", "sweep", "live", "adaptive routing was not read"},
		{folder, "sweep light", "", ""},
		{folder, "adaptive on", "", ""},
	} {
		to := filepath.Join(t.TempDir(), "folder")
		of := ""
		if k.of != "" {
			of = " of=" + k.of
		}
		out, err := on(t, k.source, append(strings.Split(k.commands, "; "), "adaptive show"+of,
			"dump ibdiagnet "+to+of)...)
		if err != nil {
			t.Fatal(err, out)
		}
		read, err := on(t, "ibdiagnet:"+to, "adaptive show")
		if err != nil {
			t.Fatal(err, read)
		}
		if was, is := shown(out), shown(read); !slices.Equal(was, is) || (len(was) == 0) != (k.note != "") {
			t.Errorf("%s: %s: read back\n%swas\n%s", k.source, k.commands, is, was)
		}
		if noted := strings.Contains(out, "note: adaptive routing was not read"); noted != (k.note != "") {
			t.Errorf("%s: %s: noted %v in %s", k.source, k.commands, noted, out)
		}
		far, err := os.ReadFile(filepath.Join(to, "ibdiagnet2.far"))
		if err != nil {
			t.Fatal(err)
		}
		if k.note != "" && bytes.Contains(far, []byte(" en:")) {
			t.Errorf("%s: far states whether adaptive routing is on, which was not read", k.source)
		}
	}
}
