// SPDX-License-Identifier: Apache-2.0

package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

const printedNet = `Switch 6 "S1" # "leaf 1"
[1] "S2"[1]
[2] "H1"[1]

Switch 4 "S2" # "spine 1"
[1] "S1"[1]
[2] "H2"[1]

Ca 2 "H1" # "host one HCA-1"
[1] "S1"[2]

Ca 1 "H2" # "host two HCA-1"
[1] "S2"[2]
`

// TestPrinted reads the output of infiniband-diags over ibsim. Formats without a subnet are named in the error,
// together with a program that prints the subnet.
func TestPrinted(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h")
	dir := t.TempDir()
	write := func(text string) string {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sim := ibsimtest.Start(t, write(printedNet))
	ibsimtest.OpenSM(t, sim)
	cache := filepath.Join(dir, "cache")
	sim.Output("ibnetdiscover", "--cache", cache)
	check := func(command, want string) {
		t.Helper()
		words := strings.Fields(command)
		s, err := formats.Read(t.Context(), write(sim.Output(words[0], words[1:]...)))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			switches := len(s.Fabric.Switches)
			got = fmt.Sprintf("%d switches, %d other nodes, %d links, %d unread", switches,
				len(s.Fabric.Nodes)-switches, len(s.Fabric.Links()), s.Unread.Count)
		}
		if !strings.Contains(got, want) || err != nil && !strings.Contains(got, "hint: ") {
			t.Errorf("%s: %s, expected %s", command, got, want)
		}
	}
	const whole = "2 switches, 2 other nodes, 3 links, 0 unread"
	for command, want := range map[string]string{
		"ibnetdiscover": whole, "ibnetdiscover -f": whole, "ibnetdiscover -g": whole, "ibnetdiscover -m": whole,
		"ibnetdiscover -s": whole, "ibnetdiscover -p": whole,
		"iblinkinfo": whole, "iblinkinfo -p": whole, "iblinkinfo -l": whole, "iblinkinfo -l -p": whole,
		"iblinkinfo --switches-only": whole, "iblinkinfo -l --switches-only": whole,
		"iblinkinfo --cas-only": "2 switches, 2 other nodes, 2 links, 0 unread",
		"ibswitches":            "a list of nodes", "ibhosts": "a list of nodes", "ibnodes": "a list of nodes",
		"ibnetdiscover -l": "a list of nodes", "ibnetdiscover -S": "a list of nodes",
		"ibnetdiscover -H": "a list of nodes",
		"ibtracert 1 2":    "a single path (ibtracert)", "ibtracert -n 1 2": "a single path (ibtracert)",
		"ibroute 1": "forwarding tables (opensm-lfts.dump or ibroute)", "ibroute -M 1": "multicast tables (ibroute -M)",
		"dump_fts":      "forwarding tables",
		"perfquery 1 1": "(perfquery)", "perfquery -x 1 1": "(perfquery)", "perfquery -E 1 1": "(perfquery)",
		"smpquery NI 1": "(smpquery)", "smpquery PI 1 1": "(smpquery)", "smpquery SI 1": "(smpquery)",
		"ibstat": "(ibstat or ibstatus)",
	} {
		check(command, want)
	}
	sim.Console(`Unlink "S2"[2]`)
	check("ibnetdiscover --diff "+cache, "--diff")
	check("iblinkinfo --diff "+cache, "--diff")
}

// The other formats are worked out from the manual pages of their programs, and from github.com/stanford-rc/ibswinfo.
func TestNamedFormats(t *testing.T) {
	for text, want := range map[string]string{
		"NodeRecord dump:\n\t\tlid.....................1\n":                            "(saquery)",
		"\"MF0;sw1:SX6036/U1\", Mellanox, 0xf452140300365680, LID 1\n # : IB# : Sta\n": "(net_dump)",
		"{\n  \"sw1\": {\n  }\n}\n":                                                    "JSON",
		"{\n\t\"status\" :\n\t{\n\t\t\"code\" : 1,\n":                                  "(mlxlink --json)",
		strings.Repeat("=", 49) + "\nsw1\n":                                            "(ibswinfo)",
		"part_number        : MQM8790-HS2F\n":                                          "(ibswinfo)",
		"[ {\"guid\": 1} ]":                                                            "JSON",
		"Nov 26 13:10:41 123456 [7F00] 0x01 -> osm_vendor_init\n":                      "a log of OpenSM",
		"Infiniband device 'mlx5_0' port 1 status:\n":                                  "(ibstat or ibstatus)",
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := formats.Read(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// TestSharedCases reads files from public reports.
func TestSharedCases(t *testing.T) {
	for _, c := range []struct {
		file                     string
		switches, adapters, link int
		unread                   int
		err                      string
	}{
		{file: "01-exporter-p-down-port/in.p", switches: 5, adapters: 2, link: 2, unread: 3},
		{file: "07-manpage-chassis/in.topo", switches: 2, adapters: 4, link: 7},
		{file: "07-manpage-chassis/indented.topo", switches: 2, adapters: 4, link: 7},
		{file: "07-manpage-chassis/ind2.topo", switches: 2, adapters: 4, link: 7},
		{file: "08-ca-only/in.topo", adapters: 2, link: 1},
		{file: "22-dups/zero.topo", switches: 80, adapters: 127, link: 383, unread: 1},
		{file: "22-dups/duplid.topo", switches: 80, adapters: 128, link: 384, unread: 1},
		{file: "22-dups/dupguid.topo", switches: 80, adapters: 127, link: 383, unread: 2},
		{file: "23-iblinkinfo-switches-only/iblso.txt", switches: 80, adapters: 128, link: 384},
		{file: "23-iblinkinfo-switches-only/iblsol.txt", switches: 80, adapters: 128, link: 384},
		{file: "23-iblinkinfo-switches-only/iblp.txt", switches: 80, adapters: 128, link: 384},
		{file: "24-diff/in.txt", err: "a difference of two subnets (ibnetdiscover or iblinkinfo --diff)"},
	} {
		s, err := formats.Read(t.Context(), testenv.SharedFile(t, "cases/"+c.file))
		if err != nil || c.err != "" {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, expected %q", c.file, err, c.err)
			}
			continue
		}
		adapters := 0
		for i := range s.Fabric.Nodes {
			if s.Fabric.Nodes[i].Type == mad.NodeCA {
				adapters++
			}
		}
		if n := len(s.Fabric.Switches); n != c.switches || adapters != c.adapters || len(s.Fabric.Links()) != c.link ||
			s.Unread.Count != c.unread {
			t.Errorf("%s: %d switches, %d adapters, %d links, unread %v, expected %+v", c.file, n, adapters,
				len(s.Fabric.Links()), s.Unread.Findings, c)
		}
	}
}
