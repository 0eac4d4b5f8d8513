// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/fabric/gen"
)

func read(t *testing.T, text string, lib *Library) *cabling.Plan {
	t.Helper()
	p, err := Read(strings.NewReader(text), "plan", lib)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type both [2]cabling.End

// The headings are those of UFM and of its plugin, see the manual of the NDT plugin.
const (
	shortHeading = "#StartDevice,StartPort,EndDevice,EndPort,LinkType\n"
	stateHeading = "StartDevice,StartPort,EndDevice,EndPort,State,Domain\n"
	longHeading  = "rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort," +
		"EndDeviceLocation,U height_1,LinkType,Speed,_2,Cable Length,_3,_4,_5,_6,_7,State,Domain\n"
	emptyHeading = ",rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort," +
		"EndDeviceLocation,U height,LinkType,Speed,,Cable Length,,,,,\n"
)

func TestReadNDT(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []cabling.Cable
		skipped    int
	}{
		{"switch and host", shortHeading + "NODE001,NODE001 ibp11s0f0,LEAF01,Port 1, Data\nLEAF01,x,y,z,Mgmt\n",
			[]cabling.Cable{{Line: 2, Ends: both{
				{Device: "NODE001", Port: "NODE001 ibp11s0f0", Adapter: "NODE001 ibp11s0f0", Num: 1},
				{Device: "LEAF01", Port: "Port 1", Num: 1},
			}}}, 1},
		{"director", shortHeading + "LEAF01,Port 21,DIR01,Blade 16_Port 2/20,Data\n",
			[]cabling.Cable{{Line: 2, Ends: both{
				{Device: "LEAF01", Port: "Port 21", Num: 21},
				{Device: "DIR01", Port: "Blade 16_Port 2/20", Board: "L16/U2", Num: 20},
			}}}, 0},
		{"states", stateHeading + "a,Port 1,b,Port 2,Active,In-Scope\na,Port 3,,,Active,Boundary\n" +
			"a,Port 4,b,Port 5,Disabled,Error\n",
			[]cabling.Cable{{Line: 2, Ends: both{
				{Device: "a", Port: "Port 1", Num: 1}, {Device: "b", Port: "Port 2", Num: 2},
			}}}, 2},
		{"labels and locations", longHeading +
			"r9,30,a,Port 1/16/1,R1,b,Port 1/3/2/1,R2,7,Data,400000 NDR cable,,3m,,,,,,Active,In-Scope\n",
			[]cabling.Cable{{Line: 2, Kind: cabling.Kind{Gbps: 400, Length: "3m"}, Ends: both{
				{Device: "a", Port: "Port 1/16/1", Label: "1/16/1", Rack: "R1", Unit: "30"},
				{Device: "b", Port: "Port 1/3/2/1", Label: "1/3/2/1", Rack: "R2", Unit: "7"},
			}}}, 0},
		{"empty headings", emptyHeading + "x,r1,12,a,Port 1,,b,IB Port 2,R2,8,Data,200G HDR cable,,,,,,,\n",
			[]cabling.Cable{{Line: 2, Kind: cabling.Kind{Gbps: 200}, Ends: both{
				{Device: "a", Port: "Port 1", Num: 1, Unit: "12"},
				{Device: "b", Port: "IB Port 2", Num: 2, Rack: "R2", Unit: "8"},
			}}}, 0},
		{"aggregation nodes, CRLF, BOM", "\ufeff" + strings.ReplaceAll(shortHeading+"# comment\nMellanox Technologies "+
			"Aggregation Node,Port 1,b,Port 41,Data\n\na,Port 1,0xAB,Port 2,Data\n", "\n", "\r\n"),
			[]cabling.Cable{{Line: 5, Ends: both{{Device: "a", Port: "Port 1", Num: 1},
				{Device: "0xAB", GUID: 0xab, Port: "Port 2", Num: 2}}}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := read(t, c.text, nil)
			skipped := 0
			for _, s := range p.Skipped {
				skipped += s.Lines
			}
			if diff := cmp.Diff(c.want, p.Cables); diff != "" || skipped != c.skipped || p.Format != "NDT of UFM" {
				t.Errorf("%s, %d skipped: %s", p.Format, skipped, diff)
			}
		})
	}
}

func TestReadOtherFormats(t *testing.T) {
	csv := []cabling.Cable{{Line: 1, Kind: cabling.Kind{Speed: fabric.NDR, Width: 4}, Ends: both{
		{Device: "leaf 1", Port: "3", Num: 3, Rack: "R1", Unit: "20"},
		{Device: "h1", Port: "1/2", Label: "1/2", Rack: "R2", Unit: "21"},
	}}}
	heading := slices.Clone(csv)
	heading[0].Line = 2
	yaml := slices.Clone(heading)
	bare := []cabling.Cable{{Line: 2, Ends: both{{Device: "a", Port: "1", Num: 1}, {Device: "b", Port: "2", Num: 2}}}}
	for _, c := range []struct {
		text, format string
		want         []cabling.Cable
	}{
		{"leaf 1,3,h1,1/2,NDR,4x,R1,20,R2,21\n", "CSV of cables", csv},
		{"node,port,node,port,width,speed,rack,rack,unit,unit\nleaf 1,3,h1,1/2,4x,NDR,R1,R2,20,21\n", "CSV of cables",
			heading},
		{"# mine\na,1,b,2\n", "CSV of cables", bare},
		{"cables:\n- [a, 1, b, 2]\n", "YAML of cables", bare},
		{"cables:\n- {b: h1, bp: 1/2, a: leaf 1, ap: 3, speed: ndr, width: 4x, arack: R1, aunit: 20, brack: R2, " +
			"bunit: 21}\n", "YAML of cables", yaml},
		{"A-Rack,A-Node Name,A-Type,A-Port,Z-Node Name,Z-Type,Z-Port\nR1,leaf1,Switch,1/3,h1,HCA,2\n", "P2P table",
			[]cabling.Cable{{Line: 2, Ends: both{
				{Device: "leaf1", Port: "1/3", Label: "1/3", ByAdapter: true, Rack: "R1"},
				{Device: "h1", Port: "2", Num: 2, ByAdapter: true},
			}}}},
		{"Rack,U,A-Node Name,A-Port,Rack,U,Z-Node Name,Z-Port\nR1,1,leaf1,sw1p2,R2,2,h1,1\n", "P2P table",
			[]cabling.Cable{{Line: 2, Ends: both{
				{Device: "leaf1", Port: "sw1p2", Label: "sw1p2", ByAdapter: true, Rack: "R1", Unit: "1"},
				{Device: "h1", Port: "1", Num: 1, ByAdapter: true, Rack: "R2", Unit: "2"},
			}}}},
		{"# IBDM\nIS5030 leaf1 CFG: B=1\n   P1 -4x-10G-> HCA node001 P1\n\tP19 -> IS5600 core1 L1/P2\n\n" +
			"IS5600 core1\n   L1/P2 -> IS5030 leaf1 P19\n   XX/Y -> HCA node002 SW1/P2\n", "topology file (.topo)",
			[]cabling.Cable{
				{Line: 3, Kind: cabling.Kind{Width: 4, Speed: fabric.QDR}, Ends: both{
					{Device: "leaf1", Port: "P1", Num: 1}, {Device: "node001", Port: "P1", Num: 1}}},
				{Line: 4, Ends: both{{Device: "leaf1", Port: "P19", Num: 19},
					{Device: "core1", Port: "L1/P2", Board: "L1", Num: 2}}},
				{Line: 8, Ends: both{{Device: "core1", Port: "XX/Y",
					Unmapped: "the port names of IS5600 are not known; hint: give its IBNL files with ibnl=DIR"},
					{Device: "node002", Port: "SW1/P2", Num: 2}}},
			}},
		{"IS5030 leaf1 P1 HCA node001 P1\n", "cabling list", []cabling.Cable{{Line: 1, Ends: both{
			{Device: "leaf1", Port: "P1", Num: 1}, {Device: "node001", Port: "P1", Num: 1}}}}},
	} {
		p := read(t, c.text, nil)
		if diff := cmp.Diff(c.want, p.Cables); diff != "" || p.Format != c.format {
			t.Errorf("%q is %s: %s", c.text, p.Format, diff)
		}
	}
}

// TestRejects checks that errors name the file, the line and what was expected.
func TestRejects(t *testing.T) {
	for _, c := range []struct{ text, line, want string }{
		{"", "", "empty, expected a cabling plan"},
		{"# only\n\n", "", "empty"},
		{"PK\x03\x04zip", "", "Excel"},
		{"a\x00b", "", "binary"},
		{shortHeading, "", "no cable"},
		{shortHeading + "a,Port 1,b,Prt 2,Data\n", ":2", `port "Prt 2", expected "Port N"`},
		{shortHeading + "a,Port 1,b,Port 300,Data\n", ":2", "port 300, expected 1 to 254"},
		{shortHeading + "a,Port 1,b\n", ":2", "missing, expected startdevice"},
		{shortHeading + "\na,Port 1,0xZZ,Port 1,Data\n", ":3", "expected a name, or a GUID"},
		{"StartDevice,StartPort,EndDevice\na,b,c\n", ":1", "no heading, expected the columns startdevice, startport"},
		{"a,1,b\n", ":1", "missing, expected node, port, node, port"},
		{"a,1,b,0\n", ":1", "port 0, expected 1 to 254"},
		{"node,port,node,port,colour\na,1,b,2,red\n", ":1", `unknown column "colour", expected node, port`},
		{"node,port,node,port\na,1,b,2,red\n", ":2", `"red" is in column 5, expected 4 columns`},
		{"StartDevice,StartPort,EndDevice,EndPort,Speed\na,Port 1,b,Port 2,abc\n", ":2", `speed "abc", expected Mb/s`},
		{"StartDevice,StartPort,EndDevice,EndPort,Speed\na,Port 1,b,Port 2,-1\n", ":2", `speed "-1", expected Mb/s`},
		{"cables:\n- [a, 1, b, 2]\n---\nracks: []\n", ":4", "expected only the key cables"},
		{"a,1,b,2,FAST\n", ":1", "expected SDR"},
		{"a,1,b,2,HDR,3x\n", ":1", "expected 1x"},
		{"a,1,b,2 3\n", ":1", "expected a number or the label"},
		{"cables:\n- [a, 1, b]\n", ":2", "3 values, expected NODE, PORT, NODE, PORT"},
		{"cables:\n- {a: x, ap: 1, b: y}\n", ":2", "the key bp is missing"},
		{"cables:\n- {a: x, ap: 1, b: y, bp: 2, c: 3}\n", ":2", `unknown key "c", expected a`},
		{"cables:\n- {a: x, a: y, ap: 1, b: y, bp: 2}\n", ":2", "a is given twice"},
		{"cables: 5\n", ":1", "expected a list"},
		{"cables: []\nracks: []\n", ":1", "expected only the key cables"},
		{"cables:\n- {a: [x], ap: 1, b: y, bp: 2}\n", ":2", "expected a word or a number"},
		{"cables:\n- [a: 1\n", "", "plan: "},
		{"IS5030 leaf1\n  P1 => HCA node P1\n", ":2", "expected PORT -> TYPE NAME PORT"},
		{"IS5030\n", ":1", "expected a cabling plan"},
		{"IS5030 a\nIS5030\n", ":2", "expected TYPE NAME of a system"},
		{"IS5030 leaf1\n  P1 -3x-> HCA node P1\n", ":2", "expected 1x"},
		{"IS5030 leaf1\n  P1 -4x-7G-> HCA node P1\n", ":2", "expected 2.5G"},
		{"IS5030 leaf1\n  P1 -> HCA n1 P1\n  P1 -> HCA n2 P1\n", ":3", "line 2 has another cable there"},
		{"IS5030 leaf1\n  P1 -> HCA leaf1 P1\n", ":2", "has the type HCA, expected IS5030"},
		{"IS5030 leaf1\n\n  P1 -> HCA n1 P1\n", ":3", "below a line TYPE NAME"},
		{"A b c D e f\nA b c\n", ":2", "3 words, expected TYPE NAME PORT TYPE NAME PORT"},
		{"vendid=0x2c9\ndevid=1\n", ":1", "expected a cabling plan"},
	} {
		p, err := Read(strings.NewReader(c.text), "plan", nil)
		if err == nil {
			t.Errorf("%q was read: %+v", c.text, p.Cables)
		} else if !strings.HasPrefix(err.Error(), "plan"+c.line+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected plan%s: ... %s", c.text, err, c.line, c.want)
		}
	}
}

const director = `# a director of two leaf boards with two chips each
SYSTEM LEAF,LEAF-R

NODE SW 4 MT1 U1
1 -4x-10G-> P1
2 -4x-10G-> P2
3 -4x-10G-> U2 3

NODE SW 4 MT1 U2
1 -4x-10G-> P3
2 -> P4

TOPSYSTEM DIR,DIR-R
INSTANCE=L1=x

SUBSYSTEM LEAF L1
P1 -> L1/P1
P3 -4x-> L1/P3

SUBSYSTEM LEAF-R L2
CFG: B=1
P4 -> L2/P4
`

func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "DIR.ibnl"), []byte(director), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLibrary(t.Context(), t.TempDir()); err == nil ||
		!strings.Contains(err.Error(), "expected files *.ibnl") {
		t.Error(err)
	}
	lib, err := ReadLibrary(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, "DIR-R d1\n L1/P3 -> HCA n1 P1\n L2/P4 -> HCA n2 P1\n L9/P9 -> HCA n3 P1\n", lib)
	want := []cabling.End{
		{Device: "d1", Port: "L1/P3", Board: "L1/U2", Num: 1},
		{Device: "d1", Port: "L2/P4", Board: "L2/U2", Num: 2},
		{Device: "d1", Port: "L9/P9", Unmapped: "the IBNL file of DIR-R has no port L9/P9"},
	}
	for i, w := range want {
		if diff := cmp.Diff(w, p.Cables[i].Ends[0]); diff != "" {
			t.Error(diff)
		}
	}
	for text, want := range map[string]string{
		"NODE SW 4 MT1 U1\n":                  ":1: ",
		"SYSTEM A\nfoo bar\n":                 ":2: ",
		"SYSTEM A\nNODE SW 4 M U1\nx -> P1\n": ":3: ",
	} {
		err := new(Library).Add(t.Context(), strings.NewReader(text), "x.ibnl")
		if err == nil || !strings.HasPrefix(err.Error(), "x.ibnl"+want) || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWrittenPlans writes the plan of a fabric and checks the fabric against it. Half of the nodes get descriptions
// that a plan cannot use: the same as another node, with quotes, commas or line feeds, in the form of a GUID, or none.
func TestWrittenPlans(t *testing.T) {
	odd := []string{"", "twin", "twin", "a,b", "\"q\" x", "#x", "line\nfeed", " blank ", "0x12", "MF0;twin:M/L1/U1",
		"MF0;dir:M/L01/U1", "MF0;dir:M/L02/U2", "twin HCA-1", "twin HCA-2", "twin x", "cables: y"}
	shapes := []string{"fattree:2,8", "torus:3x3,hosts=2", "director:2,2", "random:8,3,16", "multiplane:2,4,2"}
	for _, shape := range shapes {
		f, err := gen.ParseSpec(shape)
		if err != nil {
			t.Fatal(err)
		}
		names := map[uint64]string{}
		for i := range f.Nodes {
			if i%2 == 0 {
				names[f.Nodes[i].GUID] = odd[i/2%len(odd)]
			}
		}
		for _, f := range []*fabric.Fabric{f, f.WithDescriptions(names)} {
			for _, format := range Formats {
				var b strings.Builder
				if err := Write(&b, f, format, true); err != nil {
					t.Fatal(err)
				}
				plan := read(t, b.String(), nil)
				res, err := cabling.Compare(f, plan, cabling.Options{})
				if err != nil {
					t.Fatal(err)
				}
				n := len(cabling.Cables(f))
				if res.Right != n || len(res.Faults)+len(res.Unmatched) > 0 || res.Repair.Cost > 0 {
					t.Errorf("%s as %s: %d of %d right, %+v %+v\n%s", shape, format, res.Right, n, res.Faults,
						res.Unmatched, b.String())
				}
			}
		}
	}
}
