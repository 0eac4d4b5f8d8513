// SPDX-License-Identifier: Apache-2.0

package names

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

var maps = []struct {
	text string
	want Map
}{
	{"", Map{}},
	{"0x0002c90300000003 \"sw1 rack 4\"\n", Map{0x2c90300000003: "sw1 rack 4"}},
	{"0x1 \"a\"\r\n\r\n  0x2\t\"b\"  # why\r\n", Map{1: "a", 2: "b"}},
	{"# 0x1 \"a\"\n\n0x1 \"b\"\n0x1 \"c\"\n", Map{1: "b"}},
	{"0x1 no quotes # but a comment", Map{1: "no quotes "}},
	{"0x1 # a comment", Map{1: " a comment"}},
	{"0x1 \"open", Map{1: "open"}},
	{"0x1\n0x2 \"\"\n0x3#x\n", Map{3: "x"}},
	{"16 \"decimal\"\n010 \"octal\"\n", Map{16: "decimal", 8: "octal"}},
	{"0x1 \"\x1b[31mred\"", Map{1: "\x1b[31mred"}},
}

func TestRead(t *testing.T) {
	for _, c := range maps {
		for _, text := range []string{c.text, "\ufeff" + c.text} {
			got, err := Read(strings.NewReader(text), "map")
			if err != nil {
				t.Errorf("%q: %v", text, err)
			} else if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q: %v, expected %v", text, got, c.want)
			}
		}
	}
}

// TestAsIbnetdiscover compares the names with those of the real ibnetdiscover over an ibsim with a switch for each
// GUID.
func TestAsIbnetdiscover(t *testing.T) {
	guids := []uint64{1, 2, 3, 8, 16, 0x2c90300000003}
	var net strings.Builder
	for i, guid := range guids {
		fmt.Fprintf(&net, "switchguid=0x%x\nSwitch 2 \"S%d\" # \"own name\"\n", guid, i)
		if i > 0 {
			fmt.Fprintf(&net, "[1] \"S%d\"[2]\n", i-1)
		}
		if i+1 < len(guids) {
			fmt.Fprintf(&net, "[2] \"S%d\"[1]\n", i+1)
		}
		net.WriteString("\n")
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sim := ibsimtest.Start(t, write("net", net.String()))
	header := regexp.MustCompile(`(?m)^Switch\t2 "S-([0-9a-f]{16})"\t\t# "(.*)" base port 0 `)
	for i, c := range maps {
		out := sim.Output("ibnetdiscover", "--node-name-map", write(fmt.Sprintf("map%d", i), c.text))
		found := header.FindAllStringSubmatch(out, -1)
		if len(found) != len(guids) {
			t.Fatalf("%q: %d switches in %s", c.text, len(found), out)
		}
		for _, f := range found {
			guid, err := parseGUID("0x" + f[1])
			if err != nil {
				t.Fatal(err)
			}
			if want := cmp.Or(c.want[guid], "own name"); f[2] != want {
				t.Errorf("%q: ibnetdiscover names 0x%x %q, expected %q", c.text, guid, f[2], want)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	cases := []struct{ text, want string }{
		{"sw1 0x1\n", `map:1: bad GUID "sw1", expected 0xGUID "NAME"`},
		{"0x1 \"a\"\n2c9030000000g \"b\"", "map:2: bad GUID"},
		{"0x1\"a\"", "map:1: bad GUID"},
		{"0x10000000000000000 \"a\"", "map:1: bad GUID"},
		{"0b1 \"a\"", "map:1: bad GUID"},
		{"0x1_0 \"a\"", "map:1: bad GUID"},
		{"\x1b[31m", `map:1: bad GUID "\\x1b[31m"`},
		{"0x1 \"a\"\n0x2 \"" + strings.Repeat("x", 300) + `"`, "map:2: a line of 306 bytes, expected at most 254"},
		{"\x00\x01", "map:1: binary data"},
		{strings.Repeat("x", 1<<20), "map: a line is longer than 65536 bytes"},
	}
	for _, c := range cases {
		m, err := Read(strings.NewReader(c.text), "map")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, expected %s", c.text, err, c.want)
		}
		if m != nil {
			t.Errorf("%.40q: a map together with the error", c.text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"0x0002c90300000003 \"sw1 rack 4\"\n", "# c\n0x1 a#b", "1\"", "0x1 \"a\"\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read(strings.NewReader(string(b)), "map")
		if (m == nil) != (err != nil) {
			t.Fatalf("map %v and error %v", m, err)
		}
		for _, name := range m {
			if name == "" || strings.ContainsAny(name, "\"#\n\x00") {
				t.Fatalf("name %q", name)
			}
		}
	})
}
