// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

func torusConf(t testing.TB, text string) *TorusConf {
	t.Helper()
	c, err := ReadTorusConf(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTorusConf reads the example of torus-2QoS.conf(5).
func TestTorusConf(t *testing.T) {
	c := torusConf(t, `
# a 2D torus
torus 1 4 5
yp_link 0x200000 0x200005  # sw @ y=0,z=0 -> sw @ y=1,z=0
ym_link 0x200000 0x20000f
zp_link 0x200000 0x200001
next_seed
yp_link 0x20000b 0x200010
ym_link 0x20000b 0x200006
zp_link 0x20000b 0x20000c
y_dateline -2  # Move the dateline for this seed
z_dateline -1
port_order 7 10 8 11 9 12 25 28 26 29 27 30
portgroup_max_ports 17
max_changes 5`)
	at := func(from, to uint64) TorusLink { return TorusLink{From: from, To: to, Given: true} }
	want := &TorusConf{
		Name: "f", Radix: [3]uint32{1, 4, 5}, GroupPorts: 17, MaxChanges: 5,
		PortOrder: []uint8{7, 10, 8, 11, 9, 12, 25, 28, 26, 29, 27, 30},
		Seeds: []TorusSeed{
			{
				Plus:  [3]TorusLink{{}, at(0x200000, 0x200005), at(0x200000, 0x200001)},
				Minus: [3]TorusLink{{}, at(0x200000, 0x20000f)},
			},
			{
				Plus:  [3]TorusLink{{}, at(0x20000b, 0x200010), at(0x20000b, 0x20000c)},
				Minus: [3]TorusLink{{}, at(0x20000b, 0x200006)}, Dateline: [3]int32{0, -2, -1},
			},
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("%+v, want %+v", c, want)
	}
	for text, want := range map[string][3]bool{
		"mesh 3T 4 5": {false, true, true}, "torus 3 4M 5m": {false, true, true}, "torus 2t 5 1": {true, false, false},
	} {
		if got := torusConf(t, text).Mesh; got != want {
			t.Errorf("%s: open dimensions %v, want %v", text, got, want)
		}
	}
}

func TestTorusConfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"torus 3 4":                   "f:1: expected the number of switches along x, y and z",
		"\ntorus 3 4 5\nmesh 3 4 5":   "f:3: the size is set twice",
		"tours 3 4 5":                 `f:1: "tours" is not a keyword`,
		"x_dateline 1\ntorus 3 3 3":   "f:1: x_dateline: the size must be set first (ERR 4E10)",
		"torus 3 3 3\nx_dateline 3":   "f:2: x_dateline: 3 is out of range, expected -2 to 2 (ERR 4E10)",
		"torus 3 3 3\nz_dateline -3":  "f:2: z_dateline: -3 is out of range",
		"yp_link 0x5":                 "f:1: yp_link: expected the node GUIDs of two switches",
		"max_changes":                 "f:1: max_changes: expected a number",
		"port_order 1 2 300":          "f:1: port_order: 300 is not a port number",
		"torus 1 1 1\n\n\ny_dateline": "f:4: y_dateline: expected a position",
	} {
		if err := torusConf(t, text).Err(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := torusConf(t, "# nothing\n\n").Err(); err != nil {
		t.Errorf("comments: %v", err)
	}
	notes := torusConf(t, "torus 5x 5 1\nxp_link 200000 0x200001\nport_order 3 # first").Notes
	if len(notes) != 4 || notes[0].Line != 1 || notes[1].Line != 2 || notes[2].Line != 3 {
		t.Errorf("notes %v, want one each of lines 1 and 2 and two of line 3", notes)
	}
}

var badTorusLine = regexp.MustCompile(`ERR 4E13: parsing '.*': line (\d+)`)

// TestTorusConfAsOpenSM compares the invalid lines of random files with those in OpenSM's log.
func TestTorusConfAsOpenSM(t *testing.T) {
	f, err := gen.ParseSpec("torus:3x3")
	if err != nil {
		t.Fatal(err)
	}
	sim := ibsimtest.Start(t, netFile(t, f))
	r := testenv.Rand(t)
	for range testenv.Count(t, 8, 150) {
		text := randomTorusConf(r)
		path := filepath.Join(t.TempDir(), "torus.conf")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := ibsimtest.OpenSM(t, sim, "-Q", "-R", "torus-2QoS", "--torus_config", path)
		var theirs, ours []string
		for _, m := range badTorusLine.FindAllStringSubmatch(string(dump(t, dir, "opensm.log")), -1) {
			theirs = append(theirs, m[1])
		}
		for _, n := range torusConf(t, string(text)).Bad {
			ours = append(ours, fmt.Sprint(n.Line))
		}
		if !slices.Equal(ours, theirs) {
			t.Errorf("lines %v are invalid for OpenSM, %v for us:\n%s", theirs, ours, text)
		}
	}
}

var (
	unsafeLine = regexp.MustCompile(`(port_order|torus|mesh).*`)
	tooLarge   = regexp.MustCompile(`-\S+|9{9,}|0x\S+`)
)

func randomTorusConf(r *rand.Rand) []byte {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var b bytes.Buffer
	b.WriteString(pick("torus 3 3 1\n", "mesh 3T 3 1\r\n", "# shape\n \t torus 3 3 1m extra\n", "torus 3 3\n", ""))
	for range r.IntN(12) {
		keyword := pick("xp_link", "ym_link", "zp_link", "x_dateline", "y_dateline", "z_dateline", "next_seed",
			"port_order", "portgroup_max_ports", "max_changes", "torus", "mesh", "#comment", "#", "xp_links",
			"X_dateline", "", "next_seed")
		fmt.Fprint(&b, pick("", " ", "\t"), keyword)
		for range r.IntN(4) {
			fmt.Fprint(&b, pick(" ", "\t", "  "), pick("0x200000", "0x200001", "1", "-1", "2", "-2", "-3", "3", "010",
				"x", "3m", "-0x1", "99999999999999999999", "#", "4"))
		}
		b.WriteString(pick("\n", "\n", "\r\n", "\n\n"))
	}
	// OpenSM writes past its table for a port above 254, and crashes if it lacks memory for a size.
	return unsafeLine.ReplaceAllFunc(b.Bytes(), func(line []byte) []byte { return tooLarge.ReplaceAll(line, nil) })
}

func FuzzTorusConf(f *testing.F) {
	f.Add("torus 3 4m 5t\nxp_link 0x1 0x2\nx_dateline -1\nnext_seed\nport_order 3 2 1\nportgroup_max_ports " +
		"3\nmax_changes 2\n")
	f.Add("mesh 2 2 2\nzm_link 1\nbad")
	f.Fuzz(func(t *testing.T, text string) {
		c := torusConf(t, text)
		var b bytes.Buffer
		if err := WriteTorusConf(&b, c); err != nil {
			t.Fatal(err)
		}
		if c.Bad != nil {
			return
		}
		again := torusConf(t, b.String())
		again.Notes, c.Notes = nil, nil
		if c.Radix == ([3]uint32{}) && again.Radix == c.Radix {
			again.Mesh, again.Notes = c.Mesh, nil
		}
		if !reflect.DeepEqual(again, c) {
			t.Errorf("%q\nis %+v, after writing\n%s\nis %+v", text, c, &b, again)
		}
	})
}
