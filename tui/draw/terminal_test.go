// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

func TestThemes(t *testing.T) {
	for _, name := range Themes {
		if _, err := NewTheme(name, termenv.ANSI, unicodeGlyphs(), nil); err != nil {
			t.Error(err)
		}
	}
	if _, err := NewTheme("pink", termenv.ANSI, unicodeGlyphs(), nil); err == nil ||
		!strings.Contains(err.Error(), "dark, light, contrast, none") {
		t.Errorf("unknown theme: %v", err)
	}
}

// TestEnvironment uses the values that terminals set according to their manuals.
func TestEnvironment(t *testing.T) {
	env := func(pairs ...string) Environment {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		env     Environment
		utf8    bool
		profile termenv.Profile
		theme   string
	}{
		{env("LANG", "en_US.UTF-8", "TERM", "xterm-256color"), true, termenv.ANSI256, "dark"},
		{env("LANG", "C.utf8", "TERM", "xterm", "COLORTERM", "truecolor"), true, termenv.TrueColor, "dark"},
		{env("LANG", "en_US.UTF-8", "LC_ALL", "C", "TERM", "linux"), false, termenv.ANSI, "dark"},
		{env("TERM", "vt100"), false, termenv.Ascii, "dark"},
		{env("LC_CTYPE", "de_DE.UTF-8", "TERM", "screen", "COLORTERM", "truecolor"), true, termenv.ANSI256, "dark"},
		{env("TERM", "tmux-256color", "NO_COLOR", "1"), false, termenv.Ascii, "dark"},
		{env("TERM", "rxvt", "COLORFGBG", "0;15"), false, termenv.ANSI, "light"},
		{env("TERM", "rxvt", "COLORFGBG", "0;default;7"), false, termenv.ANSI, "light"},
		{env("TERM", "rxvt", "COLORFGBG", "15;0"), false, termenv.ANSI, "dark"},
	} {
		if got := c.env.utf8(); got != c.utf8 {
			t.Errorf("%s: utf8 %v", c.env("TERM"), got)
		}
		if got := c.env.Profile(); got != c.profile {
			t.Errorf("%s: profile %v, want %v", c.env("TERM"), got, c.profile)
		}
		if got := c.env.Theme(); got != c.theme {
			t.Errorf("%s: theme %v, want %v", c.env("TERM"), got, c.theme)
		}
	}
}
