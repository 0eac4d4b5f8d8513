// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/testenv"
)

// TestGUIDFile: the lines by hand, from parse_node_map of cl_nodenamemap.c.
func TestGUIDFile(t *testing.T) {
	long := "# " + strings.Repeat("x", 300)
	for _, tc := range []struct {
		text, lines, notes string
		broken             bool
	}{
		{"0x10 a b\n  # c\n\n 0x11\n", `[{16 a b 1} {17  4}]`, "", false},
		{"0x10#c\n", `[{16 #c 1}]`, "", false},
		{"16 x\n", `[{16 x 1}]`, "f:1: the GUID has no 0x", false},
		{"0x10\n0002c9 x\n0x11\n", `[{16  1}]`, "f:2: ", true},
		{"nonsense\n", `[]`, "f:1: ", true},
		{long + "\n0x10\n", `[]`, "f:1: the line is longer", true},
		{"", `[]`, "", false},
	} {
		f, err := ReadGUIDFile(strings.NewReader(tc.text), "f")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.Lines); got != tc.lines || f.Broken != tc.broken {
			t.Errorf("%q: %s, broken %v; want %s, %v", tc.text, got, f.Broken, tc.lines, tc.broken)
		}
		if all := fmt.Sprint(f.Notes); tc.notes != "" && !strings.Contains(all, tc.notes) || tc.notes == "" && len(f.Notes) > 0 {
			t.Errorf("%q is noted %s, want %q", tc.text, all, tc.notes)
		}
	}
}

func FuzzGUIDFile(f *testing.F) {
	f.Add("0x0002c90300000003 12 5 # port and weight\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := ReadGUIDFile(strings.NewReader(text), "f")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range file.Lines {
			l.Numbers()
			l.Number()
		}
	})
}

// TestConfOfOpenSM reads the configuration that OpenSM itself writes: it has no
// option that OpenSM would not know.
func TestConfOfOpenSM(t *testing.T) {
	name := filepath.Join(t.TempDir(), "conf")
	if out, err := exec.Command(testenv.Tool(t, "opensm"), "--create-config", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	c, err := ReadConf(r, "conf")
	if err != nil || len(c.Notes) > 0 {
		t.Errorf("notes %v, error %v", c.Notes, err)
	}
	if c.Get("lmc") != "0" || c.Get("routing_engine") != "" || c.Get("max_wire_smps") != "4" || len(c.Options) < 60 {
		t.Errorf("%d options: %v", len(c.Options), c.Options)
	}
}

func TestConf(t *testing.T) {
	c, err := ReadConf(strings.NewReader("lmc 1\n lmc\t2 # now\nroot_guid_file \"/a b\"\nids_guid_file (null)\nqos\nfoo 1\n#lmc 3\n"), "conf")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(c.Options), "[{lmc 2 2} {root_guid_file /a b 3}]"; got != want {
		t.Errorf("options %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(c.Notes), "[conf:6: foo is no option of OpenSM 3.3.23, which passes over it]"; got != want {
		t.Errorf("notes %s, want %s", got, want)
	}
}

func FuzzConf(f *testing.F) {
	f.Add("routing_engine updn,minhop\nlmc 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ReadConf(strings.NewReader(text), "conf"); err != nil {
			t.Fatal(err)
		}
	})
}
