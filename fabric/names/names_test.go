// SPDX-License-Identifier: Apache-2.0

package names

import (
	"maps"
	"strings"
	"testing"
)

// The maps are what ibnetdiscover of infiniband-diags 44.0 makes of the lines.
func TestRead(t *testing.T) {
	cases := []struct {
		text string
		want Map
	}{
		{"", Map{}},
		{"0x0002c90300000003 \"sw1 rack 4\"\n", Map{0x2c90300000003: "sw1 rack 4"}},
		{"\ufeff0x1 \"a\"\r\n\r\n  0x2\t\"b\"  # why\r\n", Map{1: "a", 2: "b"}},
		{"# 0x1 \"a\"\n\n0x1 \"b\"\n0x1 \"c\"\n", Map{1: "b"}},
		{"0x1 no quotes # but a comment", Map{1: "no quotes "}},
		{"0x1 # a comment", Map{1: " a comment"}},
		{"0x1 \"open", Map{1: "open"}},
		{"0x1\n0x2 \"\"\n0x3#x\n", Map{3: "x"}},
		{"16 \"decimal\"\n010 \"octal\"\n", Map{16: "decimal", 8: "octal"}},
		{"0x1 \"\x1b[31mred\"", Map{1: "\x1b[31mred"}},
	}
	for _, c := range cases {
		got, err := Read(strings.NewReader(c.text), "map")
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if !maps.Equal(got, c.want) {
			t.Errorf("%q: %v, expected %v", c.text, got, c.want)
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
		{strings.Repeat("x", 1<<20), "map: a line of more than 65536 bytes"},
	}
	for _, c := range cases {
		m, err := Read(strings.NewReader(c.text), "map")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, expected %s", c.text, err, c.want)
		}
		if m != nil {
			t.Errorf("%.40q: a map beside the error", c.text)
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
