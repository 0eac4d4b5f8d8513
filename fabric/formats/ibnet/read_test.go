// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

func read(t testing.TB, text string, o Options) (*File, error) {
	t.Helper()
	return Read(context.Background(), strings.NewReader(text), "net", o)
}

func mustRead(t testing.TB, text string, o Options) *File {
	t.Helper()
	file, err := read(t, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// pair is a valid file. The cases below change it.
const pair = `Switch	4 "S1"		# "one" base port 0 lid 2 lmc 0
[1]	"S2"[3]
[2]	"H1"[1]

Switch	4 "S2"		# "two" base port 0 lid 3 lmc 0
[3]	"S1"[1]

Ca	2 "H1"		# "h"
[1](11)	"S1"[2]		# lid 4 lmc 0 "one" lid 2 4xQDR
`

// refused lists changes of pair with the resulting errors.
var refused = []struct{ name, old, new, want string }{
	{
		"a link that one side names", `[3]	"S1"[1]`, ``,
		`net:2: port 1 of "S1" leads to port 3 of "S2", which has no line for that port; ` +
			`expected both ends of each cable`,
	},
	{
		"a link that the ends do not agree on", `"S1"[1]`, `"S1"[4]`,
		`net:2: port 1 of "S1" leads to port 3 of "S2", but by net:6 that leads to port 4 of "S1"; ` +
			`expected both ends to agree`,
	},
	{
		"two cables in one port", `[2]	"H1"[1]`, `[2]	"S2"[3]`,
		`net:3: port 2 of "S1" leads to port 3 of "S2", but by net:6 that leads to port 1 of "S1"`,
	},
	{
		"a remote node that is not there", `"H1"[1]`, `"H2"[1]`,
		`net:3: port 2 of "S1" leads to node "H2", which is not in the file`,
	},
	{
		"a remote port that is not there", `"H1"[1]`, `"H1"[3]`,
		`net:3: port 2 of "S1" leads to port 3 of "H1", which has ports 1 to 2`,
	},
	{"a port linked to itself", `[1]	"S2"[3]`, `[1]	"S1"[1]`, `net:2: port 1 of one is linked to itself`},
	{"a port twice", `[2]	"H1"[1]`, `[1]	"H1"[1]`, `net:3: port 1 of "S1" is listed twice`},
	{"port 300", `[2]	"H1"[1]`, `[300]	"H1"[1]`, `net:3: port 300, but "S1" has ports 1 to 4`},
	{"port 5 of 4", `[2]	"H1"[1]`, `[5]	"H1"[1]`, `net:3: port 5, but "S1" has ports 1 to 4`},
	{"port 0", `[2]	"H1"[1]`, `[0]	"H1"[1]`, `net:3: port 0, but "S1" has ports 1 to 4`},
	{
		"a port number of letters", `[2]	"H1"[1]`, `[2x]	"H1"[1]`,
		`net:3: bad port line "[2x]\t\"H1\"[1]", expected [PORT] "ID"[PORT]`,
	},
	{"a truncated port line", `[2]	"H1"[1]`, `[2]	"H`, `net:3: port line "[2]\t\"H" without an id in quotes`},
	{"remote port 300", `"H1"[1]`, `"H1"[300]`, `net:3: bad remote port "300", expected [PORT] after the remote id`},
	{"a truncated remote port", `"H1"[1]`, `"H1"[`, `net:3: bad remote port ""`},
	{"a port line outside", "[1](11)", "\n[1](11)", `net:10: port line outside a record`},
	{"a node id twice", `Switch	4 "S2"`, `Switch	4 "S1"`, `net:5: node "S1" is already at line 1`},
	{
		"a node GUID twice", `Ca	2 "H1"`, "caguid=0x200001\nCa	2 \"H1\"",
		`net:9: node GUID 0x0000000000200001 is already that of two`,
	},
	{"a node GUID of 0", `Ca	2 "H1"`, "caguid=0x0\nCa	2 \"H1\"", `net:9: node "H1" has GUID 0`},
	{
		"a router without GUID", `Ca	2 "H1"`, `Rt	2 "H1"`,
		`net:8: node "H1" has GUID 0, expected a line with its GUID`,
	},
	{"a port GUID twice", `[1](11)`, `[1](200000)`, `net:9: port GUID 0x0000000000200000`},
	{"a LID twice", `lid 4`, `lid 3`, `net:9: LID 3 belongs to both two/0 and h/1`},
	{"LID 65335", `lid 4`, `lid 65335`, `net:9: LID 65335, expected at most 49151`},
	{"LID 65335 of a switch", `lid 3 lmc`, `lid 65335 lmc`, `net:5: LID 65335, expected at most 49151`},
	{"LID 49152", `lid 4`, `lid 49152`, `net:9: LID 49152, expected at most 49151`},
	{"a LID beyond 64 bits", `lid 4`, `lid 99999999999999999999`, `net:9: LID: bad number "99999999999999999999"`},
	{"LMC 8", `lid 4 lmc 0`, `lid 4 lmc 8`, `net:9: LMC 8, expected at most 7`},
	{
		"a LID that does not fit its LMC", `lid 4 lmc 0`, `lid 4 lmc 3`,
		`net:9: LID 4 with LMC 3, expected a multiple of 8`,
	},
	{
		"0 ports", `Switch	4 "S1"`, `Switch	0 "S1"`,
		`net:1: bad number of ports "0", expected a number from 1 to 254 before the id`,
	},
	{"255 ports", `Switch	4 "S1"`, `Switch	255 "S1"`, `net:1: bad number of ports "255"`},
	{"no number of ports", `Switch	4 "S1"`, `Switch	"S1"`, `net:1: bad number of ports ""`},
	{"no id", `Switch	4 "S1"		# "one"`, `Switch	4 S1`, `net:1: no id in quotes, expected PORTS "ID"`},
	{"half an id", `Switch	4 "S1"		# "one" base`, `Switch	4 "S1`,
		`net:1: no id in quotes, expected PORTS "ID"`},
	{"an empty id", `Switch	4 "S1"`, `Switch	4 ""`, `net:1: bad id ""`},
	{"an id with #", `Switch	4 "S1"`, `Switch	4 "S#1"`, `net:1: bad id "S#1", expected an id without # and @`},
	{
		"a GUID line without GUID", `Switch	4 "S2"`, "switchguid\nSwitch	4 \"S2\"",
		`net:5: switchguid without a value, expected switchguid=0xGUID`,
	},
	{
		"a bad GUID", `Switch	4 "S2"`, "switchguid=2c90000000g\nSwitch	4 \"S2\"",
		`net:5: switchguid: bad number "2c90000000g", expected 0xHEX or a decimal one`,
	},
	{
		"a bad GUID in brackets", `Switch	4 "S2"`, "switchguid=0x2(xyz)\nSwitch	4 \"S2\"",
		`net:5: switchguid: bad GUID in brackets "(xyz)", expected (HEX)`,
	},
	{
		"a GUID of 17 digits", `Switch	4 "S2"`, "switchguid=0x12345678901234567\nSwitch	4 \"S2\"",
		`net:5: switchguid: bad number "0x12345678901234567"`,
	},
	{
		"words after a number", `Switch	4 "S2"`, "devid=0x1 and so on\nSwitch	4 \"S2\"",
		`net:5: devid: unexpected "and so on" after the number`,
	},
	{
		"a device ID of 17 bits", `Switch	4 "S2"`, "devid=0x10000\nSwitch	4 \"S2\"",
		`net:5: devid=65536, expected a number from 0 to 65535`,
	},
	{"a bad width", `Switch	4 "S2"`, "width=32\nSwitch	4 \"S2\"",
		`net:5: width=32, expected a number from 1 to 31`},
	{"a bad speed", `Switch	4 "S2"`, "speed=0\nSwitch	4 \"S2\"", `net:5: speed=0, expected a number from 1 to 7`},
	{
		"a bad port option", `"H1"[1]`, `"H1"[1] w=32`,
		`net:3: bad port option: w=32, expected link width bits from 1 to 31`,
	},
	{
		"widths that do not fit", `[1]	"S2"[3]`, `[1]	"S2"[3] w=4`,
		`net:2: port 1 of "S1": the two ports of the link have no width in common: width bits 4 and 2`,
	},
	{
		"speeds that do not fit", `[1]	"S2"[3]`, `[1]	"S2"[3] s=4`,
		`net:2: port 1 of "S1": the two ports of the link have no speed in common: speed bits 4 and 1`,
	},
	{"a bad port GUID", `[1](11)`, `[1](x)`, `net:9: bad port GUID "x"`},
	{
		"an unknown alias", `"H1"[1]`, `"@up"`,
		`net:3: alias "@up" is unknown, expected a line @[PORT] "ALIAS" before this one`,
	},
	{
		"an alias twice", `[2]	"H1"[1]`, "@[2] \"up\"\n@[3] \"up\"",
		`net:4: alias "@up" is already that of port 2 of "S1"`,
	},
	{
		"a module without a name", `Switch	4 "S2"`, "module=S\n\nSwitch	4 \"S2\"",
		`net:5: module without a name, expected module="NAME"`,
	},
	{"a long module name", `Switch	4 "S2"`, "module=\"123456789012345678901\"\n\nSwitch	4 \"S2\"",
		`net:5: module name "123456789012345678901" longer than 20 bytes`},
	{
		"an include", `Switch	4 "S2"`, "include \"x\"\nSwitch	4 \"S2\"",
		`net:5: include "x": only a file can include another`,
	},
	{"binary data", `Switch	4 "S2"`, "\x7fELF\x00\x01\n", `net:5: binary data`},
	{"a huge line", `Switch	4 "S2"`, "# " + strings.Repeat("x", 1<<20), `net:5: line longer than 65536 bytes`},
	{
		"truncated in the middle", pair[strings.Index(pair, "Ca"):], ``,
		`net:3: port 2 of "S1" leads to node "H1", which is not in the file`,
	},
	{"nothing", pair, ``, `net: no Switch, Ca or Rt record, expected text as ibnetdiscover prints it or an ibsim net`},
	{"prose", pair, "Dear all,\n\nthe switch is broken.\n", `net: no Switch, Ca or Rt record`},
}

// inferred has ibnetdiscover's form and ends before its hosts.
const inferred = "Switch 4 \"S-0000000000200000\" # \"one\" base port 0 lid 2 lmc 0\n" +
	"[1]\t\"H-0000000000100000\"[1](100001) \t\t# \"h\" lid 4 4xQDR\n" +
	"[2]\t\"S-0000000000200001\"[9]\t\t# \"two\" lid 7 4xQDR\n"

func TestReadRefuses(t *testing.T) {
	for _, c := range refused {
		file, err := read(t, strings.Replace(pair, c.old, c.new, 1), Options{Strict: true})
		switch {
		case err == nil:
			t.Errorf("%s: no error, expected %s", c.name, c.want)
		case !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s:\n got %s\nwant %s", c.name, err, c.want)
		case file != nil:
			t.Errorf("%s: a file together with the error", c.name)
		}
	}
	if _, err := read(t, pair, Options{}); err != nil {
		t.Errorf("the valid file: %v", err)
	}
}

// TestMemory reads a small file with very many ports.
func TestMemory(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		b.WriteString("Switch 254 \"")
		b.WriteString(strings.Repeat("x", i%60))
		b.WriteString(string(rune('0' + i/60%10)))
		b.WriteString(string(rune('A' + i/600)))
		b.WriteString("\"\n")
	}
	_, err := read(t, b.String(), Options{})
	if err == nil || !strings.Contains(err.Error(), "more than 2097152 ports") {
		t.Errorf("20000 switches of 254 ports: %v", err)
	}
}

func TestAsStated(t *testing.T) {
	const text = generated + ` Sat Nov 21 01:27:27 2026

vendid=0x2c9
devid=0xd2f2
sysimgguid=0xa0
switchguid=0xa0(a1)
Switch	64 "S-00000000000000a0"		# "a "quoted" name" enhanced port 0 lid 8 lmc 0
[1]	"H-00000000000000b0"[2](b7) 		# "h" lid 16 2xNDR

caguid=0xb0
Ca	2 "H-00000000000000b0"		# "h"
[2](b7) 	"S-00000000000000a0"[1]		# lid 16 lmc 3 "a "quoted" name" lid 8 2xHDR
`
	file := mustRead(t, text, Options{})
	f := file.Fabric
	if len(file.Warnings) != 0 {
		t.Fatalf("warnings %q", file.Warnings)
	}
	sw, ca := f.Nodes[0], f.Nodes[1]
	if sw.Desc != `a "quoted" name` || !sw.EnhancedPort0 || sw.GUID != 0xa0 || ca.SystemGUID != 0xb0 ||
		sw.VendorID != 0x2c9 || ca.DeviceID != 0xd2f2 {
		t.Errorf("nodes %+v and %+v", sw, ca)
	}
	p0, p1, h2 := f.Ports[f.PortAt(0, 0)], f.Ports[f.PortAt(0, 1)], f.Ports[f.PortAt(1, 2)]
	if p0.GUID != 0xa1 || p0.LID != 8 || p1.GUID != 0xa1 || p1.LID != 0 || p1.Width != 2 || p1.Speed != fabric.NDR ||
		p1.State != mad.PortActive {
		t.Errorf("ports of the switch %+v and %+v", p0, p1)
	}
	if h2.GUID != 0xb7 || h2.LID != 16 || h2.LMC != 3 || h2.Width != 2 || h2.Speed != fabric.HDR {
		t.Errorf("port of the adapter %+v", h2)
	}

	sim := mustRead(t, text, Options{Reading: AsIbsim})
	if g := sim.Fabric; g.Nodes[0].Desc != "a " || g.Ports[g.PortAt(1, 2)].GUID != 0xb2 ||
		g.Ports[g.PortAt(0, 0)].GUID != 0xa0 {
		t.Errorf("as ibsim: %+v, ports %+v", g.Nodes, g.Ports[g.PortAt(1, 2)])
	}
	want := `net: by ibsim's rules 1 port has another GUID and 2 ports run at another rate ("2xHDR", "2xNDR") ` +
		`than is stated here`
	if len(sim.Warnings) != 1 || sim.Warnings[0] != want {
		t.Errorf("as ibsim: warnings %q", sim.Warnings)
	}
}

func TestAsStatedRefuses(t *testing.T) {
	const text = "switchguid=0xa0(a0)\nSwitch 4 \"S-00000000000000a0\"\n[1] \"H-00000000000000b0\"[1](b1)\n\n" +
		"caguid=0xb0\nCa 1 \"H-00000000000000b0\"\n[1](b1) \"S-00000000000000a0\"[1]\n"
	mustRead(t, text, Options{})
	for _, c := range []struct{ old, new, want string }{
		{
			"caguid=0xb0", "caguid=0xb2",
			`net:6: node "H-00000000000000b0": the lines before the record have GUID 0x00000000000000b2, ` +
				`expected 0x00000000000000b0`,
		},
		{
			"](b1) ", "](b2) ",
			`net:7: port 1 of "H-00000000000000b0" has GUID 0x00000000000000b2 here, ` +
				`but 0x00000000000000b1 at net:3`,
		},
	} {
		_, err := read(t, strings.Replace(text, c.old, c.new, 1), Options{Strict: true})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.new, err, c.want)
		}
	}
}

// TestIbdiagnet reads a large file in ibdiagnet's form. The counts are those in the description of the shared fabrics.
func TestIbdiagnet(t *testing.T) {
	file, err := ReadFile(context.Background(), testenv.SharedFile(t, "fabrics/real-cs8500-hdr-192sw.topo"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := file.Fabric
	if len(file.Warnings) != 0 || len(f.Switches) != 192 || len(f.Nodes) != 192+990+192 ||
		len(f.EndPorts) != len(f.Nodes) {
		t.Errorf("%d switches, %d nodes, %d end ports, warnings %q", len(f.Switches), len(f.Nodes), len(f.EndPorts),
			file.Warnings)
	}
	// Written in the file: switchguid=0xb8cef603008fbe36(b8cef6030019c7c2), [1](1) "S-b8cef603006180ba"[22]
	// and "H-88e9a4ffff0feec4"[1](88e9a4ffff0feec4) # "node-0479 HCA-2" lid 791 4xHDR.
	n := f.NodeByGUID(0xb8cef6030019c7c2)
	if n == fabric.None || f.Nodes[n].SystemGUID != 0xb8cef603008fbe36 || f.Nodes[f.PeerNode(f.PortAt(n, 1))].GUID !=
		0xb8cef603006180ba {
		t.Errorf("node %d", n)
	}
	e := f.PortByGUID(0x88e9a4ffff0feec4)
	if e == fabric.None || f.Ports[e].LID != 791 || f.Ports[e].Speed != fabric.HDR ||
		f.PortName(e) != "node-0479 HCA-2/1" {
		t.Errorf("end port %d", e)
	}
	same, err := ReadFile(context.Background(), testenv.SharedFile(t, "fabrics/real-cs8500-hdr-192sw.net"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(f.Nodes, same.Fabric.Nodes) || !reflect.DeepEqual(f.Ports, same.Fabric.Ports) {
		t.Error("the same fabric in ibsim's form differs")
	}
}

func TestWarnings(t *testing.T) {
	noGUID := strings.Replace(pair, "(11)", "", 1)
	change := func(old, now string) string { return strings.Replace(noGUID, old, now, 1) }
	for _, c := range []struct {
		name, text string
		reading    Reading
		want       []string
	}{
		{"none", change(`"S2"[3]`, `"S2"[3] # lid 3 4xQDR`), AsStated, nil},
		{"none", pair[:strings.Index(pair, " 4xQDR")] + "\n", AsStated, nil},
		{"none by ibsim's rules", change(" 4xQDR", ""), AsIbsim, nil},
		{
			"rates in part", noGUID, AsStated, []string{
				"net: neither end of 1 link of 2 states a rate; they get the rate that they have in ibsim, " +
					"4xSDR if nothing else is set",
			},
		},
		{
			"truncated", strings.TrimSuffix(noGUID, " 4xQDR\n"), AsStated,
			[]string{"net:9: the last line has no newline: the file may be truncated"},
		},
		{
			"a command", "do Unlink \"S1\"[1]\n" + change(" 4xQDR", ""), AsStated,
			[]string{`net:1: the ibsim command "Unlink \"S1\"[1]" is ignored`},
		},
		{"a line that ibsim ignores", change(" 4xQDR\n", "\nvendid=1\n\nCa 1 \"H2\"\n"), AsStated, nil},
		{"a line that ibsim ignores", change("\n\nCa", "\nvendid=1\n\nCa"), AsIbsim,
			[]string{"net:7: the record ends here and ibsim ignores this line and 0 more; expected a blank line " +
				"before it",
				`net: by ibsim's rules 1 port runs at another rate ("4xQDR") than is stated here`}},
		{"ibsim's port GUID", strings.NewReplacer("(11)", "(100001)", " 4xQDR", "").Replace(pair), AsIbsim, nil},
		{"another port GUID", strings.NewReplacer("(11)", "(100002)", " 4xQDR", "").Replace(pair), AsIbsim, []string{
			"net: by ibsim's rules 1 port has another GUID than is stated here"}},
		{
			"another rate", change("4xQDR", "4xNDR"), AsIbsim,
			[]string{`net: by ibsim's rules 1 port runs at another rate ("4xNDR") than is stated here`},
		},
		{"no speed", change(`"S2"[3]`, `"S2"[3] # lid 3 4x???`), AsStated, nil},
		{"an unknown speed", strings.NewReplacer("4xQDR", "4xZDR", `"S2"[3]`,
			`"S2"[3] # lid 3 4xQDR`).Replace(noGUID), AsStated, []string{
			`net: 1 port line states a rate that is unknown ("4xZDR")`}},
	} {
		got := mustRead(t, c.text, Options{Reading: c.reading}).Warnings
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %v:\n got %q\nwant %q", c.name, c.reading, got, c.want)
		}
	}
}

func TestGrouped(t *testing.T) {
	const text = generated + ` Sat Nov 21 01:27:27 2026
#
# Reported max hops discovered: 4
# Total MADs used: 50
# Initiated from node 00000000000000b0 port 00000000000000b1

Chassis 1 (guid 0x8f10400411f5a)

# Spine Nodes
vendid=0x8f1
devid=0x5a30
sysimgguid=0x8f10400411f5a		# Chassis 1
switchguid=0x8f10400411f59(8f10400411f59)	# Spine 1 Chip 1 (ext 3)
Switch	24 "S-0008f10400411f59"		# "ISR9024D Voltaire" base port 0 lid 2 lmc 0
[3][ext 9]	"S-0008f10400411f58"[4][ext 11]		# "ISR9024D" lid 3 4xDDR s=2 w=2 v=4

# Line Nodes
# Chassis Switches
vendid=0x8f1
devid=0x5a30
sysimgguid=0x8f10400411f5a		# Chassis 1
switchguid=0x8f10400411f58(8f10400411f58)	# Line 1 Chip 1 (ext 3)
Switch	24 "S-0008f10400411f58"		# "ISR9024D" base port 0 lid 3 lmc 0
[4][ext 11]	"S-0008f10400411f59"[3][ext 9]		# "ISR9024D Voltaire" lid 2 4xDDR s=2 w=2 v=4
[5]	"H-00000000000000b0"[1](b1) 		# "h" lid 4 4xDDR s=2 w=2 v=4

# Chassis CAs
Non-Chassis Nodes

vendid=0x2c9
devid=0x6282
caguid=0xb0
Ca	2 "H-00000000000000b0"		# "h" (scp)
[1](b1) 	"S-0008f10400411f58"[5]		# lid 4 lmc 0 "ISR9024D" lid 3 4xDDR s=2 w=2 v=4
`
	f := mustRead(t, text, Options{}).Fabric
	if len(f.Links()) != 2 || len(f.EndPorts) != 3 || f.Nodes[0].SystemGUID != 0x8f10400411f5a ||
		f.Ports[f.PortAt(1, 5)].Speed != fabric.DDR {
		t.Errorf("%d links, nodes %+v", len(f.Links()), f.Nodes)
	}
}

func TestInclude(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("sub/a.net", "include \"b.net\"\ninclude \"c.net\"\n\nSwitch 4 \"A\"\n[1] \"B\"[1]\n[2] \"C\"\n")
	put("sub/b.net", "Switch 4 \"B\"\n[1] \"A\"[1]\n")
	put("c.net", "Ca 1 \"C\"\n[1] \"A\"[2]\n\n")
	top := put("top.net", "include \"sub/a.net\"\n")
	file, err := ReadFile(context.Background(), top, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := file.Fabric; len(f.Nodes) != 3 || f.Nodes[0].Desc != "B" || f.Nodes[1].Desc != "C" || len(f.EndPorts) != 3 {
		t.Errorf("nodes %+v", f.Nodes)
	}
	for _, c := range []struct{ text, want string }{
		{"\ninclude \"sub/none.net\"\n", `top.net:2: include "sub/none.net": no such file or directory`},
		{"include \"top.net\"\n", `top.net:1: include "top.net": the file includes itself`},
		{"include \"sub\"\n", `/sub: a folder, expected a file`},
		{"include sub\n", `top.net:1: include without a name, expected include "FILE"`},
		{"include \"c.net\"\ninclude \"c.net\"\n", `c.net:1: node "C" is already at line 1 of `},
		{"include \"c.net\"\n", `c.net:2: port 1 of "C" leads to node "A", which is not in the file`},
	} {
		_, err := ReadFile(context.Background(), put("top.net", c.text), Options{Strict: true})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.text, err, c.want)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Read(ctx, strings.NewReader(strings.Repeat("#\n", 10000)), "net", Options{})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Error(err)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range nets {
		if len(text) < 4096 {
			f.Add([]byte(text), byte(0))
			f.Add([]byte(generated+"\n"+text), byte(1))
		}
	}
	f.Add([]byte(pair), byte(0))
	f.Add([]byte(partly), byte(0))
	for _, c := range refused {
		if damaged := strings.Replace(pair, c.old, c.new, 1); len(damaged) < 4096 {
			f.Add([]byte(damaged), byte(0))
			f.Add([]byte(damaged), byte(2))
		}
	}
	f.Add([]byte(inferred), byte(0))
	f.Fuzz(func(t *testing.T, text []byte, reading byte) {
		o := Options{Reading: Reading(reading % 2), Strict: reading&2 != 0}
		file, err := Read(context.Background(), strings.NewReader(string(text)), "net", o)
		if err != nil {
			if file != nil {
				t.Fatal("a file together with the error")
			}
			if strings.ContainsAny(err.Error(), "\x1b\x00\n") {
				t.Fatalf("unescaped error %q", err)
			}
			return
		}
		roundTrip(t, file.Fabric)
	})
}

// roundTrip checks that a written file describes the same subnet. It does not compare descriptions, because the format
// has no escapes.
func roundTrip(t *testing.T, f *fabric.Fabric) {
	t.Helper()
	first := written(t, f)
	file, err := Read(context.Background(), strings.NewReader(first), "written", Options{Strict: true})
	if err != nil {
		if f.Ports[f.SMPort].Linked() {
			t.Fatalf("read again: %v\n%s", err, first)
		}
		return
	}
	if got, want := len(file.Fabric.EndPorts), len(f.EndPorts); got != want {
		t.Fatalf("%d end ports, expected %d", got, want)
	}
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		i := file.Fabric.PortByGUID(p.GUID)
		if i == fabric.None {
			t.Fatalf("no port 0x%x\n%s", p.GUID, first)
		}
		if q := &file.Fabric.Ports[i]; q.LID != p.LID || q.LMC != p.LMC || q.Num != p.Num {
			t.Fatalf("port %+v, expected %+v", q, p)
		}
	}
}
