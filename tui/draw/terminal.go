// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strconv"
	"strings"

	"github.com/muesli/termenv"
)

// Environment returns the values of environment variables that describe the terminal. The terminal itself is not
// queried, because some terminals never respond.
type Environment func(string) string

// Glyphs returns the glyphs that the terminal can show.
func (env Environment) Glyphs() Glyphs {
	switch {
	case !env.utf8():
		return asciiGlyphs()
	case env("TERM") == "linux":
		return consoleGlyphs()
	}
	return unicodeGlyphs()
}

// utf8 reports whether the character set of the locale is UTF-8. It reads the variables in the order of precedence of
// POSIX.
func (env Environment) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(strings.ReplaceAll(v, "-", ""))
			return strings.Contains(v, "utf8")
		}
	}
	return false
}

// Profile returns the range of colours that the terminal has. With NO_COLOR it returns no colours.
func (env Environment) Profile() termenv.Profile {
	term := env("TERM")
	depth := env("COLORTERM")
	switch {
	case env("NO_COLOR") != "":
		return termenv.Ascii
	case strings.HasPrefix(term, "screen") && env("TERM_PROGRAM") != "tmux" && depth != "":
		return termenv.ANSI256
	case depth == "truecolor", depth == "24bit":
		return termenv.TrueColor
	case strings.Contains(term, "256color"):
		return termenv.ANSI256
	case strings.Contains(term, "direct"), term == "alacritty", strings.HasSuffix(term, "-kitty"),
		strings.HasSuffix(term, "-ghostty"), term == "wezterm", term == "foot":
		return termenv.TrueColor
	}
	for _, colourless := range []string{"vt", "dumb", "unknown"} {
		if strings.HasPrefix(term, colourless) || term == "" {
			return termenv.Ascii
		}
	}
	return termenv.ANSI
}

// Theme returns the theme for the background that COLORFGBG describes (set by rxvt, Konsole and others). Without this
// variable it returns the dark theme.
func (env Environment) Theme() string {
	_, bg, found := strings.Cut(env("COLORFGBG"), ";")
	if i := strings.LastIndexByte(bg, ';'); i >= 0 {
		bg = bg[i+1:]
	}
	if n, err := strconv.Atoi(bg); found && err == nil && (n == 7 || n >= 9 && n <= 15) {
		return "light"
	}
	return "dark"
}
