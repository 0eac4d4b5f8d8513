// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

// TestSkin checks that a skin changes only the parts that it names. The sequences are those of ECMA-48, 8.3.117.
func TestSkin(t *testing.T) {
	s, err := ReadSkin(strings.NewReader("warn: {fg: \"#010203/4\"}\nfocus: {reverse: true}\ndim:\n  bold: true\n  "+
		"fg: \"/2\"\n"), "skin")
	if err != nil {
		t.Fatal(err)
	}
	for profile, want := range map[termenv.Profile][3]Style{
		termenv.TrueColor: {"\x1b[38;2;1;2;3m", "\x1b[7;38;2;95;175;255m", "\x1b[1m"},
		termenv.ANSI:      {"\x1b[34m", "\x1b[7;36m", "\x1b[1;32m"},
		termenv.Ascii:     {"", "\x1b[1m", ""},
	} {
		th, err := NewTheme("dark", profile, unicodeGlyphs(), s)
		if err != nil {
			t.Fatal(err)
		}
		if got := [3]Style{th.Warn, th.focus, th.Dim}; got != want {
			t.Errorf("profile %v: %q, want %q", profile, got, want)
		}
	}
	if s, err := ReadSkin(strings.NewReader("# nothing yet\n"), "skin"); err != nil || s == nil {
		t.Errorf("a skin without styles: %v", err)
	}
	for text, want := range map[string]string{
		"warn: {fg: red}":                   `skin:1: warn has the colour "red", expected a colour such as #ffb300/3`,
		"dim: {bold: true}\nwarm: {fg: 1}":  `skin:2: unknown style "warm", expected one of bad, border,`,
		"dim: bold":                         "skin:1: dim: expected fg and bg with colours",
		"dim: {}\nbad: {\n  weight: heavy}": `unknown key "weight"`,
		"- dim":                             "skin: expected names of styles",
		"dim: {bold: perhaps}":              "skin:1: dim: expected fg and bg",
	} {
		if _, err := ReadSkin(strings.NewReader(text), "skin"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzSkin(f *testing.F) {
	f.Add("warn: {fg: \"#010203/4\", bold: true}\n")
	f.Add("a: &a {b: *a}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadSkin(strings.NewReader(text), "skin")
		if err != nil {
			return
		}
		if _, err := NewTheme("light", termenv.ANSI256, unicodeGlyphs(), s); err != nil {
			t.Error(err)
		}
	})
}
