// SPDX-License-Identifier: Apache-2.0

package svg

import (
	"encoding/xml"
	"strings"
	"testing"
)

// TestDraw: the colours and places follow from ECMA-48 and from xterm's table of 256
// colours (231 is white, 16 black).
func TestDraw(t *testing.T) {
	var out strings.Builder
	const text = "a\x1b[1;38;5;231;48;2;1;2;3m<b>\x1b[0m日x\n\x1b[7mr\x1b[m\n"
	if err := Screen(strings.NewReader(text), &out, Dark); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`fill="#ffffff" font-weight="bold">&lt;b&gt;</text>`, `fill="#010203"`, `textLength="25.2"`,
		`viewBox="0 0 58.8 36.0"`, `fill="#1c1c1c">r</text>`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %s:\n%s", want, out.String())
		}
	}
	if err := xml.Unmarshal([]byte(out.String()), new(struct{})); err != nil {
		t.Error(err)
	}
	out.Reset()
	if err := Screen(strings.NewReader(text), &out, Light); err != nil ||
		!strings.Contains(out.String(), `fill="#ffffff">r</text>`) || !strings.Contains(out.String(),
		`fill="#1c1c1c">a<`) {
		t.Errorf("on a light terminal: %v\n%s", err, out.String())
	}
}

func FuzzDraw(f *testing.F) {
	f.Add("a\x1b[38;5m\x1b[48;2;1mx\x1b]0;t\a\x1b[")
	f.Fuzz(func(t *testing.T, s string) {
		var out strings.Builder
		if err := Screen(strings.NewReader(s), &out, Dark); err != nil && !strings.Contains(err.Error(), "too long") {
			t.Error(err)
		}
	})
}

// TestStyleOfNextLine checks that a line begins in the style in which the line before it ends: green, and then bold,
// until a reset.
func TestStyleOfNextLine(t *testing.T) {
	var out strings.Builder
	if err := Screen(strings.NewReader("a\x1b[32mb\nc\x1b[1md\ne\x1b[0mf\ng\n"), &out, Dark); err != nil {
		t.Fatal(err)
	}
	const green, bold = ` fill="#4e9a06"`, ` font-weight="bold"`
	for letter, style := range map[string]string{"b": green, "c": green, "d": green + bold, "e": green + bold,
		"f": ` fill="#d3d7cf"`, "g": ` fill="#d3d7cf"`} {
		if want := style + ">" + letter + "</text>"; !strings.Contains(out.String(), want) {
			t.Errorf("lacks %s:\n%s", want, out.String())
		}
	}
}
