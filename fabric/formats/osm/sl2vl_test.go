// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// OpenSM's own dump is unchanged after it was read and written. With its defaults SL n has VL n up to the number of VLs
// (osm_qos.c); ibsim's ports have few VLs.
func TestSL2VLAsOpenSM(t *testing.T) {
	for _, spec := range []string{"fattree:2,6", "torus:3x3 hosts=2", "random:12,4,20"} {
		f, file := made(t, spec)
		dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, file), "-Q", "-R", "minhop")
		theirs := dump(t, dir, "opensm-sl2vl.dump")
		tables, report, err := ReadSL2VL(bytes.NewReader(theirs), "dump", f)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Lines()) > 0 || report.Tables == 0 {
			t.Errorf("%s: %+v", spec, report)
		}
		var ours bytes.Buffer
		if err := WriteSL2VL(&ours, f, tables); err != nil {
			t.Fatal(err)
		}
		same(t, spec, ours.Bytes(), theirs)
	}
}

func randomSL2VL(r *rand.Rand, f *fabric.Fabric) *fabric.SL2VL {
	t := fabric.NewSL2VL(f)
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		for in := range n.NumPorts + 1 {
			for out := range n.NumPorts + 1 {
				var vls fabric.VLs
				for sl := range vls {
					vls[sl] = uint8(r.IntN(16))
				}
				if f.Ports[n.FirstPort+fabric.PortIndex(out)].Linked() {
					t.Set(i, in, out, vls)
				}
			}
		}
	}
	return t
}

func TestSL2VLRoundTrip(t *testing.T) {
	f, _ := made(t, "torus:3x3 hosts=2")
	want := randomSL2VL(testenv.Rand(t), f)
	var b bytes.Buffer
	if err := WriteSL2VL(&b, f, want); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadSL2VL(&b, "f", f)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.NumNodes() {
		n := &f.Nodes[i]
		for in := range n.NumPorts + 1 {
			for out := range n.NumPorts + 1 {
				if a, b := got.VLs(i, in, out), want.VLs(i, in, out); a != b {
					t.Fatalf("%s from %d to %d: %v, want %v", n.Desc, in, out, a, b)
				}
			}
		}
	}
}

const someSL2VL = "Switch 0x0000000000200000, base LID 2, \"S0000000000200000\"\n" +
	sl2vlColumns + sl2vlRule +
	"0   1   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  15\n" +
	"1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n" + sl2vlRule + "\n\n"

func TestReadSL2VLErrors(t *testing.T) {
	f, _ := made(t, "fattree:2,4")
	if _, report, err := ReadSL2VL(strings.NewReader(someSL2VL), "f", f); err != nil || report.Tables != 2 ||
		report.MissingSwitches.Count != 5 {
		t.Fatalf("%+v, %v", report, err)
	}
	for name, tc := range map[string]struct{ from, to, want string }{
		"empty":      {someSL2VL, "", "f:1: the file is empty"},
		"no table":   {someSL2VL, "\n", "f:1: no SL2VL table"},
		"truncated":  {sl2vlRule + "\n\n", "", "f:5: the file is truncated"},
		"VL 16":      {"6  15\n", "6  16\n", "f:4: cannot parse the VL of SL 15"},
		"few VLs":    {"  15\n", "\n", "f:4: cannot parse the VL of SL 15"},
		"many VLs":   {"6  15\n", "6  15 0\n", `f:4: unexpected "0" after 16 VLs`},
		"port 99":    {"1   2   :", "1   99  :", "f:5: the table has ports 1 and 99, but its switch has 4 ports"},
		"no colon":   {"1   2   :", "1   2   ", "f:5: cannot parse ports"},
		"no GUID":    {"0x0000000000200000", "0x", "f:1: cannot parse port GUID"},
		"no section": {"Switch 0x0000000000200000, base LID 2, \"S0000000000200000\"\n", "\n", "f:4: a table"},
		"words":      {"1   2   :", "x", "f:5: unexpected \"x"},
		"port of adapters": {
			"0x0000000000200000", "0x0000000000100001", "f:4: the table of a CA or router has ports 0 and 1",
		},
	} {
		text := strings.Replace(someSL2VL, tc.from, tc.to, 1)
		if tc.from == sl2vlRule+"\n\n" {
			text = strings.TrimSuffix(someSL2VL, tc.from)
		}
		if _, _, err := ReadSL2VL(strings.NewReader(text), "f", f); err == nil ||
			!strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %s", name, err, tc.want)
		}
	}
	unknown := strings.Replace(someSL2VL, "200000,", "abc,", 1)
	if _, report, err := ReadSL2VL(strings.NewReader(unknown), "f", f); err != nil || report.UnknownPorts.Count != 1 ||
		report.Tables != 0 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestReadSL2VLManyTables(t *testing.T) {
	f, _ := made(t, "fattree:2,4")
	var b strings.Builder
	b.WriteString(strings.TrimSuffix(someSL2VL, sl2vlRule+"\n\n"))
	for i := range 1 << 16 {
		fmt.Fprintf(&b, "1 2 : %d %d %d %d 0 0 0 0 0 0 0 0 0 0 0 0\n", i>>12, i>>8&15, i>>4&15, i&15)
	}
	if _, _, err := ReadSL2VL(strings.NewReader(b.String()), "f", f); err == nil ||
		!strings.Contains(err.Error(), "different tables") {
		t.Errorf("error %v", err)
	}
}

func FuzzReadSL2VL(f *testing.F) {
	fab, _ := made(f, "fattree:2,4")
	f.Add(someSL2VL)
	f.Add("Channel Adapter 0x0000000000100001, base LID 1, \"x\"\n#---\n0 0 : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n#---\n")
	f.Fuzz(func(t *testing.T, text string) {
		tables, _, err := ReadSL2VL(strings.NewReader(text), "f", fab)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without file and line: %v", err)
			}
			return
		}
		if err := WriteSL2VL(&bytes.Buffer{}, fab, tables); err != nil {
			t.Error(err)
		}
	})
}

// TestSL2VLLeavesOutUnread checks that tables that were not read are not written as VL 0, if the port has such tables.
func TestSL2VLLeavesOutUnread(t *testing.T) {
	f, _ := made(t, "fattree:2,4")
	for i := range f.Ports {
		f.Ports[i].CapMask = 0
	}
	lines := func(t *fabric.SL2VL) int {
		var b bytes.Buffer
		if err := WriteSL2VL(&b, f, t); err != nil {
			return -1
		}
		n := 0
		for line := range strings.Lines(b.String()) {
			if line[0] >= '0' && line[0] <= '9' {
				n++
			}
		}
		return n
	}
	all := lines(randomSL2VL(testenv.Rand(t), f))
	if n := lines(fabric.NewSL2VL(f)); n != all || n == 0 {
		t.Errorf("%d lines of ports without such tables, want %d", n, all)
	}
	for i := range f.Ports {
		f.Ports[i].CapMask = uint32(mad.CapSLMapping)
	}
	if n := lines(fabric.NewSL2VL(f)); n != 0 {
		t.Errorf("%d lines that were not read", n)
	}
	one := fabric.NewSL2VL(f)
	one.Set(f.Switches[0], 1, 2, fabric.VLs{1})
	if n := lines(one); n != 1 {
		t.Errorf("%d lines, want the one that was read", n)
	}
}
